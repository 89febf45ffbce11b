"""Estimates arranged for the page: by family and metric, by slice, and the verdict for every pair of candidates."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from goldmeter.comparison.gate import verdict
from goldmeter.estimates.column_facts import VALUE, ColumnFacts
from goldmeter.estimates.headline import as_headlined, deciding
from goldmeter.estimates.metrics_report import HeadlineEntry, Limited
from goldmeter.reporting.survey import Reasons, most_frequent
from goldmeter.wording.comparison_document import MeasureEntry, PairEntry, Unit
from goldmeter.wording.evidence import by_column
from goldmeter.wording.verdicts import RELATIONS, Verdict

Row = dict[str, Any]
# Table → the title of its metrics; that of a stage that a user adds is its name.
FAMILIES = {
    "load": "Given in the data",
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


def measured_rows(
    estimates: pa.Table, headlines: Mapping[str, HeadlineEntry] | None = None
) -> dict[tuple[str, str], Row]:
    """Return (metric, candidate) → its estimate over all rows, if any row is measured.

    headlines: those of the candidates, whose rates are shown once (`as_headlined`).
    """
    found = {}
    for row in estimates.filter(pc.is_null(estimates["slice"])).to_pylist():
        for kind in ("", "pass_"):
            entry: Limited = {"value": row[f"{kind}value"], "low": row[f"{kind}low"], "high": row[f"{kind}high"]}
            shown = as_headlined(headlines or {}, row["candidate"], row["metric"], entry)
            row |= {f"{kind}{side}": value for side, value in shown.items()}
        if row["n"]:
            found[row["metric"], row["candidate"]] = row
    return found


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


Headlines = Mapping[str, Mapping[str, float]]
NOTHING: Headlines = {}
LABEL = "label"
# Verdict of a pair → points in the order of the candidates.
POINTS = {Verdict.BETTER: 1, Verdict.WORSE: -1}
# Pairs that the page shows measure by measure, about 20 kB each: all pairs of 12 candidates.
MOST_IN_FULL = 66


class PairVerdict(NamedTuple):
    """One candidate compared with another; difference: value, low and high of the first minus the second."""

    verdict: Verdict
    difference: dict[str, float | None]


class CandidateMatrix(NamedTuple):
    """All pairs on one measure; candidates: the best first; cells: (candidate, other candidate) → PairVerdict."""

    measure: str
    candidates: list[str]
    cells: dict[tuple[str, str], PairVerdict]
    unit: Unit


def lead_measure(pairs: Sequence[PairEntry], wanted: str | None = None) -> str | None:
    """Return the primary measure of the pairs; without one, the wanted metric, else the first one."""
    primary = _primary(pairs)
    names = [name for pair in pairs for name in pair["measures"]]
    return next((name for name in (*primary, wanted, f"{wanted}{VALUE}", *names) if name in names), None)


def headlines(metrics: Iterable[MetricScores]) -> Headlines:
    """Return measure → candidate → its pass rate or score over all its rows."""
    return {
        measure: {name: row[value] for name, row in metric.rows.items() if row[value] is not None}
        for metric in metrics
        for measure, value in ((metric.name, "pass_value"), (f"{metric.name}{VALUE}", "value"))
    }


def matrix(pairs: Sequence[PairEntry], measure: str | None, headline: Headlines = NOTHING) -> CandidateMatrix | None:
    """Arrange all pairs on one measure; None if fewer than two pairs have it.

    Candidates are ordered by pairs won minus pairs lost, then by their headline figure. The values of a pair would not
    do for the order, because each pair is compared on other rows.
    """
    several, by = _primary(pairs), [measure]
    if measure in several and len(several) > 1:  # human labels decide where both candidates have them
        by = [*several]
        found = [(pair, decides[1]) for pair in pairs if (decides := deciding(pair, measure))]
        measure = " or ".join(several)
    else:
        found = [(pair, pair["measures"][measure]) for pair in pairs if measure in pair["measures"]]
    if measure is None or len(found) < 2:  # noqa: PLR2004 (the page has a sentence for one pair)
        return None
    cells: dict[tuple[str, str], PairVerdict] = {}
    for pair, compared in found:
        base, head = pair["base"], pair["head"]
        cells[head, base], cells[base, head] = _cell(compared), _mirrored(compared)
    won = Counter({name: 0 for name, _ in cells})
    for (name, _), cell in cells.items():
        won[name] += POINTS.get(cell.verdict, 0)
    rates = {name: value for each in by if each for name, value in headline.get(each, {}).items()}
    _, first = found[0]
    sign = -1 if first["higher_is_better"] else 1
    order = sorted(won, key=lambda name: (-won[name], name not in rates, sign * rates.get(name, 0.0), name))
    return CandidateMatrix(measure, order, cells, first["unit"])


def _primary(pairs: Sequence[PairEntry]) -> list[str]:
    """The measures that decide pairs, human labels last: the others are measured of all candidates."""
    found = {name for pair in pairs for name, entry in pair["measures"].items() if entry["role"] == "primary"}
    return sorted(found, key=lambda name: (name == LABEL, name))


def leads(pairs: CandidateMatrix) -> bool:
    """Return whether the first candidate was compared with all others, is better than some and worse than none."""
    verdicts = against(pairs, pairs.candidates[0])
    compared = sum(len(others) for others in verdicts.values())
    return Verdict.BETTER in verdicts and Verdict.WORSE not in verdicts and compared == len(pairs.candidates) - 1


def top(pairs: CandidateMatrix) -> list[str]:
    """Return the candidates that no other is better than, the best first: they cannot be told apart from the best."""
    return [name for name in pairs.candidates if Verdict.WORSE not in against(pairs, name)]


def all_compared(pairs: CandidateMatrix, names: Sequence[str]) -> bool:
    """Return whether each of these candidates was compared with each other one."""
    return all((one, other) in pairs.cells for one in names for other in names if one != other)


def in_full(pairs: Sequence[PairEntry], order: CandidateMatrix | None) -> Sequence[PairEntry]:
    """Return the pairs to show measure by measure: at most MOST_IN_FULL, those of the first candidate first."""
    if len(pairs) <= MOST_IN_FULL:
        return pairs
    best = order.candidates[0] if order else None
    return sorted(pairs, key=lambda pair: best not in (pair["base"], pair["head"]))[:MOST_IN_FULL]


def left_out(pairs: Sequence[PairEntry], measure: str, headline: Headlines) -> dict[str, list[str]]:
    """Return reason → the candidates that the measure compares with no other for this reason."""
    names = {pair[side] for pair in pairs for side in ("base", "head")}
    compared = {pair[side] for pair in pairs if measure in pair["measures"] for side in ("base", "head")}
    reasons: dict[str, list[str]] = {}
    for name in sorted(names - compared):
        missing = "no labels" if measure == LABEL else "not measured"
        reasons.setdefault("not compared" if name in headline.get(measure, {}) else missing, []).append(name)
    return reasons


def against(pairs: CandidateMatrix, candidate: str) -> dict[Verdict, list[str]]:
    """Return verdict → the other candidates with this verdict, in the order of RELATIONS."""
    verdicts: dict[Verdict, list[str]] = {name: [] for name in RELATIONS}
    for other in pairs.candidates:
        if cell := pairs.cells.get((candidate, other)):
            verdicts[cell.verdict].append(other)
    return {name: others for name, others in verdicts.items() if others}


def _cell(measure: MeasureEntry) -> PairVerdict:
    return PairVerdict(measure["verdict"], {name: measure["difference"][name] for name in ("value", "low", "high")})


def _mirrored(measure: MeasureEntry) -> PairVerdict:
    """Return the verdict with the candidates swapped: "no worse" may become "cannot tell"."""
    value, low, high = (measure["difference"][name] for name in ("value", "low", "high"))
    turned = {"value": _minus(value), "low": _minus(high), "high": _minus(low)}
    if value is None or low is None or high is None:
        return PairVerdict(measure["verdict"], turned)
    better, same = measure["higher_is_better"], measure["verdict"] == Verdict.UNCHANGED
    directed = "no_direction" not in measure
    swapped = verdict(-high, -low, measure["margin"], higher_is_better=better, unchanged=same, has_direction=directed)
    return PairVerdict(swapped, turned)


def _minus(value: float | None) -> float | None:
    return None if value is None else 0.0 - value
