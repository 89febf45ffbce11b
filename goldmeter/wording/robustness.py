"""A conclusion under other choices, in words."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from goldmeter.console.format import coefficient, counted, joined, listed, points, rate
from goldmeter.wording.verdicts import RELATIONS, Verdict

# A measure stands for right answers if it agrees with people or a judge on the answers of each system by this much of
# Cohen's kappa, which Landis and Koch (1977) call substantial.
AGREES = 0.6
CAPTION = (
    "A description of this data, no test: the checks depend on each other, and nothing is corrected for their number."
)
HEADS = ("changed", "judge", "questions", "difference, points", "interval", "verdict", "conclusion")
# Rows of the table, beside those of other readings.
SHOWN, CLOSEST = 15, 5
UNITS = {"measure": "reading", "slice": "slice", "group": "group", "references": "list of references"}
ANSWERS = {"robust": "Robust", "fragile": "Fragile", "open": "Open", "untested": "Hardly tested"}
# Against a target, a rate is not better or worse than another system.
AGAINST = {Verdict.BETTER: "is above", Verdict.WORSE: "is below", Verdict.CANNOT_TELL: "may be above or below"}


def sentence(found: Mapping[str, Any]) -> str:
    """The answer in one line.

    Args:
        found: `goldmeter.comparison.robustness.Robustness` as JSON.
    """
    concluded, checks = found["conclusion"], found["checks"]
    first, *others = found["systems"]
    says, by = Verdict(concluded["verdict"]), f"by {concluded['name']}"
    claim = f"{first} {RELATIONS[says]} {others[0]} {by}" if others else ""
    claim = claim or f"{first} {AGAINST[says]} the target of {rate(found['target'])} {by}"
    if found["answer"] == "open":
        decided = [one for one in checks if one["outcome"] == "decides" and one["kind"] == "measure"]
        more = f"; {counted(len(decided), 'other reading')} would decide" if decided else "; no other reading decides"
    elif concluded["name"] in found["ignored"]:
        more = f", which agrees too little with {found['anchor']} on the answers of each system to say which are right"
    elif found["answer"] == "untested":
        more = "; no other judge is at hand, and no metric agrees enough with it on the answers of each system"
    else:
        failed = [one for one in checks if one["outcome"] in {"undecided", "reverses"}]
        parts = [*_counts(failed, checks)]
        more = f", but not {joined(parts)}" if failed else f", and {joined([*_counts(checks, checks)])}"
        if failed and found["answer"] == "robust":
            more = f", and also {_reversed_none(failed, checks)}"
    return f"{ANSWERS[found['answer']]}: {claim}{more}."


def _reversed_none(failed: Sequence[Mapping[str, Any]], checks: Sequence[Mapping[str, Any]]) -> str:
    return f"under {len(checks) - len(failed)} of {counted(len(checks), 'change')}; none of them reverses it"


def _counts(some: Sequence[Mapping[str, Any]], every: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """How many checks of each kind, of all of that kind."""
    for kind, unit in UNITS.items():
        n, of = (sum(one["kind"] == kind for one in each) for each in (some, every))
        if n:
            yield f"{'by' if kind == 'measure' else 'without'} {n} of {counted(of, unit, unit + 's' * (of != 1))}"


def rows(found: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """The cells below `HEADS`: all readings, and the parts without which the conclusion does not hold."""
    order = ["reverses", "decides", "undecided", "few rows", "holds"]
    checks = sorted(found["checks"], key=lambda one: order.index(one["outcome"]))
    readings = [one for one in checks if one["kind"] == "measure"]
    for one in [*readings, *_failing_parts(checks)[:SHOWN]]:
        limits = f"{points(one['low'])} to {points(one['high'])}"
        changed = one["name"] if one["kind"] == "measure" else f"without {one['name']}"
        cells = (one["judge"], f"{one['n']:,}", points(one["value"]), limits, one["verdict"], one["outcome"])
        yield changed, *cells


def _failing_parts(checks: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [one for one in checks if one["kind"] != "measure" and one["outcome"] != "holds"]


def notes(found: Mapping[str, Any]) -> Iterator[str]:
    """Lines below the table: where the uncertainty comes from, and what is not counted."""
    if (hidden := len(_failing_parts(found["checks"])) - SHOWN) > 0:
        more = counted(hidden, "more slice or group", "more slices and groups")
        yield f"{more} without which it does not hold, which goldmeter robust --json lists."
    if found["sources"]:
        named = {"rows": "questions", "draws": "answers to them", "judges": "judge", "settings": "setting of the judge"}
        each = [
            f"{named[name]} {points(value).lstrip('+')}"
            for name, value in found["sources"].items()
            if value is not None
        ]
        yield f"Standard error in points, by what would be drawn anew: {', '.join(each)}."
    if found["ignored"]:
        closest = sorted(found["ignored"].items(), key=lambda one: -one[1])
        each = [f"{name} ({coefficient(value)})" for name, value in closest]
        why = f"they agree too little with {found['anchor']} (kappa below {AGREES:g})"
        yield f"Not counted, for {why}: {listed(each, CLOSEST)}."
    yield CAPTION


def one_more(model: str, calls: int, tokens: float, dollars: float | None) -> str:
    """What it would cost to ask one more judge about these answers."""
    cost = f"run.judge.prices has no {model}" if dollars is None else f"${dollars:,.2f} at the price of {model}"
    taken = f"{counted(calls, 'call')}, about {tokens:,.0f} tokens ({cost})"
    return f"Not asked: one more judge of these answers would take {taken}."
