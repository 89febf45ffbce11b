"""Change of fresh rows: the last nights against the first ones, whether or not a floor is crossed."""

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
import scipy

from goldmeter.statistics.arrays import FloatArray, IntArray

# The nights that later ones are compared with: three weeks, so that each weekday is known from three of them.
REFERENCE, FEWEST = 21, 7
# The last nights that are compared: a night shows a large change at once, two weeks show a small one.
WINDOWS = (1, 3, 7, 14)
# Nights that share the probability of a false alarm.
LASTS = 90
# An alarm ends when the last week differs from the first nights by at most this many standard errors.
OVER = 2.0
_WEEK = 7


class Night(NamedTuple):
    """The fresh rows of one run of a schedule.

    Attributes:
        mean: Of their scores, in units of the metric's width.
        error: Its standard error, above 0, from rows or groups.
        rows: Their number.
        weekday: 0 for Monday to 6 for Sunday.
        alarmed: Whether it was in the window of an alarm; later nights are not compared with it.
    """

    mean: float
    error: float
    rows: int
    weekday: int
    alarmed: bool = False


class Change(NamedTuple):
    """What the last nights say against the first ones.

    Attributes:
        first: Mean of the first nights, of the same weekdays once these are known.
        last: Mean of the last nights.
        errors: Their difference in standard errors, below 0 for a fall.
        p_value: Two-sided, of "no change", of this window alone.
        reference: How many nights `first` is of.
        nights: How many `last` is of.
        rows: Fresh rows of these.
    """

    first: float
    last: float
    errors: float
    p_value: float
    reference: int
    nights: int
    rows: int


def change(nights: Sequence[Night], *, standing: bool = False, alpha: float = 0.05) -> Change | None:
    """Return the clearest change of the last nights against the first ones; None without one, or too few nights.

    Means are weighted by rows. Where nights vary more than their rows explain, all errors are larger by that factor
    (quasi-likelihood), with Student's t of the nights before. After three weeks, weekdays seen three times are
    compared with themselves, and others are left out. Nights of alarms are neither among the first nor say how much
    nights vary.

    Args:
        nights: With fresh rows, the oldest first.
        standing: Whether the night before had an alarm: it then stands until the last week is near the first nights.
        alpha: Probability of any false alarm in LASTS nights, in (0, 1); each test has an equal share (Bonferroni).

    Raises:
        ValueError: `alpha` is outside of (0, 1).

    Source: McCullagh & Nelder 1989 (overdispersion); Lai 1995 for several windows (scan statistics of change points).
    """
    if not 0.0 < alpha < 1.0:
        raise ValueError(f"alpha = {alpha}: expected a number between 0 and 1, such as 0.05")
    found = [one for window in WINDOWS if (one := _compared(nights, window)) is not None]
    if not found:
        return None
    clearest = min(found, key=lambda one: one.p_value)
    if clearest.p_value < alpha / (LASTS * len(WINDOWS)):
        return clearest
    last = week(nights)
    is_over = last is not None and abs(last.errors) <= OVER
    return (last or clearest) if standing and not is_over else None


def week(nights: Sequence[Night]) -> Change | None:
    """Return the last week against the first nights; None with too few nights."""
    return _compared(nights, _WEEK)


def _compared(nights: Sequence[Night], window: int) -> Change | None:
    """The last nights against the first ones; None if these are too few."""
    calm, last = [night for night in nights[:-window] if not night.alarmed], nights[-window:]
    if len(calm) < FEWEST or len(last) < window:
        return None
    by_weekday = len(calm) >= REFERENCE
    if by_weekday:
        often = np.bincount([night.weekday for night in calm], minlength=_WEEK) >= REFERENCE // _WEEK
        calm, last = ([night for night in some if often[night.weekday]] for some in (calm, last))
        if not last:
            return None
    known, days = ([night.weekday if by_weekday else 0 for night in some] for some in (calm, last))
    chosen = _first(known)
    first = _by_day([calm[place] for place in chosen], np.array(known)[chosen])
    weights = np.bincount(days, [night.rows for night in last], _WEEK)
    total = weights.sum()
    before, variance = weights @ first.means / total, weights**2 @ first.variances / total**2
    mean = sum(night.mean * night.rows for night in last) / total
    variance += sum((night.error * night.rows) ** 2 for night in last) / total**2
    spread, freedom = _spread(calm, np.array(known))
    away = float(mean - before) / sqrt(spread * variance)
    p_value = 2.0 * float(scipy.special.stdtr(freedom, -abs(away)))
    return Change(float(before), float(mean), away, p_value, len(chosen), len(last), int(total))


def _first(days: Sequence[int]) -> list[int]:
    """The places of the first nights, as many of each weekday, about REFERENCE in all."""
    each, counts, chosen = REFERENCE // len(set(days)), [0] * _WEEK, []
    for place, day in enumerate(days):
        if counts[day] < each:
            counts[day] += 1
            chosen.append(place)
    return chosen


class _ByDay(NamedTuple):
    """Weighted means of nights by weekday, and their variances; shape (7,)."""

    means: FloatArray
    variances: FloatArray


def _by_day(nights: Sequence[Night], days: IntArray) -> _ByDay:
    rows = np.array([night.rows for night in nights], np.float64)
    totals = np.maximum(np.bincount(days, rows, _WEEK), 1.0)
    means = np.bincount(days, rows * [night.mean for night in nights], _WEEK) / totals
    return _ByDay(means, np.bincount(days, (rows * [night.error for night in nights]) ** 2, _WEEK) / totals**2)


def _spread(nights: Sequence[Night], days: IntArray) -> tuple[float, int]:
    """How much more nights vary than their rows explain, 1 or more, and its degrees of freedom."""
    fitted = _by_day(nights, days).means[days]
    freedom = len(nights) - len(set(days))
    squares = sum(((night.mean - mean) / night.error) ** 2 for night, mean in zip(nights, fitted, strict=True))
    return max(1.0, squares / freedom), freedom
