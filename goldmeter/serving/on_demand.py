"""Deployments of flows that run when somebody asks, with typed parameters."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from prefect import Flow
from prefect.client.schemas.objects import ConcurrencyLimitConfig, ConcurrencyLimitStrategy
from prefect.deployments.runner import RunnerDeployment
from prefect.types.entrypoint import EntrypointType

Flows = Sequence[Flow[..., Any]]


def deployment_name(common: Path) -> str:
    """The folder of the checkout, under which Prefect lists what it serves.

    Args:
        common: git's folder that all worktrees share.
    """
    return common.parent.name if common.name == ".git" else common.name


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
