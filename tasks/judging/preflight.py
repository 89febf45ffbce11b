"""Preflight: plans the judge calls of the next run before any stage runs."""

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from tasks.console.terminal import say
from tasks.dataset.preflight import labelled_parts, parts
from tasks.errors import ModelError
from tasks.judging import canaries
from tasks.judging.cascade import Division, is_decided
from tasks.judging.offline_rows import estimated
from tasks.judging.plan import Decided, Plan, Savings
from tasks.judging.requests import Request
from tasks.judging.rows import missing
from tasks.judging.settings import SERVER_PROVIDERS, Judge
from tasks.judging.statuses import ANSWERED, STATUSES, Mask, statuses
from tasks.ledger import root
from tasks.ledger.verdicts import Verdicts
from tasks.models import offline
from tasks.pipeline import params
from tasks.pipeline.dvc_yaml import LEDGER, recorded


def plan_next_run(*, retry_failed: bool = False) -> Plan | None:
    """Plan the next run from the user's records, independent of existing tables; None if no server is asked.

    Raises: as the stages load and normalize.
    """
    options, run = params.for_stage("judge").judge, params.run_params().judge
    if not options.asks_server:
        return None
    is_cascade = options.provider == "cascade"
    divided = [_divided(part, labels, options) for part, labels in labelled_parts()] if is_cascade else []
    division = Division(parts, [one.mask for one in divided] if is_cascade else None)
    with Verdicts(root() / "judge", recorded("judge", "judge", "base_url")) as ledger:
        ledger.take_in(Path(LEDGER, "judge"))

        def plan(rows: Iterable[pa.Table], others: Iterable[Request] = ()) -> Plan:
            return Plan.of(missing(rows, options, ledger, others=others, retry_failed=retry_failed), options, run)

        calls = plan(division.by_language_model(), canaries.requests(options))
        if not is_cascade:
            return calls
        rows, decided = sum(one.rows for one in divided), sum((one.decided for one in divided), Decided())
        return replace(calls, savings=Savings(rows, decided, plan(division.by_offline_judge())))


class _Divided(NamedTuple):
    """One part. mask: the rows that the offline judge decides, shape (n,). rows: rows to judge."""

    mask: Mask
    rows: int
    decided: Decided


def _divided(part: pa.Table, labels: pa.ChunkedArray, options: Judge) -> _Divided:
    judged = estimated(part, options)
    mask, to_judge = is_decided(judged, options.band), statuses(part, options) == STATUSES.index(ANSWERED)
    passes = (judged.probabilities >= offline.RIGHT) & mask & to_judge
    fails = ~passes & mask & to_judge
    is_right, is_wrong = (pc.equal(labels, label).fill_null(False).to_numpy() for label in (True, False))  # noqa: FBT003
    labelled = is_right | is_wrong
    counts = (passes & labelled, passes & is_right, fails & labelled, fails & is_wrong)
    decided = Decided(int((mask & to_judge).sum()), *(int(rows.sum()) for rows in counts))
    return _Divided(mask, int(to_judge.sum()), decided)


def show() -> None:
    """Print the plan of the next run."""
    plan = plan_next_run()
    if plan is None:
        say("judge: no call: judge.provider asks no server")
        return
    say(f"judge: {plan}" if plan.calls else "judge: no call: the ledger has every verdict")
    if plan.savings:
        say(f"judge: {plan.savings}")
    if plan.key and plan.calls:
        say(f"set the environment variable {plan.key} to the key (judge.api_key_env)")


def require_key(*, retry_failed: bool) -> None:
    """Raise ModelError if calls are missing and the key is not set."""
    options = params.raw().get("judge") or {}
    variable = options.get("api_key_env")
    if options.get("provider") not in SERVER_PROVIDERS or not variable or os.environ.get(variable, "").strip():
        return
    plan = plan_next_run(retry_failed=retry_failed)
    if plan and plan.calls:
        raise ModelError(
            f"judge: {plan}; set the environment variable {variable} (judge.api_key_env) to the key, "
            "or judge.provider to offline"
        )
