"""The mean difference of two versions on the same rows, with an interval and a p value that agree; and its sums."""

import warnings
from math import exp, hypot, inf, isfinite, nan, nextafter, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from goldmeter.statistics.arrays import Bounds, FloatArray, IntArray, check_bounds, check_confidence
from goldmeter.statistics.clusters import (
    ClusterTotals,
    FewClusters,
    Labels,
    check_clusters,
    cluster_codes,
    cluster_totals,
)
from goldmeter.statistics.corpus import Replicates, ScoreFunction, warn_of_few_rows
from goldmeter.statistics.estimate import NO_ROWS, Method, unknown, within
from goldmeter.statistics.moments import Moments, evidence, unseen_variance
from goldmeter.statistics.wilson import midp_lower

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

    def __add__(self, other: "DifferenceSums") -> "DifferenceSums":  # type: ignore[override]  # a sum
        """The sums of the rows of both."""
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


# Bonett and Price (2012) add one row that improved and one that got worse.
_PSEUDO_ITEMS = 2.0

# Logarithm of the smallest p value.
_LEAST_LOG_P = -690.0

# Differences closer than this are equal up to rounding; their spread is noise.
_ROUNDING = 1e-12


class PairedDifference(NamedTuple):
    """A mean difference (head - base), its interval, and the p value of "no difference".

    0 lies outside [low, high] exactly when p_value < 1 - confidence. Without rows the value is NaN.

    Attributes:
        value: The mean difference, in the units of the metric.
        low: Lower limit.
        high: Upper limit.
        n: Number of rows.
        method: How the interval was computed; part of the reports.
        p_value: Two-sided p value.
    """

    value: float
    low: float
    high: float
    n: int
    method: Method
    p_value: float


def mcnemar_midp(b: int, c: int) -> float:
    """Return the two-sided mid-p value of McNemar's test.

    Args:
        b: Number of rows that improved.
        c: Number of rows that got worse.

    Raises:
        ValueError: A count is negative.

    Source: Lancaster 1961; Fagerland, Lydersen & Laake 2013.

    >>> mcnemar_midp(1, 7)  # 2·(1 + 8/2)/2⁸
    0.0390625
    """
    if b < 0 or c < 0:
        raise ValueError(f"b = {b}, c = {c}: expected counts of 0 or more")
    if b == c:
        return 1.0
    fewer, m = min(b, c), b + c
    below = float(scipy.special.betainc(m - fewer + 1, fewer, 0.5)) if fewer else 0.0
    return min(below + float(scipy.special.betainc(m - fewer, fewer + 1, 0.5)), 1.0)


def paired_difference(
    d: npt.ArrayLike,
    clusters: Labels | None = None,
    bounds: Bounds = (0.0, 1.0),
    confidence: float = 0.95,
    margin: float | None = None,
) -> PairedDifference:
    """Estimate the mean of the row differences, head - base, and its interval.

    Binary differences (each the full width, its negative, or 0) get Bonett and Price's interval; its limit nearest 0 is
    moved to agree with the mid-p McNemar test. Other bounded differences get t(items - 1) and an allowance for large
    changes that no row has shown; clusters likewise, with the CR2 leverage. Unbounded ones get t(items - 1).

    Args:
        d: Shape (n,), float64, each within ± (upper - lower) of the metric's `bounds`.
        clusters: Shape (n,), one label per row; rows of one cluster depend on each other.
        bounds: Lower and upper bound of the metric; may be infinite.
        confidence: In (0, 1).
        margin: The largest acceptable loss, >= 0, in the units of the metric. Above 0, binary differences of
            independent rows get Tango's interval; nothing else changes.

    Raises:
        ValueError: NaN, differences that the bounds exclude, a single cluster, or a negative margin.

    Warns:
        FewClusters: There are fewer than 10 clusters.

    Source: Bonett & Price 2012; Fagerland, Lydersen & Laake 2013, 2014; Tango 1998; Bell & McCaffrey 2002.

    >>> result = paired_difference([1.0] * 1 + [-1.0] * 7 + [0.0] * 13)
    >>> round(result.low, 4), round(result.high, 4), result.p_value  # -6/23 ± 1.96·√((10/23 - (6/23)²)/23)
    (-0.5084, -0.0134, 0.0390625)
    """
    check_confidence(confidence)
    width = check_width(bounds)
    _check_margin(margin)
    differences = check_differences(d, width)
    if differences.size == 0:
        return PairedDifference(*unknown((-width, width), 0, NO_ROWS), 1.0)
    return difference_of_sums(
        DifferenceSums.of(differences, width), totals_of(differences, clusters), bounds, confidence, margin
    )


def difference_of_sums(
    sums: DifferenceSums,
    clusters: ClusterTotals | None = None,
    bounds: Bounds = (0.0, 1.0),
    confidence: float = 0.95,
    margin: float | None = None,
) -> PairedDifference:
    """Estimate the mean difference and its interval as `paired_difference` does, from sums of the rows.

    Args:
        sums: The sums of the row differences.
        clusters: The totals of the differences by cluster, or None for independent rows.
        bounds: Lower and upper bound of the metric; may be infinite.
        confidence: In (0, 1).
        margin: The largest acceptable loss, as of `paired_difference`.

    Raises:
        ValueError: A single cluster, or a negative margin.

    Warns:
        FewClusters: There are fewer than 10 clusters.
    """
    check_confidence(confidence)
    width = check_width(bounds)
    _check_margin(margin)
    if sums.n == 0:
        return PairedDifference(*unknown((-width, width), 0, NO_ROWS), 1.0)
    if clusters is not None:
        check_clusters(clusters.size.size)
    items, value = Items(sums, clusters, width), sums.moments.mean
    if not isfinite(width):
        return _unbounded(items, sums.n, confidence)
    counts = None if clusters is not None else sums.wins_and_losses
    if counts is None:
        limits, p_value = _bounded(items, confidence)
        method = "bounded" if clusters is None else "clustered"
    elif margin:
        limits, p_value = _tango(*counts, sums.n, confidence)
        method = "tango"
    else:
        limits, p_value = _binary(*counts, sums.n, confidence)
        method = "bonett-price+midp"
    scaled = (limits[0] * width, limits[1] * width)
    return PairedDifference(*within(value, scaled, (-width, width), sums.n, Method(method)), p_value)


def difference_of_replicates(
    value: float, replicates: Replicates, n: int, confidence: float = 0.95, bounds: Bounds = (0.0, 1.0)
) -> PairedDifference:
    """Estimate a difference of corpus scores and its interval, t(items - 1), from the jackknife's sums.

    Args:
        value: score(head) - score(base).
        replicates: The sums of the same difference without each row or cluster, as of `deleted`.
        n: Number of rows, above 0.
        confidence: In (0, 1).
        bounds: Lower and upper bound of the score.

    Returns:
        The difference. Its interval is the whole range if there is a single row, or if a score without one row is
        undefined.

    Warns:
        FewRows: There are fewer than 50 rows.

    Source: Tukey 1958; Efron & Tibshirani 1993, chapter 11.
    """
    check_confidence(confidence)
    width = check_width(bounds)
    whole = (-width, width)
    warn_of_few_rows(n)
    if not isfinite(value):
        return PairedDifference(*unknown(whole, n, Method("undefined score")), 1.0)
    error, count = replicates.error, replicates.sums.n
    if error is None:
        return PairedDifference(*unknown(whole, n, Method("jackknife undefined"), value), 1.0)
    limits, p_value = _student(value, error, count, abs(value) / count, confidence)
    return PairedDifference(*within(value, limits, whole, n, Method("jackknife")), p_value)


def deleted(
    base: FloatArray, head: FloatArray, base_total: FloatArray, head_total: FloatArray, score: ScoreFunction
) -> FloatArray:
    """Return score(head) - score(base) of all rows but one, for each row; shape (n,), NaN where it is undefined.

    base, head: statistics of some rows, shape (n, k). base_total, head_total: those of all rows together, shape (k,).
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        without = np.asarray(score(head_total - head), dtype=np.float64) - np.asarray(score(base_total - base))
    return np.asarray(without, dtype=np.float64)


def totals_of(differences: FloatArray, clusters: Labels | None) -> ClusterTotals | None:
    """Return the differences by cluster; None for independent rows. Raises as `cluster_codes` does."""
    if clusters is None:
        return None
    with warnings.catch_warnings(action="ignore", category=FewClusters):  # the estimate warns
        return cluster_totals(differences, cluster_codes(clusters, differences.size))


def check_width(bounds: Bounds) -> float:
    """Return upper - lower, the largest possible difference. Raises ValueError unless it is above 0."""
    check_bounds(bounds)
    return float(bounds[1]) - float(bounds[0])


def check_differences(d: npt.ArrayLike, width: float) -> FloatArray:
    """Return the differences as float64. Raises ValueError for a wrong shape, NaN, or a value beyond ± width."""
    differences = np.asarray(d, dtype=np.float64)
    if differences.ndim != 1:
        raise ValueError(f"d has shape {differences.shape}: expected one difference per row, shape (n,)")
    if differences.size == 0:
        return differences
    least, most = float(differences.min()), float(differences.max())
    if -width <= least and most <= width and isfinite(least) and isfinite(most):
        return differences
    allowed = width * (1.0 + _ROUNDING) if isfinite(width) else np.finfo(np.float64).max
    inside = np.abs(differences) <= allowed
    if not inside.all():
        row = int(np.argmin(inside))
        message = (
            f"d[{row}] = {differences[row]} lies outside ±{width}: correct it or the bounds, leave unmeasured rows out"
        )
        raise ValueError(message)
    return np.asarray(np.clip(differences, -width, width))


def _binary(b: int, c: int, n: int, confidence: float) -> tuple[Bounds, float]:
    """Return the limits and the p value, computed for b >= c and mirrored if fewer rows improved."""
    low, high, p_value = _more_wins(max(b, c), min(b, c), n, confidence)
    if b == c:
        low = -high
    return ((low, high) if b >= c else (-high, -low)), p_value


def _more_wins(b: int, c: int, n: int, confidence: float) -> tuple[float, float, float]:
    """Return Bonett and Price's limits for b >= c and the p value; the lower limit agrees with the mid-p test."""
    alpha, total = 1.0 - confidence, n + _PSEUDO_ITEMS
    centre = (b - c) / total
    half = -float(scipy.special.ndtri(alpha / 2.0)) * sqrt(((b + c + _PSEUDO_ITEMS) / total - centre**2) / total)
    low, high, p_value = centre - half, centre + half, mcnemar_midp(b, c)
    if c == 0:
        # Without losses the difference is a rate; its mid-p limit raises coverage at n = 20 from 93 % to 95 %.
        high = max(high, 1.0 - midp_lower(n - b, n, alpha / 2.0))
    if p_value >= alpha:
        return min(low, 0.0), high, p_value
    if low <= 0.0:
        # Share of wins among the changed rows: the mid-p test rejects when its limit is above 1/2.
        share = midp_lower(b, b + c, alpha / 2.0)
        low = max((2.0 * share - 1.0) * (b + c) / n, _ROUNDING)
    return low, high, p_value


def _tango(b: int, c: int, n: int, confidence: float) -> tuple[Bounds, float]:
    """Return Tango's score limits; with respect to 0 they equal McNemar's test without continuity correction."""
    z = -float(scipy.special.ndtri((1.0 - confidence) / 2.0))
    centre = (b - c) / n
    upper = (
        1.0 if b == n else float(scipy.optimize.brentq(lambda t: _tango_score(b, c, n, t) + z, centre, 1.0, xtol=1e-14))
    )
    lower = (
        -1.0
        if c == n
        else float(scipy.optimize.brentq(lambda t: _tango_score(b, c, n, t) - z, -1.0, centre, xtol=1e-14))
    )
    return (lower, upper), 2.0 * float(scipy.special.ndtr(-abs(b - c) / sqrt(b + c))) if b + c else 1.0


def _tango_score(b: int, c: int, n: int, t: float) -> float:
    """Return the standard errors by which the difference exceeds `t`, at the most likely other probabilities."""
    linear = -b - c + (2.0 * n - b + c) * t
    lost = (sqrt(max(linear**2 + 8.0 * n * c * t * (1.0 - t), 0.0)) - linear) / (4.0 * n)
    variance = n * (2.0 * lost + t * (1.0 - t))
    deviation = b - c - n * t
    if variance > 0.0:
        return deviation / sqrt(variance)
    return 0.0 if deviation == 0.0 else (inf if deviation > 0.0 else -inf)


def _bounded(items: Items, confidence: float) -> tuple[Bounds, float]:
    """Return the limits and the p value for items that change by parts of their share, by inversion of the limits."""
    mean, n, level = items.mean, items.count, 1.0 - confidence
    below, above = (unseen_variance(items.seen(room), room, n, items.worst) for room in (1.0 + mean, 1.0 - mean))

    def reach(alpha: float, unseen: float) -> float:
        t = float(scipy.special.stdtrit(n - 1.0, alpha / 2.0)) if items.error else 0.0
        return hypot(t * items.error, float(scipy.special.ndtri(alpha / 2.0)) * sqrt(unseen))

    def excess(log_p: float) -> float:
        return reach(exp(log_p), below if mean > 0.0 else above) - abs(mean)

    low, high = mean - reach(level, below), mean + reach(level, above)
    if mean == 0.0:
        return (low, high), 1.0
    p_value = (
        exp(float(scipy.optimize.brentq(excess, _LEAST_LOG_P, 0.0, xtol=1e-12))) if excess(_LEAST_LOG_P) > 0.0 else 0.0
    )
    if low > 0.0 or high < 0.0:
        return (low, high), min(p_value, nextafter(level, 0.0))
    return (low, high), max(p_value, level)


def _unbounded(items: Items, n: int, confidence: float) -> PairedDifference:
    value, count = items.mean, items.count
    error = items.error if count > 1 else nan
    limits, p_value = _student(value, error, count, items.largest / count, confidence)
    return PairedDifference(*within(value, limits, (-inf, inf), n, Method("t")), p_value)


def _student(value: float, error: float, count: int, rounding_scale: float, confidence: float) -> tuple[Bounds, float]:
    """Return the limits and the p value of t(count - 1).

    If all items changed equally there is no spread; the p value is then that of a sign test, 2^(1 - count).
    """
    if count == 1:
        return (-inf, inf), 1.0
    if error <= _ROUNDING * rounding_scale * sqrt(count):
        p_value = 1.0 if value == 0.0 else 2.0 ** (1.0 - count)
        determined = value == 0.0 or p_value < 1.0 - confidence
        return ((value, value) if determined else (-inf, inf)), p_value
    half = float(scipy.special.stdtrit(count - 1.0, (1.0 + confidence) / 2.0)) * error
    return (value - half, value + half), 2.0 * float(scipy.special.stdtr(count - 1.0, -abs(value) / error))


def _check_margin(margin: float | None) -> None:
    if margin is not None and not 0.0 <= margin < inf:
        raise ValueError(f"margin = {margin}: expected a number of 0 or more, in the units of the metric")
