"""Sums of the row differences of two versions: all that a paired interval and its power need of any number of rows."""

from math import isfinite, sqrt
from typing import NamedTuple

import numpy as np

from tasks.statistics.arrays import FloatArray
from tasks.statistics.clusters import ClusterTotals
from tasks.statistics.moments import UNIT, Moments, ratio


class DifferenceSums(NamedTuple):
    """The differences of some rows, head - base; sums are exact, and those of several parts add up.

    Attributes:
        moments: Of the differences; one at a bound is a change by the full width of the metric.
        unchanged: Number of rows whose difference is 0.
        moved: Sum of the absolute differences, in units of 2 ** -1074.
        largest: Largest absolute difference.
    """

    moments: Moments = Moments()
    unchanged: int = 0
    moved: int = 0
    largest: float = 0.0

    @classmethod
    def of(cls, differences: FloatArray, width: float) -> "DifferenceSums":
        """Add up differences, shape (n,), finite; width: upper - lower bound of the metric, may be infinite."""
        unchanged, won, lost = (int(np.count_nonzero(differences == each)) for each in (0.0, width, -width))
        if unchanged + won + lost == differences.size:  # counts say all, and need no compiled code
            unit, changed = _exact(width) if won + lost else 0, won + lost
            moments = Moments(differences.size, (won - lost) * unit, changed * unit**2, lost, won)
            return cls(moments, unchanged, changed * unit, width if changed else 0.0)
        moments = Moments.of(differences, (-width, width))
        sizes = np.abs(differences)
        return cls(moments, unchanged, Moments.of(sizes, (0.0, 0.0)).total, float(sizes.max(initial=0.0)))

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
        )


class Items:
    """The independent items, rows or clusters, in units of the metric's width if that is finite.

    Attributes:
        count: Number of items.
        mean: Their mean change, which is the mean difference of the rows.
        variance: Of their changes, with count - 1 below the line; 0 for a single item.
        largest: Largest absolute change.
        usual: Usual size of a change: the sum of squares over that of absolute changes; None if nothing changed.
        worst: Mean square of items that change by the largest possible amount.
    """

    def __init__(self, sums: DifferenceSums, clusters: ClusterTotals | None, width: float) -> None:
        unit = width if isfinite(width) else 1.0
        self.mean = sums.moments.mean / unit
        self._change: FloatArray | None = None
        self._share: FloatArray | None = None
        if clusters is None:
            self.count = sums.n
            self.variance = sums.moments.variance / unit**2 if sums.n > 1 else 0.0
            self.largest = sums.largest / unit
            self.usual = ratio(sums.moments.square, sums.moved << UNIT) / unit if sums.moved else None
            self.worst = 1.0
            return
        self.count = clusters.size.size
        # Clusters scaled to have the mean of the rows; when all rows of one change by 1, it changes by its share.
        scale = self.count / sums.n
        change, share = clusters.total * (scale / unit), clusters.size * scale
        rest, moved = change - share * self.mean, float(np.abs(change).sum())
        self._change, self._share = change, share
        self.variance = float(rest @ rest) / max(self.count - 1, 1)
        self.largest = float(np.abs(change).max())
        self.usual = float(change @ change) / moved if moved > 0.0 else None
        self.worst = float(np.mean(share**2))

    @property
    def are_clusters(self) -> bool:
        """Whether the items are clusters."""
        return self._share is not None

    def squares(self, centre: float, total: float) -> float:
        """The sum of squared residuals, enlarged for leverage if items are clusters; total: weight of all items."""
        if self._change is None or self._share is None:
            return (self.count - 1.0) * self.variance + self.count * (self.mean - centre) ** 2
        rest = self._change - self._share * centre
        return float((rest**2 / (1.0 - self._share / total)).sum())

    @property
    def usual_size(self) -> float:
        """The usual size of a change; if nothing changed, the root of `worst`."""
        return sqrt(self.worst) if self.usual is None else self.usual


def _exact(number: float) -> int:
    """A number in units of 2 ** -1074."""
    numerator, denominator = number.as_integer_ratio()
    return (numerator << UNIT) // denominator
