"""Charts of a measure over time as inline SVG: lines with intervals, floors, baselines, alarms and changes."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from itertools import product
from operator import attrgetter
from typing import Any, NamedTuple

from tasks.console.format import abridged, cut, visible
from tasks.reporting.drawing import TAG, shape, svg
from tasks.reporting.trends import Trend, TrendPoint

Row = dict[str, Any]
# With more candidates than these, there is no room for names at the ends of the lines.
NAMED = 6
# With more candidates than these, intervals overlap and are drawn paler.
FEW = 3
# Channels whose fields hold the colour, mark or size itself, so they need neither scale nor legend.
COLOUR, SHAPE, AREA = ({"field": field, "scale": None, "legend": None} for field in ("colour", "shape", "area"))
# Coordinates need no more than hundredths of a pixel.
HUNDREDTHS = re.compile(r"(\.\d\d)\d+")
# The shortest time axis: with a shorter one, ticks would be fractions of a second.
SHORTEST = timedelta(seconds=10)
# The longest time axis with this format of ticks → the format.
FORMATS = {
    timedelta(minutes=10): "%H:%M:%S",
    timedelta(days=6): "%-d %b %H:%M",
    timedelta(days=400): "%-d %b",
    timedelta.max: "%b %Y",
}


class Size(NamedTuple):
    """The size of a chart in pixels, and how much it says.

    left: the margin of the numbers. change_height: the margin for descriptions of changes.
    ticks: at most so many, of time and of values. font: the font size. change_chars: characters of a description.
    change_values: whether a description has both values of a field, or only its name.
    dotted: a line with at most so many points has a mark at each. mark: the scale of points and alarms.
    name: characters of a candidate's name at the end of its line; 0: only the value; None: nothing.
    """

    width: int
    height: int
    left: int
    change_height: int
    ticks: tuple[int, int]
    font: int
    change_chars: int
    change_values: bool
    dotted: int
    name: int | None
    mark: float


# Font sizes are right for the narrowest screen; the style sheet scales wider charts.
SIZES = {
    "wide": Size(980, 190, 48, 32, (8, 4), 15, 64, change_values=True, dotted=31, name=14, mark=1),
    "narrow": Size(300, 130, 42, 16, (5, 4), 14, 18, change_values=False, dotted=16, name=0, mark=0.8),
    "small": Size(264, 76, 42, 12, (5, 3), 12, 18, change_values=False, dotted=16, name=None, mark=0.6),
}
# Characters of a version's name under the axis.
VERSION_CHARS = 14
# Margins at the top and the bottom, in pixels.
ABOVE, BELOW = 12, 24
# Width of a letter, as a share of the font size.
LETTER = 0.56


def trend_charts(trend: Trend, swatches: Mapping[str, str]) -> dict[str, str]:
    """Draw a trend for every screen: a large trend wide and narrow, of which the style sheet shows one; else small.

    Args:
        trend: The measure over time.
        swatches: Candidate → its colour, in the order of their marks.

    Returns:
        Name of the size → SVG.
    """
    return {size: trend_chart(trend, swatches, size) for size in (("wide", "narrow") if trend.large else ("small",))}


def trend_chart(trend: Trend, swatches: Mapping[str, str], size: str) -> str:
    """Draw a trend as an SVG in one of SIZES; the style sheet of the page sets its colours."""
    plot = _Plot(trend, swatches, SIZES[size])
    layers = [*_lines(plot), *_references(plot), *_changes(plot), *_alarms(plot), *_names(plot)]
    left, top, right = plot.size.left, ABOVE + plot.size.change_height * bool(trend.changes), plot.right
    chart = {
        "width": plot.size.width - left - right,
        "height": plot.size.height,
        "autosize": {"type": "none"},
        "padding": {"left": left, "top": top, "right": right, "bottom": BELOW},
        "layer": [layer for layer in layers if layer["data"]["values"]],
    }
    return TAG.sub(lambda tag: HUNDREDTHS.sub(r"\1", tag[0]), svg(chart))


@dataclass(frozen=True)
class _Plot:
    """The axes that all layers of a chart share."""

    trend: Trend
    swatches: Mapping[str, str]
    size: Size

    @cached_property
    def span(self) -> tuple[datetime, datetime]:
        """The ends of the time axis, with a little room after the newest run."""
        times = [point.run.started for point in self.trend.points]
        first, last = min(times), max(times)
        width = timedelta(days=1) if first == last else max(last - first, SHORTEST)
        return last - width * 1.02, last + width * 0.02

    @cached_property
    def domain(self) -> tuple[float, float]:
        """The ends of the axis of values, with a little room around all values; shares stay within 0 and 100 %."""
        drawn = [
            value
            for point in self.trend.points
            for value in (point.value, point.low, point.high, point.floor, point.baseline_value)
            if value is not None
        ]
        low, high = min(drawn, default=0.0), max(drawn, default=1.0)
        least = 0.01 if self.trend.share else 0.02 * max(abs(low), abs(high)) or 0.5
        room = max(0.08 * (high - low), least)
        low, high = low - room, high + room
        return (max(low, 0.0), min(high, 1.0)) if self.trend.share else (low, high)

    @cached_property
    def ends(self) -> list[tuple[str, TrendPoint]]:
        """Text at the end of each line and its last point, highest first; empty if there is no room for texts."""
        newest = self.trend.at(self.trend.points[-1].run).values()
        measured = [point for point in newest if point.value is not None]
        if self.size.name is None or len(measured) > NAMED:
            return []
        return [(self._end(point), point) for point in sorted(measured, key=attrgetter("value"), reverse=True)]

    def _end(self, point: TrendPoint) -> str:
        value = self.trend.figure(point.value)
        name = " ".join(visible(point.candidate).split())
        return f"{value} {abridged(name, self.size.name)}" if self.size.name else value

    @property
    def right(self) -> int:
        """The right margin, which holds the texts at the ends of the lines."""
        return round(10 + LETTER * self.size.font * max((len(text) for text, _ in self.ends), default=0))

    @property
    def x(self) -> Row:
        """The channel of the time, or of the versions in their order."""
        if not self.trend.dated:
            return self._versions
        width = self.span[1] - self.span[0]
        form = next(form for longest, form in FORMATS.items() if width <= longest)
        runs = {point.run.started for point in self.trend.points}
        labels = {f"{run:{form.replace('-', '')}}" for run in runs}
        half = LETTER * self.size.font * max(map(len, labels)) / 2
        axis: Row = {"title": None, "grid": False, "format": form, "labelFontSize": self.size.font}
        axis |= {"labelFlush": half, "labelOverlap": True, "labelSeparation": 8}  # keeps labels inside the chart
        few = len(runs) == len(labels) <= self.size.ticks[0]
        axis |= {"values": sorted(map(_ms, runs))} if few else {"tickCount": self.size.ticks[0]}
        scale = {"type": "utc", "domain": [*map(_ms, self.span)]}
        return {"field": "t", "type": "temporal", "axis": axis, "scale": scale}

    @property
    def _versions(self) -> Row:
        names = {
            f"v{_ms(point.run.started)}": abridged(visible(point.run.name), VERSION_CHARS)
            for point in self.trend.points
        }
        axis: Row = {"title": None, "grid": False, "labelFontSize": self.size.font, "labelOverlap": True}
        axis |= {"values": [int(time[1:]) for time in names], "labelSeparation": 8}
        axis |= {"labelExpr": f"({json.dumps(names)})['v' + time(datum.value)]"}
        return {
            "field": "t",
            "type": "temporal",
            "axis": axis,
            "scale": {"type": "utc", "domain": [*map(_ms, self.span)]},
        }

    def y(self, field: str = "v") -> Row:
        """The channel of a field with values."""
        low, high = self.domain
        large = "~s" if max(-low, high) >= 1e4 else "~g"  # noqa: PLR2004 (1.2M instead of 1.2e+6)
        form = (".0%" if high - low > 0.05 else ".1%") if self.trend.share else large  # noqa: PLR2004 (whole percents would repeat)
        axis: Row = {"title": None, "format": form, "tickCount": self.size.ticks[1], "domain": False, "ticks": False}
        axis |= {"labelFontSize": self.size.font, "gridOpacity": 0.6}
        scale = {"domain": [low, high], "nice": False, "zero": False}
        return {"field": field, "type": "quantitative", "axis": axis, "scale": scale}

    def height(self, value: float) -> float:
        """Return the position of a value, in pixels from the top."""
        low, high = self.domain
        return self.size.height * (high - value) / (high - low)

    def layer(self, rows: Iterable[Row], mark: str, style: Mapping[str, Any], **encoding: Any) -> Row:
        """Return a layer with a mark for each row; encoding: channel → its definition, or the name of its field."""
        channels = {"x": self.x} | {
            name: channel if isinstance(channel, Mapping) else {"field": channel} for name, channel in encoding.items()
        }
        return {"data": {"values": [*rows]}, "mark": {"type": mark, "aria": False, **style}, "encoding": channels}


def _lines(plot: _Plot) -> Iterator[Row]:
    """Yield each candidate's line with its interval, and marks at its end and at points without a neighbour."""
    rows = [
        {"v": point.value, "low": point.low, "high": point.high, **_row(plot, point, str(point.segment))}
        for point in plot.trend.points
        if point.value is not None
    ]
    counted = Counter(row["line"] for row in rows)
    ends = {row["place"]: row for row in rows}
    few = len({row["t"] for row in rows}) <= plot.size.dotted
    dots = [row for row in rows if few or counted[row["line"]] == 1 or row is ends[row["place"]]]
    ranges = [row for row in rows if row["low"] is not None]
    alone = [row for row in ranges if counted[row["line"]] == 1]
    limits = {"y": plot.y("low"), "y2": "high", "color": COLOUR}
    yield plot.layer(ranges, "area", {"opacity": 0.16 if len(ends) <= FEW else 0.07}, **limits, detail="line")
    yield plot.layer(alone, "rule", {"strokeWidth": 1.5, "opacity": 0.5}, **limits)
    style = {"strokeWidth": 1.8, "strokeJoin": "round"}
    yield plot.layer(rows, "line", style, y=plot.y(), color=COLOUR, detail="line")
    marks = [row | {"area": plot.size.mark * (4 if row is ends[row["place"]] else 2)} for row in dots]
    style = {"filled": True, "opacity": 1}
    yield plot.layer(marks, "point", style, y=plot.y(), color=COLOUR, shape=SHAPE, size=AREA)


def _row(plot: _Plot, point: TrendPoint, line: str) -> Row:
    """Return the fields that every layer needs of a point; line: which line of the candidate joins it."""
    place = [*plot.swatches].index(point.candidate)
    return {
        "t": _ms(point.run.started),
        "place": place,
        "colour": plot.swatches[point.candidate],
        "shape": shape(place),
        "line": f"{place}/{line}",
    }


def _references(plot: _Plot) -> Iterator[Row]:
    """Yield the floors, dashed, and the baseline's values on the same rows, dotted; both up to the end of the axis."""
    points = plot.trend.points
    floors = [
        _row(plot, point, "floor") | {"v": point.floor, "colour": "currentColor"}
        for point in points
        if point.floor is not None
    ]
    baselines = [
        _row(plot, point, str(point.baseline)) | {"v": point.baseline_value}
        for point in points
        if point.baseline_value is not None
    ]
    newest = _ms(points[-1].run.started)
    for rows, dash in ((floors, [7, 3]), (baselines, [1.5, 2.5])):
        held = [row | {"t": _ms(plot.span[1])} for row in rows if row["t"] == newest]
        style = {"interpolate": "step-after", "strokeDash": dash, "strokeWidth": 1.3}
        yield plot.layer([*rows, *held], "line", style, y=plot.y(), color=COLOUR, detail="line")


def _changes(plot: _Plot) -> Iterator[Row]:
    """Yield a dashed line at each change of a measure, and a description of the change."""
    runs = [*dict.fromkeys(point.run for point in plot.trend.points)]
    middle = plot.span[0] + (plot.span[1] - plot.span[0]) / 2
    rows = []
    for number, change in enumerate(plot.trend.changes):
        before = runs[runs.index(change.run) - 1].started
        at = before + (change.run.started - before) / 2
        text = visible("; ".join(change.differing) if plot.size.change_values else change.fields)
        rows.append({"t": _ms(at), "text": cut(text, plot.size.change_chars), "left": at < middle, "upper": number % 2})
    style = {"strokeDash": [4, 3], "strokeWidth": 1.2, "color": "var(--quiet)"}
    yield plot.layer(rows, "rule", style, y={"value": -6}, y2={"value": plot.size.height})
    for left, upper in product((True, False), (0, 1)):
        mine = [row for row in rows if (row["left"], row["upper"]) == (left, upper)]
        style = {"align": "left" if left else "right", "dx": 4 if left else -4, "fontSize": plot.size.font - 1}
        place = {"value": -8 - 13 * upper * plot.size.change_values}
        yield plot.layer(mine, "text", style | {"color": "var(--quiet)"}, y=place, text="text")


def _alarms(plot: _Plot) -> Iterator[Row]:
    """Yield a triangle above each alarm, larger at its onset; at the bottom if nothing was measured."""
    rows = [
        {"t": _ms(point.run.started), "v": plot.domain[0] if point.value is None else point.value}
        | {"area": (110 if point.onset else 22) * plot.size.mark}
        for point in plot.trend.points
        if point.alarm is not None
    ]
    style = {"shape": "triangle-down", "filled": True, "opacity": 1, "color": "var(--bad)", "yOffset": -9}
    yield plot.layer(rows, "point", style, y=plot.y(), size=AREA)


def _names(plot: _Plot) -> Iterator[Row]:
    """Yield the text at the end of each line, at positions that do not overlap."""
    places = _spread([plot.height(point.value or 0.0) for _, point in plot.ends], plot.size.font + 2, plot.size.height)
    style = {"align": "left", "dx": 6, "fontSize": plot.size.font, "fontWeight": 600}
    for (text, point), place in zip(plot.ends, places, strict=True):
        row = {"t": _ms(plot.span[1]), "text": text, "colour": plot.swatches[point.candidate]}
        yield plot.layer([row], "text", style, y={"value": place}, text="text", color=COLOUR)


def _spread(places: Sequence[float], apart: float, bottom: float) -> list[float]:
    """Move ascending places as little as needed, so that they are `apart` from each other and not below the bottom.

    >>> _spread([10, 12, 95], 15, 100)
    [10, 25, 95]
    >>> _spread([98, 99], 15, 100)
    [85, 100]
    """
    moved: list[float] = []
    for place in places:
        moved.append(max(place, moved[-1] + apart) if moved else place)
    limit = bottom
    for number in reversed(range(len(moved))):
        moved[number] = min(moved[number], limit)
        limit = moved[number] - apart
    return moved


def _ms(when: datetime) -> int:
    return round(when.timestamp() * 1000)
