"""The rows of one run: its numbers from reports/metrics.json, then what was decided on them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tasks.comparison import wording
from tasks.comparison.gate import VALUE
from tasks.comparison.wording import cut, extent, listed
from tasks.console.format import count, visible
from tasks.monitoring.baseline_looks import Look
from tasks.monitoring.floors import Bets
from tasks.monitoring.store import Row
from tasks.scores.metrics_report import Entry, reading
from tasks.versions.experiments import Experiment, Facts

LONGEST_ID = 20
"""Characters of a row's id in a sentence: ids that were made from the input have 64."""
_GRAVEST = ("worse", "cannot tell", "no worse", "unchanged", "better")
Key = tuple[str, str]


def rows(experiment: Experiment, facts: Facts, schedule: str = "") -> list[Row]:
    """One row per (candidate, metric) of the run, before anything is decided.

    Raises DataError when there is no reports/metrics.json, or it is not what aggregate writes.
    """
    known = {"run": experiment.name, "commit": experiment.commit, "schedule": schedule, **facts._asdict()}
    with reading() as document:
        return [
            known | {"candidate": candidate, "metric": metric} | _numbers(entry)
            for candidate, metrics in document["candidates"].items()
            for metric, entry in metrics.items()
        ]


def compared(before: Sequence[Row], document: Mapping[str, Any], baseline: str, commit: str, look: Look) -> list[Row]:
    """The rows with the look at the baseline, and what it found; of two measures of a metric the worse one."""
    looked = {
        "baseline": baseline,
        "baseline_commit": commit,
        "content": look.content,
        "look": look.number,
        "level": look.level,
    }
    found: dict[Key, tuple[str, Mapping[str, Any]]] = {}
    for pair in document["pairs"]:
        for name, measure in pair["measures"].items():
            key = (pair["head"], name.removesuffix(VALUE))
            if key not in found or _rank(measure) < _rank(found[key][1]):
                found[key] = name, measure
    return [row | looked | _decided(*found.get((row["candidate"], row["metric"]), ("", None))) for row in before]


def with_bets(before: Sequence[Row], bets: Bets) -> list[Row]:
    """The rows with what has been bet on their floors."""
    entries = {key: json.dumps(entry, allow_nan=False) for key, entry in bets.entries.items()}
    return [row | {"floors": entries.get((row["candidate"], row["metric"]))} for row in before]


def with_alarms(before: Sequence[Row], alarms: Mapping[Key, Sequence[str]]) -> list[Row]:
    """The rows with the alarms that are about them."""
    told = {key: "; ".join(sentences) for key, sentences in alarms.items() if sentences}
    return [row | {"alarm": told.get((row["candidate"], row["metric"]))} for row in before]


def losses(document: Mapping[str, Any], look: Look) -> dict[Key, list[str]]:
    """Which measures are worse, in words: by how much, and which rows."""
    found: dict[Key, list[str]] = {}
    for pair in document["pairs"]:
        for name, measure in pair["measures"].items():
            if measure["verdict"] == "worse":
                key = (pair["head"], name.removesuffix(VALUE))
                found.setdefault(key, []).append(_loss(document, pair, name, measure, look))
    return found


def undecided(document: Mapping[str, Any]) -> list[str]:
    """Why the gate fails, or can't decide, beside what is worse."""
    status = wording.outcome(document).status
    if status == 0 or (status == 1 and not document["blocked"] and _has_worse(document)):
        return []
    reasons = [
        f"{_shown(pair['head'])} {refused['measure']}: {refused['reason']}"
        for pair in document["pairs"]
        for refused in pair["refused"]
        if refused["blocks"]
    ]
    if gone := document["candidates"]["only_base"]:
        reasons.append(f"only in the baseline: {listed([_shown(name) for name in gone])}")
    about = f" {'; '.join(reasons)}" if reasons else ""
    return [
        " ".join(
            f"Compared with {_shown(document['base']['name'])}: {wording.outcome(document).sentence}{about}".split()
        )
    ]


def _has_worse(document: Mapping[str, Any]) -> bool:
    return any(measure["verdict"] == "worse" for pair in document["pairs"] for measure in pair["measures"].values())


def _loss(
    document: Mapping[str, Any], pair: Mapping[str, Any], name: str, measure: Mapping[str, Any], look: Look
) -> str:
    difference = measure["difference"]
    ids = [visible(cut(row["id"], LONGEST_ID)) for row in pair["flips"]["worst"] if name in row["lost"]]
    lost = pair["flips"]["lost"].get(name, 0)
    shown, more = ids[: wording.NAMES], lost - min(len(ids), wording.NAMES)
    which = f"; rows lost: {', '.join(shown)}{f' and {count(more)} more' if more else ''}" if shown else ""
    return (
        f"{_shown(pair['head'])} {name}: worse than {_shown(document['base']['name'])} by {extent(difference)}"
        f" on {count(measure['n'])} rows (look {look.number}, level {look.level:.2g}){which}"
    )


def _shown(text: str) -> str:
    """A name on one line, with nothing in it that hides or reorders what stands around it."""
    return visible(cut(text))


def _rank(measure: Mapping[str, Any]) -> int:
    return _GRAVEST.index(measure["verdict"])


def _decided(name: str, measure: Mapping[str, Any] | None) -> Row:
    if measure is None:
        return {}
    difference = measure["difference"]
    return {
        "measure": name,
        "difference": difference["value"],
        "difference_low": difference["low"],
        "difference_high": difference["high"],
        "verdict": measure["verdict"],
    }


def _numbers(entry: Entry) -> Row:
    rate = entry.get("pass_rate", {})
    return {
        "value": entry["value"],
        "low": entry["low"],
        "high": entry["high"],
        "n": entry["n"],
        "n_not_asked": entry["n_not_asked"],
        "n_failed": entry["n_failed"],
        "signature": entry["signature"],
        "pass_rate": rate.get("value"),
        "pass_rate_low": rate.get("low"),
        "pass_rate_high": rate.get("high"),
        "threshold": rate.get("threshold"),
    }
