"""Preflight: plans the judge calls of the next run before any stage runs."""

import os
from pathlib import Path

from tasks.console.terminal import say
from tasks.dataset.preflight import parts
from tasks.errors import ModelError
from tasks.judging import canaries
from tasks.judging.plan import Plan
from tasks.judging.rows import missing
from tasks.ledger import root
from tasks.ledger.verdicts import Verdicts
from tasks.pipeline import params
from tasks.pipeline.dvc_yaml import LEDGER, recorded


def plan_next_run(*, retry_failed: bool = False) -> Plan | None:
    """Plan the next run from the user's records, independent of existing tables; None if no server is asked.

    Raises: as the stages load and normalize.
    """
    options, run = params.for_stage("judge").judge, params.run_params().judge
    if options.provider != "openai":
        return None
    with Verdicts(root() / "judge", recorded("judge", "judge", "base_url")) as ledger:
        ledger.take_in(Path(LEDGER, "judge"))
        requests = missing(parts(), options, ledger, others=canaries.requests(options), retry_failed=retry_failed)
        return Plan.of(requests, options, run)


def show() -> None:
    """Print the plan of the next run."""
    plan = plan_next_run()
    if plan is None:
        say("judge: no call: judge.provider asks no server")
        return
    say(f"judge: {plan}" if plan.calls else "judge: no call: the ledger has every verdict")
    if plan.key and plan.calls:
        say(f"set the environment variable {plan.key} to the key (judge.api_key_env)")


def require_key(*, retry_failed: bool) -> None:
    """Raise ModelError if calls are missing and the key is not set."""
    options = params.raw().get("judge") or {}
    variable = options.get("api_key_env")
    if options.get("provider") != "openai" or not variable or os.environ.get(variable, "").strip():
        return
    plan = plan_next_run(retry_failed=retry_failed)
    if plan and plan.calls:
        raise ModelError(
            f"judge: {plan}; set the environment variable {variable} (judge.api_key_env) to the key, "
            "or judge.provider to offline"
        )
