"""Section `run` of params.yaml: how to run, which changes no number; only report depends on it, on prices."""

from typing import Annotated

from pydantic import Field

from tasks.judge import RunJudge
from tasks.pipeline.settings import Positive, Section


class Run(Section):
    """How the stages run."""

    workers: Positive | None
    parallel_stages: Positive
    retries: dict[str, Annotated[int, Field(ge=0)]]
    timeouts: dict[str, Annotated[float, Field(gt=0)]]
    judge: RunJudge
