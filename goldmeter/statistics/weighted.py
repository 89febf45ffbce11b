"""Means and differences over rows that count by weights, with intervals, from sums that add up."""

from math import inf, isfinite, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from goldmeter.statistics.arrays import Bounds, FloatArray, IntArray, check_confidence
from goldmeter.statistics.clusters import GroupTotals
from goldmeter.statistics.estimate import NO_ROWS, Estimate, Method, within
from goldmeter.statistics.moments import Moments
from goldmeter.statistics.paired import PairedDifference
from goldmeter.statistics.ppi import inverted

# Weights whose ratio is closer to 1 are equal.
_ROUNDING = 1e-12
# Rows of less weight, where the largest of all is 1, do not count: their squares are lost beside the others'.
LEAST_WEIGHT = 2.0**-33
# The weight of the row that no sample has shown is Kish's to the power of 1 - x times the largest to the power of x: a
# rate needs more than a difference, whose other side has such a row too (`python -m benchmarks.coverage weights`).
_OF_MEAN, _OF_DIFFERENCE = 2.0 / 3.0, 1.0 / 2.0


class PartSums(NamedTuple):
    """Sums of scores that count by weights; those of several parts add up, without losing digits of large scores.

    Attributes:
        total: The sum of weight · score.
        square: The sum of squared weights.
        centre: The mean of the scores by squared weights.
        spread: The sum of squared weight · (score - centre)².
    """

    total: float = 0.0
    square: float = 0.0
    centre: float = 0.0
    spread: float = 0.0

    @classmethod
    def of(cls, weights: FloatArray, scores: FloatArray) -> "PartSums":
        """Add up rows; both of shape (n,); weights above 0."""
        squares = weights**2
        square = float(squares.sum())
        centre = float((squares * scores).sum()) / square if scores.size else 0.0
        return cls(float((weights * scores).sum()), square, centre, float((squares * (scores - centre) ** 2).sum()))

    def __add__(self, other: "PartSums") -> "PartSums":  # type: ignore[override]  # a sum
        """The sums of the rows of both."""
        square = self.square + other.square
        share, apart = other.square / square if square else 0.0, other.centre - self.centre
        spread = self.spread + other.spread + apart**2 * self.square * share
        return PartSums(self.total + other.total, square, self.centre + apart * share, spread)

    def times(self, factor: float) -> "PartSums":
        """The sums with all weights multiplied by a factor."""
        return PartSums(self.total * factor, self.square * factor**2, self.centre, self.spread * factor**2)

    def about(self, mean: float) -> float:
        """The sum of squared weight · (score - mean)²."""
        return self.spread + self.square * (self.centre - mean) ** 2


class WeightedSums(NamedTuple):
    """Sums over rows that count by weights, which add up. Left out: weights below 2 ** -33.

    Attributes:
        n: Number of rows.
        smallest: The smallest weight.
        largest: The largest weight.
        weight: The sum of the weights.
        above: Of the scores above 0.
        below: Of the scores below 0, without their sign.
        groups: By cluster, the sums of weights, and of weight · score above and below 0; None for independent rows.
    """

    n: int = 0
    smallest: float = inf
    largest: float = 0.0
    weight: float = 0.0
    above: PartSums = PartSums()
    below: PartSums = PartSums()
    groups: GroupTotals | None = None

    @classmethod
    def of(cls, scores: FloatArray, weights: FloatArray, groups: IntArray | None = None) -> "WeightedSums":
        """Add up rows.

        Args:
            scores: Shape (n,), finite.
            weights: Shape (n,), 0 to 1.
            groups: The cluster of each row, shape (n,), or None for independent rows.
        """
        counts = weights >= LEAST_WEIGHT
        scores, weights = scores[counts], weights[counts]
        parts = np.maximum(scores, 0.0), np.maximum(-scores, 0.0)
        totals = None
        if groups is not None:
            columns = np.column_stack([weights, *(weights * part for part in parts)])
            totals = GroupTotals.of(groups[counts], columns)
        return cls(
            len(weights),
            float(weights.min(initial=inf)),
            float(weights.max(initial=0.0)),
            float(weights.sum()),
            PartSums.of(weights, parts[0]),
            PartSums.of(weights, parts[1]),
            totals,
        )

    @classmethod
    def of_equal(cls, moments: Moments, bounds: Bounds | None, groups: GroupTotals | None = None) -> "WeightedSums":
        """The sums of scores that each have the weight 1, rescaled from their bounds to [0, 1].

        Args:
            moments: Of at least one score.
            bounds: Of the scores; None leaves them as they are.
            groups: Of the scores by cluster, or None for independent rows.
        """
        low, width = (bounds[0], bounds[1] - bounds[0]) if bounds else (0.0, 1.0)
        n = float(moments.n)
        above = PartSums((moments.total - low * n) / width, n, (moments.mean - low) / width, moments.squares / width**2)
        if groups is not None:
            scores = (groups.totals[:, 0] - low * groups.sizes) / width
            groups = groups._replace(totals=np.column_stack([groups.sizes, scores, np.zeros_like(scores)]))
        return cls(moments.n, 1.0, 1.0, n, above, PartSums(0.0, n), groups)

    def times(self, factor: float) -> "WeightedSums":
        """The sums with all weights multiplied by a factor above 0."""
        groups = self.groups and self.groups._replace(totals=self.groups.totals * factor)
        return WeightedSums(
            self.n,
            self.smallest * factor,
            self.largest * factor,
            self.weight * factor,
            self.above.times(factor),
            self.below.times(factor),
            groups,
        )

    def __add__(self, other: "WeightedSums") -> "WeightedSums":  # type: ignore[override]  # a sum
        """The sums of the rows of both."""
        return WeightedSums(
            self.n + other.n,
            min(self.smallest, other.smallest),
            max(self.largest, other.largest),
            self.weight + other.weight,
            self.above + other.above,
            self.below + other.below,
            None if self.groups is None or other.groups is None else self.groups + other.groups,
        )

    @property
    def value(self) -> float:
        """The weighted mean; for n > 0."""
        return (self.above.total - self.below.total) / self.weight

    @property
    def n_eff(self) -> float:
        """Kish's effective number of rows, (sum of weights)² / sum of squared weights; for n > 0.

        Source: Kish 1965.
        """
        return self.weight**2 / self.above.square

    @property
    def are_equal(self) -> bool:
        """Whether all weights are equal."""
        return self.largest <= self.smallest * (1.0 + _ROUNDING)


class _Items(NamedTuple):
    """Independent items, rows or clusters, each with its share of the weight.

    items: their number. squares: sum of squared shares. largest: share. above, below: means of the scores above and
    below 0. variances, covariance: of these two means, by linearisation; NaN of a single item.
    """

    items: int
    squares: float
    largest: float
    above: float
    below: float
    variances: tuple[float, float]
    covariance: float

    @property
    def variance(self) -> float:
        """Of the mean, above - below."""
        return max(sum(self.variances) - 2.0 * self.covariance, 0.0)

    @property
    def correlation(self) -> float:
        """Of the two means; 0 without a spread."""
        spread = sqrt(self.variances[0] * self.variances[1])
        return min(max(self.covariance / spread, -1.0), 1.0) if spread > 0.0 else 0.0


def weighted_mean(sums: WeightedSums, bounds: Bounds = (0.0, 1.0), confidence: float = 0.95) -> Estimate:
    """Estimate a mean over rows that count by weights, and its interval.

    The mean is Hájek's, sum of weight · score / sum of weights. The limits of bounded scores are those of a beta
    distribution with the mean and the linearised variance of the sum with one row more, at the bound, as of
    `one_more_limits`: a variance alone says nothing of heavy rows that were not drawn. The weight of that row lies
    between Kish's and the largest. Scores without bounds get t(items - 1).

    Args:
        sums: Of scores rescaled from their bounds to [0, 1]; of scores without bounds as they are.
        bounds: Of the scores; may be infinite.
        confidence: In (0, 1).

    Source: Hájek 1971; Fay & Feuer 1997 for weighted sums; Korn & Graubard 1998 for proportions of weighted rows.

    >>> sums = WeightedSums.of(np.array([1.0, 0.0, 1.0, 1.0]), np.array([0.5, 0.25, 0.25, 1.0]))
    >>> mean = weighted_mean(sums)
    >>> round(mean.value, 4), round(mean.low, 2), round(mean.high, 2), round(sums.n_eff, 2)  # 1.75/2; 4/1.375
    (0.875, 0.12, 1.0, 2.91)
    """
    check_confidence(confidence)
    if not sums.n:
        return Estimate(np.nan, *bounds, 0, NO_ROWS)
    items, width = _items(sums), bounds[1] - bounds[0]
    if not isfinite(width):
        half = _t(items, confidence) * sqrt(items.variance) if items.items > 1 else inf
        return within(sums.value, (sums.value - half, sums.value + half), bounds, sums.n, Method("weighted"))
    low, high = _part_limits(items, 0, _OF_MEAN, confidence)
    lower = bounds[0]
    scaled = lower + width * low, lower + width * high
    return within(lower + width * sums.value, scaled, bounds, sums.n, Method("weighted"))


def weighted_difference(sums: WeightedSums, width: float = 1.0, confidence: float = 0.95) -> PairedDifference:
    """Estimate the mean of row differences that count by weights, with its interval and a p value by inversion.

    Gains and losses are two means, each with the limits of `weighted_mean`; the limits of their difference combine them
    (MOVER), given their correlation.

    Args:
        sums: Of differences, head - base, as shares of the width; without bounds as they are.
        width: Upper - lower bound of the metric; may be infinite.
        confidence: In (0, 1).

    Source: Zou & Donner 2008; Tang, Ling, Ling & Tian 2010 for correlated means.
    """
    check_confidence(confidence)
    unit = width if isfinite(width) else 1.0
    if not sums.n:
        return PairedDifference(np.nan, -width, width, 0, NO_ROWS, 1.0)
    items, value = _items(sums), sums.value

    def excess(alpha: float) -> float:
        low, high = _difference_limits(items, value, width, 1.0 - alpha)
        return low if value > 0.0 else -high

    p_value = inverted(excess) if value else 1.0
    low, high = _difference_limits(items, value, width, confidence)
    scaled = max(unit * low, -width), min(unit * high, width)
    return PairedDifference(unit * value, *scaled, sums.n, Method("weighted"), p_value)


def difference_limits(sums: WeightedSums, confidence: float = 0.95) -> Bounds:
    """The limits of `weighted_difference` for a width of 1, without its p value, which takes longer; for n > 0."""
    low, high = _difference_limits(_items(sums), sums.value, 1.0, confidence)
    return max(low, -1.0), min(high, 1.0)


def _difference_limits(items: _Items, value: float, width: float, confidence: float) -> Bounds:
    """The limits of gains - losses as shares of the width; without bounds as they are."""
    if items.items == 1:
        return -inf, inf
    if not isfinite(width):
        half = _t(items, confidence) * sqrt(items.variance)
        return value - half, value + half
    gains = _part_limits(items, 0, _OF_DIFFERENCE, confidence)
    losses = _part_limits(items, 1, _OF_DIFFERENCE, confidence)
    fewer_gains, more_losses = items.above - gains[0], losses[1] - items.below
    more_gains, fewer_losses = gains[1] - items.above, items.below - losses[0]
    return (
        value - _length(fewer_gains, more_losses, items.correlation),
        value + _length(more_gains, fewer_losses, items.correlation),
    )


def _length(gains: float, losses: float, correlation: float) -> float:
    """The distance of a limit of gains - losses, given those of the two means."""
    return sqrt(max(gains**2 + losses**2 - 2.0 * correlation * gains * losses, 0.0))


def _part_limits(items: _Items, part: int, power: float, confidence: float) -> Bounds:
    """The limits of the mean of the scores above 0 (part 0) or below 0 (part 1)."""
    value, variance = (items.above, items.below)[part], items.variances[part]
    if items.items == 1:
        return 0.0, 1.0
    tail = (1.0 + confidence) / 2.0
    # The variance is estimated from the items: their t quantile instead of the normal one.
    estimated = variance * (_t(items, confidence) / float(scipy.special.ndtri(tail))) ** 2
    unseen = float(items.squares ** (1.0 - power) * items.largest**power)
    return one_more_limits(value, estimated, unseen, confidence)


def _t(items: _Items, confidence: float) -> float:
    return float(scipy.special.stdtrit(items.items - 1.0, (1.0 + confidence) / 2.0))


def _items(sums: WeightedSums) -> _Items:
    if sums.groups is not None:
        return _of_groups(sums.groups.totals)
    parts, n, whole = (sums.above, sums.below), sums.n, sums.weight**2
    means = [part.total / sums.weight for part in parts]
    square, lost = sums.above.square / whole, n / (n - 1.0) if n > 1 else np.nan
    variances = [part.about(mean) / whole * lost for part, mean in zip(parts, means, strict=True)]
    # No row has both a gain and a loss.
    crosses = [part.centre * square for part in parts]
    covariance = (means[0] * means[1] * square - means[0] * crosses[1] - means[1] * crosses[0]) * lost
    largest = sums.largest / sums.weight
    return _Items(n, square, largest, means[0], means[1], (variances[0], variances[1]), covariance)


def _of_groups(totals: FloatArray) -> _Items:
    """The clusters; totals: of weights, gains and losses, shape (clusters, 3)."""
    share, above, below = (column / totals[:, 0].sum() for column in totals.T)
    means = float(above.sum()), float(below.sum())
    count = len(share)
    lost = count / (count - 1.0) if count > 1 else np.nan
    rest: list[npt.NDArray[np.float64]] = [above - share * means[0], below - share * means[1]]
    variances = float(rest[0] @ rest[0]) * lost, float(rest[1] @ rest[1]) * lost
    squares = float(share @ share)
    return _Items(count, squares, float(share.max()), *means, variances, float(rest[0] @ rest[1]) * lost)


def one_more_limits(value: float, variance: float, weight: float, confidence: float) -> tuple[float, float]:
    """The limits of a mean in [0, 1] with one row more, of this weight, at the bound on the side of the limit.

    Args:
        value: The mean.
        variance: Of the mean.
        weight: Of the row, where all weights of the others add up to 1; above 0.
        confidence: Of the interval.
    """
    level = (1.0 + confidence) / 2.0
    return 1.0 - _upper(1.0 - value, variance, weight, level), _upper(value, variance, weight, level)


def _upper(value: float, variance: float, largest: float, level: float) -> float:
    middle = (value + largest) / (1.0 + largest)
    if middle >= 1.0:
        return 1.0
    spread = variance + largest**2 * (1.0 - value)
    spread /= (1.0 + largest) ** 2 * (1.0 + 2.0 * largest)
    size = middle * (1.0 - middle) / spread - 1.0
    return float(scipy.special.betaincinv(middle * size, (1.0 - middle) * size, level)) if size > 0.0 else 1.0
