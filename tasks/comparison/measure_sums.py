"""Sums over the shared rows of one measure of two candidates: all that its difference needs, from any number of rows.

They are float64, added in the order of the blocks.
"""

from collections.abc import Iterator
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from tasks.comparison.compared_rows import ComparedRows
from tasks.comparison.measures import Measure
from tasks.metrics.base import Floats
from tasks.scores.columns import Mask
from tasks.statistics.clusters import GroupTotals
from tasks.statistics.paired import DifferenceSums
from tasks.statistics.weighted import WeightedSums

# Scores of equal answers may differ by so much between machines.
ROUNDING = 1e-6


class Side(NamedTuple):
    """The rows of one version.

    measured: measured rows, shared or not. total, stats: sums of their values, and of their statistics.
    shared_total, shared_stats: the same of the shared rows that are measured in both versions.
    failed: shared rows that were asked for and could not be measured. lacking: those of them that both were asked for.
    outside: shared rows measured in both that lie outside of the judge's domain.
    weighted_total: as shared_total, of weight · value; 0 without weights.
    """

    measured: int
    total: float
    stats: tuple[float, ...]
    shared_total: float
    shared_stats: tuple[float, ...]
    failed: int
    lacking: int
    outside: int
    weighted_total: float = 0.0

    def __add__(self, other: object) -> "Side":
        """The sums of the rows of both."""
        return Side(*map(_added, self, other)) if isinstance(other, Side) else NotImplemented


class MeasureSums(NamedTuple):
    """The sums over some rows of two candidates.

    differences: of the shared rows that are measured in both. groups: the same by cluster, or None.
    failed, differently_failed: shared rows that failed in any version, and in just one of them.
    not_asked: shared rows that are unmeasured by design in any version. lacking: those that both were asked for, and
    that are not measured in both. lost, won: sums of the differences of these if they had the worst value for HEAD, and
    the best; 0 without bounds.
    unequal: rows measured in both whose values, or statistics, differ. elsewhere: shared rows that the measure was not
    asked for, on which another score differs. both: rows that pass in both versions.
    weighted: of differences as shares of the width, where HEAD has weights; else None.
    """

    base: Side
    head: Side
    differences: DifferenceSums
    groups: GroupTotals | None
    failed: int
    differently_failed: int
    not_asked: int
    lacking: int
    lost: float
    won: float
    unequal: int
    elsewhere: int
    both: int
    weighted: WeightedSums | None = None

    def __add__(self, other: object) -> "MeasureSums":
        """The sums of the rows of both."""
        return MeasureSums(*map(_added, self, other)) if isinstance(other, MeasureSums) else NotImplemented

    @classmethod
    def of(cls, rows: ComparedRows) -> "MeasureSums":
        """Add up the rows of one block."""
        pairing, measured, kind = rows.pairing, rows.measured, rows.head.kind
        places = pairing.base_rows, pairing.head_rows
        values = [one.values[some] for one, some in zip((rows.base, rows.head), places, strict=True)]
        not_asked = [one.column.not_asked[some] for one, some in zip((rows.base, rows.head), places, strict=True)]
        missing = [np.isnan(some) for some in values]
        failed = [some & ~other for some, other in zip(missing, not_asked, strict=True)]
        not_asked_either = not_asked[0] | not_asked[1]
        lacking = ~not_asked_either & (missing[0] | missing[1])
        shared = [some[measured] for some in values]
        differences, stats, weights = shared[1] - shared[0], rows.stats, rows.weights
        rest = ~(measured | failed[0] | failed[1])
        base, head = (
            Side(
                *_all(one),
                shared_total=float(shared[i].sum()),
                shared_stats=column_totals(stats[i]),
                failed=_count(failed[i]),
                lacking=_count(lacking & missing[i]),
                outside=0 if of.outside is None else _count(of.outside[places[i][measured]]),
                weighted_total=0.0 if weights is None else float((weights * shared[i]).sum()),
            )
            for i, (one, of) in enumerate(((rows.base, pairing.base), (rows.head, pairing.head)))
        )
        width = _width(rows.head)
        groups = None if pairing.groups is None else pairing.groups[measured]
        lost, won = _with_failed(rows.head, values[0][lacking], values[1][lacking])
        return cls(
            base,
            head,
            DifferenceSums.of(differences, width),
            None if groups is None else GroupTotals.of(groups, differences[:, None]),
            failed=_count(failed[0] | failed[1]),
            differently_failed=_count(failed[0] != failed[1]),
            not_asked=_count(not_asked_either),
            lacking=_count(lacking),
            lost=lost,
            won=won,
            unequal=_count((stats[0] != stats[1]).any(axis=1) if kind == "corpus" else differences != 0.0),
            elsewhere=_elsewhere(rows, rest) if rest.any() else 0,
            both=_count((shared[0] > 0) & (shared[1] > 0)) if kind == "rate" else 0,
            weighted=None
            if weights is None
            else WeightedSums.of(differences / width if isfinite(width) else differences, weights, groups),
        )


def slice_sums(rows: ComparedRows) -> Iterator[tuple[str, str, MeasureSums]]:
    """Yield slice column, value, and the sums of the rows measured in both that have the value in HEAD."""
    width, differences, stats, clusters = _width(rows.head), rows.differences, rows.stats, rows.clusters
    for name, slices in rows.pairing.head.slices.items():
        codes = slices.codes[rows.pairing.head_rows[rows.measured]]
        for code in np.unique(codes):
            inside = codes == code
            some = differences[inside]
            base, head = (NO_ROWS._replace(shared_stats=column_totals(each[inside])) for each in stats)
            groups = None if clusters is None else GroupTotals.of(clusters[inside], some[:, None])
            sums = NOTHING._replace(base=base, head=head, differences=DifferenceSums.of(some, width), groups=groups)
            yield name, slices.values[code], sums


# The sums of no rows.
NO_ROWS = Side(0, 0, (), 0, (), 0, 0, 0)
NOTHING = MeasureSums(NO_ROWS, NO_ROWS, DifferenceSums(), None, 0, 0, 0, 0, 0, 0, 0, 0, 0)


def column_totals(columns: Floats) -> tuple[float, ...]:
    """The sum of each column, shape (n, k)."""
    return tuple(columns.sum(axis=0).tolist())


def _width(measure: Measure) -> float:
    return float(np.inf) if measure.bounds is None else measure.scale


def _all(measure: Measure) -> tuple[int, float, tuple[float, ...]]:
    """How many rows of a candidate are measured, and the totals of their values and of their statistics."""
    measured = ~np.isnan(measure.values)
    stats = measure.column.stats if measure.kind == "corpus" else None
    return (
        _count(measured),
        float(measure.values[measured].sum()),
        () if stats is None else column_totals(stats[measured]),
    )


def _with_failed(head: Measure, older: Floats, newer: Floats) -> tuple[float, float]:
    """The total difference of failed rows if they had the worst values for HEAD, and if they had the best."""
    if head.kind == "corpus" or head.bounds is None or not older.size:
        return 0.0, 0.0
    low, high = head.bounds if head.higher_is_better else head.bounds[::-1]
    lost = np.where(np.isnan(newer), low, newer) - np.where(np.isnan(older), high, older)
    won = np.where(np.isnan(newer), high, newer) - np.where(np.isnan(older), low, older)
    return float(lost.sum()), float(won.sum())


def _elsewhere(rows: ComparedRows, rest: Mask) -> int:
    """How many of these shared rows have another score that differs."""
    pairing, differs = rows.pairing, np.zeros(int(rest.sum()), np.bool_)
    base = {column.name: column.values[pairing.base_rows[rest]] for column in pairing.base.columns}
    for column in pairing.head.columns:
        if column.name in base:
            differs |= np.abs(column.values[pairing.head_rows[rest]] - base[column.name]) > ROUNDING
    return _count(differs)


def _count(rows: Any) -> int:
    return int(np.count_nonzero(rows))


def _added(mine: Any, more: Any) -> Any:
    """The sum of two fields: numbers, sums, tuples of numbers, or None where there is none."""
    if mine is None or more is None:
        return None
    if type(mine) is tuple:
        return tuple(a + b for a, b in zip(mine, more, strict=True))
    return mine + more
