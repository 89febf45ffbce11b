"""The estimates of data/aggregate arranged for reading: by family and metric, and slice by slice."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from tasks.columns import ScoreColumn, details_column
from tasks.metrics.base import DISABLED, NOT_ASKED
from tasks.reporting.words import rule
from tasks.tables import Parts

Row = dict[str, Any]
FAMILIES = {
    "load": "What people say, and scores from elsewhere",
    "lexical": "Words and characters",
    "semantic": "Meaning",
    "judge": "Judge",
}
"""Table → what its metrics look at."""


class Metric(NamedTuple):
    """One score column: what its metadata says, and the headline row of each candidate that has a score.

    missing: candidate without a score → why it has none.
    """

    name: str
    about: Row
    rows: dict[str, Row]
    missing: dict[str, str]

    @property
    def gated(self) -> bool:
        """Whether it has a pass rate."""
        return "rate_signature" in self.about

    @property
    def rule(self) -> str:
        """When a row passes, in words."""
        return "" if not self.gated or self.name == "label" else f"passes {rule(self.about)}"

    @property
    def methods(self) -> dict[str, list[str]]:
        """How the intervals were made → the candidates whose were."""
        found: dict[str, list[str]] = {}
        for name, row in self.rows.items():
            found.setdefault(row["method"], []).append(name)
        return found


def passing(row: Row) -> Row:
    """The pass rate of a row of data/aggregate, as an estimate to be drawn."""
    return {name: row[f"pass_{name}"] for name in ("value", "low", "high")}


def by_metric(agreement: Mapping[str, Mapping[str, Row]]) -> dict[str, dict[str, Row]]:
    """Metric → candidate → how far they agree with people; the metric that agrees most often first."""
    found: dict[str, dict[str, Row]] = {}
    for candidate, metrics_of in agreement.items():
        for name, entry in metrics_of.items():
            found.setdefault(name, {})[candidate] = entry

    def mean(name: str) -> float:
        return fmean(entry["accuracy"]["value"] for entry in found[name].values())

    return {name: found[name] for name in sorted(found, key=lambda name: (-mean(name), name))}


class SliceRow(NamedTuple):
    """One value of a slice column: its estimate for each candidate."""

    value: str
    rows: dict[str, Row]


class SliceTable(NamedTuple):
    """One metric over the values of one slice column, most rows first; left_out: values not shown."""

    metric: Metric
    rows: list[SliceRow]
    left_out: int


def metrics(
    table: Parts, columns: Sequence[ScoreColumn], estimates: pa.Table, candidates: Sequence[str]
) -> list[Metric]:
    """The score columns of a table, in their order; people's label first."""
    about = {column.name: column.about for column in columns}
    names = sorted(about, key=lambda name: name != "label")
    headline = [row for row in estimates.to_pylist() if row["slice"] is None]
    return [_metric(table, name, about[name], headline, candidates) for name in names]


def _metric(table: Parts, name: str, about: Row, headline: list[Row], candidates: Sequence[str]) -> Metric:
    rows = {row["candidate"]: row for row in headline if row["metric"] == name and row["n"]}
    missing = {each: why_missing(table, name, about, each) for each in candidates if each not in rows}
    return Metric(name, about, {each: rows[each] for each in candidates if each in rows}, missing)


def why_missing(table: Parts, name: str, about: Row, candidate: str) -> str:
    """The commonest reason for a candidate's missing scores."""
    if name == "label":
        return "no labels"
    reasons: Counter[str] = Counter()
    for reason, status in _reasons(table, name, about, candidate):
        reasons[_reason(reason, status)] += 1
    return min(reasons, key=lambda each: (-reasons[each], each), default="no rows")


def _reasons(table: Parts, name: str, about: Row, candidate: str) -> Iterator[tuple[str | None, str | None]]:
    present = table.schema.names
    details = details_column(table, name, about)
    columns = [each for each in (details, "judge_status") if each and each in present]
    for part in table.read(["candidate", *columns]):
        rows = part.filter(pc.equal(part["candidate"], candidate))
        nothing = [None] * rows.num_rows
        told = rows[details].to_pylist() if details else nothing
        yield from zip(told, rows["judge_status"].to_pylist() if "judge_status" in present else nothing, strict=True)


def _reason(details: str | None, status: str | None) -> str:
    if status in NOT_ASKED:
        return f"judge {status}" if status == DISABLED else str(status)
    return str(json.loads(details or "{}").get("unmeasured", status or "no reason given"))


def slices(estimates: pa.Table, shown: Sequence[Metric], limit: int) -> dict[str, list[SliceTable]]:
    """Slice column → a table for each metric that has a pass rate; at most `limit` values each."""
    found: dict[str, dict[str, dict[str, dict[str, Row]]]] = {}
    for row in estimates.to_pylist():
        if row["slice"] is not None:
            values = found.setdefault(row["slice"], {}).setdefault(row["metric"], {})
            values.setdefault(row["slice_value"], {})[row["candidate"]] = row
    return {
        name: [_slice_table(metric, by_metric[metric.name], limit) for metric in shown if metric.rows]
        for name, by_metric in sorted(found.items())
    }


def _slice_table(metric: Metric, values: Mapping[str, dict[str, Row]], limit: int) -> SliceTable:
    rows = [SliceRow(value, by_candidate) for value, by_candidate in values.items()]
    rows.sort(key=lambda row: (-max(each["rows"] for each in row.rows.values()), row.value))
    return SliceTable(metric, rows[:limit], max(0, len(rows) - limit))
