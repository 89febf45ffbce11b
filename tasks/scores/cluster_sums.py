"""Sums of one score column over the rows of each cluster; clusters of several parts add up by their keys."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tasks.metrics.base import Floats

if TYPE_CHECKING:  # importing scipy takes half a second, and every stage reads this module's params
    from tasks.statistics.clusters import ClusterTotals

Integers = NDArray[np.int64]
# A fixed-point sum is two integers, the whole and the rest in units of 2 ** -40, so that the order of rows changes
# nothing; each row is rounded by less than 1e-12. A part of a table has less than 2 ** 23 rows.
FIXED = 40
REST = np.int64((1 << FIXED) - 1)


class ClusterSums(NamedTuple):
    """The measured rows of each cluster.

    keys: of the clusters, ascending, shape (m,). sizes: rows, shape (m,). passed: rows that pass, shape (m,).
    totals: sums of the scores: rescaled to [0, 1], fixed-point, shape (m, 2); without bounds Python's integers in units
    of 2 ** -1074, shape (m,).
    stats: sums of the statistics, fixed-point, shape (m, k, 2); k is 0 where the corpus score is a mean.
    """

    keys: Integers
    sizes: Integers
    passed: Integers
    totals: NDArray[np.generic]
    stats: Integers

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
        sums = ClusterSums(*(column[used] for column in summed))
        for fixed in (sums.totals, sums.stats):
            if fixed.dtype == np.int64:
                _carry(fixed)
        return sums

    def of_scores(self, bounds: tuple[float, float] | None) -> "ClusterTotals":
        """The totals of scores within `bounds`."""
        from tasks.statistics.clusters import ClusterTotals
        from tasks.statistics.moments import exact_floats

        sizes = self.sizes.astype(np.float64)
        if bounds is None:
            return ClusterTotals(sizes, exact_floats(self.totals.tolist()))
        unit = np.clip(_floats(self.totals), 0.0, sizes)
        return ClusterTotals(sizes, bounds[0] * sizes + (bounds[1] - bounds[0]) * unit)

    def of_verdicts(self) -> "ClusterTotals":
        """The totals of verdicts, 1 or 0."""
        from tasks.statistics.clusters import ClusterTotals

        return ClusterTotals(self.sizes.astype(np.float64), self.passed.astype(np.float64))

    def of_stats(self) -> Floats:
        """The statistics of each cluster, shape (m, k)."""
        return _floats(self.stats)


def cluster_sums(
    keys: Integers,
    values: Floats,
    bounds: tuple[float, float] | None,
    passed: NDArray[np.bool_] | None,
    stats: Floats | None,
) -> ClusterSums:
    """Add up measured rows, n of them, by their cluster.

    Args:
        keys: The cluster of each row, shape (n,).
        values: Scores, shape (n,).
        bounds: Of the scores.
        passed: Which rows pass, shape (n,), or None.
        stats: Statistics, shape (n, k), or None where the corpus score is a mean.
    """
    from tasks.statistics.moments import Moments

    distinct, codes = np.unique(keys, return_inverse=True)
    count = len(distinct)
    if bounds is None:
        totals: NDArray[np.generic] = np.array(
            [one.total for one in Moments.by_code(values, codes, count, (-np.inf, np.inf))], object
        )
    else:
        totals = _added(codes, count, _fixed(np.clip((values - bounds[0]) / (bounds[1] - bounds[0]), 0.0, 1.0)))
    return ClusterSums(
        distinct,
        np.bincount(codes, minlength=count),
        np.zeros(count, np.int64) if passed is None else np.bincount(codes[passed], minlength=count),
        totals,
        _added(codes, count, _fixed(np.empty((len(values), 0)) if stats is None else stats)),
    )


def _fixed(numbers: Floats) -> Integers:
    wholes = np.floor(numbers)
    return np.stack([wholes, np.rint((numbers - wholes) * 2.0**FIXED)], axis=-1).astype(np.int64)


def _floats(fixed: NDArray[Any]) -> Floats:
    return np.asarray(fixed[..., 0] + fixed[..., 1] / 2.0**FIXED)


def _added(codes: NDArray[np.intp], count: int, fixed: Integers) -> Integers:
    added = np.zeros((count, *fixed.shape[1:]), np.int64)
    np.add.at(added, codes, fixed)
    _carry(added)
    return added


def _carry(fixed: NDArray[Any]) -> None:
    """Take the wholes out of the rests."""
    fixed[..., 0] += fixed[..., 1] >> FIXED
    fixed[..., 1] &= REST
