"""Deployments of flows that run when somebody asks, with typed parameters."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from prefect import Flow
from prefect.client.schemas.objects import ConcurrencyLimitConfig, ConcurrencyLimitStrategy
from prefect.deployments.runner import RunnerDeployment
from prefect.types.entrypoint import EntrypointType

Flows = Sequence[Flow[..., Any]]


def deployment_name(common: Path, schedule: str | None = None) -> str:
    """The folder of the checkout, under which Prefect lists what it serves, and the name of a schedule of it.

    Args:
        common: git's folder that all worktrees share.
        schedule: Its name in params.yaml; None: a flow that runs when somebody asks.
    """
    project = common.parent.name if common.name == ".git" else common.name
    return project if schedule is None else f"{project}-{schedule}"


def deployments(flows: Flows, common: Path, tags: Sequence[str]) -> list[RunnerDeployment]:
    """The flows as Prefect deployments, which run in the checkout, one run of each at a time."""
    return [
        RunnerDeployment.from_flow(
            one,
            name=deployment_name(common),
            concurrency_limit=ConcurrencyLimitConfig(limit=1, collision_strategy=ConcurrencyLimitStrategy.ENQUEUE),
            description=f"{(one.description or '').splitlines()[0]} It runs in {common.parent}, on its working files.",
            tags=[*tags],
            entrypoint_type=EntrypointType.MODULE_PATH,
        )
        for one in flows
    ]
