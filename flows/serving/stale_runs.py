"""What earlier processes left in Prefect's books: runs whose process is gone, and runs that nobody started."""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal
from uuid import UUID

from prefect.client.orchestration import PrefectClient
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterDeploymentId,
    FlowRunFilterNextScheduledStartTime,
    FlowRunFilterState,
    FlowRunFilterStateName,
    FlowRunFilterStateType,
)
from prefect.client.schemas.objects import FlowRun, State, StateType
from prefect.client.schemas.sorting import FlowRunSort
from prefect.exceptions import ObjectNotFound
from prefect.states import Cancelled, Crashed

from flows.serving import worktree
from flows.serving.flow import CHECKOUT, HOST
from tasks.pipeline.files import is_locked

GRACE = timedelta(minutes=1)
"""A run that is due for less is not missed; one that starts has said by then where it is computed."""
PAGE = 100
LOST = "Its process is gone: the machine was restarted, or the process was killed"
QUEUED = "AwaitingConcurrencySlot"
Missed = Literal["once", "skip"]
BEGUN = (StateType.PENDING, StateType.RUNNING, StateType.CANCELLING)
_ENDING, _POLL = 20.0, 0.5


async def crash(
    client: PrefectClient, deployment: UUID, name: str, ours: Mapping[str, str], *, alone: bool
) -> list[tuple[FlowRun, State[None]]]:
    """Mark the deployment's begun runs without a living process Crashed, which frees its slot; returns them, and that.

    A run is living if another machine or repository claims it, or if some process holds the schedule's worktree.
    A run that nobody claims may be about to start elsewhere until it is GRACE old, unless we are `alone` on the server.
    """
    lock = Path(ours[CHECKOUT], worktree.FOLDER, f"{name}.lock")
    if await _is_held(lock):
        return []
    crashed = []
    async for run in _begun(client, deployment):
        found = run if alone else await _settled(client, run)
        if found.state and found.state.type in BEGUN and _is_ours(found, ours):
            state: State[None] = Crashed(message=LOST)
            await client.set_flow_run_state(found.id, state, force=True)
            crashed.append((found, state))
    return crashed


def with_missed(runs: Collection[FlowRun], grace: timedelta) -> set[UUID]:
    """The deployments that have runs that were due more than `grace` ago and do not wait in a queue."""
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
    """Cancel the runs that were due more than `grace` ago, with `once` all but the newest; returns how many.

    queued: also those that wait for the end of another.
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
    """Whether no other machine or repository computes it."""
    return all(run.labels.get(label) in (None, ours[label]) for label in (HOST, CHECKOUT))


async def _settled(client: PrefectClient, run: FlowRun) -> FlowRun:
    """The run once it is claimed, ended, or too old to be about to start."""
    while HOST not in run.labels and run.state and run.state.type in BEGUN:
        if datetime.now(UTC) - run.state.timestamp > GRACE:
            return run
        await asyncio.sleep(_POLL)
        run = await client.read_flow_run(run.id)
    return run


async def _is_held(lock: Path) -> bool:
    """Whether a process holds the worktree, and goes on holding it: what a kill left needs seconds to end."""
    for _ in range(int(_ENDING / _POLL)):
        if not is_locked(lock):
            return False
        await asyncio.sleep(_POLL)
    return True


async def _begun(client: PrefectClient, deployment: UUID) -> AsyncIterator[FlowRun]:
    for kind in BEGUN:  # few: the deployment has one slot
        for run in await _read(client, _filter(deployment, kind)):
            yield run


async def _due(client: PrefectClient, deployment: UUID, before: datetime, *, queued: bool) -> list[FlowRun]:
    """Scheduled runs that should have started, newest first."""
    due = FlowRunFilterNextScheduledStartTime(before_=before)
    left_out = () if queued else (QUEUED,)
    return await _read(client, _filter(deployment, StateType.SCHEDULED, left_out, next_scheduled_start_time=due))


async def _read(client: PrefectClient, wanted: FlowRunFilter) -> list[FlowRun]:
    newest_first = FlowRunSort.EXPECTED_START_TIME_DESC  # the server refuses the client's default, no order
    return await client.read_flow_runs(flow_run_filter=wanted, sort=newest_first, limit=PAGE)


def _filter(deployment: UUID, kind: StateType, left_out: Collection[str] = (), **more: Any) -> FlowRunFilter:
    return FlowRunFilter(
        deployment_id=FlowRunFilterDeploymentId(any_=[deployment]),
        state=FlowRunFilterState(
            type=FlowRunFilterStateType(any_=[kind]),
            name=FlowRunFilterStateName(not_any_=[*left_out]) if left_out else None,
        ),
        **more,
    )
