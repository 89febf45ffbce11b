"""The calls to candidates with a model that are missing, and their plan."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from tasks.answering.rows import request_blocks
from tasks.answering.systems import STAGE, System
from tasks.asking.batch_dispatch import waiting
from tasks.asking.earlier_replies import EarlierReplies
from tasks.asking.missing import unanswered
from tasks.asking.model_calls import ModelCalls
from tasks.asking.plan import CallPlan
from tasks.asking.requests import Request
from tasks.ledger.verdicts import Verdicts
from tasks.pipeline.run import RunJudge


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
