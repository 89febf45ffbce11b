"""Limits from exact binomial tails: of fractional counts, whole or mid-p; Blaker's interval for whole counts."""

from collections.abc import Callable

from scipy.optimize import brentq
from scipy.special import betainc, betaincinv

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
    return 1.0 if k >= n + 1.0 else float(betaincinv(k, n - k + 1.0, tail))


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
    return 0.0 if k >= n + 1.0 else float(betainc(k, n - k + 1.0, p))


def _at_most(k: float, n: float, p: float) -> float:
    return _at_least(n - k, n, 1.0 - p)


def _root(f: Callable[[float], float], low: float, high: float) -> float:
    """Return the root of an increasing function, or the end of the range beyond which rounding has moved it."""
    if f(low) >= 0.0:
        return low
    if f(high) <= 0.0:
        return high
    return float(brentq(f, low, high, xtol=1e-18, rtol=_RTOL, maxiter=1000))
