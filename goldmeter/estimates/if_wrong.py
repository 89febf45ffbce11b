"""What it would change in the rates and the conclusion of a run if suspicious references were wrong."""

from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from typing import Any, NamedTuple

from goldmeter.estimates.headline import leaders
from goldmeter.estimates.human_labels import LABEL
from goldmeter.estimates.metrics_report import IfWrongEntry, Limited, MetricsReport, SuspectsEntry
from goldmeter.estimates.primary import Primary, maximum_verdict, target_verdict
from goldmeter.estimates.suspects import Suspect


class Change(NamedTuple):
    """What wrong references would change in the passes of a system.

    other: if the answer that systems share, or that is labelled right, is right, and others wrong. none: if all answers
    are wrong.
    """

    other: int
    none: int


def suspects_entry(found: Sequence[Suspect], document: MetricsReport, primary: Primary, measure: str | None) -> Any:
    """Return section `suspects` of reports/metrics.json; measure: the one that compares answers with references."""
    entry: SuspectsEntry = {"measure": measure, "rows": [one.entry for one in found]}
    if measure == primary.name and measure != LABEL:
        entry["if_wrong"] = if_wrong(changes(found), document, primary)
    return entry


def changes(suspects: Sequence[Suspect]) -> dict[str, Change]:
    """Return candidate → what would change if the references of these questions were wrong."""
    found: dict[str, Change] = {}
    for one in suspects:
        for given in one.asked.given:
            if not isnan(given.passed):
                passed, known = int(given.passed), found.get(given.candidate, Change(0, 0))
                is_right = given.candidate in one.same or given.label == 1
                found[given.candidate] = Change(known.other + is_right - passed, known.none - passed)
    return found


def if_wrong(found: Mapping[str, Change], document: MetricsReport, primary: Primary) -> IfWrongEntry:
    """Return the rates if references were wrong, and whether leaders and targets would stay, with shifted intervals.

    Args:
        found: Candidate → what would change.
        document: The report with headlines, comparisons and targets.
        primary: The primary measure.
    """
    rows = {name: max(one["n"], 1) for name, one in document["headlines"].items() if one["value"] is not None}
    shifts = [
        {name: getattr(found.get(name, Change(0, 0)), way) / rows[name] for name in rows} for way in Change._fields
    ]
    rates: dict[str, Limited] = {}
    for name in rows:
        value = document["headlines"][name]["value"] or 0.0
        ends = sorted(min(max(value + shift[name], 0.0), 1.0) for shift in shifts)
        rates[name] = {"value": value, "low": ends[0], "high": ends[1]}
    holds = all(_holds(shift, document, primary) for shift in shifts)
    return {"rates": rates, "holds": holds}


def _holds(shift: Mapping[str, float], document: MetricsReport, primary: Primary) -> bool:
    shown, pairs = document["headlines"], document["comparisons"]
    shifted = [_shifted(pair, shift.get(pair["head"], 0.0) - shift.get(pair["base"], 0.0)) for pair in pairs]
    before, after = (set(leaders(primary, shown, some)["names"]) for some in (pairs, shifted))
    return before == after and all(_verdicts(shift, document, primary.name))


def _shifted(pair: Mapping[str, Any], by: float) -> Mapping[str, Any]:
    return {**pair, "measures": {name: _moved(one, by) for name, one in pair["measures"].items()}}


def _moved(measured: Mapping[str, Any], by: float) -> Mapping[str, Any]:
    if measured["role"] != "primary" or measured["difference"]["low"] is None:
        return measured
    limits = {end: measured["difference"][end] + by for end in ("low", "high")}
    return {**measured, "difference": {**measured["difference"], **limits}}


def _verdicts(shift: Mapping[str, float], document: MetricsReport, measure: str) -> Iterator[bool]:
    """Whether each target of the measure keeps its verdict."""
    for name, targets in document.get("targets", {}).items():
        headline, target = document["headlines"].get(name), targets.get(measure)
        if headline is None or target is None or headline["low"] is None or headline["high"] is None:
            continue
        limits = headline["low"] + shift.get(name, 0.0), headline["high"] + shift.get(name, 0.0)
        now = maximum_verdict(target["max"], *limits) if "max" in target else target_verdict(target["target"], *limits)
        yield now == target["verdict"]
