"""Flow runs that earlier processes left in Prefect: unfinished ones without a process, and missed ones."""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal
from uuid import UUID

from prefect.client.orchestration import PrefectClient
from prefect.client.schemas import filters
from prefect.client.schemas.objects import FlowRun, State, StateType
from prefect.client.schemas.sorting import FlowRunSort
from prefect.exceptions import ObjectNotFound
from prefect.states import Cancelled, Crashed

from goldmeter.pipeline.files import is_locked
from goldmeter.serving import worktree
from goldmeter.serving.flow import CHECKOUT, HOST

# A run that is due for less than this is not missed; a run that has started has its labels by then.
GRACE = timedelta(minutes=1)
PAGE = 100
LOST = "Its process is gone: the machine was restarted, or the process was killed"
QUEUED = "AwaitingConcurrencySlot"
Missed = Literal["once", "skip"]
STARTED = (StateType.PENDING, StateType.RUNNING, StateType.CANCELLING)
_ENDING, _POLL = 20.0, 0.5


async def crash(
    client: PrefectClient, deployment: UUID, name: str, ours: Mapping[str, str], *, alone: bool
) -> list[tuple[FlowRun, State[None]]]:
    """Mark the deployment's started runs without a living process Crashed, which frees its concurrency slot.

    A run is left alone when another machine or repository has labelled it, or when a process holds the schedule's
    worktree. One without labels may be about to start elsewhere until it is GRACE old.

    Args:
        ours: The labels of this machine and repository.
        alone: Whether no other machine uses the server.

    Returns:
        The runs, each with its new state.
    """
    lock = Path(ours[CHECKOUT], worktree.FOLDER, f"{name}.lock")
    if await _is_held(lock):
        return []
    crashed = []
    async for run in _started(client, deployment):
        current = run if alone else await _labelled(client, run)
        if current.state and current.state.type in STARTED and _is_ours(current, ours):
            state: State[None] = Crashed(message=LOST)
            await client.set_flow_run_state(current.id, state, force=True)
            crashed.append((current, state))
    return crashed


def with_missed(runs: Collection[FlowRun], grace: timedelta) -> set[UUID]:
    """The deployments of runs that were due more than `grace` ago and do not wait for another run to end."""
    before = datetime.now(UTC) - grace
    return {
        run.deployment_id
        for run in runs
        if run.deployment_id and run.next_scheduled_start_time and run.next_scheduled_start_time < before
        if run.state_name != QUEUED
    }


async def settle_missed(
    client: PrefectClient, deployment: UUID, missed: Missed, *, grace: timedelta = GRACE, queued: bool = True
) -> int:
    """Cancel the runs that were due more than `grace` ago.

    Args:
        missed: "once" leaves the newest of them to run.
        queued: Whether to cancel runs that wait for another run to end.

    Returns:
        The number of cancelled runs.
    """
    before = datetime.now(UTC) - grace
    newest: UUID | None = None
    cancelled = 0
    while True:
        page = await _due(client, deployment, before, queued=queued)
        if missed == "once" and newest is None and page:
            newest = page[0].id
        rest = [run for run in page if run.id != newest]
        if not rest:
            return cancelled
        instead = "the newest missed run stands for it" if missed == "once" else "params.yaml says missed: skip"
        for run in rest:
            skipped: State[None] = Cancelled(
                name="Skipped", message=f"Nothing served the schedule when it was due; {instead}"
            )
            with suppress(ObjectNotFound):  # deleted meanwhile
                await client.set_flow_run_state(run.id, skipped, force=True)
        cancelled += len(rest)


def _is_ours(run: FlowRun, ours: Mapping[str, str]) -> bool:
    """Whether no other machine or repository has labelled the run."""
    return all(run.labels.get(label) in (None, ours[label]) for label in (HOST, CHECKOUT))


async def _labelled(client: PrefectClient, run: FlowRun) -> FlowRun:
    """The run, once it has labels, has ended, or is too old to be about to start."""
    while HOST not in run.labels and run.state and run.state.type in STARTED:
        if datetime.now(UTC) - run.state.timestamp > GRACE:
            return run
        await asyncio.sleep(_POLL)
        run = await client.read_flow_run(run.id)
    return run


async def _is_held(lock: Path) -> bool:
    """Whether a process keeps the worktree locked: the processes of a killed run need seconds to end."""
    for _ in range(int(_ENDING / _POLL)):
        if not is_locked(lock):
            return False
        await asyncio.sleep(_POLL)
    return True


async def _started(client: PrefectClient, deployment: UUID) -> AsyncIterator[FlowRun]:
    for kind in STARTED:  # few runs: the deployment has one slot
        for run in await _read(client, _filter(deployment, kind)):
            yield run


async def _due(client: PrefectClient, deployment: UUID, before: datetime, *, queued: bool) -> list[FlowRun]:
    """Runs that should have started, newest first."""
    due = filters.FlowRunFilterNextScheduledStartTime(before_=before)
    excluded = () if queued else (QUEUED,)
    return await _read(client, _filter(deployment, StateType.SCHEDULED, excluded, next_scheduled_start_time=due))


async def _read(client: PrefectClient, wanted: filters.FlowRunFilter) -> list[FlowRun]:
    newest_first = FlowRunSort.EXPECTED_START_TIME_DESC  # the server rejects the client's default
    return await client.read_flow_runs(flow_run_filter=wanted, sort=newest_first, limit=PAGE)


def _filter(deployment: UUID, kind: StateType, excluded: Collection[str] = (), **more: Any) -> filters.FlowRunFilter:
    return filters.FlowRunFilter(
        deployment_id=filters.FlowRunFilterDeploymentId(any_=[deployment]),
        state=filters.FlowRunFilterState(
            type=filters.FlowRunFilterStateType(any_=[kind]),
            name=filters.FlowRunFilterStateName(not_any_=[*excluded]) if excluded else None,
        ),
        **more,
    )
