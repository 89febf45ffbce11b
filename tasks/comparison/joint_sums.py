"""Sums of products of measures over the rows of all blocks: how far differences, and how far scores, go together."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import reduce
from math import sqrt
from operator import add
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tasks.comparison.compared import Compared
from tasks.comparison.compared_rows import ComparedRows
from tasks.comparison.measure_sums import on_grid
from tasks.comparison.measures import Measure
from tasks.comparison.pairing import Pairing, Positions
from tasks.metrics.base import Floats
from tasks.scores.columns import lone_clusters
from tasks.scores.sums import summed
from tasks.statistics.group_totals import GroupTotals
from tasks.statistics.moments import SQUARE_UNIT, UNIT, exact_product

# With more differences their correlations cost more than they gain: Šidák's value, which assumes none, is used.
MOST_JOINT = 200
# Rows whose columns are copied at the same time.
ROWS_AT_ONCE = 8_192
# Two measures whose correlation over the rows is rounded to 1.00 are one measure.
SAME = 0.995
# A matrix of integers, of any size.
Integers = npt.NDArray[np.object_]


def critical_value(measures: Sequence[Compared], confidence: float, *, joint: bool = True) -> float:
    """The number of standard errors that the largest of all differences stays within.

    Rows of one id are one item, whatever pair of candidates they are of; so are all rows of one cluster.
    joint: whether the differences are those of the rows as they are; else Šidák's value is used.
    """
    from tasks.statistics.multiplicity import max_t_of_products, sidak

    if not measures:
        return float("nan")
    if not joint or len(measures) > MOST_JOINT or any(one.is_designed for one in measures):
        return sidak(len(measures), confidence)
    if len(measures) == 1:
        return sidak(1, confidence)
    grouped = any(one.sums.groups is not None for one in measures)
    products = _by_cluster(measures) if grouped else None
    return max_t_of_products(_by_row(measures) if products is None else products, confidence)


def duplicates(measures: Sequence[Compared]) -> list[list[str]]:
    """Groups of measures of two candidates that say the same of every answer of either."""
    if len(measures) < 2:  # noqa: PLR2004 (nothing to compare)
        return []
    sums = summed(_scores(measures, pairing) for pairing in measures[0].blocks)
    groups: list[list[int]] = []
    for i in range(len(measures)):
        if sums.varies(i, i):
            group = next((group for group in groups if sums.correlation(group[0], i) >= SAME), None)
            if group is None:
                groups.append([i])
            else:
                group.append(i)
    return [[measures[i].name for i in group] for group in groups if len(group) > 1]


class ScoreProducts(NamedTuple):
    """Sums over rows of k scores; each of shape (k, k).

    product: of scores i and j, over the rows that have both, in units of 2 ** -2148. square: of the squares of score i
    over the rows that have score j, likewise. total: of score i over these, in units of 2 ** -1074. rows: their number.
    """

    product: Integers
    total: Integers
    square: Integers
    rows: Integers

    def __add__(self, other: object) -> "ScoreProducts":
        """The sums of the rows of both."""
        return ScoreProducts(*map(add, self, other)) if isinstance(other, ScoreProducts) else NotImplemented

    def varies(self, i: int, j: int) -> bool:
        """Whether score i differs between the rows that have score j."""
        return bool(self.rows[i, j] * self.square[i, j] != self.total[i, j] ** 2)

    def correlation(self, i: int, j: int) -> float:
        """The correlation of scores i and j over the rows that have both; 0 without a spread."""
        if not (self.varies(i, j) and self.varies(j, i)):
            return 0.0
        n = self.rows[i, j]
        covariance = n * self.product[i, j] - self.total[i, j] * self.total[j, i]
        spread = [n * self.square[a, b] - self.total[a, b] ** 2 for a, b in ((i, j), (j, i))]
        size = sqrt(Fraction(covariance**2, spread[0] * spread[1]))
        return size if covariance > 0 else -size


def _scores(measures: Sequence[Compared], pairing: Pairing) -> ScoreProducts:
    """The sums over the shared rows of one block, those of both candidates."""
    rows = [ComparedRows.of(pairing, one.name) for one in measures]
    return reduce(
        add,
        (
            _of_side([each.base for each in rows], pairing.base_rows),
            _of_side([each.head for each in rows], pairing.head_rows),
        ),
    )


def _of_side(measures: Sequence[Measure], rows: Positions) -> ScoreProducts:
    k = len(measures)
    columns, rates = np.zeros((len(rows), 2 * k)), [one.kind == "rate" for one in measures]
    for i, one in enumerate(measures):
        values = one.values[rows]
        columns[:, k + i] = ~np.isnan(values)
        columns[:, i] = np.where(np.isnan(values), 0.0, values)
    sums = _products(columns, [*rates, *[True] * k])
    square = sums[:k, k:].copy()
    for i in (i for i, is_rate in enumerate(rates) if not is_rate):
        for j in range(k):
            square[i, j] = exact_product(columns[:, i], columns[:, i] * columns[:, k + j])
    counts = np.array([[n >> SQUARE_UNIT for n in some] for some in sums[k:, k:]], object)
    # Totals in the unit of numbers, not of products of numbers.
    total = np.array([[n >> UNIT for n in some] for some in sums[:k, k:]], object)
    return ScoreProducts(sums[:k, :k], total, square, counts)


def _by_row(measures: Sequence[Compared]) -> Floats:
    """The sums of products of the influences of rows on the differences, each as a share of the largest one."""
    k = len(measures)
    small = [one.head.kind == "rate" for one in measures] + [True] * k
    sums = summed((_products(columns, small) for columns, _ in _joined(measures)))
    rows = [sums[k + i, k + i] >> SQUARE_UNIT for i in range(k)]
    means = [Fraction(sums[i, k + i], rows[i] << SQUARE_UNIT) if rows[i] else Fraction() for i in range(k)]
    scales = [rows[i] * Fraction(_largest(one)) for i, one in enumerate(measures)]
    products = np.zeros((k, k))
    for i in range(k):
        for j in range(i + 1):
            if rows[i] and rows[j]:
                total = sums[i, j] + means[i] * means[j] * sums[k + i, k + j]
                centred = total - means[j] * sums[i, k + j] - means[i] * sums[j, k + i]
                products[i, j] = products[j, i] = float(centred / (1 << SQUARE_UNIT) / scales[i] / scales[j])
    return products


def _by_cluster(measures: Sequence[Compared]) -> Floats | None:
    """The same of clusters; None if there is a single one."""
    k = len(measures)
    grids = [one.head.scale if one.head.bounds else np.inf for one in measures]
    found: GroupTotals | None = None
    for columns, clusters in _joined(measures):
        on = np.column_stack([*(on_grid(columns[:, i], grids[i]) for i in range(k)), columns[:, k:]])
        more = GroupTotals.of(clusters, on)
        found = more if found is None else found + more
    if found is None or len(found.keys) == 1:
        return None
    totals, sizes = found.totals[:, :k], found.totals[:, k:]
    rows = np.maximum(sizes.sum(axis=0), 1.0)
    influence = (totals - totals.sum(axis=0) / rows * sizes) / rows / np.array([_largest(one) for one in measures])
    return np.asarray(influence.T @ influence)


def _joined(measures: Sequence[Compared]) -> Iterator[tuple[Floats, Positions]]:
    """Yield the differences of each block, one row per id of any pair of candidates, and the cluster of each row.

    Shape (n, 2 k): the differences, 0 where unmeasured, and which rows are measured, as 1 and 0.
    """
    k = len(measures)
    for number in range(len(measures[0].blocks)):
        every = [ComparedRows.of(one.blocks[number], one.name) for one in measures]
        keys = every[0].pairing.keys
        if not all(np.array_equal(keys, rows.pairing.keys) for rows in every):
            keys = np.unique(np.concatenate([rows.pairing.keys for rows in every]))
        columns, clusters = np.zeros((len(keys), 2 * k)), lone_clusters(keys)
        for i, (one, rows) in enumerate(zip(measures, every, strict=True)):
            places = (
                np.searchsorted(keys, rows.pairing.keys) if len(rows.measured) < len(keys) else np.arange(len(keys))
            )
            influence = _influence(one, rows)
            columns[places[rows.measured], i] = influence
            columns[places[rows.measured], k + i] = 1.0
            if rows.pairing.groups is not None:
                clusters[places] = rows.pairing.groups
        yield columns, clusters


def _influence(one: Compared, rows: ComparedRows) -> Floats:
    """What each measured row adds to the difference, up to a constant; 0 where a corpus score has no jackknife."""
    if one.head.kind != "corpus":
        return rows.differences
    if one.n < 2 or one.row_jackknife.undefined:  # noqa: PLR2004 (no row can be left out)
        return np.zeros(int(rows.measured.sum()))
    return -one.without_each(*rows.stats)


def _largest(one: Compared) -> float:
    """The scale of a difference's influences: units of two measures may be 10¹² apart."""
    return one.head.scale if one.head.kind == "corpus" else one.sums.differences.largest or 1.0


def _products(columns: Floats, small: Sequence[bool]) -> Integers:
    """The sums of products of each two columns in units of 2 ** -2148, shape (k, k).

    small: which columns hold nothing but -1, 0 and 1.
    """
    chosen = np.flatnonzero(small)
    counts = np.zeros((len(chosen), len(chosen)))
    for start in range(0, len(columns), ROWS_AT_ONCE):
        signs = columns[start : start + ROWS_AT_ONCE, chosen]
        counts += signs.T @ signs
    sums = np.zeros((len(small), len(small)), object)
    sums[np.ix_(chosen, chosen)] = [[int(n) << SQUARE_UNIT for n in some] for some in counts.tolist()]
    for i in (i for i, is_small in enumerate(small) if not is_small):
        for j in range(len(small)):
            sums[i, j] = sums[j, i] = exact_product(columns[:, i], columns[:, j])
    return sums
