"""What every interval returns, and the arguments all of them check."""

from math import isnan, nan
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
Bounds = tuple[float, float]


class Estimate(NamedTuple):
    """A value with its interval; `n` counts the rows it rests on.

    Always low <= value <= high, inside the bounds of the metric. Without rows the value is NaN
    and the interval is the bounds.
    """

    value: float
    low: float
    high: float
    n: int
    method: str


def within(value: float, limits: tuple[float, float], bounds: Bounds, n: int, method: str) -> Estimate:
    """Clip the limits to the bounds and let them enclose the value.

    >>> within(0.9, (0.7, 1.1), (0, 1), 8, "jackknife")
    Estimate(value=0.9, low=0.7, high=1.0, n=8, method='jackknife')
    """
    low, high = max(limits[0], bounds[0]), min(limits[1], bounds[1])
    return Estimate(float(value), float(min(low, value)), float(max(high, value)), n, method)


def unknown(bounds: Bounds, n: int, method: str, value: float = nan) -> Estimate:
    """Nothing is known of the spread: the interval is the whole range of the metric."""
    return Estimate(value, float(bounds[0]), float(bounds[1]), n, method)


def mean_of(values: FloatArray) -> float:
    """Return the mean, which rounding may not carry past the smallest or largest value."""
    return min(max(float(values.mean()), float(values.min())), float(values.max()))


def check_scores(scores: FloatArray, bounds: Bounds) -> None:
    """Raise ValueError unless there is one score per row, each within the bounds."""
    if scores.ndim != 1:
        message = f"x has shape {scores.shape}: expected one score per row, shape (n,)"
        raise ValueError(message)
    if scores.size and not (bounds[0] <= scores.min() and scores.max() <= bounds[1]):
        row = int(np.argmin((scores >= bounds[0]) & (scores <= bounds[1])))
        message = f"x[{row}] = {scores[row]} lies outside {tuple(bounds)}: correct it, or leave unmeasured rows out"
        raise ValueError(message)


def check_confidence(confidence: float) -> None:
    """Raise ValueError unless the confidence is a probability strictly between 0 and 1."""
    if not 0.0 < confidence < 1.0:
        message = f"confidence = {confidence}: expected a number between 0 and 1, such as 0.95"
        raise ValueError(message)


def check_bounds(bounds: Bounds) -> None:
    """Raise ValueError unless the lower bound is below the upper one."""
    if isnan(bounds[0]) or isnan(bounds[1]) or not bounds[0] < bounds[1]:
        message = f"bounds = {bounds}: expected (lower, upper) with lower < upper"
        raise ValueError(message)
