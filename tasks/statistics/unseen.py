"""What rare large deviations, of which the rows show none, add to the variance of a mean; and the rows' evidence.

Small deviations may hide rare large ones that no row has shown yet. An interval therefore allows for the square of the
largest possible deviation, times 2.4 / n². Rows away from the mean reduce that, to nothing where their evidence reaches
5. If all rows are equal, the limits are ±3.04/n of the largest deviation.

The largest deviation is that of the metric's bounds, never of the scores seen: that no row of the base scored above .3
says nothing about rare rows that did, and those lose the most. If 99 % of rows rise from .3 to .31 and 1 % fall from 1
to 0, the true change is 0; 100 rows have none of the latter in 37 % of draws, and .01 ± 3.04 · (.3 + .01)/100 excludes
0 in each of them (64 % coverage in 3,000 draws).
"""

from math import inf
from typing import NamedTuple

import numpy as np

from tasks.statistics.arrays import Bounds, FloatArray

_UNSEEN, _SEEN_ENOUGH, _SEEN_POWER = 2.4, 5.0, 0.4
# Less than any distance of two scores.
_NO_ROOM = 1e-300


def evidence(distances: FloatArray, room: float) -> FloatArray:
    """Return u²·(1 - u²)² of u = |distance| / room, how much each item counts as evidence about rare deviations.

    Args:
        distances: From the mean, any shape; above `room` they count as `room`.
        room: The largest possible distance on the side of the rare deviations, 0 or more.
    """
    u = np.minimum(np.abs(distances) / max(room, _NO_ROOM), 1.0)
    return np.asarray((u * (1.0 - u**2)) ** 2)


def unseen_variance(seen: float, room: float, count: int, worst: float = 1.0) -> float:
    """Return what rare large deviations that no item has shown add to the variance of the mean.

    Args:
        seen: The sum of `evidence` over the items, 0 or more.
        room: As of `evidence`.
        count: Number of items.
        worst: Mean square of the items' weights, 1 for rows.
    """
    share = max(0.0, 1.0 - float((seen / _SEEN_ENOUGH) ** _SEEN_POWER))
    return _UNSEEN * share * worst * (room / count) ** 2


class Deviations(NamedTuple):
    """Sums over some rows of scores about the mean of all, in [0, 1]; those of several parts add up.

    Attributes:
        below: Sum of `evidence` where the room is that below the mean.
        above: Likewise above the mean.
        cubes: Sum of the cubes of the deviations.
    """

    below: float = 0.0
    above: float = 0.0
    cubes: float = 0.0

    @classmethod
    def of(cls, scores: FloatArray, mean: float, bounds: Bounds) -> "Deviations":
        """Add up scores within finite bounds, shape (n,), given the mean of all."""
        width = bounds[1] - bounds[0]
        distances, p = (scores - mean) / width, min(max((mean - bounds[0]) / width, 0.0), 1.0)
        columns = evidence(distances, p), evidence(distances, 1.0 - p), distances**3
        return cls(*(float(column.sum()) for column in columns))

    def __add__(self, other: object) -> "Deviations":
        """The sums of the rows of both."""
        return Deviations(*map(sum, zip(self, other, strict=True))) if isinstance(other, Deviations) else NotImplemented

    @property
    def seen(self) -> tuple[float, float]:
        """The evidence about rare scores far below the mean, and far above it."""
        return self.below, self.above

    def skew(self, squares: float) -> float:
        """The sum of cubes over the sum of squares to the power of 1.5, 0 or more; infinite where that is 0."""
        size: float = squares**1.5
        return abs(self.cubes) / size if size else inf
