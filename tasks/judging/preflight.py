"""Preflight: plans the judge calls of the next run before any stage runs."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from tasks.asking.batch_dispatch import waiting
from tasks.asking.earlier_replies import EarlierReplies
from tasks.asking.requests import Request
from tasks.console.terminal import say
from tasks.dataset.preflight import loaded_parts, parts
from tasks.errors import ModelError
from tasks.judging import canaries
from tasks.judging.cascade import Division, is_decided
from tasks.judging.offline_rows import estimated
from tasks.judging.plan import Decided, PanelPlan, Plan, Savings
from tasks.judging.preference import about_pairs
from tasks.judging.rows import missing
from tasks.judging.settings import API_KEY_SETTING, SERVER_PROVIDERS, Judge
from tasks.judging.statuses import ANSWERED, STATUSES, Mask, statuses
from tasks.ledger import root
from tasks.ledger.verdicts import Verdicts
from tasks.models import offline
from tasks.models.api_key import ApiKey
from tasks.pipeline import params
from tasks.pipeline.dvc_yaml import LEDGER


def plan_next_run(*, retry_failed: bool = False) -> Plan | PanelPlan | None:
    """Plan the next run from the user's records, independent of existing tables; None if no server is asked.

    Raises: as the stages load and normalize.
    """
    options, run = params.for_stage("judge").judge, params.run_params().judge
    if not options.asks_server:
        return None
    is_cascade = options.provider == "cascade"
    divided = [_divided(part, load["label"], options) for part, load in loaded_parts()] if is_cascade else []
    division = Division(parts, [one.mask for one in divided] if is_cascade else None)
    with Verdicts(root() / "judge") as ledger:
        ledger.take_in(Path(LEDGER, "judge"))

        def plan(
            juror: Judge,
            rows: Iterable[pa.Table],
            others: Iterable[Request] = (),
            more: Iterable[Iterable[Request]] = (),
        ) -> Plan:
            earlier, again = EarlierReplies(ledger), retry_failed
            requests = missing(rows, juror, ledger, others=others, more=more, retry_failed=again, earlier=earlier)
            return Plan.of_judge(requests, juror, run, waiting(juror, ledger), earlier)

        plans = [
            plan(juror, division.by_language_model(), canaries.requests(juror), about_pairs(division.parts(), juror))
            for juror in options.jurors
        ]
        if not is_cascade:
            return PanelPlan.of(plans, options.juror_names)
        rows, decided = sum(one.rows for one in divided), sum((one.decided for one in divided), Decided())
        return replace(plans[0], savings=Savings(rows, decided, plan(options, division.by_offline_judge())))


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
    no_call = f"{plan.waiting:,} requests are in batches at work" if plan.waiting else "the ledger has every verdict"
    say(f"judge: {plan}" if plan.calls else f"judge: no call: {no_call}")
    if plan.savings:
        say(f"judge: {plan.savings}")
    if plan.key and plan.calls:
        say(f"set the environment variable {plan.key} to the key (judge.api_key_env)")


def require_key(*, retry_failed: bool) -> None:
    """Raise ModelError if calls are missing and the key is not set."""
    options = params.raw().get("judge") or {}
    if options.get("provider") not in SERVER_PROVIDERS:
        return
    named = [options, *(one for one in options.get("panel") or () if isinstance(one, dict))]
    if not any(ApiKey(one.get("api_key_env"), API_KEY_SETTING).is_unset for one in named):
        return
    plan = plan_next_run(retry_failed=retry_failed)
    if plan and plan.calls + plan.waiting and plan.key:
        raise ModelError(
            f"judge: {plan}; set the environment variable {plan.key} (judge.api_key_env) to the key, "
            "or judge.provider to offline"
        )
