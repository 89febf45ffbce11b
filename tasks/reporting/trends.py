"""What the page shows of past runs: each schedule's runs, what each measured, and the alarms."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from tasks.console.format import NONE, counted, number, percent, visible

BY_HAND = ""
"""The schedule of runs that nobody scheduled."""


class Run(NamedTuple):
    """One run. seconds: how long it took; cost: US dollars, None: a price is unknown; data: hash of what it saw."""

    name: str
    started: datetime
    seconds: float
    cost: float | None
    data: str


class Point(NamedTuple):
    """What one run measured of one candidate. value: None where nothing could be measured.

    difference: from the baseline, on the rows that both have, with the limits that decided. floor: what the mean must
    keep. alarm: the sentence, or None; onset: whether the run before was quiet.
    segment: a line joins only points of one segment.
    """

    run: Run
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
    def before(self) -> float | None:
        """What the baseline has, on this scale."""
        return None if self.value is None or self.difference is None else self.value - self.difference


class Break(NamedTuple):
    """From a run on a measure is another one: which fields of its signature differ, each with both values."""

    run: Run
    differing: tuple[str, ...]

    @property
    def fields(self) -> str:
        """The names of the fields."""
        return ", ".join(each.partition(" was ")[0] for each in self.differing)


class Trend(NamedTuple):
    """One measure over time: oldest point first. share: a pass rate, shown in percent; large: worth a large plot."""

    measure: str
    share: bool
    points: list[Point]
    breaks: list[Break]
    large: bool

    def figure(self, value: float | None) -> str:
        """A value as the page shows it."""
        return percent(value) if self.share else number(value)

    @property
    def held(self) -> str:
        """What the newest points are held against."""
        newest = [point for point in self.points if point.run == self.points[-1].run]
        floors = [f"dashed: floor {self.figure(point.floor)}" for point in newest if point.floor is not None]
        baselines = [f"dotted: baseline {visible(str(point.baseline))}" for point in newest if point.before is not None]
        return ", ".join(dict.fromkeys([*floors, *baselines]))

    def of(self, run: Run) -> dict[str, Point]:
        """Candidate → what that run measured."""
        return {point.candidate: point for point in self.points if point.run == run}

    @property
    def description(self) -> str:
        """What the eye sees of the plot, in words."""
        runs = [*dict.fromkeys(point.run for point in self.points)]
        first, last = moment(runs[0].started), moment(runs[-1].started)
        when = f"from {first} to {last}" if len(runs) > 1 else f"at {first}"
        return "; ".join([f"{counted(len(runs), 'run')} {when}", *self._lines(), *self._broken()])

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

    def _broken(self) -> Iterator[str]:
        for each in self.breaks:
            yield f"measured differently from {moment(each.run.started)} on"


class Alarm(NamedTuple):
    """An alarm of a candidate's metric, raised by `runs` runs in a row. sentence: of the newest of them."""

    candidate: str
    metric: str
    sentence: str
    first: Run
    last: Run
    runs: int
    standing: bool


class Series(NamedTuple):
    """The runs of one schedule, oldest first, and the trends of what they measured, the leading one first.

    before: how many older runs the history has. alarms: newest first.
    """

    schedule: str
    runs: list[Run]
    before: int
    trends: list[Trend]
    alarms: list[Alarm]

    @property
    def standing(self) -> list[Alarm]:
        """The alarms that the newest run raised."""
        return [alarm for alarm in self.alarms if alarm.standing]

    def raised(self, run: Run) -> int:
        """How many alarms a run raised."""
        return sum(alarm.first.started <= run.started <= alarm.last.started for alarm in self.alarms)

    @property
    def candidates(self) -> list[str]:
        """Every candidate that one of the runs has, sorted."""
        return sorted({point.candidate for trend in self.trends for point in trend.points})

    @property
    def status(self) -> str:
        """Whether something is wrong, and since when."""
        last = self.runs[-1]
        if self.standing:
            first = min((alarm.first for alarm in self.standing), key=lambda run: run.started)
            longest = max(alarm.runs for alarm in self.standing)
            return f"Wrong since {moment(first.started)}, {counted(longest, 'run')}."
        total = f"{counted(len(self.runs) + self.before, 'run')}, the last at {moment(last.started)}"
        if self.schedule == BY_HAND:
            return f"{total}."
        if not self.alarms:
            return f"No alarm: {total}."
        ended = self.alarms[0].last
        return f"No alarm now: {total}; the last alarm was at {moment(ended.started)}."


def moment(when: datetime) -> str:
    """A point in time, to the minute.

    >>> from datetime import UTC
    >>> moment(datetime(2026, 11, 21, 2, 0, 9, tzinfo=UTC))
    '2026-11-21 02:00 UTC'
    """
    return f"{when:%Y-%m-%d %H:%M} UTC"


def duration(seconds: float) -> str:
    """A time taken.

    >>> duration(4.2), duration(75), duration(7260)
    ('4 s', '1 min 15 s', '2 h 1 min')
    """
    whole = timedelta(seconds=round(seconds))
    hours, rest = divmod(int(whole.total_seconds()), 3600)
    minutes, left = divmod(rest, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {left} s" if minutes else f"{left} s"


def cost(dollars: float | None) -> str:
    """What a run paid for.

    >>> cost(0.0), cost(1.5), cost(0.0042), cost(None)
    ('0', '$1.50', '$0.0042', '–')
    """
    if dollars is None:
        return NONE
    return "0" if dollars == 0 else f"${dollars:.2f}" if dollars >= 0.01 else f"${dollars:.2g}"  # noqa: PLR2004 (a cent)
