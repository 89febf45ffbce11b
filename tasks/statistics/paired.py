"""The difference of two versions on the same rows, with an interval and a p value that agree."""

import warnings
from math import inf, isfinite, nan, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import betainc, ndtr, ndtri, stdtr, stdtrit

from tasks.statistics.binomial import midp_lower
from tasks.statistics.clusters import Labels, cluster_codes, cluster_sums
from tasks.statistics.corpus import FEW_ROWS, FewRows, Score
from tasks.statistics.estimate import (
    Bounds,
    FloatArray,
    check_bounds,
    check_confidence,
    mean_of,
    unknown,
    within,
)

# Bonett and Price (2012) add one row that won all and one that lost all.
PSEUDO_ITEMS = 2.0

# Their squares, for differences in part. Small gains may hide rare whole losses: of those, however rare, this covers
# 93.5 %, where squares of 2 cover 93.1 % and squares of the usual size 86 %. Without any change: ±3.1/n.
PSEUDO_SQUARES = 2.5

# Differences that differ by rounding alone are equal: their spread would be noise.
_ROUNDING = 1e-12


class PairedDifference(NamedTuple):
    """A mean difference, its interval, and the p value of "no difference".

    In the units of the metric. 0 lies outside [low, high] exactly when p_value < 1 - confidence.
    `n` counts the rows. Without rows the value is NaN.
    """

    value: float
    low: float
    high: float
    n: int
    method: str
    p_value: float


class Items(NamedTuple):
    """What varies independently: rows, or clusters.

    `change`: shape (g,), float64, whose mean is the mean difference. `share`: the size of each over the mean
    size, shape (g,), float64, or None for rows; a change of all rows of an item is its share.
    """

    change: FloatArray
    share: FloatArray | None


def mcnemar_midp(b: int, c: int) -> float:
    """Return the two-sided mid-p value that `b` rows gained and `c` lost, were both as likely.

    Source: Lancaster 1961; Fagerland, Lydersen & Laake 2013.

    >>> mcnemar_midp(1, 7)  # 2·(1 + 8/2)/2⁸
    0.0390625
    """
    if b < 0 or c < 0:
        message = f"b = {b}, c = {c}: expected counts of 0 or more"
        raise ValueError(message)
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
    """Estimate the mean of the row differences, head - base, with its interval.

    `d`: shape (n,), float64, each within ± (upper - lower) of the metric's `bounds`, which may be infinite.
    `clusters`: shape (n,), one label per row; rows of one cluster depend on each other.
    `margin`: >= 0, what may be lost without being worse. Rows that only won, lost or stayed then get Tango's
    interval, when they are independent and the margin is above 0; nothing else changes.

    Rows that only won, lost or stayed get Bonett and Price's interval, whose limit nearest 0 moves so that it
    agrees with the mid-p McNemar test. Bounded differences get the same formula with their own squares, clusters
    with their sums and the CR2 leverage. Unbounded ones get t(items - 1).

    Warns FewClusters below 10 clusters.
    Raises: ValueError for NaN, differences that the bounds exclude, a single cluster, a negative margin.
    Source: Bonett & Price 2012; Fagerland, Lydersen & Laake 2013, 2014; Tango 1998; Bell & McCaffrey 2002.

    >>> found = paired_difference([1.0] * 1 + [-1.0] * 7 + [0.0] * 13)
    >>> round(found.low, 4), round(found.high, 4), found.p_value  # -6/23 ± 1.96·√((10/23 - (6/23)²)/23)
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
    score: Score,
    clusters: Labels | None = None,
    confidence: float = 0.95,
    bounds: Bounds = (0.0, 1.0),
) -> PairedDifference:
    """Estimate score(head) - score(base) of all rows together: the jackknife deletes a row from both, t(items - 1).

    `base_stats`, `head_stats`: shape (n, k), float64, additive, row i of both from the same row.
    `score`: (..., k) -> (...), of summed statistics. `clusters`: shape (n,); then whole clusters are deleted.
    When there is a single row, or a score without one of them is undefined, the interval is the whole range.

    Warns FewRows below 50 rows, FewClusters below 10 clusters.
    Raises: ValueError for NaN, a wrong shape, or a single cluster.
    Source: Tukey 1958; Efron & Tibshirani 1993, chapter 11.

    >>> base = np.array([[1, 1], [0, 1], [1, 1], [1, 1]] * 15)  # right answers of answers
    >>> head = np.array([[1, 1], [1, 1], [1, 1], [0, 1]] * 15)
    >>> found = corpus_difference(base, head, lambda s: s[..., 0] / s[..., 1])
    >>> round(found.low, 4), round(found.high, 4), found.p_value  # 0 ± 2.0010·√(0.5/59)
    (-0.1842, 0.1842, 1.0)
    """
    check_confidence(confidence)
    width = check_width(bounds)
    base, head = _check_stats(base_stats, head_stats)
    n = base.shape[0]
    whole = (-width, width)
    if n == 0:
        return PairedDifference(*unknown(whole, 0, "no rows"), 1.0)
    if n < FEW_ROWS:
        message = f"{n} rows: below {FEW_ROWS} a jackknife interval may cover less than it says"
        warnings.warn(message, FewRows, stacklevel=2)
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


def corpus_influence(base_stats: npt.ArrayLike, head_stats: npt.ArrayLike, score: Score) -> FloatArray:
    """Return what each row adds to score(head) - score(base): shape (n,), float64, of sum 0.

    It is (n - 1)/n times how far the difference falls, from the mean such fall, when the row is deleted from both.
    NaN throughout where a score without one of the rows is undefined, and for a single row.

    Raises: ValueError for NaN or a wrong shape.
    Source: Efron & Tibshirani 1993, chapter 11.

    >>> base, head = np.array([[0, 1], [0, 1]]), np.array([[1, 1], [0, 1]])
    >>> corpus_influence(base, head, lambda s: s[..., 0] / s[..., 1])  # without one 0, without the other 1
    array([ 0.25, -0.25])
    """
    base, head = _check_stats(base_stats, head_stats)
    return _influence(base, head, score)


def items_of(differences: FloatArray, clusters: Labels | None) -> Items:
    """Return the rows, or the clusters as items whose mean is that of the rows. Warns and raises as `cluster_codes`."""
    if clusters is None:
        return Items(differences, None)
    codes = cluster_codes(clusters, differences.size)
    share = np.bincount(codes).astype(np.float64)
    scale = share.size / differences.size
    return Items(np.asarray(np.bincount(codes, weights=differences) * scale, dtype=np.float64), share * scale)


def worst_square(items: Items) -> float:
    """Return the mean square of items that change by all they can."""
    return 1.0 if items.share is None else float(np.mean(items.share**2))


def wins_and_losses(unit: FloatArray) -> tuple[int, int] | None:
    """Return how many rows won and lost, or None when some changed in part."""
    b, c = int(np.count_nonzero(unit == 1.0)), int(np.count_nonzero(unit == -1.0))
    return (b, c) if b + c + int(np.count_nonzero(unit == 0.0)) == unit.size else None


def check_width(bounds: Bounds) -> float:
    """Return upper - lower, which no difference can exceed. Raises ValueError unless it is above 0."""
    check_bounds(bounds)
    return float(bounds[1]) - float(bounds[0])


def check_differences(d: npt.ArrayLike, width: float) -> FloatArray:
    """Return the differences as float64. Raises ValueError for a wrong shape, NaN, or one beyond ± width."""
    differences = np.asarray(d, dtype=np.float64)
    if differences.ndim != 1:
        message = f"d has shape {differences.shape}: expected one difference per row, shape (n,)"
        raise ValueError(message)
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
    """Return the limits and the p value, of wins beyond losses: the sign is put back at the end."""
    low, high, p_value = _more_wins(max(b, c), min(b, c), n, confidence)
    if b == c:
        low = -high
    return ((low, high) if b >= c else (-high, -low)), p_value


def _more_wins(b: int, c: int, n: int, confidence: float) -> tuple[float, float, float]:
    """Bonett and Price's limits, the lower one moved to the side of 0 where the mid-p test wants it."""
    alpha, total = 1.0 - confidence, n + PSEUDO_ITEMS
    centre = (b - c) / total
    half = -float(ndtri(alpha / 2.0)) * sqrt(((b + c + PSEUDO_ITEMS) / total - centre**2) / total)
    low, high, p_value = centre - half, centre + half, mcnemar_midp(b, c)
    if c == 0:
        # Without a loss it is a rate of wins, and its mid-p limit holds here: at n = 20 that covers 95 % for 93 %.
        high = max(high, 1.0 - midp_lower(n - b, n, alpha / 2.0))
    if p_value >= alpha:
        return min(low, 0.0), high, p_value
    if low <= 0.0:
        # Given how many rows changed, the share of wins among them: mid-p rejects when its limit is beyond 1/2.
        share = midp_lower(b, b + c, alpha / 2.0)
        low = max((2.0 * share - 1.0) * (b + c) / n, _ROUNDING)
    return low, high, p_value


def _tango(b: int, c: int, n: int, confidence: float) -> tuple[Bounds, float]:
    """Tango's score limits; at 0 they are McNemar's test without continuity correction."""
    z = -float(ndtri((1.0 - confidence) / 2.0))
    centre = (b - c) / n
    upper = 1.0 if b == n else float(brentq(lambda t: _tango_score(b, c, n, t) + z, centre, 1.0, xtol=1e-14))
    lower = -1.0 if c == n else float(brentq(lambda t: _tango_score(b, c, n, t) - z, -1.0, centre, xtol=1e-14))
    return (lower, upper), 2.0 * float(ndtr(-abs(b - c) / sqrt(b + c))) if b + c else 1.0


def _tango_score(b: int, c: int, n: int, t: float) -> float:
    """Return how many standard errors the difference lies above `t`, the other probabilities as likely as can be."""
    linear = -b - c + (2.0 * n - b + c) * t
    lost = (sqrt(max(linear**2 + 8.0 * n * c * t * (1.0 - t), 0.0)) - linear) / (4.0 * n)
    variance = n * (2.0 * lost + t * (1.0 - t))
    deviation = b - c - n * t
    if variance > 0.0:
        return deviation / sqrt(variance)
    return 0.0 if deviation == 0.0 else (inf if deviation > 0.0 else -inf)


def _bounded(unit: Items, confidence: float) -> tuple[Bounds, float]:
    """Bonett and Price's limits for items that change by parts of their share."""
    total = unit.change.size + PSEUDO_ITEMS
    centre = float(unit.change.sum()) / total
    squares = _squares(unit, centre, total) + PSEUDO_SQUARES * worst_square(unit) + PSEUDO_ITEMS * centre**2
    error = sqrt(squares) / total
    half = -float(ndtri((1.0 - confidence) / 2.0)) * error
    return (centre - half, centre + half), 2.0 * float(ndtr(-abs(centre) / error))


def _squares(items: Items, centre: float, total: float) -> float:
    """Return the squares of what the items have beyond their share, enlarged for leverage when they are clusters."""
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

    Without any spread, items that all gained alike say what a sign test would: p = 2^(1 - count).
    """
    if count == 1:
        return (-inf, inf), 1.0
    if error <= _ROUNDING * rounding_scale * sqrt(count):
        p_value = 1.0 if value == 0.0 else 2.0 ** (1.0 - count)
        known = value == 0.0 or p_value < 1.0 - confidence
        return ((value, value) if known else (-inf, inf)), p_value
    half = float(stdtrit(count - 1.0, (1.0 + confidence) / 2.0)) * error
    return (value - half, value + half), 2.0 * float(stdtr(count - 1.0, -abs(value) / error))


def _influence(base: FloatArray, head: FloatArray, score: Score) -> FloatArray:
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
        message = f"margin = {margin}: expected a number of 0 or more, in the units of the metric"
        raise ValueError(message)


def _check_stats(base_stats: npt.ArrayLike, head_stats: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    base, head = np.asarray(base_stats, dtype=np.float64), np.asarray(head_stats, dtype=np.float64)
    if base.ndim != 2 or base.shape != head.shape:  # noqa: PLR2004 (a table)
        message = f"base_stats has shape {base.shape}, head_stats {head.shape}: expected (n, k), the same for both"
        raise ValueError(message)
    for name, stats in (("base_stats", base), ("head_stats", head)):
        if not np.isfinite(stats).all():
            row = int(np.argmin(np.isfinite(stats).all(axis=1)))
            message = f"{name}[{row}] = {stats[row].tolist()} is not finite: leave unmeasured rows out"
            raise ValueError(message)
    return base, head
