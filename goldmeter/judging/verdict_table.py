"""The verdicts of a judge about every row: asked for, taken from the ledger, and written as a table."""

import sys
from collections import ChainMap, Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from goldmeter.asking.batch_dispatch import waiting
from goldmeter.asking.budget import used_up
from goldmeter.asking.model_calls import ModelCalls, ask_models
from goldmeter.asking.plan import require_confirmed
from goldmeter.asking.requests import EarlierReplies, Request
from goldmeter.console.terminal import say
from goldmeter.errors import ServerError
from goldmeter.estimates import verdict_columns
from goldmeter.estimates.column_facts import STOPPED, ColumnFacts, statement
from goldmeter.estimates.columns import STATED_PROBABILITY
from goldmeter.estimates.tables import facts_of, row_facts
from goldmeter.judging import canaries, preference
from goldmeter.judging.cascade import Division, cascade_table, decided, estimates, offline_table
from goldmeter.judging.other_names import hash_of
from goldmeter.judging.panel_verdicts import missing_lines, panel_facts, panel_signature, panel_table
from goldmeter.judging.plan import PanelPlan, Plan
from goldmeter.judging.rows import entries_of, missing, table_of
from goldmeter.judging.settings import Judge
from goldmeter.judging.statuses import problems_of
from goldmeter.ledger.entries import Entry
from goldmeter.ledger.verdicts import Verdicts
from goldmeter.metrics.base import Floats
from goldmeter.metrics.catalogue import correctness_verdict
from goldmeter.metrics.judged import JudgeMetric
from goldmeter.metrics.verdict_types import Boolean
from goldmeter.models import offline
from goldmeter.pipeline.progress import Progress, quiet
from goldmeter.pipeline.run import RunJudge
from goldmeter.pipeline.settings import Section
from goldmeter.pipeline.tables import Parts, describe
from goldmeter.pipeline.workers import Crew

# Share of verdicts that come with a probability, from which on the judge counts as one that states it.
NEARLY_ALL = 0.95


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
    spent: Path | None = None,
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
        spent: File of what earlier attempts of this run have used of the budget; None: there was none.
    """
    options, crew = params.judge, crew or Crew()
    is_cascade = options.provider == "cascade"
    by_offline = [*_decided(rows, options, crew, progress)] if is_cascade else []
    division = Division(lambda: rows, (lambda: by_offline) if is_cascade else None)
    preference.require_candidates(rows, options)
    again = retry_failed and STOPPED not in rows.about  # else the stage answer has asked again
    missing_of = partial(missing_calls, options=options, ledger=ledger, run=run, retry_failed=again)
    ask = partial(ask_models, names=options.juror_names, ledger=ledger, run=run, progress=progress, named=set[str]())
    calls = confirmed_calls(missing_of(division), options, run)
    down, stopped = dict[str, ServerError](), dict[str, Any]()
    if STOPPED in rows.about:  # of the stage answer, which has asked about all rows that there are
        stopped, down = {STOPPED: rows.about[STOPPED]}, ask(calls, spent=spent)
    elif options.stop:
        from goldmeter.judging.stopping import ask_until_decided  # imports scipy

        options, stopped, down = ask_until_decided(
            division, options, ledger, run, lambda block, used: ask(missing_of(block), spent=used), spent
        )
    else:
        down = ask(calls, spent=spent)
    wrong = _failed_canaries(options, ledger, down)
    served = _served(division, options, ledger)
    facts = _facts(options, served.facts, rows.schema) | stopped | _probability_facts(options, served)
    preferred = _preference_facts(options, rows, ledger)
    missing_votes = Counter[tuple[str, str]]()
    build = cascade_table if is_cascade else partial(panel_table, missing=missing_votes) if options.panel else table_of
    total, done, problems, pairs_failed = rows.rows, 0, Counter[str](), 0
    progress("rows", 0, total)
    for part, guesses in zip(rows, estimates(rows, options, crew), strict=True):
        table = build(part, options, ledger, guesses)
        done += part.num_rows
        progress("rows", done, total)
        compared = (
            describe(preference.preference_table(part, options, ledger), preferred)
            if preferred
            else preference.SCHEMA.empty_table()
        )
        yield {"judge": describe(table, facts | {"canaries_failed": wrong}), preference.TABLE: compared}
        problems.update(problems_of(table))
        pairs_failed += preference.preference_problems(compared).total()
        wrong = []
    for line in missing_lines(missing_votes, options):
        say(f"judge: {line}", sys.stderr)
    if failed := problems.total():
        say(f"judge: {_without_verdict(failed, problems)}", sys.stderr)
    if pairs_failed:
        say(f"judge: {pairs_failed:,} pairs of answers have no preference", sys.stderr)


def _without_verdict(failed: int, problems: Counter[str]) -> str:
    """Return what to do about rows without a verdict; problems: why, with the number of rows."""
    says = f"{failed:,} {'row has' if failed == 1 else 'rows have'} no verdict"
    again = "python -m flows.evaluate --retry-failed asks again"
    limits = used_up(problems)
    if not limits:
        return f"{says}; {again}"
    beyond = sum(rows for problem, rows in problems.items() if used_up([problem]))
    return f"{says}, {beyond:,} of them because the budget is used up: raise {limits}, then {again}"


def judge_offline(rows: pa.Table, params: Params) -> pa.Table:
    """Build one part of the table data/judge without a server: the offline judge's verdicts, or none.

    Args:
        rows: A part of data/normalize.
        params: Section `judge`.
    """
    options = params.judge
    return describe(offline_table(rows, options), _facts(options, {}, rows.schema) | {"canaries_failed": []})


def _decided(rows: Parts, options: Judge, crew: Crew, progress: Progress) -> Iterator[Floats]:
    """Yield the verdicts of the offline judge of a cascade on each part, NaN where it does not decide."""
    done = 0
    progress("rows divided", 0, rows.rows)
    for judged in estimates(rows, options, crew):
        done += len(judged.reasons)
        progress("rows divided", done, rows.rows)
        yield decided(judged, options.band)


def missing_calls(
    division: Division, options: Judge, ledger: Verdicts, run: RunJudge, *, retry_failed: bool
) -> list[ModelCalls]:
    """Return what is not in the ledger, by judge; canaries first."""

    def missing_of(juror: Judge) -> ModelCalls:
        def requests(others: Sequence[Request] = (), earlier: EarlierReplies | None = None) -> Iterator[Request]:
            rows, pairs = division.by_language_model(), preference.about_pairs(division.parts(), juror)
            return missing(rows, juror, ledger, others=others, more=pairs, retry_failed=retry_failed, earlier=earlier)

        invented, earlier = canaries.requests(juror), EarlierReplies(ledger)
        plan = Plan.of_judge(requests(invented, earlier), juror, run, waiting(juror, ledger), earlier)
        about_canaries = partial(missing, [], juror, ledger, others=invented, retry_failed=retry_failed)
        return ModelCalls(juror, plan, earlier, requests, partial(canaries.ask, about_canaries, juror, ledger))

    return [missing_of(juror) for juror in options.jurors]


def confirmed_calls(calls: list[ModelCalls], options: Judge, run: RunJudge) -> list[ModelCalls]:
    """Show the plan of calls; ParamsError if more are missing than `run.judge.confirm_calls` allows."""
    plan = PanelPlan.of([one.plan for one in calls], options.juror_names)
    if plan.calls + plan.waiting:
        say(f"judge: {'at most ' if options.stop else ''}{plan}", sys.stderr)
        require_confirmed(plan, run)
    return calls


def _failed_canaries(options: Judge, ledger: Verdicts, down: Mapping[str, ServerError]) -> list[str]:
    """Describe the canaries that a judge is wrong about, but for jurors who were not reached."""
    if options.panel is None:
        return canaries.failed(options, ledger)
    jurors = zip(options.juror_names, options.jurors, strict=True)
    return [f"{name}: {line}" for name, one in jurors if name not in down for line in canaries.failed(one, ledger)]


class _Served(NamedTuple):
    """What replies say of their model. facts: its names, how it was asked. states: nearly all state probabilities."""

    facts: dict[str, str]
    states: bool


def _served(division: Division, options: Judge, ledger: Verdicts) -> _Served:
    """The models that the servers named for the verdicts of the rows, and how they were asked.

    Marks the verdicts as used, so that they are part of the evidence.
    """
    jurors = options.jurors
    parts = (part for juror in jurors for part in zip(division.by_language_model(), repeat(juror)))
    return _used((entries for part, juror in parts for entries in entries_of(part, juror, ledger)), ledger)


def _used(blocks: Iterable[Mapping[str, Entry]], ledger: Verdicts) -> _Served:
    """Mark entries as used; return the models that they name, and how these were asked."""
    served: dict[str, set[str]] = {"served": set(), "asked": set()}
    verdicts = stated = 0
    for entries in blocks:
        ledger.use(entries)
        for entry in entries.values():
            served["served"].update(filter(None, [entry["model"]]))
            served["asked"].update(filter(None, [entry.get("asked")]))
            if entry["metric"] == correctness_verdict() and entry["verdict"] is not None:
                verdicts, stated = verdicts + 1, stated + ("probability" in entry)
    facts = {name: "+".join(sorted(values)) or "unknown" for name, values in served.items()}
    return _Served(facts, states=0 < NEARLY_ALL * verdicts <= stated)


def _probability_facts(options: Judge, served: _Served) -> dict[str, str]:
    """Which column has the probability of a right answer that a language model states for every row that it judges."""
    states = served.states or options.draws > 1
    is_alone = options.provider != "cascade" and options.panel is None
    name = next((one.probability_column for one in options.metrics if one.is_correctness), None)
    return {STATED_PROBABILITY: name} if name and states and is_alone else {}


def column_facts(options: Judge, served: Mapping[str, str], schema: pa.Schema) -> dict[str, ColumnFacts]:
    """Return column → what it is; served: what replies say of their model; schema: of data/normalize."""
    columns: dict[str, ColumnFacts] = {}
    for metric in options.metrics:
        reads = metric.mapped(options.variables.model_dump())
        inherited = row_facts(schema, reads_normalized=any(name.endswith("_normalized") for name in reads))
        columns |= facts_of(metric, {**_signature_facts(options, metric, served), **inherited})
    return columns


def _facts(options: Judge, served: Mapping[str, str], schema: pa.Schema) -> dict[str, Any]:
    """Metadata of the table: what each column means, and how it was computed."""
    columns = column_facts(options, served, schema)
    if options.stop:
        columns = {name: replace(one, stopped=True) for name, one in columns.items()}
    repeated = [
        verdict_columns.facts(
            metric.name,
            metric.column,
            metric.verdict.verdict_bounds,
            options.draws,
            has_rate=columns[metric.column].rate_signature is not None,
            is_binary=isinstance(metric.verdict, Boolean),
        )
        for metric in (options.metrics if options.asks_again else ())
    ]
    return {
        **statement(columns),
        **({verdict_columns.REPEATED: dict(ChainMap(*repeated))} if repeated else {}),
        "max_unmeasured": options.max_unmeasured,
        "sampling_rate": options.sampling_rate,
        "offline": offline.model_hash(),
        **panel_facts(options),
    }


def _preference_facts(options: Judge, rows: Parts, ledger: Verdicts) -> dict[str, Any]:
    """Metadata of data/preference; empty if nothing is compared. Marks the verdicts as used."""
    if options.preference is None:
        return {}
    question = options.preference.question
    served = _used(
        (entries for part in rows for entries in preference.preference_entries(part, options, ledger)), ledger
    )
    # Also in a cascade, the language model alone compares, and once.
    signed = _signature_facts(options.model_copy(update={"provider": "openai", "draws": 1}), question, served.facts)
    earlier = row_facts(rows.schema, reads_normalized=False)
    return {
        "signature": question.signature(**{**signed, **earlier}),
        "prompt": question.prompt,
        "max_unmeasured": options.max_unmeasured,
    }


def _signature_facts(options: Judge, metric: JudgeMetric, served: Mapping[str, str]) -> dict[str, object]:
    if options.provider == "none":
        return {"provider": "none"}
    mapped = ",".join(metric.mapped(options.variables.model_dump()))
    variables = {"vars": mapped} if mapped else {}
    filters = ",".join(f"{rule.field} {rule.operator} {rule.value}" for rule in options.filters)
    filtered = {"filters": filters} if filters else {}
    reads_references = metric.needs(options.variables.model_dump()).references is not None
    if reads_references and (named := hash_of(options.aliases)):
        filtered["aliases"] = named
    model, version = offline.model_hash()[:12], offline.VERSION
    if options.provider == "offline":
        return {"provider": "offline", "model": model, "offline_v": version, **variables, **filtered}
    cascade = {"band": "-".join(map(str, options.band)), "offline": model, "offline_v": version}
    jurors = options.jurors
    temperatures = [one.draw_temperature if one.draws > 1 else one.temperature for one in jurors]
    sampled = {"temp": _of_each(temperatures), "seed": _of_each([one.seed for one in jurors]), "draws": options.draws}
    return {
        "provider": options.provider,
        **panel_signature(options, metric),
        "model": _of_each([one.model for one in jurors]),
        **({"server": where} if (where := _of_each([one.server_key[1] for one in jurors])) else {}),
        **served,
        "prompt": metric.prompt_hash[:12],
        **variables,
        **({} if options.is_decision_model else sampled),
        **filtered,
        **(cascade if options.provider == "cascade" else {}),
    }


def _of_each(values: Sequence[Any]) -> Any:
    """What a signature says of a field of all jurors: one value if it is the same of all."""
    if len({*values}) == 1:
        return values[0]
    return "+".join(f"{one:g}" if isinstance(one, float) else str(one) for one in values)
