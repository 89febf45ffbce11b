"""The last runs of the history on the terminal: one row per run, and the alarms that are raised."""

from collections.abc import Sequence
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from goldmeter.comparison.gate import Gate
from goldmeter.comparison.of_versions import compare_several
from goldmeter.console.format import NONE, counted, visible
from goldmeter.console.json_output import print_json
from goldmeter.console.terminal import console, say
from goldmeter.errors import ComparisonError
from goldmeter.history.labelled_answers import compare_options
from goldmeter.history.series import series
from goldmeter.history.store import read
from goldmeter.pipeline import params
from goldmeter.reporting.assembly import write_page
from goldmeter.reporting.page import ComparedVersions
from goldmeter.reporting.trends import PastRun, Series, Trend, TrendPoint
from goldmeter.versions.version import WORKSPACE, Version, commit_of, versions
from goldmeter.wording.verdicts import Verdict

# The newest runs of each schedule that the report compares with the workspace.
COMPARED_RUNS = 10
# Runs in the table.
MOST_RUNS = 15
# The terminal width that two candidates take with their intervals, and what each further one takes.
ROOM = 100
CELL = 20
NOTHING = (
    "no runs yet: `python -m flows.schedule` adds those that params.yaml schedules, "
    "`python -m flows.evaluate --record` one by hand"
)


def show(*, is_json: bool = False) -> None:
    """Print the last runs, and the state and alarms of each schedule."""
    out, schedules = console(), series(read())
    if is_json:
        print_json({"schedules": [one._asdict() | {"status": one.status} for one in schedules]})
        return
    if not schedules:
        out.print(NOTHING)
        return
    out.print(table(schedules, out.width))
    for schedule in schedules:
        headline = f"{visible(schedule.schedule) or 'by hand'}: {schedule.status}"
        out.print(Text(headline, style="bold red" if schedule.active_alarms else ""))
        for alarm in schedule.active_alarms:
            since = f"since {alarm.first.started:%Y-%m-%d %H:%M} UTC, {counted(alarm.runs, 'run')}"
            out.print(f"  {visible(alarm.sentence)} ({since})", soft_wrap=True)


def write(path: Path) -> None:
    """Write the report of the workspace with the past runs in it.

    Raises:
        VersionError: The workspace has no complete run.
    """
    schedules = series(read())
    if not schedules:
        say(NOTHING)
        return
    names = [run.name for schedule in schedules for run in schedule.runs[-COMPARED_RUNS:] if commit_of(run.name)]
    with versions([*names, WORKSPACE]) as compared:
        *_, workspace = compared
        write_page(workspace, path, history=schedules, several=_with_workspace(compared) if names else None)
    say(f"report: {path}")


def _with_workspace(compared: Sequence[Version]) -> ComparedVersions | None:
    """Each run compared with the workspace; None if none can be, which is said."""
    gate = params.section(Gate, params.raw(), "gate")
    try:
        return ComparedVersions(compare_several(compared, gate, "last", compare_options()))
    except ComparisonError as error:
        say(f"no run can be compared with the workspace: {error}")
        return None


def table(schedules: Sequence[Series], width: int) -> Table:
    """A table of the last runs of all schedules, oldest first, with the leading measure of every candidate.

    width: of the terminal, in columns. A narrow table has no intervals and no schedules: the names of scheduled runs
    begin with the schedule's.
    """
    runs = [(run, schedule) for schedule in schedules for run in schedule.runs]
    runs.sort(key=lambda pair: pair[0].started)
    names = sorted({name for schedule in schedules for name in schedule.candidates})
    drawn = Table(box=SIMPLE_HEAD, collapse_padding=True, pad_edge=False)
    wide = width >= ROOM + CELL * (len(names) - 2)
    drawn.caption, drawn.caption_justify = _caption(schedules, runs, wide=wide), "left"
    drawn.add_column("started, UTC", no_wrap=True)
    for head in ("run", "schedule") if wide else ("run",):
        drawn.add_column(head, overflow="fold")
    for name in names:
        drawn.add_column(visible(name), justify="right", overflow="fold")
    for head in (Verdict.WORSE, "alarms"):
        drawn.add_column(head, justify="right")
    for run, schedule in runs[-MOST_RUNS:]:
        drawn.add_row(*_cells(run, schedule, names, wide=wide))
    return drawn


def _caption(schedules: Sequence[Series], runs: Sequence[tuple[PastRun, Series]], *, wide: bool) -> str:
    """The table's caption: what the columns are, and how many runs are left out."""
    leading = [*dict.fromkeys(schedule.trends[0].measure for schedule in schedules if schedule.trends)]
    earlier = len(runs) + sum(schedule.older_runs for schedule in schedules) - MOST_RUNS
    more = f"; {counted(earlier, 'run')} before these: python -m tasks history --html" if earlier > 0 else ""
    shown = f"{visible(', '.join(leading))}{' with its interval' if wide else ''}" if leading else "nothing measured"
    return f"{shown}; worse: of the measures compared with the baseline{more}"


def _cells(run: PastRun, schedule: Series, names: Sequence[str], *, wide: bool) -> list[Text | str]:
    points = schedule.trends[0].at(run) if schedule.trends else {}
    verdicts = [point.verdict for trend in schedule.trends for point in trend.at(run).values() if point.verdict]
    raised = schedule.alarms_in(run)
    return [
        f"{run.started:%Y-%m-%d %H:%M}",
        visible(run.name),
        *([visible(schedule.schedule) or "by hand"] if wide else []),
        *(_measured(schedule.trends[0], points[name], wide=wide) if name in points else NONE for name in names),
        f"{verdicts.count(Verdict.WORSE)}/{len(verdicts)}" if verdicts else NONE,
        Text(f"▼ {raised}", style="bold red") if raised else "",
    ]


def _measured(trend: Trend, point: TrendPoint, *, wide: bool) -> str:
    """A value, with its interval in a wide table."""
    if point.value is None or point.low is None or not wide:
        return trend.figure(point.value)
    low, high = (trend.figure(limit).removesuffix(" %") for limit in (point.low, point.high))
    return f"{trend.figure(point.value)} [{low}, {high}]"
