"""Past runs: the runs of each schedule, what each measured, its alarms; and charts of them as inline SVG."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import groupby, pairwise
from math import sqrt
from operator import attrgetter
from typing import Any, NamedTuple

from goldmeter.console.format import NONE, abridged, counted, cut, number, rate, visible
from goldmeter.estimates.signature import FieldChange
from goldmeter.reporting.drawing import (
    LETTER,
    Span,
    Tick,
    bottom_axis,
    element,
    left_axis,
    line,
    marks,
    pixels,
    round_ticks,
    shape,
    svg,
    text,
)

# The schedule of runs that nobody scheduled.
BY_HAND = ""


class PastRun(NamedTuple):
    """One run of the history.

    seconds: its duration. cost: US dollars; None if a price is unknown. data: hash of the data set.
    """

    name: str
    started: datetime
    seconds: float
    cost: float | None
    data: str


class TrendPoint(NamedTuple):
    """What one run measured of one candidate.

    value: None if nothing could be measured. floor: the minimum of the mean; None if there is none.
    difference: from the baseline, on the rows that both have, with the limits that decided.
    alarm: the sentence of the alarm, or None. onset: whether the run before had no alarm.
    segment: a line joins only points of the same segment.
    """

    run: PastRun
    candidate: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    floor: float | None
    baseline: str | None
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    verdict: str | None
    alarm: str | None
    onset: bool
    segment: int

    @property
    def baseline_value(self) -> float | None:
        """The value of the baseline on the same rows."""
        return None if self.value is None or self.difference is None else self.value - self.difference


class MeasureChange(NamedTuple):
    """The first run after a change of a measure; differing: the changed fields of its signature."""

    run: PastRun
    differing: tuple[FieldChange, ...]

    @property
    def fields(self) -> str:
        """The names of the changed fields."""
        return ", ".join(change.name for change in self.differing)


class Trend(NamedTuple):
    """One measure over time, oldest point first.

    share: whether it is a pass rate, which is written in percent. large: whether it gets a large chart. dated: False if
    the runs are versions: named, and in an order that their times only stand for.
    """

    measure: str
    share: bool
    points: list[TrendPoint]
    changes: list[MeasureChange]
    large: bool
    dated: bool = True

    def figure(self, value: float | None) -> str:
        """Format a value of this measure."""
        return rate(value) if self.share else number(value)

    @property
    def reference_lines(self) -> str:
        """What the dashed and dotted lines are, from the floors and baselines of the newest points."""
        newest = self.at(self.points[-1].run).values()
        floors = [f"dashed: floor {self.figure(point.floor)}" for point in newest if point.floor is not None]
        held = [visible(str(point.baseline)) for point in newest if point.baseline_value is not None]
        return ", ".join(dict.fromkeys([*floors, *(f"dotted: baseline {name}" for name in held)]))

    def at(self, run: PastRun) -> dict[str, TrendPoint]:
        """Return candidate → its point of a run."""
        return {point.candidate: point for point in self.points if point.run == run}

    @property
    def description(self) -> str:
        """The chart in words, for screen readers."""
        runs = [*dict.fromkeys(point.run for point in self.points)]
        first, last = self.when(runs[0]), self.when(runs[-1])
        when = f"from {first} to {last}" if len(runs) > 1 else f"at {first}"
        changes = (f"measured differently from {self.when(change.run)} on" for change in self.changes)
        return "; ".join([f"{counted(len(runs), 'run' if self.dated else 'version')} {when}", *self._lines(), *changes])

    def when(self, run: PastRun) -> str:
        """The time of a run, or the name of a version."""
        return timestamp(run.started) if self.dated else visible(run.name)

    def _lines(self) -> Iterator[str]:
        for name in dict.fromkeys(point.candidate for point in self.points):
            measured = [point for point in self.points if point.candidate == name and point.value is not None]
            if not measured:
                yield f"{visible(name)}: not measured"
                continue
            values = [point.value for point in measured if point.value is not None]
            alarms = sum(point.alarm is not None for point in measured)
            yield (
                f"{visible(name)}: last {self.figure(values[-1])}, lowest {self.figure(min(values))}, "
                f"highest {self.figure(max(values))}{f', {alarms} with an alarm' if alarms else ''}"
            )


class Alarm(NamedTuple):
    """An alarm of a candidate's metric, raised by `runs` consecutive runs.

    sentence: as the last of these runs wrote it. active: whether the newest run of the schedule raised it.
    """

    candidate: str
    metric: str
    sentence: str
    first: PastRun
    last: PastRun
    runs: int
    active: bool


class Series(NamedTuple):
    """The runs of one schedule, oldest first, and their trends, the leading measure first.

    older_runs: how many runs the history has before these. alarms: newest first.
    """

    schedule: str
    runs: list[PastRun]
    older_runs: int
    trends: list[Trend]
    alarms: list[Alarm]

    @property
    def active_alarms(self) -> list[Alarm]:
        """The alarms that the newest run raised."""
        return [alarm for alarm in self.alarms if alarm.active]

    def alarms_in(self, run: PastRun) -> int:
        """Count the alarms that a run raised."""
        return sum(alarm.first.started <= run.started <= alarm.last.started for alarm in self.alarms)

    @property
    def candidates(self) -> list[str]:
        """The candidates of all runs, sorted."""
        return sorted({point.candidate for trend in self.trends for point in trend.points})

    @property
    def status(self) -> str:
        """A sentence that says whether an alarm is active, and since when."""
        last = self.runs[-1]
        if self.active_alarms:
            first = min(alarm.first.started for alarm in self.active_alarms)
            longest = max(alarm.runs for alarm in self.active_alarms)
            return f"Wrong since {timestamp(first)}, {counted(longest, 'run')}."
        total = f"{counted(len(self.runs) + self.older_runs, 'run')}, the last at {timestamp(last.started)}"
        if self.schedule == BY_HAND:
            return f"{total}."
        if not self.alarms:
            return f"No alarm: {total}."
        ended = self.alarms[0].last
        return f"No alarm now: {total}; the last alarm was at {timestamp(ended.started)}."


def timestamp(when: datetime) -> str:
    """Format a point in time to the minute.

    >>> from datetime import UTC
    >>> timestamp(datetime(2026, 11, 21, 2, 0, 9, tzinfo=UTC))
    '2026-11-21 02:00 UTC'
    """
    return f"{when:%Y-%m-%d %H:%M} UTC"


def duration(seconds: float) -> str:
    """Format a duration.

    >>> duration(4.2), duration(75), duration(7260)
    ('4 s', '1 min 15 s', '2 h 1 min')
    """
    minutes, left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {left} s" if minutes else f"{left} s"


def cost(dollars: float | None) -> str:
    """Format a cost in US dollars.

    >>> cost(0.0), cost(1.5), cost(0.0042), cost(None)
    ('0', '$1.50', '$0.0042', '–')
    """
    if dollars is None:
        return NONE
    return "0" if dollars == 0 else f"${dollars:.2f}" if dollars >= 0.01 else f"${dollars:.2g}"  # noqa: PLR2004 (a cent)


# With more candidates than these, there is no room for names at the ends of the lines.
NAMED = 6
# With more candidates than these, intervals overlap and are drawn paler.
FEW = 3
# The shortest time axis: with a shorter one, ticks would be fractions of a second.
SHORTEST = timedelta(seconds=10)
# The longest time axis with this format of ticks → the format.
FORMATS = {
    timedelta(minutes=10): "%H:%M:%S",
    timedelta(days=6): "%-d %b %H:%M",
    timedelta(days=400): "%-d %b",
    timedelta.max: "%b %Y",
}
# Seconds, then months, between ticks of a time axis.
DAY = 86_400
PAUSES = (
    *(1, 5, 15, 30, 60, 300, 900, 1800, 3600),
    *(hours * 3600 for hours in (3, 6, 12)),
    *(days * DAY for days in (1, 2, 3, 4, 7, 14)),
)
MONTHS = (1, 2, 3, 6, 12, 24, 60, 120, 600)
# A Monday, from which weeks are counted.
MONDAY = datetime(1970, 1, 5, tzinfo=UTC)
# Numbers from here on have thousands or millions as their unit.
LARGE = 1e4
# Shares within so narrow a range have a decimal: whole percents would repeat.
NARROW_RANGE = 0.05


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
    height, font = plot.size.height, plot.size.font
    margins = plot.size.left, plot.right, ABOVE + plot.size.change_height * bool(trend.changes), BELOW
    return svg(
        (plot.width, height),
        margins,
        left_axis(plot.values, height, font, grid=plot.width),
        bottom_axis(plot.times, plot.width, height, margins, font),
        *_lines(plot),
        *_references(plot),
        *_changes(plot),
        marks("symbol", _alarms(plot)),
        marks("text", _names(plot)),
    )


@dataclass(frozen=True)
class _Plot:
    """The axes that all marks of a chart share."""

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
        return round(10 + LETTER * self.size.font * max((len(said) for said, _ in self.ends), default=0))

    @property
    def width(self) -> int:
        """The width between the margins."""
        return self.size.width - self.size.left - self.right

    def x(self, when: datetime) -> float:
        """Where a time is drawn, in pixels from the left."""
        first, last = (end.timestamp() for end in self.span)
        return Span(first, last, 0.0, self.width).place(when.timestamp())

    def y(self, value: float) -> float:
        """Where a value is drawn, in pixels from the top."""
        return Span(*self.domain, self.size.height, 0.0).place(value)

    def place(self, point: TrendPoint) -> int:
        """The number of a point's candidate, which its mark follows."""
        return [*self.swatches].index(point.candidate)

    @property
    def times(self) -> list[Tick]:
        """The ticks of the time, or of the versions in their order."""
        runs = sorted({point.run.started for point in self.trend.points})
        if not self.trend.dated:
            names = {point.run.started: point.run.name for point in self.trend.points}
            return [Tick(self.x(run), abridged(visible(names[run]), VERSION_CHARS)) for run in runs]
        width, most = self.span[1] - self.span[0], self.size.ticks[0]
        form = next(form for longest, form in FORMATS.items() if width <= longest)
        few = len({f"{run:{form}}" for run in runs}) == len(runs) <= most
        return [Tick(self.x(time), f"{time:{form}}") for time in (runs if few else _round_times(*self.span, most))]

    @property
    def values(self) -> list[Tick]:
        """The ticks of the values."""
        low, high = self.domain
        return [Tick(self.y(value), self._label(value)) for value in round_ticks(low, high, self.size.ticks[1])]

    def _label(self, value: float) -> str:
        low, high = self.domain
        if self.trend.share:
            return f"{value:.0%}" if high - low > NARROW_RANGE else f"{value:.1%}"
        for unit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
            if max(-low, high) >= LARGE and abs(value) >= unit:
                return f"{value / unit:g}{letter}".replace("-", "−")
        return f"{value:g}".replace("-", "−")


def _round_times(first: datetime, last: datetime, most: int) -> list[datetime]:
    """Round times from first to last, at most about so many."""
    for pause in PAUSES:
        if (last - first).total_seconds() <= most * pause:
            step = -(-(first - MONDAY).total_seconds() // pause)
            return _up_to(last, (MONDAY + timedelta(seconds=(step + n) * pause) for n in range(most + 2)))
    months, begin = (last - first).days / 30, first.year * 12 + first.month
    pause = next(pause for pause in MONTHS if months <= most * pause)
    numbers = range(-(-begin // pause) * pause, begin + (most + 2) * pause, pause)
    return _up_to(last, (datetime(month // 12, month % 12 + 1, 1, tzinfo=UTC) for month in numbers))


def _up_to(last: datetime, times: Iterable[datetime]) -> list[datetime]:
    return [time for time in times if time <= last]


def _lines(plot: _Plot) -> Iterator[str]:
    """Yield each candidate's line with its interval, and marks at its end and at points without a neighbour."""
    points = [point for point in plot.trend.points if point.value is not None]
    segments = _grouped(points, lambda point: (plot.place(point), point.segment))
    ends = {point.candidate: point for point in points}
    few = len({point.run.started for point in points}) <= plot.size.dotted
    pale = 0.16 if len(ends) <= FEW else 0.07
    ranged = [[point for point in segment if point.low is not None] for segment in segments]
    yield marks("area", (_band(plot, some, pale) for some in ranged if len(some) > 1))
    yield marks("rule", (_range(plot, some[0]) for some in ranged if len(some) == 1))
    yield marks("line", (_path(plot, some) for some in segments if len(some) > 1))
    alone = {id(segment[0]) for segment in segments if len(segment) == 1}
    dots = [point for point in points if few or id(point) in alone or point is ends[point.candidate]]
    yield marks("symbol", (_dot(plot, point, last=point is ends[point.candidate]) for point in dots))


def _grouped(points: Iterable[TrendPoint], key: Callable[[TrendPoint], Any]) -> list[list[TrendPoint]]:
    """The points of each line, in the order of the lines."""
    return [[*group] for _, group in groupby(sorted(points, key=key), key=key)]


def _band(plot: _Plot, points: Sequence[TrendPoint], opacity: float) -> str:
    upper = [(plot.x(point.run.started), plot.y(point.high or 0.0)) for point in points]
    lower = [(plot.x(point.run.started), plot.y(point.low or 0.0)) for point in points]
    colour = plot.swatches[points[0].candidate]
    return element("path", d=f"{line([*upper, *lower[::-1]])}Z", fill=colour, opacity=opacity)


def _range(plot: _Plot, point: TrendPoint) -> str:
    x, ends = plot.x(point.run.started), {"y1": plot.y(point.low or 0.0), "y2": plot.y(point.high or 0.0)}
    return element("line", x1=x, x2=x, **ends, stroke=plot.swatches[point.candidate], stroke_width=1.5, opacity=0.5)


def _path(plot: _Plot, points: Sequence[TrendPoint]) -> str:
    places = [(plot.x(point.run.started), plot.y(point.value or 0.0)) for point in points]
    colour = plot.swatches[points[0].candidate]
    return element("path", d=line(places), stroke=colour, stroke_width=1.8, stroke_linejoin="round")


def _dot(plot: _Plot, point: TrendPoint, *, last: bool) -> str:
    size = sqrt(plot.size.mark * (4 if last else 2)) / 2
    moved = f"translate({pixels(plot.x(point.run.started))},{pixels(plot.y(point.value or 0.0))}) scale({pixels(size)})"
    return element("path", d=shape(plot.place(point)), transform=moved, fill=plot.swatches[point.candidate])


def _references(plot: _Plot) -> Iterator[str]:
    """Yield the floors, dashed, and the baseline's values on the same rows, dotted; both up to the end of the axis."""
    points = plot.trend.points
    floors = _grouped([point for point in points if point.floor is not None], plot.place)
    drawn = (_steps(plot, [(one, one.floor or 0.0) for one in own], "currentColor", "7,3") for own in floors)
    yield marks("line", drawn)
    held = [point for point in points if point.baseline_value is not None]
    baselines = _grouped(held, lambda point: (plot.place(point), str(point.baseline)))
    drawn = (
        _steps(plot, [(one, one.baseline_value or 0.0) for one in own], plot.swatches[own[0].candidate], "1.5,2.5")
        for own in baselines
    )
    yield marks("line", drawn)


def _steps(plot: _Plot, values: Sequence[tuple[TrendPoint, float]], colour: str, dash: str) -> str:
    """A line that keeps each value up to the next run; that of the newest run up to the end of the axis."""
    places = [(plot.x(point.run.started), plot.y(value)) for point, value in values]
    if values[-1][0].run.started == plot.trend.points[-1].run.started:
        places.append((plot.x(plot.span[1]), places[-1][1]))
    corners = [corner for (_, before), (x, y) in pairwise(places) for corner in ((x, before), (x, y))]
    path = line([places[0], *corners])
    return element("path", d=path, stroke=colour, stroke_dasharray=dash, stroke_width=1.3)


def _changes(plot: _Plot) -> Iterator[str]:
    """Yield a dashed line at each change of a measure, and a description of the change."""
    runs = [*dict.fromkeys(point.run for point in plot.trend.points)]
    middle, font = plot.width / 2, plot.size.font - 1
    rules, texts = [], []
    for place, change in enumerate(plot.trend.changes):
        before = runs[runs.index(change.run) - 1].started
        x = plot.x(before + (change.run.started - before) / 2)
        ends = {"x1": x, "x2": x, "y1": -6, "y2": plot.size.height}
        rules.append(element("line", **ends, stroke="var(--quiet)", stroke_width=1.2, stroke_dasharray="4,3"))
        said = visible("; ".join(map(str, change.differing)) if plot.size.change_values else change.fields)
        y = -8 - 13 * (place % 2) * plot.size.change_values + 0.3 * font
        begins = x < middle
        cut_short, anchor = cut(said, plot.size.change_chars), "start" if begins else "end"
        texts.append(text(cut_short, x + (4 if begins else -4), y, font, fill="var(--quiet)", text_anchor=anchor))
    yield marks("rule", rules)
    yield marks("text", texts)


def _alarms(plot: _Plot) -> Iterator[str]:
    """Yield a triangle above each alarm, larger at its onset; at the bottom if nothing was measured."""
    for point in plot.trend.points:
        if point.alarm is not None:
            x, y = plot.x(point.run.started), plot.y(plot.domain[0] if point.value is None else point.value) - 9
            half = sqrt((110 if point.onset else 22) * plot.size.mark) / 2
            high = half * sqrt(3) / 2
            corners = [(x, y + high), (x - half, y - high), (x + half, y - high)]
            yield element("path", d=f"{line(corners)}Z", fill="var(--bad)")


def _names(plot: _Plot) -> Iterator[str]:
    """Yield the text at the end of each line, at positions that do not overlap."""
    font = plot.size.font
    places = _spread([plot.y(point.value or 0.0) for _, point in plot.ends], font + 2, plot.size.height)
    for (said, point), place in zip(plot.ends, places, strict=True):
        fill = plot.swatches[point.candidate]
        yield text(said, plot.width + 6, place + 0.3 * font, font, fill=fill, font_weight="600")


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
    for i in reversed(range(len(moved))):
        moved[i] = min(moved[i], limit)
        limit = moved[i] - apart
    return moved
