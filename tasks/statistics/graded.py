"""Agreement of graded scores with graded human labels: quadratic-weighted kappa and Spearman's rank correlation."""

from math import atanh, sqrt, tanh

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri, stdtrit
from scipy.stats import rankdata

from tasks.statistics.agreement import KAPPA_BOUNDS, equality_n
from tasks.statistics.arrays import Bounds, FloatArray, check_confidence, check_finite_bounds, finite_array
from tasks.statistics.clusters import Codes, Labels, cluster_codes
from tasks.statistics.estimate import NO_ROWS, Estimate, Method, unknown, within
from tasks.statistics.wilson import score_interval

# With fewer rows Fisher's z has no variance.
_FEWEST = 4


def quadratic_kappa(
    scores: npt.ArrayLike,
    labels: npt.ArrayLike,
    clusters: Labels | None = None,
    bounds: Bounds = (0.0, 1.0),
    confidence: float = 0.95,
) -> Estimate:
    """Estimate Cohen's kappa with quadratic weights: 1 is full agreement, 0 agreement by chance alone.

    It needs no categories, so that labels may be means of several raters; it equals Lin's concordance correlation. The
    interval is a score interval of the observed agreement, 1 less the mean squared difference on a scale from 0 to 1,
    on an effective number of rows. Agreement by chance is taken as measured; its uncertainty enters that number by the
    delta method.

    Args:
        scores: Shape (n,), float64, within `bounds`.
        labels: Shape (n,), on the same scale.
        clusters: Shape (n,), one label per row; rows of one cluster depend on each other.
        bounds: Lower and upper bound of both, finite.
        confidence: In (0, 1).

    Returns:
        The estimate; its value is NaN and its interval the bounds without rows, and if all numbers are equal.

    Raises:
        ValueError: Another shape, numbers outside the bounds, or a single cluster.

    Warns:
        FewClusters: There are fewer than 10 clusters.

    Source: Cohen 1968; Fleiss & Cohen 1973; Lin 1989.

    >>> round(quadratic_kappa([1, 2, 3, 4, 5], [1, 2, 3, 5, 4], bounds=(1, 5)).value, 4)  # 1 - (2/5)/(2 + 2)
    0.9
    """
    check_confidence(confidence)
    check_finite_bounds(bounds)
    x, y = (_unit(values, name, bounds) for values, name in ((scores, "scores"), (labels, "labels")))
    n, codes = _rows(x, y, clusters)
    if n == 0:
        return unknown(KAPPA_BOUNDS, 0, NO_ROWS)
    apart, chance_apart = (x - y) ** 2, float(x.var() + y.var() + (x.mean() - y.mean()) ** 2)
    if chance_apart == 0.0:
        return unknown(KAPPA_BOUNDS, n, Method("all numbers are equal"))
    share = float(apart.mean()) / chance_apart
    each, other = x - x.mean(), y - y.mean()
    by_chance = each**2 - x.var() + other**2 - y.var() + 2.0 * (x.mean() - y.mean()) * (each - other)
    adds = -(apart - apart.mean() - share * by_chance)
    n_eff, df = equality_n(1.0 - apart, adds, codes)
    limits = score_interval(1.0 - float(apart.mean()), n_eff, df, confidence)
    low, high = (1.0 - (1.0 - limit) / chance_apart for limit in limits)
    return within(1.0 - share, (low, high), KAPPA_BOUNDS, n, Method("score+delta"))


def spearman(
    scores: npt.ArrayLike, labels: npt.ArrayLike, clusters: Labels | None = None, confidence: float = 0.95
) -> Estimate:
    """Estimate Spearman's rank correlation; equal numbers share their mean rank.

    The interval is that of Fisher's z with the variance (1 + ρ²/2)/(n - 3). With clusters, that variance is multiplied
    by the ratio of the jackknife variances with and without clusters, if above 1, and a t quantile is used.

    Args:
        scores: Shape (n,), float64, finite.
        labels: Shape (n,), float64, finite; another scale is fine.
        clusters: Shape (n,), one label per row; rows of one cluster depend on each other.
        confidence: In (0, 1).

    Returns:
        The estimate; its value is NaN and its interval the bounds if scores or labels are all equal, and with fewer
        than 4 rows.

    Raises:
        ValueError: Another shape, numbers that are not finite, or a single cluster.

    Warns:
        FewClusters: There are fewer than 10 clusters.

    Source: Spearman 1904; Bonett & Wright 2000, "Sample size requirements for estimating Pearson, Kendall and Spearman
        correlations".

    >>> estimate = spearman([1, 2, 3, 4, 5, 6, 7], [2, 1, 4, 3, 7, 6, 5])  # 1 - 6·12/(7·48)
    >>> round(estimate.value, 4), round(estimate.low, 4), round(estimate.high, 4)
    (0.7857, -0.0609, 0.9748)
    """
    check_confidence(confidence)
    x, y = finite_array(scores, "scores", 1), finite_array(labels, "labels", 1)
    n, codes = _rows(x, y, clusters)
    if n < _FEWEST:
        return unknown(KAPPA_BOUNDS, n, Method("too few rows"))
    if x.min() == x.max() or y.min() == y.max():
        return unknown(KAPPA_BOUNDS, n, Method("one class of scores" if x.min() == x.max() else "one class of labels"))
    one, other = _standardised(rankdata(x)), _standardised(rankdata(y))
    value = min(max(float((one * other).mean()), -1.0), 1.0)
    influence = one * other - value * (one**2 + other**2) / 2.0
    # A correlation of 1 is taken as that of one exchange of neighbours, the smallest step from it.
    inside = min(abs(value), 1.0 - 12.0 / (n * (n**2 - 1.0)))
    variance, quantile = (1.0 + value**2 / 2.0) / (n - 3.0), float(ndtri((1.0 + confidence) / 2.0))
    if codes is not None:
        groups = int(codes.max()) + 1
        sums = np.bincount(codes, weights=influence)
        total = float(influence @ influence)
        variance *= max(float(sums @ sums) / total, 1.0) * groups / (groups - 1.0) if total > 0.0 else 1.0
        quantile = float(stdtrit(groups - 1.0, (1.0 + confidence) / 2.0))
    z, half = atanh(inside) * (1.0 if value >= 0.0 else -1.0), quantile * sqrt(variance)
    return within(value, (tanh(z - half), tanh(z + half)), KAPPA_BOUNDS, n, Method("fisher z (bonett & wright)"))


def _unit(values: npt.ArrayLike, name: str, bounds: Bounds) -> FloatArray:
    numbers = finite_array(values, name, 1)
    if numbers.size and not (bounds[0] <= numbers.min() and numbers.max() <= bounds[1]):
        raise ValueError(f"{name}: numbers outside of {bounds[0]:g} to {bounds[1]:g}")
    unit: FloatArray = (numbers - bounds[0]) / (bounds[1] - bounds[0])
    return unit


def _rows(x: FloatArray, y: FloatArray, clusters: Labels | None) -> tuple[int, Codes | None]:
    if x.shape != y.shape:
        raise ValueError(f"scores have the shape {x.shape}, labels {y.shape}: expected one of each per row")
    return x.size, None if clusters is None or x.size < 2 else cluster_codes(clusters, x.size)  # noqa: PLR2004


def _standardised(ranks: FloatArray) -> FloatArray:
    scaled: FloatArray = (ranks - ranks.mean()) / ranks.std()
    return scaled
