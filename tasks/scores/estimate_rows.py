"""Estimates as rows of data/aggregate: one per (candidate, metric, slice column, slice value)."""

from collections.abc import Callable, Iterator, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from tasks.scores import estimates, human_labels
from tasks.scores.columns import Candidate
from tasks.scores.offline_calibration import RECALIBRATED, Probabilities
from tasks.scores.score_parts import SecondSums
from tasks.scores.sums import CandidateSums, ColumnSums

if TYPE_CHECKING:  # importing scipy takes half a second
    from tasks.statistics import Estimate

Row = dict[str, Any]


def estimate_rows(
    scored: Sequence[CandidateSums], second: SecondSums, confidence: float, *, guarantee: bool
) -> Iterator[Row]:
    """Estimate every metric of every candidate, over all rows and over each slice.

    Args:
        scored: The candidates.
        second: What depends on their sums.
        confidence: Of the intervals.
        guarantee: Whether coverage never falls below it.
    """
    how = _How(second, confidence, guarantee)
    for candidate in scored:
        for place, column in enumerate(candidate.columns):
            yield {"candidate": candidate.name} | how.row(column, candidate.name, (None, None))
            for name, values in candidate.slices.items():
                for value, columns in values.items():
                    labels = {"candidate": candidate.name, "slice": name, "slice_value": value}
                    yield labels | how.row(columns[place], candidate.name, (name, value))


def with_designed(
    rows: Sequence[Row], whole: Sequence[Candidate], offline: Probabilities, confidence: float, *, guarantee: bool
) -> list[Row]:
    """The rows with the estimates of human labels that a design chose, instead of the labels' plain means."""
    scaled = {candidate.name for candidate in whole if offline.are_recalibrated(candidate)}
    known = {
        (candidate.name, name, value): estimate
        for candidate in whole
        for name, value, estimate in human_labels.designed_estimates(
            candidate, offline.of_labels[candidate.positions], confidence
        )
    }
    notes = [estimates.NO_GUARANTEE] if guarantee else []
    return [
        row
        | _designed(known[row["candidate"], row.get("slice"), row.get("slice_value")], notes)
        | (_recalibrated(row) if row["candidate"] in scaled else {})
        if row["metric"] == human_labels.LABEL
        else row
        for row in rows
    ]


def _recalibrated(row: Row) -> Row:
    """The signatures of a value that recalibrated probabilities are part of."""
    return {name: f"{row[name]}|{RECALIBRATED}" for name in ("signature", "rate_signature") if row.get(name)}


def _designed(estimate: "Estimate", notes: Sequence[str]) -> Row:
    value = _finite(estimate.value)
    return {
        **dict.fromkeys(("value", "worst", "best", "pass_value"), value),
        "low": estimate.low,
        "high": estimate.high,
        "method": estimate.method.with_notes(*notes),
        "pass_low": estimate.low,
        "pass_high": estimate.high,
    }


class _How(NamedTuple):
    """How columns are estimated. guarantee: whether coverage never falls below the confidence."""

    second: SecondSums
    confidence: float
    guarantee: bool

    def row(self, column: ColumnSums, candidate: str, where: tuple[str | None, str | None]) -> Row:
        """Estimate one column of a candidate over some rows, given their sums.

        where: slice column and value, if any.
        """
        place = (*where, column.name)
        estimate = estimates.estimate(
            column,
            self.second.replicates[candidate].get(place),
            self.confidence,
            deviations=self.second.deviations[candidate].get(place),
            guarantee=self.guarantee,
        )
        low, high = column.facts.bounds or (None, None)
        n, failed = column.n_measured, column.n_rows - column.n_measured - column.not_asked
        return {
            "metric": column.name,
            **{name: _finite(getattr(estimate, name)) for name in ("value", "low", "high")},
            "method": estimate.method,
            "rows": column.n_rows,
            "n": n,
            "n_not_asked": column.not_asked,
            "n_failed": failed,
            "worst": _with_failed(estimate.value, n, low, failed, min),
            "best": _with_failed(estimate.value, n, high, failed, max),
            "lower_bound": low,
            "upper_bound": high,
            "failed_share": failed / (n + failed) if n + failed else 0.0,
            "signature": column.facts.signature,
            **self._pass_rate(column),
        }

    def _pass_rate(self, column: ColumnSums) -> Row:
        if column.passed is None:
            return {}
        rate = estimates.pass_rate(column, self.confidence, guarantee=self.guarantee)
        return {
            "pass_value": _finite(rate.value),
            "pass_low": rate.low,
            "pass_high": rate.high,
            "threshold": column.facts.threshold,
            "rate_signature": column.facts.rate_signature,
        }


def _with_failed(
    value: float, n: int, score: float | None, failed: int, outermost: Callable[[float, float], float]
) -> float | None:
    """The value if every failed row had the score `score`; None without asked rows, or without bounds."""
    if n == 0:
        return score if failed else None
    if failed == 0:
        return _finite(value)
    return None if score is None else outermost(value, (value * n + score * failed) / (n + failed))


def _finite(value: float | None) -> float | None:
    return value if value is not None and isfinite(value) else None
