"""Preflight, before any stage runs: the calls to candidates with a model of the next run."""

from functools import partial
from pathlib import Path

from goldmeter.answering.calls import AnswerPlan, missing_calls, plan_of
from goldmeter.answering.rows import question_parts
from goldmeter.answering.systems import STAGE, System
from goldmeter.answering.until_decided import needed_questions
from goldmeter.console.terminal import say
from goldmeter.errors import ModelError
from goldmeter.ledger import root
from goldmeter.ledger.verdicts import Verdicts
from goldmeter.pipeline import params
from goldmeter.pipeline.dvc_yaml import LEDGER, stages


def plan_next_run(*, retry_failed: bool = False) -> AnswerPlan:
    """Plan the next run from the user's records. Raises as the stage load."""
    systems = _systems()
    if not systems:
        return AnswerPlan({})
    options = params.for_stage(STAGE)
    with Verdicts(root() / STAGE) as ledger:
        ledger.take_in(Path(LEDGER, STAGE))
        run, parts = params.run_params().judge, partial(question_parts, options)
        if options.judge.stop:
            parts = partial(iter, [*needed_questions(options, ledger, run)])
        calls = missing_calls(parts, systems, ledger, run, retry_failed=retry_failed)
    return plan_of(calls, systems, may_stop=bool(options.judge.stop))


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
