"""Sums of scores: what a mean and its interval need of any number of rows; those of several parts add up.

Also what rare large deviations, of which the rows show none, add to the variance of a mean.
"""

from dataclasses import dataclass
from math import inf
from typing import NamedTuple, Self

import numpy as np

from goldmeter.statistics.arrays import Bounds, FloatArray, IntArray

# Squared deviations that are left of a difference of two sums, as a share of the minuend's: less is rounding error.
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Moments:
    """The sums of n scores, in float64: equal parts that are added in the same order give the same bits.

    Attributes:
        n: Number of scores.
        total: Their sum.
        squares: The sum of their squared deviations from their mean.
        at_low: Scores at the lower bound.
        at_high: Scores at the upper bound.
        least: The smallest score.
        most: The largest score.

    Source: Chan, Golub & LeVeque 1983 for sums of squares of several parts.
    """

    n: int = 0
    total: float = 0.0
    squares: float = 0.0
    at_low: int = 0
    at_high: int = 0
    least: float = inf
    most: float = -inf

    @classmethod
    def of(cls, scores: FloatArray, bounds: Bounds) -> Self:
        """Add up scores, shape (n,), finite."""
        return cls.by_code(scores, np.zeros(scores.size, np.intp), 1, bounds)[0]

    @classmethod
    def by_code(cls, scores: FloatArray, codes: IntArray, count: int, bounds: Bounds) -> list[Self]:
        """Add up the scores of each code from 0 to count - 1; codes: shape (n,)."""
        if not np.isfinite(scores).all():
            raise ValueError("scores that are not finite: leave unmeasured rows out")
        sizes = np.bincount(codes, minlength=count)
        rows, present = np.maximum(sizes, 1), np.flatnonzero(sizes)
        least, most = np.full(count, inf), np.full(count, -inf)
        small = codes.astype(np.min_scalar_type(count))  # numpy sorts up to 65,535 codes by counting
        ordered = np.asarray(scores if count == 1 else scores[np.argsort(small, kind="stable")], np.float64)
        starts = (np.cumsum(sizes) - sizes)[present]
        if present.size:
            least[present] = np.minimum.reduceat(ordered, starts)
            most[present] = np.maximum.reduceat(ordered, starts)
        totals = np.array([scores.sum()]) if count == 1 else np.bincount(codes, scores, count)
        means = np.clip(totals / rows, np.where(sizes, least, 0.0), np.where(sizes, most, 0.0))
        deviations = scores - means[codes]
        # The second sum takes out what the rounding of the mean has added.
        with np.errstate(over="ignore", invalid="ignore"):  # scores beyond any square have an interval of any width
            squares = np.bincount(codes, deviations**2, count) - np.bincount(codes, deviations, count) ** 2 / rows
        squares = np.where(least == most, 0.0, np.maximum(squares, 0.0))
        low, high = (np.bincount(codes[scores == bound], minlength=count) for bound in bounds)
        columns = (sizes, totals, squares, low, high, least, most)
        return [cls(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]

    @classmethod
    def of_passes(cls, n: int, passed: int) -> Self:
        """The sums of n verdicts, 1 or 0."""
        if not n:
            return cls()
        squares = passed * (n - passed) / n
        return cls(n, float(passed), squares, n - passed, passed, float(passed == n), float(passed > 0))

    def __add__(self, other: Self) -> Self:
        if not (self.n and other.n):
            return self if self.n else other
        n = self.n + other.n
        apart = (other.mean - self.mean) ** 2 * (self.n / n * other.n)
        return type(self)(
            n,
            self.total + other.total,
            self.squares + other.squares + apart,
            self.at_low + other.at_low,
            self.at_high + other.at_high,
            min(self.least, other.least),
            max(self.most, other.most),
        )

    def __sub__(self, other: Self) -> Self:
        """The sums of the scores without those of `other`, which are among them; `least`, `most`: of all of them."""
        n = self.n - other.n
        if not (n and other.n):
            return self if n else type(self)()
        rest = type(self)(n, self.total - other.total, 0.0, self.at_low - other.at_low, self.at_high - other.at_high)
        apart = (other.mean - rest.mean) ** 2 * (n / self.n * other.n)
        squares = self.squares - other.squares - apart
        is_constant = squares <= _ROUNDING * self.squares
        limits = (rest.mean, rest.mean) if is_constant else (self.least, self.most)
        return type(self)(n, rest.total, 0.0 if is_constant else squares, rest.at_low, rest.at_high, *limits)

    @property
    def mean(self) -> float:
        """The mean; for n > 0."""
        mean = self.total / self.n
        return min(max(mean, self.least), self.most) if self.least <= self.most else mean

    @property
    def variance(self) -> float:
        """The variance with n - 1 below the line; for n > 1."""
        return self.squares / (self.n - 1)

    @property
    def is_constant(self) -> bool:
        """Whether all scores are equal."""
        return self.least >= self.most

    @property
    def is_binary(self) -> bool:
        """Whether all scores lie at the bounds."""
        return self.at_low + self.at_high == self.n


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
