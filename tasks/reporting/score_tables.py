"""The estimates of data/aggregate arranged for reading: by family and metric, and slice by slice."""

import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from tasks.metrics.base import DISABLED, NOT_ASKED
from tasks.pipeline.tables import Parts
from tasks.scores.column_facts import ColumnFacts
from tasks.scores.columns import ScoreColumn, details_column

Row = dict[str, Any]
FAMILIES = {
    "load": "What people say, and scores from elsewhere",
    "lexical": "Words and characters",
    "semantic": "Meaning",
    "judge": "Judge",
}
"""Table → what its metrics look at."""
MOST_IN_SLICES = 10_000
"""Estimates of slices on the page, about 0.3 kB each: the leading metric comes first."""


class Metric(NamedTuple):
    """One score column: what its metadata says, and the headline row of each candidate that has a score.

    missing: candidate without a score → why it has none.
    """

    name: str
    facts: ColumnFacts
    rows: dict[str, Row]
    missing: dict[str, str]

    @property
    def gated(self) -> bool:
        """Whether it has a pass rate."""
        return self.facts.has_pass_rate

    @property
    def rule(self) -> str:
        """When a row passes, in words."""
        return "" if not self.gated or self.name == "label" else f"passes {self.facts.rule}"

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
    facts = {column.name: column.facts for column in columns}
    names = sorted(facts, key=lambda name: name != "label")
    headline = [row for row in estimates.to_pylist() if row["slice"] is None]
    return [_metric(table, name, facts[name], headline, candidates) for name in names]


def _metric(table: Parts, name: str, facts: ColumnFacts, headline: list[Row], candidates: Sequence[str]) -> Metric:
    rows = {row["candidate"]: row for row in headline if row["metric"] == name and row["n"]}
    missing = {each: why_missing(table, name, facts, each) for each in candidates if each not in rows}
    return Metric(name, facts, {each: rows[each] for each in candidates if each in rows}, missing)


def why_missing(table: Parts, name: str, facts: ColumnFacts, candidate: str) -> str:
    """The commonest reason for a candidate's missing scores."""
    if name == "label":
        return "no labels"
    reasons: Counter[str] = Counter()
    for reason, status in _reasons(table, name, facts, candidate):
        reasons[_reason(reason, status)] += 1
    return min(reasons, key=lambda each: (-reasons[each], each), default="no rows")


def _reasons(table: Parts, name: str, facts: ColumnFacts, candidate: str) -> Iterator[tuple[str | None, str | None]]:
    present = table.schema.names
    details = details_column(table, name, facts)
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
    """Slice column → a table for each metric; at most `limit` values each.

    shown: metrics that have a pass rate, the most telling first. Of very many estimates the first metric gets as many
    values as fit, and the last ones none.
    """
    found: dict[str, dict[str, dict[str, dict[str, Row]]]] = {}
    for row in estimates.to_pylist():
        if row["slice"] is not None:
            values = found.setdefault(row["slice"], {}).setdefault(row["metric"], {})
            values.setdefault(row["slice_value"], {})[row["candidate"]] = row
    columns = {
        name: [_most_rows_first(by_metric[metric.name]) for metric in shown]
        for name, by_metric in sorted(found.items())
    }

    def drawn(metrics: int, values: int) -> int:
        those = [rows[:values] for each in columns.values() for rows in each[:metrics]]
        return sum(len(row.rows) for rows in those for row in rows)

    limit = max(1, bisect_right(range(1, limit + 1), MOST_IN_SLICES, key=lambda values: drawn(1, values)))
    room = max(1, bisect_right(range(1, len(shown) + 1), MOST_IN_SLICES, key=lambda metrics: drawn(metrics, limit)))
    limits = [limit if n < room else 0 for n in range(len(shown))]
    return {name: [*map(_slice_table, shown, each, limits)] for name, each in columns.items()}


def _slice_table(metric: Metric, rows: list[SliceRow], limit: int) -> SliceTable:
    return SliceTable(metric, rows[:limit], max(0, len(rows) - limit))


def _most_rows_first(values: Mapping[str, dict[str, Row]]) -> list[SliceRow]:
    rows = [SliceRow(value, by_candidate) for value, by_candidate in values.items()]
    return sorted(rows, key=lambda row: (-max(each["rows"] for each in row.rows.values()), row.value))
