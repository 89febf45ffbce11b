"""The axis that a forest plot is drawn on: where a value stands, in percent of the width, and the numbers beside it."""

from collections.abc import Iterable
from math import floor, isfinite, log10
from typing import Any, NamedTuple

Row = dict[str, Any]
STEPS = (1, 2, 5, 10)
"""Round numbers apart on an axis, times a power of ten."""
ENDS = (1, 1.5, 2, 3, 4, 5, 6, 8, 10)
"""Round numbers at the ends of one."""
INTERVALS = 2
"""So many steps from end to end, or a few more: the drawings are narrow."""
SMALLEST_END = 0.01
"""Of an axis of differences: no difference at all is not drawn as a large one."""


class Scale(NamedTuple):
    """An axis. share: its numbers are percentages."""

    low: float
    high: float
    ticks: tuple[float, ...]
    share: bool = False

    def place(self, value: float) -> str:
        """Where a value stands, as SVG and CSS write it; beyond the ends at the end.

        >>> SHARES.place(0.25), SHARES.place(7)
        ('25%', '100%')
        """
        return f"{round(100 * self._part(value), 2):g}%"

    def width(self, low: float, high: float) -> str:
        """How wide the span of two values is."""
        return f"{round(100 * (self._part(high) - self._part(low)), 2):g}%"

    def _part(self, value: float) -> float:
        return min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)

    def text(self, tick: float) -> str:
        """The number beside a tick.

        >>> SHARES.text(0.5), Scale(-1, 1, (-0.5,)).text(-0.5), Scale(0, 3e6, (1.5e6,)).text(1.5e6)
        ('50%', '−0.5', '1.5e6')
        """
        return f"{tick:.0%}" if self.share else f"{tick:g}".replace("e+0", "e").replace("e+", "e").replace("-", "−")


SHARES = Scale(0.0, 1.0, (0.0, 0.5, 1.0), share=True)
"""All pass rates are drawn on this one."""


def scale(bounds: tuple[float, float] | None, rows: Iterable[Row], threshold: float | None = None) -> Scale | None:
    """The bounds, with the middle between them; without bounds, round numbers around all intervals and the threshold.

    rows: estimates with value, low and high. None where nothing is known that could be drawn.
    """
    if bounds is not None and all(isfinite(bound) for bound in bounds):
        low, high = bounds
        return Scale(low, high, (low, (low + high) / 2, high))
    found = [row[name] for row in rows for name in ("value", "low", "high") if row[name] is not None]
    return around([*found, *([] if threshold is None else [threshold])]) if found else None


def around(values: Iterable[float]) -> Scale:
    """The shortest axis between round numbers that holds all values.

    >>> around([213, 340])
    Scale(low=200, high=350, ticks=(200, 250, 300, 350), share=False)
    >>> around([0.5])
    Scale(low=0, high=1, ticks=(0, 0.5, 1), share=False)
    """
    found = [*values]
    low, high = min(found), max(found)
    if low == high:
        reach = abs(low) or 1.0
        low, high = low - reach, high + reach
    step = _step((high - low) / INTERVALS)
    first, last = floor(low / step + 1e-9), -floor(-high / step + 1e-9)
    ticks = tuple(_round(number * step) for number in range(first, last + 1))
    return Scale(ticks[0], ticks[-1], ticks)


def around_zero(rows: Iterable[Row]) -> Scale:
    """The axis of differences: as far down as up, nothing in the middle."""
    ends = [abs(row[name]) for row in rows for name in ("value", "low", "high") if row[name] is not None]
    end = _end(max([*ends, SMALLEST_END]))
    return Scale(-end, end, (-end, 0.0, end))


def _step(width: float) -> float:
    """The largest round number that is not above the width."""
    power = 10.0 ** floor(log10(width))
    return max(each * power for each in STEPS if each * power <= width * (1 + 1e-9))


def _end(width: float) -> float:
    """The smallest round number that is not below the width.

    >>> _end(0.03), _end(0.5), _end(0.61)
    (0.03, 0.5, 0.8)
    """
    power = 10.0 ** floor(log10(width))
    return _round(min(each * power for each in ENDS if each * power >= width * (1 - 1e-9)))


def _round(tick: float) -> float:
    """A tick without the last bits of floating point: 0.30000000000000004 is 0.3."""
    found = float(f"{tick:.12g}")
    return int(found) if found == int(found) else found
