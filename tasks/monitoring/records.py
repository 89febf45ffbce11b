"""The rows of one run in the history: its numbers from reports/metrics.json, and the decisions on them."""

import json
from collections.abc import Mapping, Sequence

from tasks.monitoring.baseline import BaselineLook
from tasks.monitoring.floors import FloorTests
from tasks.monitoring.store import Row
from tasks.scores.column_facts import VALUE
from tasks.scores.metrics_report import numbers, reading
from tasks.versions.experiments import Experiment, Facts
from tasks.wording.alarms import Key
from tasks.wording.comparison_document import MeasureEntry, PairEntry
from tasks.wording.verdicts import Verdict


def rows(experiment: Experiment, facts: Facts, schedule: str = "") -> list[Row]:
    """One row per (candidate, metric) of the run, without decisions.

    Raises:
        DataError: reports/metrics.json is missing, or not what aggregate writes.
    """
    shared = {"run": experiment.name, "commit": experiment.commit, "schedule": schedule, **facts._asdict()}
    with reading() as document:
        return [
            shared | {"candidate": candidate, "metric": metric} | numbers(entry)
            for candidate, metrics in document["candidates"].items()
            for metric, entry in metrics.items()
        ]


def compared(
    before: Sequence[Row], pairs: Sequence[PairEntry], baseline: str, commit: str, look: BaselineLook
) -> list[Row]:
    """The rows with the look at the baseline and the verdicts; of two measures of a metric the one that counts.

    A secondary measure is stored without a verdict: it decides nothing.
    """
    at_look = {
        "baseline": baseline,
        "baseline_commit": commit,
        "content": look.content,
        "look": look.number,
        "level": look.level,
    }
    measures: dict[Key, tuple[str, MeasureEntry]] = {}
    for pair in pairs:
        for name, measure in pair["measures"].items():
            key = (pair["head"], name.removesuffix(VALUE))
            if key not in measures or _rank(measure) < _rank(measures[key][1]):
                measures[key] = name, measure
    return [row | at_look | _decided(*measures.get((row["candidate"], row["metric"]), ("", None))) for row in before]


def with_floors(before: Sequence[Row], tests: FloorTests) -> list[Row]:
    """The rows with the e-processes of their floors."""
    entries = {key: json.dumps(entry, allow_nan=False) for key, entry in tests.entries.items()}
    return [row | {"floors": entries.get((row["candidate"], row["metric"]))} for row in before]


def with_alarms(before: Sequence[Row], alarms: Mapping[Key, Sequence[str]]) -> list[Row]:
    """The rows with the alarms that are about them."""
    texts = {key: "; ".join(sentences) for key, sentences in alarms.items() if sentences}
    return [row | {"alarm": texts.get((row["candidate"], row["metric"]))} for row in before]


def _rank(measure: MeasureEntry) -> tuple[bool, int]:
    return measure["role"] == "secondary", Verdict(measure["verdict"]).gravity


def _decided(name: str, measure: MeasureEntry | None) -> Row:
    if measure is None:
        return {}
    difference = measure["difference"]
    return {
        "measure": name,
        "difference": difference["value"],
        "difference_low": difference["low"],
        "difference_high": difference["high"],
        "verdict": None if measure["role"] == "secondary" else measure["verdict"],
    }
