"""A judge's verdicts: one row per (id, candidate)."""

import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from tasks.console.terminal import say
from tasks.errors import ModelError, ParamsError
from tasks.judging import canaries
from tasks.judging.budget import Budget
from tasks.judging.plan import Plan
from tasks.judging.requests import Request, ask_all
from tasks.judging.rows import ANSWERED, FAILED, STATUSES, entries_of, estimates, missing, table_of
from tasks.judging.settings import Asking, Judge
from tasks.ledger.verdicts import Entry, Verdicts
from tasks.metrics.base import DISABLED, EMPTY_RESPONSE, FILTERED, NO_REFERENCE, NO_RESPONSE, NOT_SAMPLED
from tasks.metrics.judge.meaning_match import MAJORITY
from tasks.metrics.judged import JudgeMetric
from tasks.models import offline
from tasks.models.chat.capabilities import Memory
from tasks.models.chat.client import Chat, Endpoint
from tasks.models.chat.concurrency import Pace
from tasks.pipeline.contract import Contract
from tasks.pipeline.progress import Progress, quiet
from tasks.pipeline.run import RunJudge
from tasks.pipeline.settings import Section
from tasks.pipeline.tables import Parts, about, describe
from tasks.scores.column_facts import ColumnFacts, statement
from tasks.scores.tables import expect_metric, facts_of, row_facts

WHOLE = True
RETRY_FAILED = "GOLDMETER_RETRY_FAILED"
"""Environment variable that has the judge asked again where the ledger holds a failure."""
SHOWN = 5
"""Kinds of failures that a message lists."""


class Params(Section):
    """The sections this stage sees."""

    judge: Judge


class _Run(Protocol):
    @property
    def judge(self) -> RunJudge: ...

    @property
    def workers(self) -> int | None: ...


def how(run: _Run) -> Asking:
    """What this stage needs of section `run`, and of this run."""
    return Asking(**run.judge.model_dump(), retry_failed=RETRY_FAILED in os.environ, workers=run.workers)


def judge(
    rows: Parts, params: Params, ledger: Verdicts, how: Asking, progress: Progress = quiet
) -> Iterator[dict[str, pa.Table]]:
    """Ask what the ledger has not, then read every verdict from the ledger."""
    options = params.judge
    if options.provider == "openai":
        _ask_missing(rows, options, ledger, how, progress)
    wrong = canaries.failed(options, ledger)
    facts = _facts(options, _served(rows, options, ledger), rows.schema)
    total, done, failed = rows.rows, 0, 0
    progress("rows", 0, total)
    for part, guesses in zip(rows, estimates(rows, options, how.workers), strict=True):
        table = table_of(part, options, ledger, guesses)
        done += part.num_rows
        progress("rows", done, total)
        yield {"judge": describe(table, facts | {"canaries_failed": wrong})}
        failed, wrong = failed + table["judge_status"].to_pylist().count(FAILED), []
    if failed:
        say(f"judge: {failed:,} rows have no verdict; python -m flows.evaluate --retry-failed asks again", sys.stderr)


def counts(table: pa.Table) -> dict[str, float]:
    """Rows asked about, those that failed, and how many may; canaries that the judge failed."""
    statuses = Counter(table["judge_status"].to_pylist())
    asked = statuses[ANSWERED] + statuses[FAILED]
    facts = about(table.schema)
    return {
        "asked": asked,
        "failed": statuses[FAILED],
        "failed_allowed": round(facts["max_unmeasured"] * asked, 6),
        "canaries_failed": len(facts["canaries_failed"]),
    }


def advice(written: Mapping[str, Parts], params: Params) -> list[str]:  # noqa: ARG001 (every stage's is asked the same way)
    """What to tell who finds the contract broken: the canaries that the judge failed, and what calls failed of."""
    facts = written["judge"].about
    table = written["judge"].whole(["judge_status", "judge_reason"]).filter(pc.field("judge_status") == FAILED)
    problems = Counter(table["judge_reason"].to_pylist()).most_common(SHOWN)
    return [
        *(f"  canary failed: {each}" for each in facts["canaries_failed"]),
        *(f"  {count:,} rows failed: {problem}" for problem, count in problems),
    ]


def expect(params: Params) -> Contract:
    """Scores within bounds, results and statuses that follow from them, no row lost, few failures."""
    from great_expectations import expectations as gxe
    from great_expectations.expectations.row_conditions import Column as Cell

    keys, status = ["id", "candidate"], Cell("judge_status")
    measured, unmeasured = [ANSWERED, EMPTY_RESPONSE], [NOT_SAMPLED, FILTERED, DISABLED, NO_REFERENCE, NO_RESPONSE]
    rows = [
        *(gxe.ExpectColumnValuesToNotBeNull(column=name) for name in [*keys, "judge_sampled", "judge_draws"]),
        gxe.ExpectColumnValuesToNotBeNull(column="judge_status"),
        gxe.ExpectColumnValuesToBeInSet(column="judge_status", value_set=list(STATUSES)),
        gxe.ExpectColumnValuesToBeBetween(column="judge_draws", min_value=0, max_value=params.judge.draws),
    ]
    for metric in params.judge.metrics:
        name = metric.column
        rows += expect_metric(metric, **({"pass_above": MAJORITY} if name == "meaning_match" else {}))
        rows += [
            gxe.ExpectColumnValuesToNotBeNull(column=name, row_condition=status.is_in(measured)),
            gxe.ExpectColumnValuesToBeNull(column=name, row_condition=status.is_in(unmeasured)),
        ]
    few = gxe.ExpectColumnPairValuesAToBeGreaterThanB(
        column_A="failed_allowed",
        column_B="failed",
        or_equal=True,
        notes="Too many calls failed. What was answered is kept in the ledger: run again, with "
        "`python -m flows.evaluate --retry-failed` for replies that are no verdict; the limit is judge.max_unmeasured.",
    )
    return Contract(
        rows=rows,
        keys=[gxe.ExpectCompoundColumnsToBeUnique(column_list=keys)],
        counts=[
            gxe.ExpectColumnPairValuesToBeEqual(column_A="rows", column_B="rows_normalize"),
            few,
            gxe.ExpectColumnValuesToBeBetween(
                column="canaries_failed",
                min_value=0,
                max_value=0,
                notes="The judge is wrong about rows whose verdict is known: another model, or prompt, is needed.",
            ),
        ],
    )


def _ask_missing(rows: Parts, options: Judge, ledger: Verdicts, how: Asking, progress: Progress) -> None:
    """Ask what is not in the ledger, within the budget; canaries first.

    Raises ParamsError when it is more than the user has confirmed, ModelError when the judge fails a canary.
    """

    def todo(parts: Iterable[pa.Table]) -> Iterator[Request]:
        others = canaries.requests(options)
        return missing(parts, options, ledger, others=others, retry_failed=how.retry_failed)

    plan = Plan.of(todo(rows), options, how)
    if not plan.calls:
        return
    say(f"judge: {plan}", sys.stderr)
    if min(plan.calls, how.budget.max_calls or plan.calls) > how.confirm_calls:
        raise ParamsError(
            f"run.judge.confirm_calls: {how.confirm_calls:,}, but {plan.calls:,} calls are missing; "
            "raise it to make them"
        )
    endpoint = Endpoint(options.base_url, options.model, options.api_key_env, how.timeout, how.retries)
    budget, pace = Budget(how.budget, how.price(options.model)), Pace(how.concurrency)
    count = _Count(plan.calls, budget, progress)
    with Chat(endpoint, pace, Memory(ledger.folder / "servers.json")) as chat:
        parts: Iterable[pa.Table]
        for parts in ([], rows):
            ask_all(todo(parts), chat, ledger, budget, how.concurrency, how.retries, count.answered)
            if wrong := canaries.failed(options, ledger):
                known = "the judge is wrong about, or does not answer, rows whose verdict is known:"
                raise ModelError("\n".join([known, *wrong]))


class _Count:
    """What has been answered, and what it cost."""

    def __init__(self, calls: int, budget: Budget, progress: Progress) -> None:
        self._calls, self._budget, self._progress = calls, budget, progress
        self._done = self._failed = 0
        progress("calls", 0, calls)

    def answered(self, entries: Sequence[Entry]) -> None:
        """Tell how far it is."""
        self._done += len(entries)
        self._failed += sum(entry["verdict"] is None for entry in entries)
        failed = f"{self._failed:,} failed" if self._failed else ""
        cost = "" if self._budget.cost is None else f"${self._budget.cost:,.2f}"
        self._progress("calls", self._done, self._calls, note=", ".join(filter(None, [failed, cost])))


def _served(rows: Parts, options: Judge, ledger: Verdicts) -> dict[str, str]:
    """What the servers of all verdicts say they ran, and how they were asked; marks the verdicts as used."""
    served: dict[str, set[str]] = {"served": set(), "asked": set()}
    for part in rows:
        known = entries_of(part, options, ledger)
        ledger.use(known)
        for entry in known.values():
            served["served"].update(filter(None, [entry["model"]]))
            served["asked"].update(filter(None, [entry.get("asked")]))
    return {name: "+".join(sorted(each)) or "unknown" for name, each in served.items()}


def _facts(options: Judge, served: Mapping[str, str], schema: pa.Schema) -> dict[str, Any]:
    """What a reader of the table must know: what each column means, and how it was made."""
    read = options.variables.model_dump().values()
    earlier = row_facts(schema, reads_normalized=any(name.endswith("_normalized") for name in read))
    columns: dict[str, ColumnFacts] = {}
    for metric in options.metrics:
        columns |= facts_of(metric, {**_signature_facts(options, metric, served), **earlier})
    return {
        **statement(columns),
        "max_unmeasured": options.max_unmeasured,
        "sampling_rate": options.sampling_rate,
        "offline": offline.model_hash(),
    }


def _signature_facts(options: Judge, metric: JudgeMetric, served: Mapping[str, str]) -> dict[str, object]:
    if options.provider == "none":
        return {"provider": "none"}
    several = options.draws > 1
    variables = ",".join(options.variables.model_dump().values())
    filters = ",".join(f"{each.field} {each.operator} {each.value}" for each in options.filters)
    filtered = {"filters": filters} if filters else {}
    if options.provider == "offline":
        made = {"model": offline.model_hash()[:12], "code": offline.sources()[:12]}
        return {"provider": "offline", **made, "vars": variables, **filtered}
    return {
        "provider": options.provider,
        "model": options.model,
        **served,
        "prompt": metric.prompt_hash[:12],
        "vars": variables,
        "temp": options.draw_temperature if several else options.temperature,
        "seed": options.seed,
        "draws": options.draws,
        **filtered,
    }
