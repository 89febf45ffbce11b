"""Several tests or intervals at once: critical values by single-step max-T and Šidák's, and simultaneous intervals."""

from functools import lru_cache
from math import expm1, log, log1p

import numpy as np
import numpy.typing as npt
import scipy

from goldmeter.statistics.arrays import Bounds, FloatArray, check_confidence
from goldmeter.statistics.clusters import ClusterTotals, clustered_n_of_totals
from goldmeter.statistics.estimate import NO_ROWS, Estimate, Method, unknown, within
from goldmeter.statistics.moments import Moments
from goldmeter.statistics.wilson import effective_n, exact_interval

# Number of mirrored draws for at most 20 metrics, and for more; c is within 0.01 of the exact value up to 60 metrics.
_FEW_METRICS, _FEW_DRAWS, _DRAWS = 20, 4096, 16384
_SEED = 1

# Correlations are rounded to this many digits, as sums of rows depend on their order beyond them.
_DIGITS = 9

# A spread below this share of the widest is the rounding error of a constant column.
_CONSTANT = 1e-10

# Added to the diagonal, so that linearly dependent metrics have a Cholesky factor in spite of rounding; it moves a
# draw by a thousandth of a standard deviation.
_JITTER = 1e-6


def max_t_of_products(products: npt.ArrayLike, confidence: float = 0.95) -> float:
    """Return the critical value that max |Z_k| of a family of tests exceeds with probability 1 - confidence.

    Interval k is value ± c·SE; a function that takes a confidence gets 2·Φ(c) - 1. The value lies between the quantile
    of a single test and Šidák's, and does not depend on the order of the rows. It is within 0.01 of the exact value up
    to 60 metrics at every level, because the seeded draws come from beyond c.

    Args:
        products: Shape (k, k), float64: for each two mean differences the sum over rows (or clusters) of the products
            of their influences, (d - mean d)/n_k, 0 where unmeasured. The scale of an influence does not matter. Those
            of 0 everywhere are left out of the family.
        confidence: In (0, 1).

    Raises:
        ValueError: An influence is not finite.

    Source: Romano & Wolf 2005; Hothorn, Bretz & Westfall 2008; Owen, Maximov & Chertkov 2019 for the probability.

    >>> round(max_t_of_products([[0.02]]), 4)  # one metric: the normal quantile
    1.96
    >>> round(max_t_of_products(np.eye(2)), 3)  # two independent: 1 - 0.95^½ = 2·Φ(-2.236)
    2.236
    """
    check_confidence(confidence)
    correlation = _correlation(np.asarray(products, dtype=np.float64))
    metrics, alpha = correlation.shape[0], 1.0 - confidence
    single = -float(scipy.special.ndtri(alpha / 2.0))
    if metrics <= 1:
        return single
    # The critical value is largest for independent metrics (Šidák 1967).
    return _quantile(correlation, alpha, single, sidak(metrics, confidence))


def sidak(tests: int, confidence: float = 0.95) -> float:
    """Return Šidák's critical value, an upper bound of `max_t_of_products` for this number of tests at any correlation.

    Source: Šidák 1967.

    >>> round(sidak(2), 3)
    2.236
    """
    check_confidence(confidence)
    return -float(scipy.special.ndtri(-expm1(log1p(confidence - 1.0) / tests) / 2.0))


def _correlation(products: FloatArray) -> FloatArray:
    """Return the correlation matrix of the differences that vary."""
    square = np.diagonal(products)
    if not np.isfinite(square).all():
        column = int(np.argmin(np.isfinite(square)))
        raise ValueError(f"influence[:, {column}] is not finite: expected 0 where a row is unmeasured")
    spread = np.sqrt(square)
    varies = spread > _CONSTANT * spread.max(initial=0.0)
    scale = spread[varies]
    rounded: FloatArray = np.round(products[np.ix_(varies, varies)] / scale / scale[:, None], _DIGITS)
    np.fill_diagonal(rounded, 1.0)
    return rounded


def _quantile(correlation: FloatArray, alpha: float, single: float, most: float) -> float:
    """Return c with P(max |Z| > c) = alpha.

    P(max |Z| > c) is the sum over k of P(|Z_k| > c)·E[1/S | Z_k > c], where S is the number of Z that exceed c. In each
    draw one metric k is moved beyond c, so that 1/S varies little even for small alpha, and the sum stays within
    Bonferroni's bounds.
    """
    metrics = correlation.shape[0]
    uniform, normal = _draws(metrics)
    index = np.arange(uniform.size)
    moved = index * metrics // uniform.size
    factor = np.linalg.cholesky(correlation + _JITTER * np.eye(metrics))
    free, slope = factor @ normal, correlation[:, moved]
    rest = free - slope * free[moved, index]
    share = 1.0 / np.bincount(moved)[moved]

    def excess(c: float) -> float:
        one = 2.0 * float(scipy.special.ndtr(-c))
        beyond = slope * -scipy.special.ndtri(uniform * (one / 2.0))
        # Both signs of the rest are equally likely. Rounding may leave the moved metric exactly at c.
        inverse = sum(0.5 / np.maximum((np.abs(z) > c).sum(axis=0), 1) for z in (beyond + rest, beyond - rest))
        return log(one * float(share @ inverse) / alpha)

    if excess(single) <= 0.0:
        return single
    if excess(most) >= 0.0:
        return most
    return float(scipy.optimize.brentq(excess, single, most, xtol=5e-4))


@lru_cache(maxsize=8)
def _draws(metrics: int) -> tuple[FloatArray, FloatArray]:
    """Return fixed uniform draws, shape (draws,), and normal draws, shape (metrics, draws)."""
    draws = _FEW_DRAWS if metrics <= _FEW_METRICS else _DRAWS
    uniform = 1.0 - np.random.default_rng(_SEED).random((draws, metrics + 1)).T  # in (0, 1]
    normal = np.ascontiguousarray(scipy.special.ndtri(np.minimum(uniform[1:], 1.0 - np.finfo(np.float64).eps)))
    first = np.ascontiguousarray(uniform[0])
    first.flags.writeable = normal.flags.writeable = False
    return first, normal


def simultaneous_interval(
    moments: Moments,
    clusters: ClusterTotals | None = None,
    bounds: Bounds = (0.0, 1.0),
    tests: int = 1,
    confidence: float = 0.95,
) -> Estimate:
    """Estimate one of several means with an interval; all their intervals hold together with `confidence`.

    Each interval has Šidák's level, confidence^(1/tests). That is exact for independent means, such as those of slices
    without a common row, and errs on the wide side for correlated ones, such as those of slices with common clusters.
    The tails are exact: of 20 rates of 98 % on 50 rows each, mid-p tails at that level cover all in 70 % of samples.

    Args:
        moments: Sums of scores within `bounds`.
        clusters: The totals of each cluster, or None for independent rows. Of a single one the limits are the bounds.
        bounds: Lower and upper bound of the scores, finite.
        tests: How many means there are, at least 1.
        confidence: Of all intervals together, in (0, 1).

    Raises:
        ValueError: `confidence` or `tests` is outside its range.

    Source: Šidák 1967; Clopper & Pearson 1934; Korn & Graubard 1998.

    >>> estimate = simultaneous_interval(Moments.of_passes(5, 5), tests=20)
    >>> round(estimate.low, 4), estimate.high  # ((1 - .95^(1/20))/2)^(1/5)
    (0.2639, 1.0)
    """
    check_confidence(confidence)
    if tests < 1:
        raise ValueError(f"tests = {tests}: expected at least 1")
    if moments.n == 0:
        return unknown(bounds, 0, NO_ROWS)
    level = confidence ** (1.0 / tests)
    if clusters is not None and len(clusters.size) == 1:
        return unknown(bounds, moments.n, Method("one cluster"), moments.mean)
    lower, upper = bounds
    width = upper - lower
    p = min(max((moments.mean - lower) / width, 0.0), 1.0)
    n_eff, df = _bounded_n(moments, p, width, level), None
    if clusters is not None:
        clustered, df = clustered_n_of_totals(clusters.in_unit(bounds))
        n_eff = min(n_eff, clustered)
    low, high = exact_interval(p, n_eff, df, level)
    limits = lower + width * low, lower + width * high
    return within(moments.mean, limits, bounds, moments.n, Method("sidak+korn-graubard"))


def _bounded_n(moments: Moments, p: float, width: float, level: float) -> float:
    """Return the effective number of binary rows; the less the scores vary, the larger it is.

    The observed variance counts for little until more extreme scores are seen than n rows may have missed at this
    level: -log(tail), since e^-k is the probability of none where k are expected.
    """
    n, binomial = moments.n, p * (1.0 - p)
    if moments.is_binary or moments.is_constant or binomial == 0.0:
        return float(n)
    r = min(moments.variance / width**2 / binomial, 1.0)
    return effective_n(n, r, n * min(p, 1.0 - p), prior_events=-log((1.0 - level) / 2.0))
