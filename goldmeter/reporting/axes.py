"""Axes of forest plots: positions in percent of the width, and the numbers at the ticks."""

from collections.abc import Iterable
from math import floor, isfinite, log10
from typing import Any, NamedTuple

Row = dict[str, Any]
LIMITS = ("value", "low", "high")
# Distances between ticks, times a power of ten.
STEPS = (1, 2, 5, 10)
# Ends of an axis of differences, times a power of ten.
ENDS = (1, 1.5, 2, 3, 4, 5, 6, 8, 10)
# Steps from end to end at least. The drawings are narrow, so there are not many more.
INTERVALS = 2
# The smallest end of an axis of differences. Without it, a difference near 0 would be drawn as a large one.
SMALLEST_END = 0.01


class Scale(NamedTuple):
    """An axis from low to high; share: its numbers are percentages. points: they are percentage points."""

    low: float
    high: float
    ticks: tuple[float, ...]
    share: bool = False
    points: bool = False

    def place(self, value: float) -> str:
        """Return the position of a value for SVG and CSS; a value beyond an end is placed at the end.

        >>> SHARES.place(0.25), SHARES.place(7)
        ('25%', '100%')
        """
        return f"{round(100 * self._part(value), 2):g}%"

    def width(self, low: float, high: float) -> str:
        """Return the width between two values for SVG and CSS."""
        return f"{round(100 * (self._part(high) - self._part(low)), 2):g}%"

    def _part(self, value: float) -> float:
        return min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)

    def text(self, tick: float) -> str:
        """Return the number at a tick.

        >>> SHARES.text(0.5), Scale(-1, 1, (-0.5,)).text(-0.5), Scale(0, 3e6, (1.5e6,)).text(1.5e6)
        ('50%', '−0.5', '1.5e6')
        """
        number = 100 * tick if self.points else tick
        return f"{tick:.0%}" if self.share else f"{number:g}".replace("e+0", "e").replace("e+", "e").replace("-", "−")


# The narrowest axis of rates on the first screen: a small difference stays small.
NARROWEST = 0.2
# The axis of all pass rates.
SHARES = Scale(0.0, 1.0, (0.0, 0.5, 1.0), share=True)


def scale(bounds: tuple[float, float] | None, rows: Iterable[Row], threshold: float | None = None) -> Scale | None:
    """Return the axis of a metric's scores.

    Args:
        bounds: The lowest and the highest score; None or infinite for a metric without bounds.
        rows: Estimates with `value`, `low` and `high`.
        threshold: The score from which an answer passes.

    Returns:
        An axis from bound to bound; without bounds, an axis with round numbers at its ends that holds all intervals
        and the threshold; None if there is nothing to draw.
    """
    if bounds is not None and all(isfinite(bound) for bound in bounds):
        low, high = bounds
        return Scale(low, high, (low, (low + high) / 2, high))
    values = [row[name] for row in rows for name in LIMITS if row[name] is not None]
    return around([*values, *([] if threshold is None else [threshold])]) if values else None


def shares(rows: Iterable[Row]) -> Scale:
    """Return the shortest axis of rates with round numbers at its ends that holds all intervals, 20 points at least.

    >>> shares([{"value": 0.71, "low": 0.66, "high": 0.76}]).ticks
    (0.6, 0.75, 0.9)
    """
    values = [row[name] for row in rows for name in LIMITS if row[name] is not None]
    half = NARROWEST / 2
    middle = min(max((min(values) + max(values)) / 2, half), 1.0 - half)
    low, high, *_ = around([*values, middle - half, middle + half])
    return Scale(low, high, (low, (low + high) / 2, high), share=True)


def around(values: Iterable[float]) -> Scale:
    """Return the shortest axis with round numbers at its ends that holds all values.

    >>> around([213, 340])
    Scale(low=200, high=350, ticks=(200, 250, 300, 350), share=False, points=False)
    >>> around([0.5])
    Scale(low=0, high=1, ticks=(0, 0.5, 1), share=False, points=False)
    """
    ordered = sorted(values)
    low, high = ordered[0], ordered[-1]
    if low == high:
        reach = abs(low) or 1.0
        low, high = low - reach, high + reach
    width = (high - low) / INTERVALS
    power = 10.0 ** floor(log10(width))
    step = max(step * power for step in STEPS if step * power <= width * (1 + 1e-9))
    first, last = floor(low / step + 1e-9), -floor(-high / step + 1e-9)
    ticks = tuple(_rounded(number * step) for number in range(first, last + 1))
    return Scale(ticks[0], ticks[-1], ticks)


def around_zero(rows: Iterable[Row], *, points: bool = False) -> Scale:
    """Return the axis of differences, with zero in the middle.

    Args:
        rows: Estimates with `value`, `low` and `high`.
        points: Whether they are differences of shares, in percentage points.
    """
    sizes = [abs(row[name]) for row in rows for name in LIMITS if row[name] is not None]
    end = _end(max([*sizes, SMALLEST_END]))
    return Scale(-end, end, (-end, 0.0, end), points=points)


def _end(width: float) -> float:
    """Return the smallest end that is not below the width.

    >>> _end(0.03), _end(0.5), _end(0.61)
    (0.03, 0.5, 0.8)
    """
    power = 10.0 ** floor(log10(width))
    return _rounded(min(end * power for end in ENDS if end * power >= width * (1 - 1e-9)))


def _rounded(tick: float) -> float:
    """Return a tick without the last bits of floating point: 0.30000000000000004 becomes 0.3."""
    rounded = float(f"{tick:.12g}")
    return int(rounded) if rounded == int(rounded) else rounded
