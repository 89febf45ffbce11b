"""Sums of products of measures over the rows of all blocks: how far differences, and how far scores, go together."""

from collections.abc import Iterator, Sequence

import numpy as np

from tasks.comparison.compared import Compared
from tasks.comparison.compared_rows import ComparedRows
from tasks.comparison.pairing import Pairing, Positions
from tasks.metrics.base import Floats
from tasks.scores.columns import lone_clusters
from tasks.scores.sums import summed
from tasks.statistics.clusters import GroupTotals
from tasks.statistics.correlation import ColumnProducts, column_products

# With more differences their correlations cost more than they gain: Šidák's value, which assumes none, is used.
MOST_JOINT = 200
# Two measures whose correlation over the rows is rounded to 1.00 are one measure.
SAME = 0.995


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
    varies, correlations = np.diagonal(sums.varies), sums.correlations
    groups: list[list[int]] = []
    for i in range(len(measures)):
        if varies[i]:
            group = next((group for group in groups if correlations[group[0], i] >= SAME), None)
            if group is None:
                groups.append([i])
            else:
                group.append(i)
    return [[measures[i].name for i in group] for group in groups if len(group) > 1]


def _scores(measures: Sequence[Compared], pairing: Pairing) -> ColumnProducts:
    """The sums over the shared rows of one block, those of both candidates."""
    rows = [ComparedRows.of(pairing, one.name) for one in measures]
    base = np.column_stack([each.base.values[pairing.base_rows] for each in rows])
    head = np.column_stack([each.head.values[pairing.head_rows] for each in rows])
    return ColumnProducts.of(np.vstack([base, head]))


def _by_row(measures: Sequence[Compared]) -> Floats:
    """The sums of products of the influences of rows on the differences, each as a share of the largest one."""
    k = len(measures)
    # What is near the mean of each difference's influences, so that their products lose no digits.
    centres = np.nan_to_num([-one.value if one.head.kind == "corpus" else one.value for one in measures])
    scales = np.array([_largest(one) for one in measures])
    sums = np.zeros((2 * k, 2 * k))
    for columns, _ in _joined(measures):
        columns[:, :k] = columns[:, k:] * (columns[:, :k] - centres) / scales
        sums += column_products(columns, columns)
    rows = np.maximum(np.diagonal(sums[k:, k:]), 1.0)
    means = np.diagonal(sums[:k, k:]) / rows
    totals, counts = sums[:k, k:], sums[k:, k:]
    moved = totals * means
    centred = sums[:k, :k] - moved - moved.T + np.outer(means, means) * counts
    np.fill_diagonal(centred, np.maximum(np.diagonal(centred), 0.0))
    return np.asarray(centred / np.outer(rows, rows))


def _by_cluster(measures: Sequence[Compared]) -> Floats | None:
    """The same of clusters; None if there is a single one."""
    k = len(measures)
    found: GroupTotals | None = None
    for columns, clusters in _joined(measures):
        more = GroupTotals.of(clusters, columns)
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
