"""The last runs of the history, as people read them in the morning: one row per run, and since when it is wrong."""

from collections.abc import Sequence
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from tasks.console.format import NONE, counted, visible
from tasks.console.terminal import console, say
from tasks.monitoring.series import series
from tasks.monitoring.store import read
from tasks.reporting.trends import PastRun, Series, Trend, TrendPoint
from tasks.reporting.version_page import write_page
from tasks.versions.version import WORKSPACE, versions

SHOWN = 15
"""Runs in the table."""
ROOM = 100
"""Columns that two candidates take with their intervals; a further one takes CELL more."""
CELL = 20
NOTHING = (
    "no runs yet: `python -m flows.schedule` adds those that params.yaml schedules, "
    "`python -m flows.evaluate --record` one by hand"
)


def show() -> None:
    """Print the last runs and how each schedule stands."""
    out, found = console(), series(read())
    if not found:
        out.print(NOTHING)
        return
    out.print(table(found, out.width))
    for each in found:
        out.print(_headline(each))
        for alarm in each.active_alarms:
            since = f"since {alarm.first.started:%Y-%m-%d %H:%M} UTC, {counted(alarm.runs, 'run')}"
            out.print(f"  {visible(alarm.sentence)} ({since})", soft_wrap=True)


def write(path: Path) -> None:
    """Write the report of what lies in the workspace with the past runs in it, and say where.

    Raises VersionError when there is no whole run in the workspace.
    """
    found = series(read())
    if not found:
        say(NOTHING)
        return
    with versions([WORKSPACE]) as (here,):
        write_page(here, None, path, found)
    say(f"report: {path}")


def table(found: Sequence[Series], width: int) -> Table:
    """The last runs of all schedules, oldest first; of each the leading measure of every candidate.

    width: columns that there are; a narrow table has neither intervals nor schedules, whose names begin their runs'.
    """
    runs = sorted(((run, each) for each in found for run in each.runs), key=lambda pair: pair[0].started)
    names = sorted({name for each in found for name in each.candidates})
    drawn = Table(box=SIMPLE_HEAD, collapse_padding=True, pad_edge=False)
    wide = width >= ROOM + CELL * (len(names) - 2)
    drawn.caption, drawn.caption_justify = _caption(found, runs, wide=wide), "left"
    drawn.add_column("started, UTC", no_wrap=True)
    for head in ("run", "schedule") if wide else ("run",):
        drawn.add_column(head, overflow="fold")
    for name in names:
        drawn.add_column(visible(name), justify="right", overflow="fold")
    for head in ("worse", "alarms"):
        drawn.add_column(head, justify="right")
    for run, each in runs[-SHOWN:]:
        drawn.add_row(*_cells(run, each, names, wide=wide))
    return drawn


def _caption(found: Sequence[Series], runs: Sequence[tuple[PastRun, Series]], *, wide: bool) -> str:
    """What stands under the heads, and how many runs are not in the table."""
    leading = [*dict.fromkeys(each.trends[0].measure for each in found if each.trends)]
    earlier = len(runs) + sum(each.older_runs for each in found) - SHOWN
    more = f"; {counted(earlier, 'run')} before these: python -m tasks history --html" if earlier > 0 else ""
    shown = f"{visible(', '.join(leading))}{' with its interval' if wide else ''}" if leading else "nothing measured"
    return f"{shown}; worse: of the measures compared with the baseline{more}"


def _cells(run: PastRun, each: Series, names: Sequence[str], *, wide: bool) -> list[Text | str]:
    points = each.trends[0].at(run) if each.trends else {}
    verdicts = [point.verdict for trend in each.trends for point in trend.at(run).values() if point.verdict]
    raised = each.alarms_in(run)
    return [
        f"{run.started:%Y-%m-%d %H:%M}",
        visible(run.name),
        *([visible(each.schedule) or "by hand"] if wide else []),
        *(_measured(each.trends[0], points[name], wide=wide) if name in points else NONE for name in names),
        f"{verdicts.count('worse')}/{len(verdicts)}" if verdicts else NONE,
        Text(f"▼ {raised}", style="bold red") if raised else "",
    ]


def _measured(trend: Trend, point: TrendPoint, *, wide: bool) -> str:
    """A value, and its interval where there is room."""
    if point.value is None or point.low is None or not wide:
        return trend.figure(point.value)
    low, high = (trend.figure(limit).removesuffix("%") for limit in (point.low, point.high))
    return f"{trend.figure(point.value)} [{low}, {high}]"


def _headline(each: Series) -> Text:
    name = visible(each.schedule) or "by hand"
    return Text(f"{name}: {each.status}", style="bold red" if each.active_alarms else "")
