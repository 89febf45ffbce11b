"""The rows of one run in the history: its numbers from reports/metrics.json, and the decisions on them."""

import json
from collections.abc import Mapping, Sequence

from tasks.console.format import CUT, abridged, abridged_apart, count, cut, listed, visible
from tasks.monitoring.baseline_looks import BaselineLook
from tasks.monitoring.floors import FloorTests
from tasks.monitoring.store import Row
from tasks.scores.column_facts import VALUE
from tasks.scores.metrics_report import numbers, reading
from tasks.versions.experiments import Experiment, Facts
from tasks.wording import comparison_lines
from tasks.wording.comparison_document import ComparisonDocument, MeasureEntry, PairEntry
from tasks.wording.comparison_lines import extent
from tasks.wording.verdicts import Decision, Verdict

# Characters of a row's id in a sentence: ids that are hashes of the input have 64.
LONGEST_ID = 20
Key = tuple[str, str]


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


def losses(document: ComparisonDocument, look: BaselineLook) -> dict[Key, list[str]]:
    """The primary measures and guards that are worse, in words: by how much, and which rows."""
    sentences: dict[Key, list[str]] = {}
    shown = _shown(document)
    for pair in document["pairs"]:
        for name, measure in pair["measures"].items():
            if measure["verdict"] == Verdict.WORSE and measure["role"] != "secondary":
                key = (pair["head"], name.removesuffix(VALUE))
                sentences.setdefault(key, []).append(f"{shown[pair['head']]} {_loss(document, pair, name, look)}")
    return sentences


def undecided(document: ComparisonDocument) -> list[str]:
    """Why the gate fails or can't decide, except for measures that are worse, which have sentences of their own."""
    status = comparison_lines.outcome(document).status
    if status == 0 or (document["decision"]["verdict"] == Decision.DO_NOT_SHIP and not document["blocked"]):
        return []
    shown = _shown(document)
    reasons = [
        f"{shown[pair['head']]} {refused['measure']}: {refused['reason']}"
        for pair in document["pairs"]
        for refused in pair["refused"]
        if refused["blocks"]
    ]
    if gone := document["candidates"]["only_base"]:
        reasons.append(f"only in the baseline: {listed([_visible(name) for name in gone])}")
    about = f" {'; '.join(reasons)}" if reasons else ""
    says = comparison_lines.outcome(document).sentence
    sentence = f"Compared with {_visible(document['base']['name'])}: {says}{about}"
    return [" ".join(sentence.split())]


def _loss(document: ComparisonDocument, pair: PairEntry, name: str, look: BaselineLook) -> str:
    measure = pair["measures"][name]
    ids = [visible(cut(row["id"], LONGEST_ID)) for row in pair["flips"]["worst"] if name in row["lost"]]
    lost = pair["flips"]["lost"].get(name, 0)
    first, more = ids[: comparison_lines.NAMES], lost - min(len(ids), comparison_lines.NAMES)
    which = f"; rows lost: {', '.join(first)}{f' and {count(more)} more' if more else ''}" if first else ""
    return (
        f"{name}: worse than {_visible(document['base']['name'])}"
        f" by {extent(measure['difference'], measure['unit'])} on {count(measure['n'])} rows"
        f" (look {look.number}, level {look.level:.2g}){which}"
    )


def _shown(document: ComparisonDocument) -> dict[str, str]:
    """HEAD's compared candidates → their names for a sentence, never two equal ones."""
    short = abridged_apart([pair["head"] for pair in document["pairs"]], CUT)
    return {name: visible(" ".join(text.split())) for name, text in short.items()}


def _visible(text: str) -> str:
    """A name on one line, without characters that hide or reorder the text around it."""
    return visible(abridged(" ".join(text.split()), CUT))


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
