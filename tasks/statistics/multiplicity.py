"""Several metrics at once: single-step max-T for those declared, Holm and Benjamini–Hochberg for p values."""

from collections.abc import Callable
from functools import lru_cache
from math import expm1, log, log1p

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from tasks.statistics.clusters import Labels, cluster_sums
from tasks.statistics.estimate import FloatArray, check_confidence

# Mirrored draws for up to so many metrics, and for more: they keep c within 0.01 of the truth up to 60.
_FEW_METRICS, _FEW_DRAWS, _DRAWS = 20, 4096, 16384
_SEED = 1

# Correlations are rounded to this many digits, as sums of rows depend on their order beyond them.
_DIGITS = 9

# A spread below this share of the widest is the rounding error of a constant column.
_CONSTANT = 1e-10

# Lets a family whose metrics depend on each other (copies; a→b, b→c and a→c) have a Cholesky factor, though its
# correlations are rounded; moves a draw by a thousandth of a standard deviation.
_JITTER = 1e-6


def max_t(influence: npt.ArrayLike, clusters: Labels | None = None, confidence: float = 0.95) -> float:
    """Return the critical value c that max |Z_k| of a family of tests exceeds with probability 1 - confidence.

    `influence`: shape (n, k), float64, what each row contributes to each of k mean differences, (d - mean d)/n_k,
    0 where unmeasured; the scale of a column does not matter. Columns of zeros leave the family.
    `clusters`: shape (n,), one label per row; contributions are then summed by cluster.
    Interval k is value ± c·SE: for an interval that takes a confidence, give it 2·Φ(c) - 1.
    The number lies between the quantile of a single test and Šidák's. It is the same whatever the order of the rows,
    and within 0.01 of the truth up to 60 metrics at every level, as the draws come from beyond c.

    Raises: ValueError for NaN, a wrong shape, a single cluster.
    Source: Romano & Wolf 2005; Hothorn, Bretz & Westfall 2008; Owen, Maximov & Chertkov 2019 for the probability.

    >>> round(max_t([[0.1], [-0.1]]), 4)  # one metric: the normal quantile
    1.96
    >>> round(max_t([[1, 1], [1, -1], [-1, 1], [-1, -1]]), 3)  # two unrelated: 1 - 0.95^½ = 2·Φ(-2.236)
    2.236
    """
    check_confidence(confidence)
    rows = np.asarray(influence, dtype=np.float64)
    if rows.ndim != 2:  # noqa: PLR2004 (a table)
        message = f"influence has shape {rows.shape}: expected one column per metric, shape (n, k)"
        raise ValueError(message)
    correlation = _correlation(rows if clusters is None else cluster_sums(rows, clusters))
    metrics, alpha = correlation.shape[0], 1.0 - confidence
    single = -float(ndtri(alpha / 2.0))
    if metrics <= 1:
        return single
    # No correlation asks for more than none does (Šidák 1967).
    return _quantile(correlation, alpha, single, sidak(metrics, confidence))


def sidak(tests: int, confidence: float = 0.95) -> float:
    """Return the critical value for so many tests whatever their correlation; `max_t` asks for no more.

    Source: Šidák 1967.

    >>> round(sidak(2), 3)
    2.236
    """
    check_confidence(confidence)
    return -float(ndtri(-expm1(log1p(confidence - 1.0) / tests) / 2.0))


def holm(p_values: npt.ArrayLike) -> FloatArray:
    """Adjust p values so that the chance of any false rejection is at most the level.

    `p_values`: shape (k,), float64; NaN was not tested and stays NaN. Returns shape (k,).

    Raises: ValueError for a wrong shape, or a p value outside [0, 1].
    Source: Holm 1979.

    >>> holm([0.01, 0.04, 0.03]).tolist()  # 3·0.01, then 2·0.03, then the larger of 0.06 and 0.04
    [0.03, 0.06, 0.06]
    """
    return _adjusted(p_values, _holm_sorted)


def benjamini_hochberg(p_values: npt.ArrayLike) -> FloatArray:
    """Adjust p values so that the expected share of false rejections is at most the level, for independent tests.

    `p_values`: shape (k,), float64; NaN was not tested and stays NaN. Returns shape (k,).

    Raises: ValueError for a wrong shape, or a p value outside [0, 1].
    Source: Benjamini & Hochberg 1995; Benjamini & Yekutieli 2001 for positively dependent tests.

    >>> benjamini_hochberg([0.01, 0.04, 0.03]).tolist()  # 3/1·0.01, then the smaller of 3/2·0.03 and 3/3·0.04
    [0.03, 0.04, 0.04]
    """
    return _adjusted(p_values, _benjamini_hochberg_sorted)


def _correlation(items: FloatArray) -> FloatArray:
    """Return the correlation of the columns that vary, from their sums of products."""
    products = items.T @ items
    square = np.diagonal(products)
    if not np.isfinite(square).all():
        column = int(np.argmin(np.isfinite(square)))
        message = f"influence[:, {column}] is not finite: expected 0 where a row is unmeasured"
        raise ValueError(message)
    spread = np.sqrt(square)
    varies = spread > _CONSTANT * spread.max(initial=0.0)
    scale = spread[varies]
    rounded: FloatArray = np.round(products[np.ix_(varies, varies)] / scale / scale[:, None], _DIGITS)
    np.fill_diagonal(rounded, 1.0)
    return rounded


def _quantile(correlation: FloatArray, alpha: float, single: float, most: float) -> float:
    """Return c with P(max |Z| > c) = alpha.

    P(max |Z| > c) is the sum over k of P(|Z_k| > c)·E[1/S | Z_k > c], S being how many exceed c. Each draw has its
    metric k pushed beyond c, so 1/S varies little however small alpha is, and the sum can't leave Bonferroni's bounds.
    """
    metrics = correlation.shape[0]
    uniform, normal = _draws(metrics)
    index = np.arange(uniform.size)
    pushed = index * metrics // uniform.size
    factor = np.linalg.cholesky(correlation + _JITTER * np.eye(metrics))
    free, slope = factor @ normal, correlation[:, pushed]
    rest = free - slope * free[pushed, index]
    share = 1.0 / np.bincount(pushed)[pushed]

    def excess(c: float) -> float:
        one = 2.0 * float(ndtr(-c))
        beyond = slope * -ndtri(uniform * (one / 2.0))
        # Both signs of the rest of a draw are as likely. Rounding may leave the pushed metric at c itself.
        inverse = sum(0.5 / np.maximum((np.abs(z) > c).sum(axis=0), 1) for z in (beyond + rest, beyond - rest))
        return log(one * float(share @ inverse) / alpha)

    if excess(single) <= 0.0:
        return single
    if excess(most) >= 0.0:
        return most
    return float(brentq(excess, single, most, xtol=5e-4))


@lru_cache(maxsize=8)
def _draws(metrics: int) -> tuple[FloatArray, FloatArray]:
    """Return uniform draws, shape (draws,), and normal ones, shape (metrics, draws), always the same."""
    draws = _FEW_DRAWS if metrics <= _FEW_METRICS else _DRAWS
    uniform = 1.0 - np.random.default_rng(_SEED).random((draws, metrics + 1)).T  # in (0, 1]
    normal = np.ascontiguousarray(ndtri(np.minimum(uniform[1:], 1.0 - np.finfo(np.float64).eps)))
    first = np.ascontiguousarray(uniform[0])
    first.flags.writeable = normal.flags.writeable = False
    return first, normal


def _adjusted(p_values: npt.ArrayLike, adjust: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Apply an adjustment of ascending p values to those that were tested."""
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1:
        message = f"p_values has shape {p.shape}: expected one p value per test, shape (k,)"
        raise ValueError(message)
    outside = (p < 0.0) | (p > 1.0)
    if outside.any():
        first = int(np.argmax(outside))
        message = f"p_values[{first}] = {p[first]}: expected a number in [0, 1], or NaN where nothing was tested"
        raise ValueError(message)
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    adjusted = np.full(p.shape, np.nan)
    adjusted[order] = np.minimum(adjust(p[order]), 1.0)
    return adjusted


def _holm_sorted(ascending: FloatArray) -> FloatArray:
    left = np.arange(ascending.size, 0, -1)
    return np.maximum.accumulate(left * ascending)


def _benjamini_hochberg_sorted(ascending: FloatArray) -> FloatArray:
    rank = np.arange(1, ascending.size + 1)
    return np.minimum.accumulate((ascending.size / rank * ascending)[::-1])[::-1]
