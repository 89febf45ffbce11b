"""Intervals of a rate: Wilson's on an effective sample size with a mid-p tail, exact binomial ones, and Blaker's."""

from collections.abc import Callable
from math import sqrt

import scipy

from goldmeter.statistics.arrays import check_confidence

_RTOL = 1e-14

# A limit may be a simple fraction, such as 1/2 for 18 of 50; rounding must not exclude it.
_OUTWARD = 1e-12


def midp_lower(k: float, n: float, tail: float) -> float:
    """Return the p at which "more than k events, or half of exactly k" has probability `tail`.

    The upper limit is `1 - midp_lower(n - k, n, tail)`.

    Args:
        k: Number of events, 0 <= k <= n; may be fractional, since binomial tails are incomplete beta functions.
        n: Number of trials; may be fractional.
        tail: Probability in (0, 1/2).

    Source: Lancaster 1961; Korn & Graubard 1998.

    >>> round(midp_lower(3, 3, 0.025), 6)  # p³/2 = 0.025
    0.368403
    """
    if k <= 0.0:
        return 0.0
    # The root lies between those of P(X >= k) and P(X > k).
    first, last = exact_lower(k, n, tail), exact_lower(k + 1.0, n, tail)
    return _root(lambda p: 0.5 * (_at_least(k, n, p) + _at_least(k + 1.0, n, p)) - tail, first, last)


def exact_lower(k: float, n: float, tail: float) -> float:
    """Return the p at which "k events or more" has probability `tail`: Clopper and Pearson's lower limit.

    The upper limit is `1 - exact_lower(n - k, n, tail)`. Arguments as of `midp_lower`.

    Source: Clopper & Pearson 1934; Korn & Graubard 1998 for fractional counts.

    >>> round(exact_lower(3, 3, 0.025), 6)  # p³ = 0.025
    0.292402
    """
    if k <= 0.0:
        return 0.0
    return 1.0 if k >= n + 1.0 else float(scipy.special.betaincinv(k, n - k + 1.0, tail))


def blaker_interval(k: int, n: int, confidence: float) -> tuple[float, float]:
    """Return Blaker's interval of a proportion; it never covers less than `confidence`.

    It is the hull of {p: acceptability(p) >= 1 - confidence}, and lies within Clopper and Pearson's interval.

    Source: Blaker 2000; Klaschka 2010 for the hull.

    >>> low, high = blaker_interval(3, 10, 0.95)
    >>> round(low, 8), round(high, 8)
    (0.08726443, 0.61941066)
    """
    alpha = 1.0 - confidence
    low, high = _blaker_lower(k, n, alpha), 1.0 - _blaker_lower(n - k, n, alpha)
    return max(0.0, low - _OUTWARD), min(1.0, high + _OUTWARD)


def _blaker_lower(k: int, n: int, alpha: float) -> float:
    """Return the smallest acceptable p.

    Acceptability is P(X >= k) plus the largest lower tail P(X <= j) that does not exceed it. It is below alpha up to
    Clopper and Pearson's limit. From there it either rises to alpha before the next j is added, or jumps to
    twice P(X >= k) >= alpha at the p where that j is added.
    """
    if k == 0:
        return 0.0
    start = exact_lower(k, n, alpha / 2.0)
    j = _largest_lower_tail(k, n, start)
    next_p = _root(lambda p: _at_least(k, n, p) - _at_most(j + 1, n, p), start, 1.0)
    if _at_least(k, n, next_p) + _at_most(j, n, next_p) < alpha:
        return next_p
    return _root(lambda p: _at_least(k, n, p) + _at_most(j, n, p) - alpha, start, next_p)


def _largest_lower_tail(k: int, n: int, p: float) -> int:
    """Return the largest j with P(X <= j) <= P(X >= k), or -1, by bisection."""
    upper = _at_least(k, n, p)
    below, above = -1, k
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (middle, above) if _at_most(middle, n, p) <= upper else (below, middle)
    return below


def _at_least(k: float, n: float, p: float) -> float:
    if k <= 0.0:
        return 1.0
    return 0.0 if k >= n + 1.0 else float(scipy.special.betainc(k, n - k + 1.0, p))


def _at_most(k: float, n: float, p: float) -> float:
    return _at_least(n - k, n, 1.0 - p)


def _root(f: Callable[[float], float], low: float, high: float) -> float:
    """Return the root of an increasing function, or the end of the range beyond which rounding has moved it."""
    if f(low) >= 0.0:
        return low
    if f(high) <= 0.0:
        return high
    return float(scipy.optimize.brentq(f, low, high, xtol=1e-18, rtol=_RTOL, maxiter=1000))


# With at most this many effective events, Wilson's limit nearest the bound is too narrow: coverage falls to 83 %
# (Brown, Cai & DasGupta 2001, section 4, who replace it for counts up to 2 or 3).
# 1e-9: counts are products, and (1 - 0.7)·10 is a little more than 3.
FEW_EVENTS = 3.0 + 1e-9


def effective_n(n: float, r: float, events: float, *, r_max: float = 1.0, prior_events: float = 1.0) -> float:
    """Return the number of independent binary rows that carry as much information as `n` rows.

    Args:
        n: Number of rows.
        r: Observed variance of the mean over its binomial variance. It is shrunk towards `r_max`, the more the fewer
            events there are.
        events: Number of informative events.
        r_max: The largest possible `r`.
        prior_events: Number of events that `r_max` counts for.

    >>> effective_n(100, r=0.5, events=9)
    181.8181818181818
    """
    return n * (events + prior_events) / (events * r + prior_events * r_max)


def score_interval(p: float, n_eff: float, df: float | None = None, confidence: float = 0.95) -> tuple[float, float]:
    """Return the limits of a proportion.

    Args:
        p: The observed proportion, in [0, 1].
        n_eff: Effective number of rows, above 0.
        df: Degrees of freedom, if the variance behind `n_eff` was estimated. The t quantile then replaces the normal
            one, which equals n_eff·(z/t)² rows; the mid-p tail uses those too.
        confidence: In (0, 1).

    Raises:
        ValueError: An argument is outside its range.

    Source: Wilson 1927; Brown, Cai & DasGupta 2001; Korn & Graubard 1998 for `df` and fractional counts.

    >>> low, high = score_interval(0.5, 96.04)  # 1.96² = 3.8416 = 0.04 · 96.04
    >>> round(low, 4), round(high, 4)  # 0.5 ± 0.5·√(0.04/1.04)
    (0.4019, 0.5981)
    """
    n_eff, z, tail = _checked(p, n_eff, df, confidence)
    low, high = _wilson(p, n_eff, z)
    if p * n_eff <= FEW_EVENTS:
        low = min(low, midp_lower(p * n_eff, n_eff, tail))
    if (1.0 - p) * n_eff <= FEW_EVENTS:
        high = max(high, 1.0 - midp_lower((1.0 - p) * n_eff, n_eff, tail))
    return max(0.0, min(low, p)), min(1.0, max(high, p))


def exact_interval(p: float, n_eff: float, df: float | None = None, confidence: float = 0.95) -> tuple[float, float]:
    """Return the limits of a proportion whose tails are exact, for confidences far above 95 %.

    For n binary rows these are Clopper and Pearson's limits, which never cover less than `confidence`. Mid-p and
    Wilson's tails are right on average only: at 99.9 % their error can be ten times what it should be.

    Args: as of `score_interval`.

    Raises:
        ValueError: An argument is outside its range.

    Source: Clopper & Pearson 1934; Korn & Graubard 1998 for effective sample sizes.

    >>> low, high = exact_interval(1.0, 5, confidence=0.999)  # p⁵ = 0.0005
    >>> round(low, 6), high
    (0.218672, 1.0)
    """
    n_eff, _, tail = _checked(p, n_eff, df, confidence)
    low, high = exact_lower(p * n_eff, n_eff, tail), 1.0 - exact_lower((1.0 - p) * n_eff, n_eff, tail)
    return max(0.0, min(low, p)), min(1.0, max(high, p))


def _checked(p: float, n_eff: float, df: float | None, confidence: float) -> tuple[float, float, float]:
    """Check the arguments; return the effective number of rows given `df`, the normal quantile, and its tail."""
    check_confidence(confidence)
    if not (0.0 <= p <= 1.0 and n_eff > 0.0):
        raise ValueError(f"p = {p}, n_eff = {n_eff}: expected p in [0, 1] and n_eff > 0")
    tail = (1.0 - confidence) / 2.0
    z = -float(scipy.special.ndtri(tail))
    return n_eff if df is None else n_eff * (z / float(scipy.special.stdtrit(df, 1.0 - tail))) ** 2, z, tail


def _wilson(p: float, n: float, z: float) -> tuple[float, float]:
    shrink = 1.0 + z * z / n
    centre = (p + z * z / (2.0 * n)) / shrink
    half = z * sqrt(p * (1.0 - p) / n + z * z / (4.0 * n * n)) / shrink
    return centre - half, centre + half
