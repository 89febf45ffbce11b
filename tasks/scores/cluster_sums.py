"""Sums of one score column over the rows of each cluster; clusters of several parts add up by their keys."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tasks.metrics.base import Floats

if TYPE_CHECKING:  # importing scipy takes half a second, and every stage reads this module's params
    from tasks.statistics.clusters import ClusterTotals, GroupTotals

Integers = NDArray[np.int64]


class ClusterSums(NamedTuple):
    """The measured rows of each cluster.

    keys: of the clusters, ascending, shape (m,). sizes: rows, shape (m,). passed: rows that pass, shape (m,).
    totals: sums of the scores, shape (m,). stats: of the statistics, shape (m, k); k is 0 where the corpus score is a
    mean.
    """

    keys: Integers
    sizes: Integers
    passed: Integers
    totals: Floats
    stats: Floats

    def with_more(self, other: "ClusterSums", sign: int = 1) -> "ClusterSums":
        """The sums of the rows of both; sign: -1 takes those of `other` out instead."""
        keys, places = np.unique(np.concatenate([self.keys, other.keys]), return_inverse=True)
        ours, theirs = places[: len(self.keys)], places[len(self.keys) :]

        def joined(mine: NDArray[np.generic], more: NDArray[np.generic]) -> NDArray[np.generic]:
            added = np.zeros((len(keys), *mine.shape[1:]), mine.dtype)
            added[ours] = mine
            added[theirs] += sign * more
            return added

        summed: list[Any] = [keys, *(joined(*pair) for pair in zip(self[1:], other[1:], strict=True))]
        used = np.flatnonzero(summed[1]) if sign < 0 else slice(None)
        return ClusterSums(*(column[used] for column in summed))

    def of_scores(self, bounds: tuple[float, float] | None) -> "ClusterTotals":
        """The totals of scores within `bounds`."""
        from tasks.statistics.clusters import ClusterTotals

        sizes, (low, high) = self.sizes.astype(np.float64), bounds or (-np.inf, np.inf)
        return ClusterTotals(sizes, np.clip(self.totals, low * sizes, high * sizes))

    def of_verdicts(self) -> "ClusterTotals":
        """The totals of verdicts, 1 or 0."""
        from tasks.statistics.clusters import ClusterTotals

        return ClusterTotals(self.sizes.astype(np.float64), self.passed.astype(np.float64))

    def keyed(self, clusters: "ClusterTotals") -> "GroupTotals":
        """Totals of these clusters, with the keys by which those of several parts add up."""
        from tasks.statistics.clusters import GroupTotals

        return GroupTotals(self.keys, clusters.size, clusters.total[:, None])


def cluster_sums(
    keys: Integers,
    values: Floats,
    passed: NDArray[np.bool_] | None,
    stats: Floats | None,
) -> ClusterSums:
    """Add up measured rows, n of them, by their cluster.

    Args:
        keys: The cluster of each row, shape (n,).
        values: Scores, shape (n,).
        passed: Which rows pass, shape (n,), or None.
        stats: Statistics, shape (n, k), or None where the corpus score is a mean.
    """
    distinct, codes = np.unique(keys, return_inverse=True)
    count, columns = len(distinct), [] if stats is None else [*stats.T]
    return ClusterSums(
        distinct,
        np.bincount(codes, minlength=count),
        np.zeros(count, np.int64) if passed is None else np.bincount(codes[passed], minlength=count),
        np.bincount(codes, values, count).astype(np.float64),
        np.column_stack([np.empty((count, 0)), *(np.bincount(codes, column, count) for column in columns)]),
    )
