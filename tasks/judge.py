"""A judge's verdicts: one row per (id, candidate)."""

import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tasks.console.terminal import say
from tasks.errors import ParamsError
from tasks.judging import canaries
from tasks.judging.budget import Budget, used_up
from tasks.judging.cascade import Division, cascade_table, is_decided
from tasks.judging.dispatch import dispatch
from tasks.judging.offline_rows import estimates, offline_table
from tasks.judging.plan import Plan
from tasks.judging.requests import Request
from tasks.judging.rows import entries_of, missing, table_of
from tasks.judging.settings import Judge
from tasks.judging.statuses import ANSWERED, BY_DESIGN, FAILED, STATUSES, Mask
from tasks.ledger.entries import Entry
from tasks.ledger.verdicts import Verdicts
from tasks.metrics.base import EMPTY_RESPONSE, NO_RESPONSE
from tasks.metrics.judge.meaning_match import MAJORITY
from tasks.metrics.judged import JudgeMetric
from tasks.models import offline
from tasks.models.chat.capabilities import CapabilityStore
from tasks.models.chat.client import Chat, Endpoint
from tasks.models.chat.concurrency import ConcurrencyLimit
from tasks.pipeline.contract import Contract
from tasks.pipeline.progress import Progress, quiet
from tasks.pipeline.run import RunJudge
from tasks.pipeline.settings import Section
from tasks.pipeline.stage import Stage
from tasks.pipeline.tables import Parts, about, describe
from tasks.pipeline.workers import Crew
from tasks.scores.column_facts import ColumnFacts, statement
from tasks.scores.tables import expect_metric, facts_of, row_facts
from tasks.scores.verdict_source import JUDGED_BY, LANGUAGE_MODEL, OFFLINE_JUDGE

# Environment variable: if set, requests whose reply in the ledger is no verdict are asked again.
RETRY_FAILED = "GOLDMETER_RETRY_FAILED"
# Kinds of failures that a message lists.
LISTED = 5


class Params(Section):
    """The sections of params.yaml that this stage reads."""

    judge: Judge


def judge(
    rows: Parts,
    params: Params,
    ledger: Verdicts,
    run: RunJudge,
    progress: Progress = quiet,
    *,
    retry_failed: bool = False,
    crew: Crew | None = None,
) -> Iterator[dict[str, pa.Table]]:
    """Ask a server for the verdicts that the ledger lacks, then build the table from the ledger.

    Args:
        rows: data/normalize.
        params: Section `judge`.
        ledger: The store of verdicts.
        run: Section `run.judge`.
        progress: Shows the calls, then the rows.
        retry_failed: Ask again if the reply in the ledger is no verdict.
        crew: The processes of the offline judge; None: this one.
    """
    options, crew = params.judge, crew or Crew()
    is_cascade = options.provider == "cascade"
    decided = [*_decided(rows, options, crew, progress)] if is_cascade else None
    division = Division(lambda: rows, decided)
    _ask_missing(division, options, ledger, run, progress, retry_failed=retry_failed)
    wrong = canaries.failed(options, ledger)
    facts = _facts(options, _served(division, options, ledger), rows.schema)
    build = cascade_table if is_cascade else table_of
    total, done, problems = rows.rows, 0, Counter[str]()
    progress("rows", 0, total)
    for part, guesses in zip(rows, estimates(rows, options, crew), strict=True):
        table = build(part, options, ledger, guesses)
        done += part.num_rows
        progress("rows", done, total)
        yield {"judge": describe(table, facts | {"canaries_failed": wrong})}
        problems.update(_problems(table))
        wrong = []
    if ledger.carried:
        where = options.server_key[1]
        say(f"judge: {ledger.carried:,} verdicts from before keys held an address are taken as of {where}", sys.stderr)
    if failed := problems.total():
        first = f"raise {limits}, then " if (limits := used_up(problems)) else ""
        again = "python -m flows.evaluate --retry-failed asks again"
        say(f"judge: {failed:,} rows have no verdict; {first}{again}", sys.stderr)


def judge_offline(rows: pa.Table, params: Params) -> pa.Table:
    """Build one part of the table without a server: the offline judge's verdicts, or none.

    Args:
        rows: A part of data/normalize.
        params: Section `judge`.
    """
    options = params.judge
    return describe(offline_table(rows, options), _facts(options, {}, rows.schema) | {"canaries_failed": []})


def counts(tables: Mapping[str, pa.Table]) -> dict[str, float]:
    """Count the rows asked about, those that failed and how many may fail, and the canaries that the judge failed.

    Of a cascade, these are the language model's rows: the offline judge never fails.
    """
    table = tables["judge"]
    if JUDGED_BY in table.schema.names:
        table = table.filter(pc.field(JUDGED_BY) == LANGUAGE_MODEL)
    statuses = Counter(table["judge_status"].to_pylist())
    asked = statuses[ANSWERED] + statuses[FAILED]
    facts = about(table.schema)
    return {
        "asked": asked,
        "failed": statuses[FAILED],
        "failed_allowed": round(facts["max_unmeasured"] * asked, 6),
        "canaries_failed": len(facts["canaries_failed"]),
    }


def advice(written: Mapping[str, Parts], params: Params) -> list[str]:  # noqa: ARG001 (part of the protocol)
    """List the canaries that the judge failed, the most frequent problems of failed rows, and what to do."""
    facts = written["judge"].about
    problems = _problems(written["judge"].whole(["judge_status", "judge_reason"]))
    limits = used_up(problems)
    again = "run again, with `python -m flows.evaluate --retry-failed` for replies that are no verdict"
    remedy = f"raise {limits}, and run again" if limits else again
    return [
        *(f"  canary failed: {canary}" for canary in facts["canaries_failed"]),
        *(f"  {count:,} rows failed: {problem}" for problem, count in problems.most_common(LISTED)),
        *([f"  What was answered is kept in the ledger: {remedy}"] if problems else []),
    ]


def _problems(table: pa.Table) -> Counter[str]:
    """Count the failed rows of a table by what was wrong."""
    return Counter(map(str, table.filter(pc.field("judge_status") == FAILED)["judge_reason"].to_pylist()))


def expect(params: Params) -> Contract:
    """Expect scores within bounds, results and statuses that follow from them, no row lost, and few failures."""
    from great_expectations import expectations as gxe
    from great_expectations.expectations.row_conditions import Column as Cell

    keys, status = ["id", "candidate"], Cell("judge_status")
    measured, unmeasured = [ANSWERED, EMPTY_RESPONSE], [*BY_DESIGN, NO_RESPONSE]
    rows = [
        *(gxe.ExpectColumnValuesToNotBeNull(column=name) for name in [*keys, "judge_sampled", "judge_draws"]),
        gxe.ExpectColumnValuesToNotBeNull(column="judge_status"),
        gxe.ExpectColumnValuesToBeInSet(column="judge_status", value_set=list(STATUSES)),
        gxe.ExpectColumnValuesToBeBetween(column="judge_draws", min_value=0, max_value=params.judge.draws),
    ]
    if params.judge.provider == "cascade":
        rows += _expect_judges(status)
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
        notes="Too many rows have no verdict; the limit is judge.max_unmeasured.",
    )
    return Contract(
        rows=rows,
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
        same_keys_as="normalize",
    )


def _expect_judges(status: Any) -> list[Any]:
    """Expect to know who judged each row of a cascade; the offline judge judges none outside of its domain."""
    from great_expectations import expectations as gxe
    from great_expectations.expectations.row_conditions import Column as Cell

    return [
        gxe.ExpectColumnValuesToNotBeNull(column=JUDGED_BY, row_condition=status.is_in([ANSWERED, FAILED])),
        gxe.ExpectColumnValuesToBeInSet(column=JUDGED_BY, value_set=[OFFLINE_JUDGE, LANGUAGE_MODEL]),
        *(
            gxe.ExpectColumnValuesToBeInSet(column=JUDGED_BY, value_set=[LANGUAGE_MODEL], row_condition=condition)
            for condition in (Cell("domain_reason").is_not_null(), status == FAILED)
        ),
    ]


def _decided(rows: Parts, options: Judge, crew: Crew, progress: Progress) -> Iterator[Mask]:
    """Yield which rows of each part the offline judge of a cascade decides."""
    done = 0
    progress("rows divided", 0, rows.rows)
    for judged in estimates(rows, options, crew):
        done += len(judged.reasons)
        progress("rows divided", done, rows.rows)
        yield is_decided(judged, options.band)


def _ask_missing(
    division: Division, options: Judge, ledger: Verdicts, run: RunJudge, progress: Progress, *, retry_failed: bool
) -> None:
    """Ask what is not in the ledger, within the budget; canaries first.

    Raises:
        ParamsError: More calls are missing than `run.judge.confirm_calls` allows.
        ModelError: The judge fails a canary, before any row is asked about.
    """

    invented = canaries.requests(options)

    def requests(parts: Iterable[pa.Table], others: Sequence[Request] = ()) -> Iterator[Request]:
        return missing(parts, options, ledger, others=others, retry_failed=retry_failed)

    plan = Plan.of(requests(division.by_language_model(), invented), options, run)
    if not plan.calls:
        return
    say(f"judge: {plan}", sys.stderr)
    if min(plan.calls, run.budget.max_calls or plan.calls) > run.confirm_calls:
        raise ParamsError(
            f"run.judge.confirm_calls: {run.confirm_calls:,}, but {plan.calls:,} calls are missing; "
            "raise it to make them"
        )
    endpoint = Endpoint(options.base_url, options.model, options.api_key_env, run.timeout, run.retries)
    budget, limit = Budget(run.budget, run.price(options.model)), ConcurrencyLimit(run.concurrency)
    counter = _CallCounter(plan.calls, budget, progress)
    with Chat(endpoint, limit, CapabilityStore(ledger.folder / "servers.json")) as chat:
        dispatch(requests([], invented), chat, ledger, budget, run, counter.add)
        canaries.require_passed(options, ledger)
        dispatch(requests(division.by_language_model()), chat, ledger, budget, run, counter.add)


class _CallCounter:
    """Counts answered and failed calls, and shows them with their cost."""

    def __init__(self, calls: int, budget: Budget, progress: Progress) -> None:
        self._calls, self._budget, self._progress = calls, budget, progress
        self._done = self._failed = 0
        # The first reply is that of a single call, which also detects what the server supports: no pace of many.
        progress("first call", 0, 1)

    def add(self, entries: Sequence[Entry]) -> None:
        """Count the entries of new replies."""
        self._done += len(entries)
        self._failed += sum(entry["verdict"] is None for entry in entries)
        failed = f"{self._failed:,} failed" if self._failed else ""
        cost = "" if self._budget.cost is None else f"${self._budget.cost:,.2f}"
        self._progress("calls", self._done, self._calls, note=", ".join(filter(None, [failed, cost])))


def _served(division: Division, options: Judge, ledger: Verdicts) -> dict[str, str]:
    """The models that the servers named for the verdicts of the rows, and how they were asked.

    Marks the verdicts as used, so that they are part of the evidence.
    """
    served: dict[str, set[str]] = {"served": set(), "asked": set()}
    parts = division.by_language_model()
    for entries in (entries for part in parts for entries in entries_of(part, options, ledger)):
        ledger.use(entries)
        for entry in entries.values():
            served["served"].update(filter(None, [entry["model"]]))
            served["asked"].update(filter(None, [entry.get("asked")]))
    return {name: "+".join(sorted(values)) or "unknown" for name, values in served.items()}


def _facts(options: Judge, served: Mapping[str, str], schema: pa.Schema) -> dict[str, Any]:
    """Metadata of the table: what each column means, and how it was computed."""
    variables = options.variables.model_dump().values()
    inherited = row_facts(schema, reads_normalized=any(name.endswith("_normalized") for name in variables))
    columns: dict[str, ColumnFacts] = {}
    for metric in options.metrics:
        columns |= facts_of(metric, {**_signature_facts(options, metric, served), **inherited})
    return {
        **statement(columns),
        "max_unmeasured": options.max_unmeasured,
        "sampling_rate": options.sampling_rate,
        "offline": offline.model_hash(),
    }


def _signature_facts(options: Judge, metric: JudgeMetric, served: Mapping[str, str]) -> dict[str, object]:
    if options.provider == "none":
        return {"provider": "none"}
    variables = ",".join(options.variables.model_dump().values())
    filters = ",".join(f"{rule.field} {rule.operator} {rule.value}" for rule in options.filters)
    filtered = {"filters": filters} if filters else {}
    model, code = offline.model_hash()[:12], offline.source_hash()[:12]
    if options.provider == "offline":
        return {"provider": "offline", "model": model, "code": code, "vars": variables, **filtered}
    cascade = {"band": "-".join(map(str, options.band)), "offline": model, "code": code}
    return {
        "provider": options.provider,
        "model": options.model,
        **({"server": where} if (where := options.server_key[1]) else {}),
        **served,
        "prompt": metric.prompt_hash[:12],
        "vars": variables,
        "temp": options.draw_temperature if options.draws > 1 else options.temperature,
        "seed": options.seed,
        "draws": options.draws,
        **filtered,
        **(cascade if options.provider == "cascade" else {}),
    }


STAGE = Stage(
    params=Params,
    by_part=lambda rows, params, _: judge_offline(rows, params),
    whole=lambda params, inputs: judge(
        inputs.tables["normalize"],
        params,
        inputs.ledger(Verdicts),
        inputs.run.judge,
        inputs.progress,
        retry_failed=RETRY_FAILED in os.environ,
        crew=inputs.crew,
    ),
    is_whole=lambda params: params.judge.asks_server,
    preload=("tasks.models.offline.warm_up",),
    expect=expect,
    counts=counts,
    advice=advice,
)
