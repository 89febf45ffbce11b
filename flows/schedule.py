"""Serve the schedules of params.yaml from one process: runs start when they are due."""

import asyncio
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Timer
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import httpx
import psutil
from prefect import get_client
from prefect.client.orchestration import PrefectClient
from prefect.client.schemas.filters import DeploymentFilter, DeploymentFilterTags, FlowFilter, FlowFilterName
from prefect.client.schemas.objects import ConcurrencyLimitConfig, ConcurrencyLimitStrategy, FlowRun
from prefect.client.schemas.sorting import DeploymentSort
from prefect.context import AsyncClientContext
from prefect.deployments.runner import RunnerDeployment
from prefect.exceptions import ObjectNotFound
from prefect.logging import get_logger
from prefect.runner import Runner
from prefect.schedules import Cron, Interval
from prefect.server.schemas.schedules import CronSchedule, IntervalSchedule
from prefect.types.entrypoint import EntrypointType

from flows.compare import compare
from flows.evaluate import evaluate
from goldmeter.console.arguments import Parser
from goldmeter.console.terminal import exit_status, say
from goldmeter.errors import GoldmeterError, ParamsError
from goldmeter.history.decision import check_baseline
from goldmeter.pipeline import git, params
from goldmeter.pipeline.files import exclusive
from goldmeter.pipeline.schedule import Schedule
from goldmeter.serving import notify, on_demand, served_schedule, stale_runs
from goldmeter.serving.flow import CHECKOUT, HOST, claim, committed_params, lost, scheduled
from goldmeter.serving.flow_runs import TAG
from goldmeter.serving.server import SERVE_AGAIN, Server, end_at_once, prefect_server
from goldmeter.system import processes

# How many due times --list prints.
LISTED_TIMES = 3
# Seconds before a server that does not answer is tried again.
_RETRY = 10.0
# Seconds that runs have to end: below the 90 after which systemd kills.
STOP_SECONDS = 80.0
_PAGE = 200  # deployments per request; the server refuses the client's default, which is no limit
# A deployment that was polled within this time is being served.
_POLLED_RECENTLY = timedelta(minutes=1)
# Environment variable that Prefect sets for the process of a run; seconds that the process may outlive its run.
_RUN_ID, _EXIT_GRACE = "PREFECT__FLOW_RUN_ID", 10.0
_STRATEGIES = {"skip": ConcurrencyLimitStrategy.CANCEL_NEW, "queue": ConcurrencyLimitStrategy.ENQUEUE}
Schedules = Mapping[str, Schedule]
# Flows that run when somebody asks.
ON_DEMAND: on_demand.Flows = (evaluate, compare)


def main(arguments: Sequence[str]) -> int:
    """Serve until SIGTERM or Ctrl-C; returns the exit status."""
    chosen = parser().parse_args(arguments)
    return exit_status(lambda: _command(chosen.names, only_list=chosen.list))


def parser() -> Parser:
    """The parser of the command line."""
    command_line = Parser(
        prog="python -m flows.schedule",
        description=__doc__,
        epilog="SIGTERM or Ctrl-C ends it, with exit status 0. The result of each run is reported by "
        "schedule.NAME.notify, `python -m tasks history` and Prefect.",
    )
    command_line.add_argument("names", nargs="*", metavar="NAME", help="a schedule of params.yaml; default: all")
    command_line.add_argument("--list", action="store_true", help="print what would be served and when, and exit")
    return command_line


def _command(names: Sequence[str], *, only_list: bool) -> None:
    git.forget_surroundings()
    schedules = checked(names)
    if only_list:
        say("\n".join(line for name, one in schedules.items() for line in listed(name, one)))
    else:
        _require_committed()
        _serve(schedules, everything=not names)


def checked(names: Sequence[str]) -> dict[str, Schedule]:
    """The schedules of these names, or all, in the working copy of params.yaml; raises ParamsError if one is wrong."""
    params.check()
    known = params.schedules()
    if unknown := [name for name in names if name not in known]:
        raise ParamsError(f"schedule.{unknown[0]}: no such schedule; allowed: {', '.join(known)}")
    chosen = {name: known[name] for name in names or known}
    if not chosen:
        raise ParamsError("schedule: params.yaml has no schedule to serve; docs/reference/params.md shows one")
    for name, schedule in chosen.items():
        times(name, schedule, datetime.now(UTC))
        notify.check(name, schedule.notify)
        if schedule.baseline is not None:
            check_baseline(name, schedule.baseline)
    return chosen


def times(name: str, schedule: Schedule, start: datetime, number: int = LISTED_TIMES) -> list[datetime]:
    """The next times at which the schedule is due, in its time zone; raises ParamsError if its cron has none."""
    where = f"schedule.{name}.cron: {schedule.cron!r}"
    rule: CronSchedule | IntervalSchedule
    try:
        if schedule.cron is not None:
            rule = CronSchedule(cron=schedule.cron, timezone=schedule.timezone)
        else:
            rule = IntervalSchedule.model_validate(_interval(schedule))
        dates = [*asyncio.run(rule.get_dates(number, start))]
    except ValueError as error:  # pydantic's and croniter's errors are its children
        reason = str(error).splitlines()[0] if schedule.cron is None else "not understood"
        raise ParamsError(f"{where}: {reason}; expected minute, hour, day, month, weekday, such as 0 2 * * *") from None
    if not dates:
        raise ParamsError(f"{where}: is never due; expected a day that some month has")
    return [date.astimezone(ZoneInfo(schedule.timezone)) for date in dates]


def listed(name: str, schedule: Schedule) -> Iterator[str]:
    """The lines that --list prints for a schedule."""
    rule = schedule.cron or f"every {schedule.interval:g} s"
    yield f"{name}: {rule} ({schedule.timezone}), overlap: {schedule.overlap}, missed: {schedule.missed}"
    for due in times(name, schedule, datetime.now(UTC)):
        yield f"  {due:%a %Y-%m-%d %H:%M:%S %z}"


def deployment_of(name: str, schedule: Schedule, ours: Mapping[str, str]) -> RunnerDeployment:
    """The schedule as a Prefect deployment: one run at a time, in the process that serves it."""
    if schedule.cron is not None:
        when = Cron(schedule.cron, timezone=schedule.timezone)
    else:
        interval = _interval(schedule)
        when = Interval(interval.pop("interval"), **interval)
    deployment = RunnerDeployment.from_flow(
        scheduled,
        name=on_demand.deployment_name(Path(ours[CHECKOUT]), name),
        schedule=when,
        paused=False,
        parameters={"name": name},
        concurrency_limit=ConcurrencyLimitConfig(limit=1, collision_strategy=_STRATEGIES[schedule.overlap]),
        description="Of params.yaml, served by `python -m flows.schedule`.",
        tags=[TAG, _origin(ours)],
        entrypoint_type=EntrypointType.MODULE_PATH,
    )
    deployment.work_pool_name = None  # set, so that it leaves the work pool it may have been deployed to
    deployment.work_queue_name = None
    return deployment


def _interval(schedule: Schedule) -> dict[str, Any]:
    """An interval from a fixed midnight, so that a restart does not move the due times."""
    midnight = datetime(2000, 1, 1, tzinfo=ZoneInfo(schedule.timezone))
    seconds = timedelta(seconds=schedule.interval or 0)
    return {"interval": seconds, "anchor_date": midnight, "timezone": schedule.timezone}


def _origin(ours: Mapping[str, str]) -> str:
    return f"{ours[HOST]}:{ours[CHECKOUT]}"


def _require_committed() -> None:
    if committed_params().get("schedule") != params.raw().get("schedule"):
        raise ParamsError(
            "schedule: the section differs from the committed one, which scheduled runs use. "
            "`git commit params.yaml`, or undo the change"
        )


def _serve(schedules: Schedules, *, everything: bool) -> None:
    ours = claim()
    folder = Path(ours[CHECKOUT], "goldmeter")
    folder.mkdir(parents=True, exist_ok=True)
    refusal = GoldmeterError(f"{folder}: another `python -m flows.schedule` serves this repository")
    with exclusive(folder / "schedule.lock", refusal=refusal):
        for name, schedule in schedules.items():
            served_schedule.save(Path(ours[CHECKOUT]), name, schedule)
        processes.end_marked_with_us()
        say(f"{', '.join(schedules)}: checked; starting Prefect's server", sys.stderr)
        signal.signal(signal.SIGTERM, _exit)  # until serving begins: a server that is starting must not outlive us
        with prefect_server() as server:
            where = server.url.removesuffix("/api")
            say(f"Serving {', '.join(schedules)}. Runs: {where}/deployments. Ctrl-C ends it.")
            asyncio.run(_until_stopped(schedules, ours, server, everything=everything))


def _exit(*_: object) -> None:
    sys.exit(0)


async def _until_stopped(schedules: Schedules, ours: Mapping[str, str], server: Server, *, everything: bool) -> None:
    """Serve until SIGTERM or Ctrl-C; start again after an external server was unreachable."""
    stop, log = asyncio.Event(), get_logger("goldmeter")
    late = f"{server.url}: the runs could not be ended within {STOP_SECONDS:g} s; {SERVE_AGAIN}"

    def end() -> None:
        stop.set()
        deadline = Timer(STOP_SECONDS, end_at_once, [late])
        deadline.daemon = True
        deadline.start()

    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, end)
    while not stop.is_set():
        try:
            async with get_client() as client:
                await _settle(client, schedules, ours, alone=server.own, everything=everything)
            await _run(schedules, ours, stop)
        except GoldmeterError:
            raise
        except Exception as error:
            log.exception("Serving was interrupted")
            if server.own:
                raise GoldmeterError(f"{server.url}: serving was interrupted, as the log says; start again") from error
            await _first_of(stop.wait(), asyncio.sleep(_RETRY))


async def _run(schedules: Schedules, ours: Mapping[str, str], stop: asyncio.Event) -> None:
    runner, missed = _Server(stop), dict[UUID, stale_runs.Missed]()
    async with AsyncClientContext.get_or_create() as context:  # the runner takes its client from this context
        _settle_missed_before_start(context.client, missed, timedelta(seconds=runner.query_seconds))
        for name, schedule in schedules.items():
            served = await runner.aadd_deployment(deployment_of(name, schedule, ours))
            missed[served] = schedule.missed
        for deployment in on_demand.deployments(ON_DEMAND, Path(ours[CHECKOUT]), [TAG, _origin(ours)]):
            await runner.aadd_deployment(deployment)
        serving = asyncio.create_task(runner.start())
        await _first_of(serving, stop.wait())
        if not serving.done():
            await _let_finished_end()
            await runner.astop()
        await serving


def _settle_missed_before_start(
    client: PrefectClient, missed: Mapping[UUID, stale_runs.Missed], interval: timedelta
) -> None:
    """Have the client settle missed runs before it returns the runs to start: the runner starts all that it gets.

    Runs are missed while the machine sleeps or the server is away.

    Args:
        missed: What to do about them, for each deployment.
        interval: Time between two requests of the runner; a run is not late before the second one.
    """
    due = client.get_scheduled_flow_runs_for_deployments
    grace = max(stale_runs.GRACE, 2 * interval)

    async def settled(deployment_ids: list[UUID], **options: Any) -> list[FlowRun]:
        runs = await due(deployment_ids, **options)
        late = stale_runs.with_missed(runs, grace) & missed.keys()
        for deployment in late:
            await stale_runs.settle_missed(client, deployment, missed[deployment], grace=grace, queued=False)
        return await due(deployment_ids, **options) if late else runs

    client.get_scheduled_flow_runs_for_deployments = settled  # type: ignore[method-assign, assignment]


async def _let_finished_end() -> None:
    """Wait for processes whose run has a final state: Prefect would replace it by Cancelled when it stops them."""
    async with get_client() as client:
        for process in psutil.Process().children():
            with suppress(psutil.Error, OSError, KeyError, httpx.HTTPError, ObjectNotFound):
                run = await client.read_flow_run(UUID(process.environ()[_RUN_ID]))
                if run.state and run.state.is_final():
                    await asyncio.to_thread(process.wait, _EXIT_GRACE)


class _Server(Runner):
    """Prefect's runner, ended by an event: on SIGTERM, Prefect's own leaves runs in a state that is not final."""

    def __init__(self, stop: asyncio.Event) -> None:
        # not paused at the end: a run that is due meanwhile counts as missed, however this process ended
        super().__init__(name=TAG, pause_on_shutdown=False, limit=None, prefetch_seconds=0)
        self._stop = stop

    def handle_sigterm(self, *_args: Any, **_kwargs: Any) -> None:
        self._stop.set()


async def _first_of(*awaitables: Any) -> None:
    """Wait for the first of them, then cancel those that are not tasks of the caller."""
    waiting = [asyncio.ensure_future(one) for one in awaitables]
    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    for task in waiting:
        if task not in awaitables:
            task.cancel()


async def _settle(
    client: PrefectClient, schedules: Schedules, ours: Mapping[str, str], *, alone: bool, everything: bool
) -> None:
    """Correct the states of past runs before anything runs."""
    log = get_logger("goldmeter")
    for name, schedule in schedules.items():
        served = on_demand.deployment_name(Path(ours[CHECKOUT]), name)
        try:
            deployment = await client.read_deployment_by_name(f"{scheduled.name}/{served}")
        except ObjectNotFound:
            continue
        _require_nobody_else(f"{scheduled.name}/{served}", deployment, ours, "rename this checkout's folder")
        for run, state in await stale_runs.crash(client, deployment.id, name, ours, alone=alone):
            log.warning("%s: marked Crashed, its process is gone", run.name)
            await asyncio.to_thread(lost, scheduled, run, state)
        if skipped := await stale_runs.settle_missed(client, deployment.id, schedule.missed):
            log.warning("%s: %d missed runs skipped", name, skipped)
    await _settle_on_demand(client, ours, alone=alone)
    if everything:
        await _pause_removed(client, schedules, ours)


async def _settle_on_demand(client: PrefectClient, ours: Mapping[str, str], *, alone: bool) -> None:
    name = on_demand.deployment_name(Path(ours[CHECKOUT]))
    for flow in ON_DEMAND:
        try:
            deployment = await client.read_deployment_by_name(f"{flow.name}/{name}")
        except ObjectNotFound:
            continue
        _require_nobody_else(f"{flow.name}/{name}", deployment, ours, "rename this checkout's folder")
        for run, _ in await stale_runs.crash(client, deployment.id, name, ours, alone=alone):
            get_logger("goldmeter").warning("%s: marked Crashed, its process is gone", run.name)


def _require_nobody_else(name: str, deployment: Any, ours: Mapping[str, str], remedy: str) -> None:
    others = [tag for tag in deployment.tags if tag not in (TAG, _origin(ours))]
    polled = deployment.last_polled
    if (
        others
        and _origin(ours) not in deployment.tags
        and polled
        and abs(datetime.now(UTC) - polled) < _POLLED_RECENTLY
    ):
        raise GoldmeterError(
            f"{name}: {others[0]} serves a deployment of this name on the same Prefect server. "
            f"End that one and wait a minute, or {remedy}"
        )


async def _pause_removed(client: PrefectClient, schedules: Schedules, ours: Mapping[str, str]) -> None:
    """Pause the deployments of schedules that were removed from params.yaml; their past runs stay."""
    served = {on_demand.deployment_name(Path(ours[CHECKOUT]), name) for name in schedules}
    mine = DeploymentFilter(tags=DeploymentFilterTags(all_=[TAG, _origin(ours)]))
    schedule = FlowFilter(name=FlowFilterName(any_=[scheduled.name]))
    for deployment in await client.read_deployments(
        deployment_filter=mine, flow_filter=schedule, limit=_PAGE, sort=DeploymentSort.NAME_ASC
    ):
        if deployment.name not in served and not deployment.paused:
            await client.pause_deployment(deployment.id)
            get_logger("goldmeter").warning("%s: removed from params.yaml, paused", deployment.name)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
