"""Past runs as plain values: the runs of each schedule, what each measured, and its alarms."""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from tasks.console.format import NONE, counted, number, rate, visible
from tasks.scores.signature import FieldChange

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
