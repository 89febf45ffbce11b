"""The result of every interval, and how it was computed."""

from dataclasses import dataclass, replace
from math import nan
from typing import NamedTuple

from goldmeter.statistics.arrays import Bounds, FloatArray

DESIGNED, DESIGNED_ALONE = "designed", "designed, labels alone"


@dataclass(frozen=True, slots=True)
class Method:
    """How an interval was computed.

    Attributes:
        kind: The interval, such as `wilson+midp`.
        notes: What limits it, one sentence each: few clusters, a judge's error, no guarantee.
    """

    kind: str
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The method as reports print it.

        >>> str(Method("cr2", ("3 clusters",)))
        'cr2; 3 clusters'
        """
        return "; ".join((self.kind, *self.notes))

    @property
    def is_designed(self) -> bool:
        """Whether the labels are weighted by the design that chose their rows."""
        return self.kind in {DESIGNED, DESIGNED_ALONE}

    def with_notes(self, *notes: str) -> "Method":
        """The method with more notes, after those that it has."""
        return replace(self, notes=(*self.notes, *notes))


NO_ROWS = Method("no rows")


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
    method: Method


def within(value: float, limits: tuple[float, float], bounds: Bounds, n: int, method: Method) -> Estimate:
    """Clip the limits to the bounds and widen them to contain the value.

    >>> within(0.9, (0.7, 1.1), (0, 1), 8, Method("jackknife"))
    Estimate(value=0.9, low=0.7, high=1.0, n=8, method=Method(kind='jackknife', notes=()))
    """
    low, high = max(limits[0], bounds[0]), min(limits[1], bounds[1])
    return Estimate(float(value), float(min(low, value)), float(max(high, value)), n, method)


def unknown(bounds: Bounds, n: int, method: Method, value: float = nan) -> Estimate:
    """Return the whole range of the metric as the interval, for a value whose spread can't be estimated."""
    return Estimate(value, float(bounds[0]), float(bounds[1]), n, method)


def mean_of(values: FloatArray) -> float:
    """Return the mean, clipped to the smallest and largest value, which rounding can exceed."""
    return min(max(float(values.mean()), float(values.min())), float(values.max()))
