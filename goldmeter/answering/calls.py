"""The calls that answers take: those of the next run, and what they will cost."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyarrow as pa

from goldmeter.answering.rows import question_parts, request_blocks
from goldmeter.answering.systems import STAGE, System
from goldmeter.asking.batch_dispatch import waiting
from goldmeter.asking.model_calls import ModelCalls
from goldmeter.asking.plan import CallPlan
from goldmeter.asking.requests import EarlierReplies, Request, unanswered
from goldmeter.console.terminal import say
from goldmeter.errors import ModelError
from goldmeter.ledger import root
from goldmeter.ledger.verdicts import Verdicts
from goldmeter.pipeline import params
from goldmeter.pipeline.dvc_yaml import LEDGER, stages
from goldmeter.pipeline.run import RunJudge


@dataclass(frozen=True)
class AnswerPlan:
    """The plans of all candidates that are asked, by name."""

    systems: Mapping[str, CallPlan]

    @property
    def calls(self) -> int:
        """The missing calls of all."""
        return sum(one.calls for one in self.systems.values())

    @property
    def waiting(self) -> int:
        """Further missing requests, which are in batches."""
        return sum(one.waiting for one in self.systems.values())

    @property
    def keys(self) -> dict[str, str]:
        """Candidate with missing calls → the environment variable of its key, where that is not set."""
        return {name: one.key for name, one in self.systems.items() if one.key and one.calls + one.waiting}

    @property
    def lines(self) -> list[str]:
        """What is asked of each candidate with missing calls, in words."""
        asked = {name: one for name, one in self.systems.items() if one.calls + one.waiting}
        return [f"{STAGE}: {name}: {one}" for name, one in asked.items()]


def missing_calls(
    parts: Callable[[], Iterator[pa.Table]],
    systems: Sequence[System],
    ledger: Verdicts,
    run: RunJudge,
    *,
    retry_failed: bool,
) -> list[ModelCalls]:
    """Return the missing calls to each system.

    Args:
        parts: Yields the questions.
        systems: The candidates that are asked.
        ledger: The store of replies.
        run: Section `run.judge`.
        retry_failed: Ask again where the reply in the ledger is no answer.
    """

    def calls(system: System) -> ModelCalls:
        def requests(earlier: EarlierReplies | None = None) -> Iterator[Request]:
            blocks = request_blocks(parts(), system)
            return unanswered(blocks, ledger, retry_failed=retry_failed, earlier=earlier)

        earlier = EarlierReplies(ledger)
        plan = CallPlan.of(requests(earlier), system, run, waiting(system, ledger), earlier)
        return ModelCalls(system, plan, earlier, requests)

    return [calls(system) for system in systems]


def plan_of(calls: Sequence[ModelCalls], systems: Sequence[System]) -> AnswerPlan:
    """Return the plan of the missing calls to these systems."""
    return AnswerPlan({system.name: one.plan for system, one in zip(systems, calls, strict=True)})


def plan_next_run(*, retry_failed: bool = False) -> AnswerPlan:
    """Plan the next run from the user's records. Raises as the stage load."""
    systems = _systems()
    if not systems:
        return AnswerPlan({})
    options = params.for_stage(STAGE)
    with Verdicts(root() / STAGE) as ledger:
        ledger.take_in(Path(LEDGER, STAGE))
        run, parts = params.run_params().judge, partial(question_parts, options)
        calls = missing_calls(parts, systems, ledger, run, retry_failed=retry_failed)
    return plan_of(calls, systems)


def show() -> None:
    """Print the plan of the next run."""
    params.check()
    plan = plan_next_run()
    if not plan.systems:
        say(f"{STAGE}: no call: no candidate has a model")
        return
    say("\n".join(plan.lines) or f"{STAGE}: no call: the ledger has every answer")
    for name, variable in plan.keys.items():
        say(f"set the environment variable {variable} to the key (dataset.candidates.{name}.api_key_env)")


def require_keys(*, retry_failed: bool) -> None:
    """Raise ModelError if calls are missing and a key is not set."""
    if not any(system.api_key.is_unset for system in _systems()):
        return
    plan = plan_next_run(retry_failed=retry_failed)
    for name, variable in plan.keys.items():
        raise ModelError(
            "\n".join(plan.lines)
            + f"\nset the environment variable {variable} (dataset.candidates.{name}.api_key_env) to the key"
        )


def _systems() -> list[System]:
    """The candidates that are asked; none in a project without the stage."""
    return System.of(params.for_stage(STAGE).dataset) if STAGE in stages() else []
