"""The history of runs arranged for the report: a series per schedule, with a trend per measure."""

import json
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime, timedelta
from itertools import groupby, pairwise
from statistics import median
from typing import Any, NamedTuple

import pyarrow as pa

from goldmeter.estimates import metrics_report
from goldmeter.estimates.signature import ABSENT, FieldChange, changes
from goldmeter.reporting.trends import BY_HAND, Alarm, MeasureChange, PastRun, Series, Trend, TrendPoint

# Runs of a series that are drawn: half a year of daily runs.
MOST_RUNS = 180
# The time that stands for the first of several versions.
EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
# Measures of a series with a large plot.
MOST_LARGE = 4
# The rank of a measure without a reason for a large plot.
NO_REASON = 9
# No line is drawn across a pause of more than this many median intervals between runs.
LONGEST_GAP = 5
SCORE = ("value", "low", "high")
RATE = ("pass_rate", "pass_rate_low", "pass_rate_high")
COMPARED = ("baseline", "difference", "difference_low", "difference_high", "verdict")
Row = Mapping[str, Any]
# Where an alarm begins: run, candidate, metric.
Onset = tuple[PastRun, str, str]


class _Axis(NamedTuple):
    """The runs of a series. numbers: run → its number. longest: the longest pause that a line is drawn across."""

    numbers: dict[PastRun, int]
    longest: timedelta

    def apart(self, last: PastRun, run: PastRun) -> bool:
        """Whether another run lies between the two, or too long a pause."""
        return self.numbers[run] - self.numbers[last] > 1 or run.started - last.started > self.longest


def series(history: pa.Table) -> list[Series]:
    """The newest MOST_RUNS runs of each schedule, by name, runs by hand last; history: of `store.read`."""
    rows: dict[str, list[Row]] = {}
    for row in history.to_pylist():
        rows.setdefault(row["schedule"], []).append(row)
    return [_series(name, rows[name]) for name in sorted(rows, key=lambda name: (name == BY_HAND, name))]


def trend_of_versions(names: Sequence[str], values: Sequence[Row], measure: str) -> Trend | None:
    """The trend of a measure over versions; None if none of them has it.

    Args:
        names: Of the versions, in their order.
        values: Of `goldmeter.comparison.of_versions.SeveralVersions`.
        measure: The measure.
    """
    runs = [PastRun(name, EPOCH + timedelta(days=place), 0.0, None, "") for place, name in enumerate(names)]
    undecided: dict[str, Any] = dict.fromkeys((*COMPARED, "floors", "alarm", "measure"))
    rows = [{**undecided, **_of(runs[value["version"]]), **value} for value in values]
    trend = _trend(measure, rows, _axis(runs), frozenset()) if rows else None
    return trend and trend._replace(large=True, dated=False)


def _of(run: PastRun) -> dict[str, Any]:
    """The fields of a run in the history; `_run` reads them."""
    return {"run": run.name} | {name: value for name, value in run._asdict().items() if name != "name"}


def _series(schedule: str, written: Sequence[Row]) -> Series:
    rows = sorted(written, key=lambda row: (row["started"], row["run"]))
    runs = list(dict.fromkeys(_run(row) for row in rows))
    # The last row is of the newest run, even if an earlier one started while the clock was wrong.
    alarms = _alarms(runs, rows, newest=_run(written[-1]))
    onsets = {(alarm.first, alarm.candidate, alarm.metric) for alarm in alarms}
    axis = _axis(runs[-MOST_RUNS:])
    by_metric: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda row: _run(row) != runs[-1]):  # metrics stand as in the newest run
        if _run(row) in axis.numbers:
            by_metric.setdefault(row["metric"], []).append(row)
    trends = [
        trend
        for rows_of_metric in by_metric.values()
        for measure in _measures(rows_of_metric)
        if (trend := _trend(measure, rows_of_metric, axis, onsets)) is not None
    ]
    return Series(schedule, [*axis.numbers], len(runs) - len(axis.numbers), _ranked(trends), alarms)


def _run(row: Row) -> PastRun:
    return PastRun(row["run"], row["started"], row["seconds"], row["cost"], row["data"])


def _axis(runs: Sequence[PastRun]) -> _Axis:
    gaps = [(later.started - earlier.started).total_seconds() for earlier, later in pairwise(runs)]
    longest = timedelta(seconds=LONGEST_GAP * median(gaps)) if gaps else timedelta.max
    return _Axis({run: number for number, run in enumerate(runs)}, longest)


def _alarms(runs: Sequence[PastRun], rows: Sequence[Row], newest: PastRun) -> list[Alarm]:
    """Every alarm, newest first: of one candidate and metric, in consecutive runs."""
    raised: dict[tuple[str, str], dict[PastRun, str]] = {}
    for row in rows:
        if row["alarm"] is not None:
            raised.setdefault((row["candidate"], row["metric"]), {})[_run(row)] = row["alarm"]
    found = [
        Alarm(candidate, metric, said[streak[-1]], streak[0], streak[-1], len(streak), newest in streak)
        for (candidate, metric), said in raised.items()
        for streak in [[*streak] for alarmed, streak in groupby(runs, key=said.__contains__) if alarmed]
    ]
    return sorted(found, key=lambda alarm: (alarm.last.started, alarm.first.started), reverse=True)


def _measures(rows: Sequence[Row]) -> list[str]:
    """The measures of one metric's rows: its pass rate, else its value, and those that were decided on."""
    return [*dict.fromkeys([rows[0]["metric"], *(name for row in rows for name in _decided(row))])]


def _decided(row: Row) -> list[str]:
    """The measures of the row's metric that the run decided on."""
    return [name for name in (row["measure"], *_floors(row)) if name]


def _floors(row: Row) -> dict[str, Any]:
    return dict(json.loads(row["floors"])) if row["floors"] else {}


def _trend(measure: str, rows: Sequence[Row], axis: _Axis, onsets: AbstractSet[Onset]) -> Trend | None:
    """The trend of one measure of these rows' metric; None if it was never measured.

    The metric's name alone is its pass rate, if it has one.
    """
    share = measure == rows[0]["metric"] and any(row["pass_rate"] is not None for row in rows)
    trend: list[TrendPoint] = []
    changed_at: dict[PastRun, list[FieldChange]] = {}
    for candidate in sorted({row["candidate"] for row in rows}):
        own = sorted((row for row in rows if row["candidate"] == candidate), key=lambda row: axis.numbers[_run(row)])
        points = [_point(measure, row, onsets, share=share) for row in own]
        for point, changed in _line(own, points, axis, share=share):
            trend.append(point)
            if changed:
                changed_at.setdefault(point.run, []).extend(changed)
    if all(point.value is None and point.alarm is None for point in trend):
        return None
    trend.sort(key=lambda point: axis.numbers[point.run])
    runs = sorted(changed_at, key=axis.numbers.__getitem__)
    distinct = [MeasureChange(run, tuple(dict.fromkeys(changed_at[run]))) for run in runs]
    return Trend(measure, share, trend, distinct, large=False)


def _line(
    rows: Sequence[Row], points: Sequence[TrendPoint], axis: _Axis, *, share: bool
) -> Iterator[tuple[TrendPoint, list[FieldChange]]]:
    """A candidate's points with their segments, and which parts of the signature changed at each."""
    segment, last = 0, None
    for row, point in zip(rows, points, strict=True):
        changed: list[FieldChange] = []
        if point.value is not None:
            if last is not None:
                before, earlier = last
                changed = _changed(before, row, share=share)
                half = (earlier.low is None) != (point.low is None)
                segment += bool(changed) or half or axis.apart(earlier.run, point.run)
            last = row, point
        yield point._replace(segment=segment), changed


def _changed(before: Row, row: Row, *, share: bool) -> list[FieldChange]:
    """What is measured differently from one run to the next."""
    fields = [*changes(before["signature"], row["signature"])]
    if not fields and share and before["threshold"] != row["threshold"]:
        return [FieldChange("threshold", _plain(before["threshold"]), _plain(row["threshold"]))]
    return fields


def _plain(threshold: float | None) -> str:
    return ABSENT if threshold is None else f"{threshold:g}"


def _point(measure: str, row: Row, onsets: AbstractSet[Onset], *, share: bool) -> TrendPoint:
    run, floors, decided = _run(row), _floors(row), _decided(row)
    value, low, high = (row[name] for name in (RATE if share else SCORE))
    compared = {name: row[name] if row["measure"] == measure else None for name in COMPARED}
    alarm = row["alarm"] if measure in (decided or [row["metric"]]) else None
    return TrendPoint(
        run=run,
        candidate=row["candidate"],
        value=value,
        low=low,
        high=high,
        n=row["n"],
        floor=floors[measure]["floor"] if measure in floors else None,
        **compared,
        alarm=alarm,
        onset=alarm is not None and (run, row["candidate"], row["metric"]) in onsets,
        segment=0,
    )


def _ranked(trends: Sequence[Trend]) -> list[Trend]:
    """Order trends: the leading measure, new alarms, floors, earlier alarms, others; mark those with a large plot."""
    lead = min(trends, key=lambda trend: (not trend.share, metrics_report.metric_rank(trend.measure)), default=None)
    newest = max((point.run.started for trend in trends for point in trend.points), default=None)

    def rank(trend: Trend) -> int:
        reasons = [
            trend is lead,
            any(point.alarm is not None and point.run.started == newest for point in trend.points),
            any(point.floor is not None for point in trend.points),
            any(point.alarm is not None for point in trend.points),
        ]
        return reasons.index(True) if any(reasons) else NO_REASON

    ranked = enumerate(sorted(trends, key=rank))
    return [trend._replace(large=rank(trend) < NO_REASON and number < MOST_LARGE) for number, trend in ranked]
