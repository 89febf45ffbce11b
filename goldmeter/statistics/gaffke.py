"""Gaffke's interval for the mean of bounded scores, without assumptions on their distribution."""

from math import exp, log, pi, sqrt
from typing import NamedTuple

import numpy as np
import scipy

from goldmeter.statistics.arrays import Bounds, FloatArray, IntArray

# Scores of large samples are rounded outwards to this grid: limits stay conservative and few values are distinct.
GRID = 2**16

# Trapezoid nodes along the path of steepest descent, y = h·sinh(u): 20 covers the slow decay of a single row.
_STEP = 0.125
_NODES = np.sinh(np.arange(0.0, 20.0, _STEP))
_WEIGHTS = np.cosh(np.arange(0.0, 20.0, _STEP)) * _STEP
_WEIGHTS[0] /= 2.0
_NEGLIGIBLE = 1e-18
# Bends of the path that are tried, as shares of the one at the saddlepoint, until the nodes on it are enough.
_BENDS = (1.0, 0.25, -0.25, 1 / 16, 0.0)
# Half of the nodes must give the same within this share. The error is squared when their number is doubled.
_AGREE = 1e-6


class Counts(NamedTuple):
    """Distinct scores in [0, 1], ascending, and how often each occurs; both of shape (k,)."""

    values: FloatArray
    counts: IntArray

    def with_more(self, other: "Counts") -> "Counts":
        """The scores of both."""
        values, places = np.unique(np.concatenate([self.values, other.values]), return_inverse=True)
        counts = np.bincount(places, weights=np.concatenate([self.counts, other.counts]), minlength=values.size)
        return Counts(values, counts.astype(np.intp))

    def on_grid(self) -> "Counts":
        """The scores rounded up to the grid."""
        return NO_COUNTS.with_more(Counts(np.ceil(self.values * GRID) / GRID, self.counts))


NO_COUNTS = Counts(np.empty(0), np.empty(0, np.intp))


class Distribution(NamedTuple):
    """How often each score occurs; of more than GRID scores they are rounded outwards.

    n: number of scores. scores: those rescaled to [0, 1]. mirrored: 1 less each of them.
    """

    n: int
    scores: Counts
    mirrored: Counts

    @classmethod
    def of(cls, scores: FloatArray, bounds: Bounds) -> "Distribution":
        """Count scores within their bounds, shape (n,)."""
        unit = np.clip((scores - bounds[0]) / (bounds[1] - bounds[0]), 0.0, 1.0)
        up, down = (Counts(*np.unique(values, return_counts=True)) for values in (unit, 1.0 - unit))
        return _rounded(cls(unit.size, up, down))

    @classmethod
    def of_passes(cls, n: int, passed: int) -> "Distribution":
        """Count verdicts, 1 or 0."""
        verdicts = np.array([0.0, 1.0])
        return cls(
            n, Counts(verdicts, np.array([n - passed, passed])), Counts(verdicts, np.array([passed, n - passed]))
        )

    def __add__(self, other: "Distribution") -> "Distribution":  # type: ignore[override]  # a sum
        """The scores of both, in the same way whatever is added first."""
        up, down = self.scores.with_more(other.scores), self.mirrored.with_more(other.mirrored)
        return _rounded(Distribution(self.n + other.n, up, down))


def gaffke_limits(distribution: Distribution, confidence: float) -> tuple[float, float]:
    """Return Gaffke's limits of the mean of n >= 1 scores.

    The upper limit is a quantile of the mean of the scores and one more score at 1, under random weights that are
    uniform on the simplex; the lower limit mirrors it. On binary data it is Clopper and Pearson's interval. That it
    covers for every distribution on [0, 1] is a conjecture without a known counterexample.

    Source: Gaffke 2005; Learned-Miller & Thomas 2019.

    >>> low, high = gaffke_limits(Distribution.of(np.array([0.0, 0.0]), (0.0, 1.0)), 0.95)
    >>> round(low, 6), round(high, 6)  # 1 - √0.025
    (0.0, 0.841886)
    """
    tail = (1.0 - confidence) / 2.0
    return 1.0 - _upper(distribution.mirrored, tail), _upper(distribution.scores, tail)


def _upper(unit: Counts, tail: float) -> float:
    values, counts = unit.with_more(Counts(np.ones(1), np.ones(1, np.intp)))
    if values.size == 1:
        return 1.0
    weights = counts.astype(np.float64)

    def excess(t: float) -> float:
        """Return the excess of the tail beyond t over the target, in normal deviates: nearly linear in t."""
        return float(
            scipy.special.ndtri(np.clip(_positive(values - t, weights), 1e-300, 1.0 - 1e-16))
            - scipy.special.ndtri(tail)
        )

    return float(scipy.optimize.brentq(excess, values[0], 1.0, xtol=1e-13))


def _positive(a: FloatArray, counts: FloatArray) -> float:
    """Return P(sum of a_i E_i > 0) for independent standard exponential E_i, a_i taken counts_i times.

    Dirichlet weights are exponentials divided by their sum, so for a = z - t this is P(weighted mean > t). It inverts
    the moment generating function by integration through the saddlepoint, along the parabola that approximates the path
    of steepest descent, or a flatter one where the integrand grows along that. Unlike the saddlepoint approximation,
    the integral is exact up to rounding where the nodes agree; elsewhere it was off by up to 7e-5 of itself.
    """
    if a[-1] <= 0.0:
        return 0.0
    if a[0] >= 0.0:
        return 1.0
    if counts @ a > 0.0:
        return 1.0 - _positive(-a[::-1], counts[::-1])
    s = _saddlepoint(a, counts)
    tilted = a / (1.0 - a * s)
    squares = float(counts @ tilted**2)
    height = -float(counts @ np.log1p(-a * s)) - log(s)
    scale = 1.0 / sqrt(squares + s**-2)
    bend = float(counts @ tilted**3) / squares / 3.0
    for share in _BENDS:
        integral, is_sure = _along(tilted, counts, s, scale, share * bend)
        if is_sure:
            break
    return exp(height) * scale * integral / pi


def _along(tilted: FloatArray, counts: FloatArray, s: float, scale: float, bend: float) -> tuple[float, bool]:
    """Integrate along a parabola; return the integral, and whether the nodes are enough for it."""
    integral = of_half = 0.0
    chunk = max(2, min(32, 2**20 // tilted.size // 2 * 2))
    for i in range(0, _NODES.size, chunk):
        y = scale * _NODES[i : i + chunk]
        step = 1j * y + bend * y**2
        log_ratio = np.log1p(np.outer(step, -tilted)) @ counts + np.log1p(step / s)
        if log_ratio.real.min() < -_AGREE:
            return integral, False  # larger than at the saddlepoint
        terms = (np.exp(-log_ratio) * (1.0 - 2j * bend * y)).real * _WEIGHTS[i : i + chunk]
        integral += float(terms.sum())
        of_half += 2.0 * float(terms[::2].sum())
        if np.abs(terms[-2:]).max() < _NEGLIGIBLE:
            break
    return integral, abs(integral - of_half) <= _AGREE * abs(integral)


def _saddlepoint(a: FloatArray, counts: FloatArray) -> float:
    """Return the minimum of the integrand on (0, 1/max a); any point is exact, this one converges fastest."""
    n = float(counts.sum())

    def slope(share: float) -> float:
        s = share / float(a[-1])
        return float(counts @ (a / (1.0 - a * s))) - 1.0 / s

    share = float(scipy.optimize.brentq(slope, 1.0 / (n + 1.0), n / (n + 1.0), rtol=1e-6))
    return share / float(a[-1])


def _rounded(all_scores: Distribution) -> Distribution:
    if all_scores.n <= GRID:
        return all_scores
    return all_scores._replace(scores=all_scores.scores.on_grid(), mirrored=all_scores.mirrored.on_grid())
