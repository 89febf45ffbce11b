"""The calls that answers take, and what they will cost."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from goldmeter.answering.rows import request_blocks
from goldmeter.answering.systems import STAGE, System
from goldmeter.asking.batch_dispatch import waiting
from goldmeter.asking.model_calls import ModelCalls
from goldmeter.asking.plan import CallPlan, require_confirmed
from goldmeter.asking.requests import EarlierReplies, Request, unanswered
from goldmeter.console.terminal import say
from goldmeter.ledger.verdicts import Verdicts
from goldmeter.pipeline.run import RunJudge


@dataclass(frozen=True)
class AnswerPlan:
    """The plans of all candidates that are asked, by name; may_stop: with `judge.stop`."""

    systems: Mapping[str, CallPlan]
    may_stop: bool = False

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
        most = "at most " if self.may_stop else ""
        return [f"{STAGE}: {name}: {most}{one}" for name, one in asked.items()]


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


def confirmed(plan: AnswerPlan, run: RunJudge) -> bool:
    """Show the plan; return whether there are calls. ParamsError: more than `run.judge.confirm_calls` allows."""
    if not plan.calls + plan.waiting:
        return False
    say("\n".join(plan.lines), sys.stderr)
    require_confirmed(plan, run)
    return True


def plan_of(calls: Sequence[ModelCalls], systems: Sequence[System], *, may_stop: bool = False) -> AnswerPlan:
    """Return the plan of the missing calls to these systems."""
    return AnswerPlan({system.name: one.plan for system, one in zip(systems, calls, strict=True)}, may_stop)
