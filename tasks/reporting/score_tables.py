"""Estimates of data/aggregate arranged for the page: by family and metric, and by slice."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from tasks.reporting.survey import Reasons, most_frequent
from tasks.scores.column_facts import ColumnFacts
from tasks.wording.evidence import by_column

Row = dict[str, Any]
# Table → the title of its metrics; that of a stage that a user adds is its name.
FAMILIES = {
    "load": "Human labels and imported scores",
    "lexical": "Words and characters",
    "semantic": "Meaning",
    "judge": "Judge",
}
# Estimates of slices on the page at most, about 0.3 kB each. The leading metric comes first.
MOST_IN_SLICES = 10_000


def family_title(table: str) -> str:
    """Return the title of a table's metrics."""
    return FAMILIES.get(table) or table.replace("_", " ").capitalize()


class MetricScores(NamedTuple):
    """One score column with the estimates of all candidates.

    rows: candidate → its estimate over all rows, a row of data/aggregate.
    missing: candidate without a score → the reason.
    """

    name: str
    facts: ColumnFacts
    rows: dict[str, Row]
    missing: dict[str, str]

    @property
    def gated(self) -> bool:
        """Whether the metric has a pass rate."""
        return self.facts.has_pass_rate

    @property
    def rule(self) -> str:
        """The rule by which a row passes, in words."""
        return "" if not self.gated or self.name == "label" else f"passes {self.facts.rule}"

    @property
    def signatures(self) -> list[str]:
        """The signatures of the candidates' estimates; of a column that is not measured, that of its scores."""
        return [*dict.fromkeys(row["signature"] for row in self.rows.values())] or [self.facts.signature]

    @property
    def methods(self) -> dict[str, list[str]]:
        """Method of an interval → the candidates with this method."""
        candidates: dict[str, list[str]] = {}
        for name, row in self.rows.items():
            candidates.setdefault(row["method"], []).append(name)
        return candidates


def passing(row: Row) -> Row:
    """Return the pass rate of a row of data/aggregate as an estimate."""
    return {name: row[f"pass_{name}"] for name in ("value", "low", "high")}


def by_metric(agreement: Mapping[str, Mapping[str, Row]]) -> dict[str, dict[str, Row]]:
    """Regroup candidate → metric → agreement as metric → candidate → agreement, the highest mean accuracy first."""
    regrouped = by_column(agreement)

    def accuracy(name: str) -> float:
        return fmean(entry["accuracy"]["value"] for entry in regrouped[name].values())

    return {name: regrouped[name] for name in sorted(regrouped, key=lambda name: (-accuracy(name), name))}


class SliceRow(NamedTuple):
    """One value of a slice column; rows: candidate → its estimate."""

    value: str
    rows: dict[str, Row]

    @property
    def lowest(self) -> float:
        """The lowest pass rate of a candidate; 2 where none is measured."""
        rates = [row["pass_value"] for row in self.rows.values() if row["pass_value"] is not None]
        return min(rates, default=2.0)


class SliceTable(NamedTuple):
    """One metric by the values of a slice column, most rows first; left_out: how many values are not shown."""

    metric: MetricScores
    rows: list[SliceRow]
    left_out: int


def measured_rows(estimates: pa.Table) -> dict[tuple[str, str], Row]:
    """Return (metric, candidate) → its estimate over all rows, if any row is measured."""
    headline = estimates.filter(pc.is_null(estimates["slice"])).to_pylist()
    return {(row["metric"], row["candidate"]): row for row in headline if row["n"]}


def metrics(
    facts: Mapping[str, ColumnFacts],
    measured: Mapping[tuple[str, str], Row],
    candidates: Sequence[str],
    reasons: Reasons,
) -> list[MetricScores]:
    """Return the score columns of a table with their estimates, the human label first.

    Args:
        facts: Column → its facts, in the order of the table.
        measured: As `measured_rows` returns it.
        candidates: In the order of the page.
        reasons: Why scores are missing.
    """
    return [
        MetricScores(
            name,
            facts[name],
            {other: measured[name, other] for other in candidates if (name, other) in measured},
            {other: most_frequent(reasons, name, other) for other in candidates if (name, other) not in measured},
        )
        for name in sorted(facts, key=lambda name: name != "label")
    ]


def slices(estimates: pa.Table, ranked: Sequence[MetricScores], limit: int) -> dict[str, list[SliceTable]]:
    """Arrange the estimates by slice column and metric.

    If there are more than MOST_IN_SLICES estimates, the first metric gets as many values as fit and the last ones none.

    Args:
        estimates: data/aggregate.
        ranked: Metrics with a pass rate, the leading one first.
        limit: Values of a slice column at most.

    Returns:
        Slice column → a table for each metric.
    """
    by_column: dict[str, dict[str, dict[str, dict[str, Row]]]] = {}
    for row in estimates.to_pylist():
        if row["slice"] is not None:
            values = by_column.setdefault(row["slice"], {}).setdefault(row["metric"], {})
            values.setdefault(row["slice_value"], {})[row["candidate"]] = row
    sorted_columns = sorted(by_column.items())
    columns = {name: [_most_rows_first(values[one.name]) for one in ranked] for name, values in sorted_columns}

    def size(metrics: int, values: int) -> int:
        return sum(len(row.rows) for tables in columns.values() for rows in tables[:metrics] for row in rows[:values])

    limit = max(1, bisect_right(range(1, limit + 1), MOST_IN_SLICES, key=lambda values: size(1, values)))
    fitting = max(1, bisect_right(range(1, len(ranked) + 1), MOST_IN_SLICES, key=lambda metrics: size(metrics, limit)))
    limits = [limit if n < fitting else 0 for n in range(len(ranked))]
    return {
        name: [
            SliceTable(metric, rows[:most], max(0, len(rows) - most))
            for metric, rows, most in zip(ranked, tables, limits, strict=True)
        ]
        for name, tables in columns.items()
    }


def _most_rows_first(values: Mapping[str, dict[str, Row]]) -> list[SliceRow]:
    rows = [SliceRow(value, by_candidate) for value, by_candidate in values.items()]
    return sorted(rows, key=lambda row: (-max(estimate["rows"] for estimate in row.rows.values()), row.value))
