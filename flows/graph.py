"""Stage dependency graph, from dvc.yaml."""

from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import PurePosixPath

from tasks.errors import ParamsError
from tasks.pipeline.dvc_yaml import StageEntry


def upstream(stages: Mapping[str, StageEntry]) -> dict[str, frozenset[str]]:
    """Stage → the stages it waits for, in an order in which they can run.

    Raises:
        ParamsError: If stages wait for one another.
    """
    graph = {name: _writers(stage, stages) for name, stage in stages.items()}
    try:
        return {name: graph[name] for name in TopologicalSorter(graph).static_order()}
    except CycleError as error:
        raise ParamsError(f"dvc.yaml: stages wait for one another: {' → '.join(error.args[1])}") from None


def _writers(reader: StageEntry, stages: Mapping[str, StageEntry]) -> frozenset[str]:
    return frozenset(
        writer.name
        for writer in stages.values()
        if writer.name != reader.name and any(_overlap(dep, out) for dep in reader.deps for out in writer.outs)
    )


def _overlap(one: str, other: str) -> bool:
    """Whether the paths are the same, or one lies in the other."""
    a, b = PurePosixPath(one), PurePosixPath(other)
    return a.is_relative_to(b) or b.is_relative_to(a)
