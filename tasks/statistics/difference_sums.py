"""Sums of the row differences of two versions: all that a paired interval and its power need of any number of rows."""

from math import isfinite, sqrt
from typing import NamedTuple

import numpy as np

from tasks.statistics.arrays import FloatArray, IntArray
from tasks.statistics.clusters import ClusterTotals
from tasks.statistics.moments import Moments
from tasks.statistics.unseen import evidence

# Steps of the width to which differences are rounded where their distribution matters, not their sum.
STEPS = 1024
NO_SPREAD = np.zeros(0, np.intp)


class DifferenceSums(NamedTuple):
    """The differences of some rows, head - base; the sums of several parts add up.

    Attributes:
        moments: Of the differences; one at a bound is a change by the full width of the metric.
        unchanged: Number of rows whose difference is 0.
        moved: Sum of the absolute differences.
        largest: Largest absolute difference.
        spread: Number of rows by difference, in steps of the width; shape (2 * STEPS + 1,); empty without bounds.
    """

    moments: Moments = Moments()
    unchanged: int = 0
    moved: float = 0.0
    largest: float = 0.0
    spread: IntArray = NO_SPREAD

    @classmethod
    def of(cls, differences: FloatArray, width: float) -> "DifferenceSums":
        """Add up differences, shape (n,), finite; width: upper - lower bound of the metric, may be infinite."""
        moments, sizes = Moments.of(differences, (-width, width)), np.abs(differences)
        unchanged, largest = int(np.count_nonzero(sizes == 0.0)), float(sizes.max(initial=0.0))
        return cls(moments, unchanged, float(sizes.sum()), largest, _spread(differences, width))

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.moments.n

    @property
    def wins_and_losses(self) -> tuple[int, int] | None:
        """The numbers of rows that improved and got worse by the full width; None if any other row changed."""
        b, c = self.moments.at_high, self.moments.at_low
        return (b, c) if b + c + self.unchanged == self.n else None

    def __add__(self, other: object) -> "DifferenceSums":
        """The sums of the rows of both."""
        if not isinstance(other, DifferenceSums):
            return NotImplemented
        return DifferenceSums(
            self.moments + other.moments,
            self.unchanged + other.unchanged,
            self.moved + other.moved,
            max(self.largest, other.largest),
            _added(self.spread, other.spread),
        )


class Items:
    """The independent items, rows or clusters, in units of the metric's width if that is finite.

    Attributes:
        count: Number of items.
        mean: Their mean change, which is the mean difference of the rows.
        variance: Of their changes, with count - 1 below the line; 0 for a single item.
        largest: Largest absolute change.
        usual: Usual size of a change: the sum of squares over that of absolute changes; 1 if nothing changed.
        error: Standard error of the mean; of clusters with the leverage of CR2 (Bell & McCaffrey 2002).
        worst: Mean square of items that change by the largest possible amount.
        are_clusters: Whether the items are clusters.
    """

    def __init__(self, sums: DifferenceSums, clusters: ClusterTotals | None, width: float) -> None:
        unit = width if isfinite(width) else 1.0
        self.mean, self.are_clusters = sums.moments.mean / unit, clusters is not None
        if clusters is None:
            self.count = sums.n
            self.variance = sums.moments.variance / unit**2 if sums.n > 1 else 0.0
            self.error = sqrt(self.variance / self.count)
            self.largest = sums.largest / unit
            squares = sums.moments.squares + sums.moments.total * sums.moments.mean
            self.usual = squares / sums.moved / unit if sums.moved else 1.0
            self.worst = 1.0
            used = np.flatnonzero(sums.spread)
            changes, self._counts = (used - STEPS) / STEPS, sums.spread[used]
            self._distances = changes - float(changes @ self._counts) / self.count
            return
        self.count = clusters.size.size
        # Clusters scaled to have the mean of the rows; when all rows of one change by 1, it changes by its share.
        scale = self.count / sums.n
        change, share = clusters.total * (scale / unit), clusters.size * scale
        rest, moved = change - share * self.mean, float(np.abs(change).sum())
        self.variance = float(rest @ rest) / max(self.count - 1, 1)
        self.error = sqrt(float((rest**2 / (1.0 - share / self.count)).sum())) / self.count
        self.largest = float(np.abs(change).max())
        self.usual = float(change @ change) / moved if moved > 0.0 else 1.0
        self.worst = float(np.mean(share**2))
        self._distances, self._counts = rest / share, np.ones(self.count, np.intp)

    def seen(self, room: float) -> float:
        """Return the sum of `evidence` over the items, 0 or more; room: the largest change from the mean, in [0, 2]."""
        return float(self._counts @ evidence(self._distances, room))


def _added(mine: IntArray, more: IntArray) -> IntArray:
    """The counts of both; those of no rows are empty."""
    return mine + more if mine.size and more.size else mine if mine.size else more


def _spread(differences: FloatArray, width: float) -> IntArray:
    """Count differences, shape (n,), by steps of the width from its negative on, shape (2 * STEPS + 1,)."""
    if not isfinite(width):
        return NO_SPREAD
    places = np.rint(np.clip(differences / width, -1.0, 1.0) * STEPS).astype(np.intp) + STEPS
    return np.bincount(places, minlength=2 * STEPS + 1)
