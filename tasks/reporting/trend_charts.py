"""A measure over time as inline SVG: a line and its interval for each candidate, floors, baselines, alarms, breaks."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from itertools import product
from operator import itemgetter
from typing import Any, NamedTuple

from tasks.console.format import abridged, visible
from tasks.reporting.charts import TAG, shape, style, vega_lite, without_roles
from tasks.reporting.trends import Point, Trend

Row = dict[str, Any]
NAMED = 6
"""More candidates than these have no name at the end of their lines: there is no room."""
COLOUR, SHAPE, AREA = ({"field": field, "scale": None, "legend": None} for field in ("colour", "shape", "area"))
"""Channels whose values are what is drawn."""
HUNDREDTHS = re.compile(r"(\.\d\d)\d+")
"""Of a pixel: what a coordinate needs."""
FEW = 3
"""The intervals of more candidates than these are paler: they lie on each other."""
SHORTEST = timedelta(seconds=10)
"""The shortest span of an axis, so that its ticks are whole seconds."""
FORMATS = {
    timedelta(minutes=10): "%H:%M:%S",
    timedelta(days=6): "%-d %b %H:%M",
    timedelta(days=400): "%-d %b",
    timedelta.max: "%b %Y",
}
"""How the ticks of an axis up to this span are written."""


class Size(NamedTuple):
    """The room of a plot, in pixels, and how much it says. broken: the height for what changed; cut: its characters.

    values: whether it has fields of a signature with both values, below each other; else their names.
    dotted: a line of more points than these has no mark for each.
    name: characters of a candidate's name at the end of its line, 0: only its value stands there, None: nothing.
    mark: how large points and alarms are.
    """

    width: int
    height: int
    left: int
    broken: int
    ticks: tuple[int, int]
    font: int
    cut: int
    values: bool
    dotted: int
    name: int | None
    mark: float


SIZES = {
    "wide": Size(980, 190, 48, 32, (8, 4), 15, 64, values=True, dotted=31, name=14, mark=1),
    "narrow": Size(300, 130, 42, 16, (5, 4), 14, 18, values=False, dotted=16, name=0, mark=0.8),
    "small": Size(264, 76, 42, 12, (5, 3), 12, 18, values=False, dotted=16, name=None, mark=0.6),
}
"""Letters have the size that they need where a plot is narrowest; where there is more room, the style sheet says so."""
ABOVE, BELOW = 12, 24
LETTER = 0.56
"""Width of a letter, as a share of its size."""


def trend_charts(trend: Trend, swatches: Mapping[str, str]) -> dict[str, str]:
    """The trend as SVG, by size: a wide one and a narrow one, of which a screen shows one; or a small one."""
    return {size: trend_chart(trend, swatches, size) for size in (("wide", "narrow") if trend.large else ("small",))}


def trend_chart(trend: Trend, swatches: Mapping[str, str], size: str) -> str:
    """The trend as an SVG whose colours the page's style sheet sets; the same input gives the same bytes.

    swatches: candidate → its colour, in the order of their shapes. size: one of SIZES.
    """
    import altair as alt
    import vl_convert

    plot = _Plot(trend, swatches, SIZES[size])
    layers = [*_lines(plot), *_references(plot), *_breaks(plot), *_alarms(plot), *_names(plot)]
    left, top, right = plot.size.left, ABOVE + plot.size.broken * bool(trend.breaks), plot.right
    spec = {  # without Altair, whose checks take ten times as long as the drawing
        "width": plot.size.width - left - right,
        "height": plot.size.height,
        "autosize": {"type": "none"},
        "padding": {"left": left, "top": top, "right": right, "bottom": BELOW},
        "layer": [layer for layer in layers if layer["data"]["values"]],
        "config": style(),
    }
    svg = vl_convert.vegalite_to_svg(spec, vl_version=vega_lite(alt), allowed_base_urls=[])
    return TAG.sub(lambda tag: HUNDREDTHS.sub(r"\1", tag[0]), without_roles(svg))


@dataclass(frozen=True)
class _Plot:
    """What all layers of a plot share: its axes."""

    trend: Trend
    swatches: Mapping[str, str]
    size: Size

    @cached_property
    def span(self) -> tuple[datetime, datetime]:
        """The first and the last moment of the time axis; the newest run stands near its end."""
        times = [point.run.started for point in self.trend.points]
        first, last = min(times), max(times)
        width = timedelta(days=1) if first == last else max(last - first, SHORTEST)
        return last - width * 1.02, last + width * 0.02

    @cached_property
    def domain(self) -> tuple[float, float]:
        """The lowest and the highest value of the other axis: a little room around all, within 0 and 100 %."""
        drawn = [value for point in self.trend.points for value in _drawn(point)]
        low, high = min(drawn, default=0.0), max(drawn, default=1.0)
        least = 0.01 if self.trend.share else 0.02 * max(abs(low), abs(high)) or 0.5
        room = max(0.08 * (high - low), least)
        low, high = low - room, high + room
        return (max(low, 0.0), min(high, 1.0)) if self.trend.share else (low, high)

    @cached_property
    def ends(self) -> list[tuple[str, Point]]:
        """What stands at the ends of the lines, from above; nothing where there is no room for it."""
        last = self.trend.of(self.trend.points[-1].run).values()
        found = [(point.value, point) for point in last if point.value is not None]
        if self.size.name is None or len(found) > NAMED:
            return []
        return [(self._end(point), point) for _, point in sorted(found, key=itemgetter(0), reverse=True)]

    def _end(self, point: Point) -> str:
        value = self.trend.figure(point.value)
        return f"{value} {abridged(_one_line(point.candidate), self.size.name)}" if self.size.name else value

    @property
    def right(self) -> int:
        """The room for what stands at the ends of the lines."""
        return round(10 + LETTER * self.size.font * max((len(said) for said, _ in self.ends), default=0))

    @property
    def x(self) -> Row:
        """The time."""
        width = self.span[1] - self.span[0]
        form = next(form for longest, form in FORMATS.items() if width <= longest)
        runs = {point.run.started for point in self.trend.points}
        said = {f"{run:{form.replace('-', '')}}" for run in runs}
        half = LETTER * self.size.font * max(map(len, said)) / 2
        axis: Row = {"title": None, "grid": False, "format": form, "labelFontSize": self.size.font}
        axis |= {"labelFlush": half, "labelOverlap": True, "labelSeparation": 8}  # none reaches beyond the ends
        few = len(runs) == len(said) <= self.size.ticks[0]
        axis |= {"values": sorted(map(_ms, runs))} if few else {"tickCount": self.size.ticks[0]}
        scale = {"type": "utc", "domain": [_ms(each) for each in self.span]}
        return {"field": "t", "type": "temporal", "axis": axis, "scale": scale}

    def y(self, field: str = "v") -> Row:
        """A value."""
        low, high = self.domain
        large = "~s" if max(-low, high) >= 1e4 else "~g"  # noqa: PLR2004 (1.2M, and not 1.2e+6)
        form = (".0%" if high - low > 0.05 else ".1%") if self.trend.share else large  # noqa: PLR2004 (ticks that differ)
        axis: Row = {"title": None, "format": form, "tickCount": self.size.ticks[1], "domain": False, "ticks": False}
        axis |= {"labelFontSize": self.size.font, "gridOpacity": 0.6}
        scale = {"domain": [low, high], "nice": False, "zero": False}
        return {"field": field, "type": "quantitative", "axis": axis, "scale": scale}

    def height(self, value: float) -> float:
        """Where a value stands, in pixels from the top."""
        low, high = self.domain
        return self.size.height * (high - value) / (high - low)

    def layer(self, rows: Iterable[Row], mark: str, looks: Mapping[str, Any], **encoding: Any) -> Row:
        """Marks over time, one a row; a field of encoding is one of the rows, or a channel in full."""
        channels = {"x": self.x} | {
            name: each if isinstance(each, Mapping) else {"field": each} for name, each in encoding.items()
        }
        return {"data": {"values": [*rows]}, "mark": {"type": mark, "aria": False, **looks}, "encoding": channels}


def _drawn(point: Point) -> Iterator[float]:
    for value in (point.value, point.low, point.high, point.floor, point.before):
        if value is not None:
            yield value


def _lines(plot: _Plot) -> Iterator[Row]:
    """Each candidate's line with its interval; a dot where a line would not show, and at its end."""
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
    looks = {"strokeWidth": 1.8, "strokeJoin": "round"}
    yield plot.layer(rows, "line", looks, y=plot.y(), color=COLOUR, detail="line")
    marks = [row | {"area": plot.size.mark * (4 if row is ends[row["place"]] else 2)} for row in dots]
    looks = {"filled": True, "opacity": 1}
    yield plot.layer(marks, "point", looks, y=plot.y(), color=COLOUR, shape=SHAPE, size=AREA)


def _row(plot: _Plot, point: Point, line: str) -> Row:
    """When, which candidate in which colour and shape, and which of its lines."""
    place = [*plot.swatches].index(point.candidate)
    return {
        "t": _ms(point.run.started),
        "place": place,
        "colour": plot.swatches[point.candidate],
        "shape": shape(place),
        "line": f"{place}/{line}",
    }


def _references(plot: _Plot) -> Iterator[Row]:
    """The floor, dashed, and what the baseline has of the same rows, dotted; the newest ones go on to the end."""
    points = plot.trend.points
    floors = [
        _row(plot, point, "floor") | {"v": point.floor, "colour": "currentColor"}
        for point in points
        if point.floor is not None
    ]
    baselines = [
        _row(plot, point, str(point.baseline)) | {"v": point.before} for point in points if point.before is not None
    ]
    newest = _ms(points[-1].run.started)
    for rows, dash in ((floors, [7, 3]), (baselines, [1.5, 2.5])):
        held = [row | {"t": _ms(plot.span[1])} for row in rows if row["t"] == newest]
        looks = {"interpolate": "step-after", "strokeDash": dash, "strokeWidth": 1.3}
        yield plot.layer([*rows, *held], "line", looks, y=plot.y(), color=COLOUR, detail="line")


def _breaks(plot: _Plot) -> Iterator[Row]:
    """A dashed line where a measure becomes another one, and which fields of its signature changed."""
    runs = [*dict.fromkeys(point.run for point in plot.trend.points)]
    middle = plot.span[0] + (plot.span[1] - plot.span[0]) / 2
    rows = []
    for number, each in enumerate(plot.trend.breaks):
        before = runs[runs.index(each.run) - 1].started
        at = before + (each.run.started - before) / 2
        said = _one_line("; ".join(each.differing) if plot.size.values else each.fields)
        rows.append({"t": _ms(at), "text": _cut(said, plot.size.cut), "left": at < middle, "upper": number % 2})
    looks = {"strokeDash": [4, 3], "strokeWidth": 1.2, "color": "var(--quiet)"}
    yield plot.layer(rows, "rule", looks, y={"value": -6}, y2={"value": plot.size.height})
    for left, upper in product((True, False), (0, 1)):
        mine = [row for row in rows if (row["left"], row["upper"]) == (left, upper)]
        looks = {"align": "left" if left else "right", "dx": 4 if left else -4, "fontSize": plot.size.font - 1}
        place = {"value": -8 - 13 * upper * plot.size.values}
        yield plot.layer(mine, "text", looks | {"color": "var(--quiet)"}, y=place, text="text")


def _alarms(plot: _Plot) -> Iterator[Row]:
    """A triangle above each alarm, the first of a row of them large; at the bottom where nothing was measured."""
    rows = [
        {"t": _ms(point.run.started), "v": plot.domain[0] if point.value is None else point.value}
        | {"area": (110 if point.onset else 22) * plot.size.mark}
        for point in plot.trend.points
        if point.alarm is not None
    ]
    looks = {"shape": "triangle-down", "filled": True, "opacity": 1, "color": "var(--bad)", "yOffset": -9}
    yield plot.layer(rows, "point", looks, y=plot.y(), size=AREA)


def _names(plot: _Plot) -> Iterator[Row]:
    """Each candidate's last value and its name at the end of its line, apart from each other."""
    places = _spread([plot.height(point.value or 0.0) for _, point in plot.ends], plot.size.font + 2, plot.size.height)
    looks = {"align": "left", "dx": 6, "fontSize": plot.size.font, "fontWeight": 600}
    for (said, point), place in zip(plot.ends, places, strict=True):
        row = {"t": _ms(plot.span[1]), "text": said, "colour": plot.swatches[point.candidate]}
        yield plot.layer([row], "text", looks, y={"value": place}, text="text", color=COLOUR)


def _spread(places: Sequence[float], apart: float, bottom: float) -> list[float]:
    """Ascending places moved as little as needed to be `apart` from each other and not below the bottom.

    >>> _spread([10, 12, 95], 15, 100)
    [10, 25, 95]
    >>> _spread([98, 99], 15, 100)
    [85, 100]
    """
    found: list[float] = []
    for place in places:
        found.append(max(place, found[-1] + apart) if found else place)
    limit = bottom
    for number in reversed(range(len(found))):
        found[number] = min(found[number], limit)
        limit = found[number] - apart
    return found


def _one_line(text: str) -> str:
    """A text that someone else wrote, as far as it can be seen, with no line breaks in it."""
    return " ".join(visible(text).split())


def _cut(line: str, length: int) -> str:
    return line if len(line) <= length else f"{line[: length - 1]}…"


def _ms(when: datetime) -> int:
    return round(when.timestamp() * 1000)
