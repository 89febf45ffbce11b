"""The result of every interval."""

from math import nan
from typing import NamedTuple

from tasks.statistics.arrays import Bounds, FloatArray


class Estimate(NamedTuple):
    """A value with its interval.

    Always low <= value <= high, within the bounds of the metric. Without rows the value is NaN and the interval is
    the bounds.

    Attributes:
        value: The estimate, in the units of the metric.
        low: Lower limit.
        high: Upper limit.
        n: Number of rows.
        method: How the interval was computed; part of the reports.
    """

    value: float
    low: float
    high: float
    n: int
    method: str


def within(value: float, limits: tuple[float, float], bounds: Bounds, n: int, method: str) -> Estimate:
    """Clip the limits to the bounds and widen them to contain the value.

    >>> within(0.9, (0.7, 1.1), (0, 1), 8, "jackknife")
    Estimate(value=0.9, low=0.7, high=1.0, n=8, method='jackknife')
    """
    low, high = max(limits[0], bounds[0]), min(limits[1], bounds[1])
    return Estimate(float(value), float(min(low, value)), float(max(high, value)), n, method)


def unknown(bounds: Bounds, n: int, method: str, value: float = nan) -> Estimate:
    """Return the whole range of the metric as the interval, for a value whose spread can't be estimated."""
    return Estimate(value, float(bounds[0]), float(bounds[1]), n, method)


def mean_of(values: FloatArray) -> float:
    """Return the mean, clipped to the smallest and largest value, which rounding can exceed."""
    return min(max(float(values.mean()), float(values.min())), float(values.max()))
