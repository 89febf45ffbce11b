"""A judge's verdicts: one row per (id, candidate)."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, Protocol

import pyarrow as pa
from pydantic import Field, ValidationInfo, field_validator

from tasks.contract import Contract
from tasks.judging import ANSWERED, FAILED, STATUSES, rows_of, table_of
from tasks.ledger.verdicts import Verdicts
from tasks.metrics.base import DISABLED, EMPTY_RESPONSE, FILTERED, NO_REFERENCE, NO_RESPONSE, NOT_SAMPLED
from tasks.metrics.catalogue import configure
from tasks.metrics.judge.meaning_match import MAJORITY, MeaningMatch
from tasks.metrics.judge.similarity_judge import SimilarityJudge
from tasks.metrics.judged import JudgeMetric
from tasks.models.asking import ask_all
from tasks.models.chat import Chat, Endpoint
from tasks.scores import about_columns, expect_metric, row_facts
from tasks.section import Positive, Section, Share
from tasks.selection import Filter
from tasks.tables import Parts, about, describe

WHOLE = True
RETRY_FAILED = "GOLDMETER_RETRY_FAILED"
"""Environment variable that has the judge asked again where the ledger holds a failure."""
Column = Literal["input", "response", "references", "response_normalized", "references_normalized"]


class Variables(Section):
    """Variable of the prompt → column of data/normalize."""

    input: Column
    ground_truth: Column
    output: Column


class Judge(Section):
    """Who judges, what is asked, and which rows. A metric that is null is not asked for."""

    provider: Literal["none", "openai"]
    model: str
    base_url: str
    api_key_env: str | None
    seed: int
    temperature: Annotated[float, Field(ge=0)]
    draws: Positive
    draw_temperature: Annotated[float, Field(gt=0)]
    sampling_rate: Share
    filters: tuple[Filter, ...]
    variables: Variables
    meaning_match: MeaningMatch | None
    similarity_judge: SimilarityJudge | None
    max_unmeasured: Share

    @field_validator("meaning_match", "similarity_judge", mode="before")
    @classmethod
    def _configure(cls, options: Any, info: ValidationInfo) -> Any:
        return options if options is None else configure("judge", str(info.field_name), options)

    @property
    def metrics(self) -> list[JudgeMetric]:
        """The metrics asked for."""
        return [metric for metric in (self.meaning_match, self.similarity_judge) if metric]


class RunJudge(Section):
    """Section `run.judge`: how the judge is asked. timeout: seconds a call."""

    concurrency: Positive
    timeout: Annotated[float, Field(gt=0)]
    retries: Annotated[int, Field(ge=0)]


class Asking(RunJudge):
    """How the judge is asked this time. retry_failed: again where the ledger has a reply that is no verdict."""

    retry_failed: bool


class Params(Section):
    """The sections this stage sees."""

    judge: Judge


class _Run(Protocol):
    @property
    def judge(self) -> RunJudge: ...


def how(run: _Run) -> Asking:
    """What this stage needs of section `run`, and of this run."""
    return Asking(**run.judge.model_dump(), retry_failed=RETRY_FAILED in os.environ)


def judge(rows: Parts, params: Params, ledger: Verdicts, how: Asking) -> Iterator[dict[str, pa.Table]]:
    """Ask what the ledger has not, then read every verdict from the ledger."""
    options = params.judge
    served = sorted({model for part in rows for model in _ask_missing(part, options, ledger, how)})
    columns = options.variables.model_dump().values()
    earlier = row_facts(rows.schema, reads_normalized=any(name.endswith("_normalized") for name in columns))
    facts = _facts(options, served, earlier)
    for part in rows:
        yield {"judge": describe(table_of(part, options, ledger), facts)}


def counts(table: pa.Table) -> dict[str, float]:
    """Rows asked about, those that failed, and how many may."""
    statuses = Counter(table["judge_status"].to_pylist())
    asked = statuses[ANSWERED] + statuses[FAILED]
    allowed = about(table.schema)["max_unmeasured"] * asked
    return {"asked": asked, "failed": statuses[FAILED], "failed_allowed": round(allowed, 6)}


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
        counts=[gxe.ExpectColumnPairValuesToBeEqual(column_A="rows", column_B="rows_normalize"), few],
    )


def _ask_missing(part: pa.Table, options: Judge, ledger: Verdicts, how: Asking) -> set[str]:
    """Ask what is not in the ledger; returns what the servers of all verdicts say they ran."""
    rows = rows_of(part, options)
    requests = {each.key: each for row in rows for draws in row.requests.values() for each in draws}
    known = ledger.get(requests)
    settled = {key for key, entry in known.items() if entry["verdict"] is not None or not how.retry_failed}
    missing = [request for key, request in requests.items() if key not in settled]
    if missing:
        endpoint = Endpoint(options.base_url, options.model, options.api_key_env, how.timeout, how.retries)
        ask_all(missing, Chat(endpoint), ledger, concurrency=how.concurrency, retries=how.retries)
        known = ledger.get(requests)
    ledger.use(requests)
    return {entry["model"] for entry in known.values() if entry["model"]}


def _facts(options: Judge, served: Sequence[str], earlier: Mapping[str, object]) -> dict[str, Any]:
    """What a reader of the table must know: what each column means, and how it was made."""
    columns: dict[str, Any] = {}
    for metric in options.metrics:
        columns |= about_columns(metric, {**_signature_facts(options, metric, served), **earlier})
    return {
        "columns": columns,
        "max_unmeasured": options.max_unmeasured,
        "sampling_rate": options.sampling_rate,
    }


def _signature_facts(options: Judge, metric: JudgeMetric, served: Sequence[str]) -> dict[str, object]:
    if options.provider == "none":
        return {"provider": "none"}
    several = options.draws > 1
    filters = ",".join(f"{each.field} {each.operator} {each.value}" for each in options.filters)
    return {
        "provider": options.provider,
        "model": options.model,
        "served": "+".join(served) or "unknown",
        "prompt": metric.prompt_hash[:12],
        "vars": ",".join(options.variables.model_dump().values()),
        "temp": options.draw_temperature if several else options.temperature,
        "seed": options.seed,
        "draws": options.draws,
        **({"filters": filters} if filters else {}),
    }
