"""Answers of the candidates that have a model: one row per (id, candidate, draw)."""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from goldmeter.answering.calls import confirmed, missing_calls, plan_of
from goldmeter.answering.rows import SCHEMA, question_parts, table_of
from goldmeter.answering.systems import STAGE as NAME
from goldmeter.answering.systems import Params, System, check_prompt
from goldmeter.asking.budget import used_up
from goldmeter.asking.model_calls import ask_models, retries_failed, spent_file
from goldmeter.ledger.verdicts import Verdicts
from goldmeter.pipeline.progress import Progress, quiet
from goldmeter.pipeline.run import RunJudge
from goldmeter.pipeline.stage import Contract, Stage
from goldmeter.pipeline.tables import Parts, about, describe

# Kinds of failures that a message lists.
LISTED = 5


def answer(
    params: Params,
    ledger: Verdicts,
    run: RunJudge,
    progress: Progress = quiet,
    *,
    retry_failed: bool = False,
    spent: Path | None = None,
) -> Iterator[dict[str, pa.Table]]:
    """Ask each model for the answers that the ledger lacks, then build the table from the ledger.

    Args:
        params: The sections of params.yaml.
        ledger: The store of replies.
        run: Section `run.judge`.
        progress: Shows the calls.
        retry_failed: Ask again where the reply in the ledger is no answer.
        spent: File of what earlier attempts of this run have used of the budget; None: there was none.

    Raises:
        DataError: The records can't be read.
        ParamsError: More calls are missing than `run.judge.confirm_calls` allows.
        ModelError: A model can't be asked.
        ServerError: A server is down; what the others answered is in the ledger.
    """
    systems = System.of(params.dataset)
    if not systems:
        yield _described(SCHEMA.empty_table(), params, {})
        return
    parts, stopped = partial(question_parts, params), dict[str, Any]()
    if params.judge.stop:
        from goldmeter.answering.until_decided import ask_until_decided  # imports scipy

        asked = ask_until_decided(params, ledger, run, progress, retry_failed=retry_failed, spent=spent)
        parts, stopped = partial(iter, asked.questions), asked.facts
    else:
        calls = missing_calls(parts, systems, ledger, run, retry_failed=retry_failed)
        if confirmed(plan := plan_of(calls, systems), run):
            for error in ask_models(calls, [*plan.systems], ledger, run, progress, spent).values():
                raise error
    for part in parts():
        yield _described(table_of(part, systems, ledger, run.prices, params.dataset.thoughts), params, stopped)


def _described(table: pa.Table, params: Params, stopped: Mapping[str, Any]) -> dict[str, pa.Table]:
    return {NAME: describe(table, {"max_unmeasured": params.answer.max_unmeasured, **stopped})}


def counts(tables: Mapping[str, pa.Table]) -> dict[str, float]:
    """Count the rows asked about, those without an answer, and how many may be."""
    table = tables[NAME]
    allowed = about(table.schema)["max_unmeasured"] * table.num_rows
    return {"failed": table["response"].null_count, "failed_allowed": round(allowed, 6)}


def advice(written: Mapping[str, Parts], params: Params) -> list[str]:  # noqa: ARG001 (part of the protocol)
    """List the most frequent problems of rows without an answer, and what to do."""
    problems = Counter[tuple[str, str]]()
    for part in written[NAME].read(["candidate", "response", "problem"]):
        failed = part.filter(pc.is_null(part["response"]))
        problems.update(zip(failed["candidate"].to_pylist(), failed["problem"].to_pylist(), strict=True))
    if not problems:
        return []
    limits = used_up(problem for _, problem in problems)
    again = "run again, with `python -m flows.evaluate --retry-failed` for replies that are no answer"
    remedy = f"raise {limits}, and run again" if limits else again
    listed = [f"  {name}: {count:,} not answered: {why}" for (name, why), count in problems.most_common(LISTED)]
    return [*listed, f"  What was answered is kept in the ledger: {remedy}"]


def expect(params: Params) -> Contract:  # noqa: ARG001 (part of the protocol)
    """Expect an answer or a reason in each row, and few rows without an answer."""
    from great_expectations import expectations as gxe
    from great_expectations.expectations.row_conditions import Column as Cell

    amounts = ("latency", "input_tokens", "output_tokens", "cost")
    return Contract(
        rows=[
            *(gxe.ExpectColumnValuesToNotBeNull(column=name) for name in ("id", "candidate", "draw")),
            gxe.ExpectColumnValuesToNotBeNull(column="problem", row_condition=Cell("response").is_null()),
            *(gxe.ExpectColumnValuesToBeBetween(column=name, min_value=0) for name in amounts),
        ],
        keys=[gxe.ExpectCompoundColumnsToBeUnique(column_list=["id", "candidate", "draw"])],
        counts=[
            gxe.ExpectColumnPairValuesAToBeGreaterThanB(
                column_A="failed_allowed",
                column_B="failed",
                or_equal=True,
                notes="Too many questions have no answer; the limit is answer.max_unmeasured.",
            )
        ],
    )


def _check(sections: Mapping[str, Any]) -> None:
    if dataset := sections.get("dataset"):  # a project may take its rows from a stage of its own
        for name, candidate in dataset.asked.items():
            check_prompt(name, candidate, dataset)


STAGE = Stage(
    params=Params,
    whole=lambda params, inputs: answer(
        params,
        inputs.ledger(Verdicts),
        inputs.run.judge,
        inputs.progress,
        retry_failed=retries_failed(),
        spent=spent_file(),
    ),
    is_idle=lambda params: not params.dataset.asked,
    expect=expect,
    counts=counts,
    advice=advice,
    check=_check,
)
