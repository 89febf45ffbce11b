"""The mean difference of two versions on the same rows, with an interval and a p value that agree."""

from math import inf, isfinite, nan, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import betainc, ndtr, ndtri, stdtr, stdtrit

from tasks.statistics.arrays import Bounds, FloatArray, check_bounds, check_confidence, finite_array
from tasks.statistics.binomial_limits import midp_lower
from tasks.statistics.clusters import Labels, cluster_codes, cluster_sums
from tasks.statistics.corpus import ScoreFunction, warn_of_few_rows
from tasks.statistics.estimate import mean_of, unknown, within

# Bonett and Price (2012) add one row that improved and one that got worse.
PSEUDO_ITEMS = 2.0

# Squares of these two rows for differences that are not binary. Small gains may hide rare full losses: with 2.5 the
# interval covers 93.5 % however rare they are, with 2 it covers 93.1 %, with the usual squares 86 %. If no row
# changed, the limits are ±3.1/n.
PSEUDO_SQUARES = 2.5

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
    method: str
    p_value: float


class Items(NamedTuple):
    """The independent items: rows, or clusters.

    Attributes:
        change: Shape (g,), float64; its mean is the mean difference.
        share: Size of each cluster over the mean size, shape (g,), float64; None for rows. When all rows of a cluster
            change by 1, its item changes by its share.
    """

    change: FloatArray
    share: FloatArray | None


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
    below = float(betainc(m - fewer + 1, fewer, 0.5)) if fewer else 0.0
    return min(below + float(betainc(m - fewer, fewer + 1, 0.5)), 1.0)


def paired_difference(
    d: npt.ArrayLike,
    clusters: Labels | None = None,
    bounds: Bounds = (0.0, 1.0),
    confidence: float = 0.95,
    margin: float | None = None,
) -> PairedDifference:
    """Estimate the mean of the row differences, head - base, and its interval.

    Binary differences (each the full width, its negative, or 0) get Bonett and Price's interval; its limit nearest 0 is
    moved to agree with the mid-p McNemar test. Other bounded differences get the same formula with their own squares,
    clusters with their sums and the CR2 leverage. Unbounded ones get t(items - 1).

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
        return PairedDifference(*unknown((-width, width), 0, "no rows"), 1.0)
    items = items_of(differences, clusters)
    if not isfinite(width):
        return _unbounded(items, differences, confidence)
    unit = items._replace(change=items.change / width)
    counts = None if clusters is not None else wins_and_losses(unit.change)
    if counts is None:
        limits, p_value = _bounded(unit, confidence)
        method = "bounded" if clusters is None else "clustered"
    elif margin:
        limits, p_value = _tango(*counts, differences.size, confidence)
        method = "tango"
    else:
        limits, p_value = _binary(*counts, differences.size, confidence)
        method = "bonett-price+midp"
    scaled = (limits[0] * width, limits[1] * width)
    return PairedDifference(*within(mean_of(differences), scaled, (-width, width), differences.size, method), p_value)


def corpus_difference(
    base_stats: npt.ArrayLike,
    head_stats: npt.ArrayLike,
    score: ScoreFunction,
    clusters: Labels | None = None,
    confidence: float = 0.95,
    bounds: Bounds = (0.0, 1.0),
) -> PairedDifference:
    """Estimate score(head) - score(base) of all rows together; the jackknife deletes a row from both, t(items - 1).

    Args:
        base_stats: Additive statistics, shape (n, k), float64.
        head_stats: The same shape; row i belongs to row i of the base.
        score: Maps summed statistics, shape (..., k), to scores, shape (...).
        clusters: Shape (n,), one label per row; the jackknife then deletes whole clusters.
        confidence: In (0, 1).
        bounds: Lower and upper bound of the score.

    Returns:
        The difference. Its interval is the whole range if there is a single row, or if a score without one row is
        undefined.

    Raises:
        ValueError: NaN, a wrong shape, or a single cluster.

    Warns:
        FewRows: There are fewer than 50 rows.
        FewClusters: There are fewer than 10 clusters.

    Source: Tukey 1958; Efron & Tibshirani 1993, chapter 11.

    >>> base = np.array([[1, 1], [0, 1], [1, 1], [1, 1]] * 15)  # correct answers, all answers
    >>> head = np.array([[1, 1], [1, 1], [1, 1], [0, 1]] * 15)
    >>> result = corpus_difference(base, head, lambda s: s[..., 0] / s[..., 1])
    >>> round(result.low, 4), round(result.high, 4), result.p_value  # 0 ± 2.0010·√(0.5/59)
    (-0.1842, 0.1842, 1.0)
    """
    check_confidence(confidence)
    width = check_width(bounds)
    base, head = _check_stats(base_stats, head_stats)
    n = base.shape[0]
    whole = (-width, width)
    if n == 0:
        return PairedDifference(*unknown(whole, 0, "no rows"), 1.0)
    warn_of_few_rows(n)
    if clusters is not None:
        base, head = np.hsplit(cluster_sums(np.hstack([base, head]), clusters), 2)
    value = float(np.asarray(score(head.sum(axis=0))) - np.asarray(score(base.sum(axis=0))))
    if not isfinite(value):
        return PairedDifference(*unknown(whole, n, "undefined score"), 1.0)
    influence = _influence(base, head, score)
    if not np.isfinite(influence).all():
        return PairedDifference(*unknown(whole, n, "jackknife undefined", value), 1.0)
    count = influence.size
    error = sqrt(float(influence @ influence) * count / (count - 1.0))
    limits, p_value = _student(value, error, count, abs(value) / count, confidence)
    return PairedDifference(*within(value, limits, whole, n, "jackknife"), p_value)


def corpus_influence(base_stats: npt.ArrayLike, head_stats: npt.ArrayLike, score: ScoreFunction) -> FloatArray:
    """Return the influence of each row on score(head) - score(base): shape (n,), float64, with sum 0.

    It is (n - 1)/n times the difference's fall, less the mean fall, when the row is deleted from both. All values are
    NaN if a score without one row is undefined, or if there is a single row.

    Raises:
        ValueError: NaN or a wrong shape.

    Source: Efron & Tibshirani 1993, chapter 11.

    >>> base, head = np.array([[0, 1], [0, 1]]), np.array([[1, 1], [0, 1]])
    >>> corpus_influence(base, head, lambda s: s[..., 0] / s[..., 1])  # 0 without the first row, 1 without the second
    array([ 0.25, -0.25])
    """
    base, head = _check_stats(base_stats, head_stats)
    return _influence(base, head, score)


def items_of(differences: FloatArray, clusters: Labels | None) -> Items:
    """Return rows, or clusters scaled to have the mean of the rows, as items. Warns and raises like `cluster_codes`."""
    if clusters is None:
        return Items(differences, None)
    codes = cluster_codes(clusters, differences.size)
    share = np.bincount(codes).astype(np.float64)
    scale = share.size / differences.size
    return Items(np.asarray(np.bincount(codes, weights=differences) * scale, dtype=np.float64), share * scale)


def worst_square(items: Items) -> float:
    """Return the mean square of items that change by the largest possible amount."""
    return 1.0 if items.share is None else float(np.mean(items.share**2))


def wins_and_losses(unit: FloatArray) -> tuple[int, int] | None:
    """Return the numbers of rows that improved and got worse; None if any difference is neither -1, 0 nor 1."""
    b, c = int(np.count_nonzero(unit == 1.0)), int(np.count_nonzero(unit == -1.0))
    return (b, c) if b + c + int(np.count_nonzero(unit == 0.0)) == unit.size else None


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
    alpha, total = 1.0 - confidence, n + PSEUDO_ITEMS
    centre = (b - c) / total
    half = -float(ndtri(alpha / 2.0)) * sqrt(((b + c + PSEUDO_ITEMS) / total - centre**2) / total)
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
    z = -float(ndtri((1.0 - confidence) / 2.0))
    centre = (b - c) / n
    upper = 1.0 if b == n else float(brentq(lambda t: _tango_score(b, c, n, t) + z, centre, 1.0, xtol=1e-14))
    lower = -1.0 if c == n else float(brentq(lambda t: _tango_score(b, c, n, t) - z, -1.0, centre, xtol=1e-14))
    return (lower, upper), 2.0 * float(ndtr(-abs(b - c) / sqrt(b + c))) if b + c else 1.0


def _tango_score(b: int, c: int, n: int, t: float) -> float:
    """Return the standard errors by which the difference exceeds `t`, at the most likely other probabilities."""
    linear = -b - c + (2.0 * n - b + c) * t
    lost = (sqrt(max(linear**2 + 8.0 * n * c * t * (1.0 - t), 0.0)) - linear) / (4.0 * n)
    variance = n * (2.0 * lost + t * (1.0 - t))
    deviation = b - c - n * t
    if variance > 0.0:
        return deviation / sqrt(variance)
    return 0.0 if deviation == 0.0 else (inf if deviation > 0.0 else -inf)


def _bounded(unit: Items, confidence: float) -> tuple[Bounds, float]:
    """Return Bonett and Price's limits and the p value for items that change by parts of their share."""
    total = unit.change.size + PSEUDO_ITEMS
    centre = float(unit.change.sum()) / total
    squares = _squares(unit, centre, total) + PSEUDO_SQUARES * worst_square(unit) + PSEUDO_ITEMS * centre**2
    error = sqrt(squares) / total
    half = -float(ndtri((1.0 - confidence) / 2.0)) * error
    return (centre - half, centre + half), 2.0 * float(ndtr(-abs(centre) / error))


def _squares(items: Items, centre: float, total: float) -> float:
    """Return the sum of squared residuals of the items, enlarged for leverage when they are clusters."""
    if items.share is None:
        rest = items.change - centre
        return float(rest @ rest)
    rest = items.change - items.share * centre
    return float((rest**2 / (1.0 - items.share / total)).sum())


def _unbounded(items: Items, differences: FloatArray, confidence: float) -> PairedDifference:
    value, count = mean_of(differences), items.change.size
    error = sqrt(_squares(items, value, float(count))) / count if count > 1 else nan
    if items.share is None and count > 1:
        error *= sqrt(count / (count - 1.0))
    limits, p_value = _student(value, error, count, float(np.abs(items.change).max()) / count, confidence)
    return PairedDifference(*within(value, limits, (-inf, inf), differences.size, "t"), p_value)


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
    half = float(stdtrit(count - 1.0, (1.0 + confidence) / 2.0)) * error
    return (value - half, value + half), 2.0 * float(stdtr(count - 1.0, -abs(value) / error))


def _influence(base: FloatArray, head: FloatArray, score: ScoreFunction) -> FloatArray:
    n = base.shape[0]
    if n <= 1:
        return np.full(n, nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        without = np.asarray(score(head.sum(axis=0) - head), dtype=np.float64) - np.asarray(
            score(base.sum(axis=0) - base), dtype=np.float64
        )
    if not np.isfinite(without).all():
        return np.full(n, nan)
    return np.asarray((float(without.mean()) - without) * ((n - 1.0) / n), dtype=np.float64)


def _check_margin(margin: float | None) -> None:
    if margin is not None and not 0.0 <= margin < inf:
        raise ValueError(f"margin = {margin}: expected a number of 0 or more, in the units of the metric")


def _check_stats(base_stats: npt.ArrayLike, head_stats: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    base, head = finite_array(base_stats, "base_stats", 2), finite_array(head_stats, "head_stats", 2)
    if base.shape != head.shape:
        raise ValueError(f"base_stats has shape {base.shape}, head_stats {head.shape}: expected the same for both")
    return base, head
