"""Repeated answers on the page: pass@k and pass^k by candidate, the variance split, and the conclusion in words."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from goldmeter.console.format import counted, rate_interval
from goldmeter.estimates.metrics_report import MetricEntry, MetricsReport, PassEntry, SpreadEntry
from goldmeter.estimates.primary import VERDICT
from goldmeter.wording.conclusion import NAMED, UNKNOWN
from goldmeter.wording.notes import number_of_draws
from goldmeter.wording.release import source


class PassTable(NamedTuple):
    """One measure: its columns, such as pass@5, and for each candidate the cells under them."""

    measure: str
    columns: list[str]
    rows: dict[str, list[PassEntry]]


class RepeatedAnswers(NamedTuple):
    """The section on repeated answers.

    sentences: candidate → the conclusion on it, of the best ones. caution: what the intervals leave out. asked: how
    many questions and answers. table: of the primary measure, or of the first one that passes or fails. others: of the
    other measures. spreads: candidate → its variance split by the measure of `table`.
    """

    sentences: dict[str, str]
    caution: str
    asked: str
    table: PassTable
    spreads: dict[str, SpreadEntry]
    others: list[PassTable]


def repeated_answers(document: MetricsReport, candidates: Sequence[str]) -> RepeatedAnswers | None:
    """The section's content from reports/metrics.json; None where questions have one answer."""
    entries = {name: document["candidates"].get(name, {}) for name in candidates}
    names = dict.fromkeys(name for own in entries.values() for name, entry in own.items() if "pass_at" in entry)
    tables = [table for name in names if (table := _table(name, entries)).rows]
    if not tables:
        return None
    decides = document["primary"]["measure"].partition(".")[0] if "primary" in document else ""
    chosen = next((table for table in tables if table.measure == decides), tables[0])
    own = {name: entries[name][chosen.measure] for name in chosen.rows}
    by = source(chosen.measure, next(iter(own.values()))["signature"])
    return RepeatedAnswers(
        sentences={name: _sentence(entry, by) for name, entry in [*own.items()][:NAMED]},
        caution=_caution(document, chosen.measure, by),
        asked=_asked(document),
        table=chosen,
        spreads={name: entry["spread"] for name, entry in own.items() if "spread" in entry},
        others=[table for table in tables if table is not chosen],
    )


def _table(measure: str, entries: Mapping[str, Mapping[str, MetricEntry]]) -> PassTable:
    """The table of a measure, without candidates that it does not measure."""
    rows = {}
    columns: list[str] = []
    for name, own in entries.items():
        entry = own.get(measure)
        if entry is None or entry["value"] is None or not entry.get("pass_at"):
            continue
        at, every = entry["pass_at"], {k: one for k, one in entry["pass_all"].items() if k != "1"}
        columns = [*(f"pass@{k}" for k in at), *(f"pass^{k}" for k in every)]
        rows[name] = [*at.values(), *every.values()]
    return PassTable(measure, columns, rows)


def _sentence(entry: MetricEntry, by: str) -> str:
    """The conclusion on one candidate: of one answer, and of as many as some question has."""
    at, every = entry["pass_at"], entry["pass_all"]
    usable = [k for k, one in at.items() if one["value"] is not None]
    if not usable:
        return "No question has enough measured answers."
    parts = [f"One answer passes in {_share(at['1'])} of cases (pass@1)"] if "1" in usable else []
    if (k := usable[-1]) != "1":
        parts += [
            f"{'at' if parts else 'At'} least one of {k} in {_share(at[k])} (pass@{k})",
            f"all of {k} in {_share(every[k])} (pass^{k})",
        ]
    return f"{', '.join(parts)}, by {by}."


def _share(entry: PassEntry) -> str:
    return rate_interval(entry["value"], entry["low"], entry["high"])


def _caution(document: MetricsReport, measure: str, by: str) -> str:
    """What to say of verdicts whose error is not in the intervals."""
    unknown = [name for name, one in document.get("headlines", {}).items() if one["status"] in {UNKNOWN, "estimated"}]
    if measure != VERDICT or not unknown:
        return ""
    return f"The intervals are of the verdicts: the error of {by} is not in them."


def _asked(document: MetricsReport) -> str:
    counts = document["dataset"]
    if "questions" not in counts:
        return ""
    return f"{counted(counts['questions'], 'question')} with {number_of_draws(counts['draws_each'])} answers each"
