"""How many more rows, labels or groups would decide a comparison, if the difference is as large as it matters."""

from collections.abc import Callable
from math import sqrt
from typing import NamedTuple

import scipy

from goldmeter.statistics.arrays import check_confidence

# The variance of the changes is believed to lie below the upper one with this probability.
_BELOW = 0.9
# No data set is larger.
_MOST = 10**12


class Evidence(NamedTuple):
    """What n items say of a difference: independent rows, labels or groups.

    Attributes:
        away: The estimate less the limit that it must pass for a decision, in the units of the measure; 0 for no items.
        variance: Of one item's difference, in those units squared.
        n: Number of items.
        changed: How many of them changed, by which the variance is known.
        full: The largest change of an item; may be infinite. It is also the usual one where no item is known yet.
    """

    away: float
    variance: float
    n: int
    changed: int
    full: float = 1.0


class More(NamedTuple):
    """How many more items decide with the power asked for.

    Attributes:
        low: If the items seen show the direction, and how much they vary.
        high: If they misled about the direction, and the others vary as much as these allow.
    """

    low: int
    high: int


def more_to_decide(evidence: Evidence, matters: float, power: float = 0.8, confidence: float = 0.95) -> More | None:
    """Return how many more items decide, together with those seen, if the truth is `matters` away from the limit.

    It is conditional power: items seen count as they are, the others are expected to be `matters` away.

    Args:
        evidence: What the items say that there are.
        matters: The smallest difference from the limit that matters, above 0, in the units of the measure.
        power: Probability of a decision, in (0, 1).
        confidence: Of the interval that decides, in (0, 1).

    Returns:
        None if no data set is large enough.

    Raises:
        ValueError: An argument is outside its range.

    Source: Proschan & Hunsberger 1995 (conditional power).

    >>> more_to_decide(Evidence(0.0, 0.1, 0, 100), 0.02)  # (1.96 + 0.8416)²·0.1/0.02² = 1962; 114.1 changes
    More(low=1963, high=2239)
    """
    check_confidence(confidence)
    if not (matters > 0.0 and 0.0 < power < 1.0):
        raise ValueError(f"matters = {matters}, power = {power}: expected a difference above 0, and a share")
    usual, upper = _variances(evidence, matters)
    z = -float(scipy.special.ndtri((1.0 - confidence) / 2.0))
    forth, back = ((sign * abs(evidence.away), variance) for sign, variance in ((1.0, usual), (-1.0, upper)))
    found = [
        _fewest(_power_of(evidence.n, away, sqrt(variance), matters, z), power) for away, variance in (forth, back)
    ]
    low, high = found
    return None if low is None or high is None else More(low, max(low, high))


def _variances(evidence: Evidence, matters: float) -> tuple[float, float]:
    """The variance of an item's difference as seen, and its upper limit; none is less than the difference asks for."""
    changed, n = evidence.changed, max(evidence.n, 1)
    square = evidence.variance * n / changed if changed and evidence.n else min(evidence.full, 1.0) ** 2
    least = matters * max(sqrt(square), matters)
    by_count = float(scipy.special.gammaincinv(changed + 1.0, _BELOW)) / max(changed, 1)
    upper = evidence.variance * by_count if changed else square * by_count / n
    return max(evidence.variance, least), max(upper, least)


def _power_of(n: int, away: float, sd: float, matters: float, z: float) -> Callable[[int], float]:
    def power(more: int) -> float:
        return float(scipy.special.ndtr((n * away + more * matters - z * sd * sqrt(n + more)) / (sd * sqrt(more))))

    return power


def _fewest(power_of: Callable[[int], float], power: float) -> int | None:
    """The smallest number of items that has the power; None if no data set has so many."""
    enough = 1
    while power_of(enough) < power:
        enough *= 2
        if enough > _MOST:
            return None
    few = enough // 2
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (few, middle) if power_of(middle) >= power else (middle, enough)
    return enough
