"""A judge's verdicts: one row per (id, candidate)."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from goldmeter.asking.budget import used_up
from goldmeter.asking.model_calls import retries_failed, spent_file
from goldmeter.estimates.signature import JUDGED_BY, LANGUAGE_MODEL, OFFLINE_JUDGE
from goldmeter.estimates.tables import expect_metric
from goldmeter.judging import preference, statuses
from goldmeter.judging.settings import check_prompts
from goldmeter.judging.verdict_table import Params, judge, judge_offline
from goldmeter.ledger.verdicts import Verdicts
from goldmeter.metrics.base import EMPTY_RESPONSE, NO_RESPONSE
from goldmeter.metrics.judged import DETAILS
from goldmeter.pipeline.stage import Contract, Stage
from goldmeter.pipeline.tables import Parts, about

# Kinds of failures that a message lists.
LISTED = 5


def counts(tables: Mapping[str, pa.Table]) -> dict[str, float]:
    """Count the rows asked about, those that failed and how many may fail, and the canaries that the judge failed.

    Of a cascade, these are the language model's rows: the offline judge never fails.
    """
    table = tables["judge"]
    compared = preference.preference_counts(tables[preference.TABLE]) if preference.TABLE in tables else {}
    if JUDGED_BY in table.schema.names:
        table = table.filter(pc.field(JUDGED_BY) == LANGUAGE_MODEL)
    asked, failed = statuses.asked_and_failed(table)
    facts = about(table.schema)
    return {
        "asked": asked,
        "failed": failed,
        "failed_allowed": round(facts["max_unmeasured"] * asked, 6),
        "canaries_failed": len(facts["canaries_failed"]),
        **compared,
    }


def advice(written: Mapping[str, Parts], params: Params) -> list[str]:
    """List the canaries that the judge failed, the most frequent problems of failed rows, and what to do."""
    facts = written["judge"].about
    rows = statuses.problems_of(written["judge"].whole(statuses.read_columns(written["judge"].schema)))
    pairs = Counter[str]()
    if params.judge.preference:
        pairs = preference.preference_problems(written[preference.TABLE].whole(["preference_status", "problem"]))
    limits = used_up([*rows, *pairs])
    again = "run again, with `python -m flows.evaluate --retry-failed` for replies that are no verdict"
    remedy = f"raise {limits}, and run again" if limits else again
    return [
        *(f"  canary failed: {canary}" for canary in facts["canaries_failed"]),
        *(f"  {count:,} rows failed: {problem}" for problem, count in rows.most_common(LISTED)),
        *(f"  {count:,} pairs of answers failed: {problem}" for problem, count in pairs.most_common(LISTED)),
        *([f"  What was answered is kept in the ledger: {remedy}"] if rows or pairs else []),
    ]


def expect(params: Params) -> Contract:
    """Expect scores within bounds, results and statuses that follow from them, no row lost, and few failures."""
    from great_expectations import expectations as gxe
    from great_expectations.expectations.row_conditions import Column as Cell

    keys, status = ["id", "candidate"], Cell("judge_status")
    max_draws = len(params.judge.panel) if params.judge.panel else params.judge.draws
    measured, unmeasured = [statuses.ANSWERED, EMPTY_RESPONSE], [*statuses.BY_DESIGN, NO_RESPONSE]
    rows = [
        *(gxe.ExpectColumnValuesToNotBeNull(column=name) for name in [*keys, "judge_sampled", "judge_draws"]),
        gxe.ExpectColumnValuesToNotBeNull(column="judge_status"),
        gxe.ExpectColumnValuesToBeInSet(column="judge_status", value_set=list(statuses.STATUSES)),
        gxe.ExpectColumnValuesToBeBetween(column="judge_draws", min_value=0, max_value=max_draws),
    ]
    if params.judge.provider == "cascade":
        rows += _expect_judges(status)
    for metric in params.judge.metrics:
        name = metric.column
        rows += expect_metric(metric)
        if metric.explanation == DETAILS:
            rows.append(gxe.ExpectColumnValuesToNotBeNull(column=f"{metric.name}_{DETAILS}"))
            continue
        rows += [
            gxe.ExpectColumnValuesToNotBeNull(column=name, row_condition=status.is_in(measured)),
            gxe.ExpectColumnValuesToBeNull(column=name, row_condition=status.is_in(unmeasured)),
        ]
    return Contract(
        rows=rows, counts=_expect_counts(has_pairs=params.judge.preference is not None), same_keys_as="normalize"
    )


def _expect_counts(*, has_pairs: bool) -> list[Any]:
    """Expect that no row is lost, few rows and pairs of answers fail, and no canary does."""
    from great_expectations import expectations as gxe

    failed = {
        "failed": "Too many rows have no verdict; the limit is judge.max_unmeasured; they count for "
        "aggregate.max_unmeasured, too.",
    }
    if has_pairs:
        failed["pairs_failed"] = "Too many pairs of answers have no preference; the limit is judge.max_unmeasured."
    known = "The judge is wrong about rows whose verdict is known: another model, or prompt, is needed."
    return [
        gxe.ExpectColumnPairValuesToBeEqual(column_A="rows", column_B="rows_normalize"),
        *(
            gxe.ExpectColumnPairValuesAToBeGreaterThanB(
                column_A=f"{count}_allowed", column_B=count, or_equal=True, notes=notes
            )
            for count, notes in failed.items()
        ),
        gxe.ExpectColumnValuesToBeBetween(column="canaries_failed", min_value=0, max_value=0, notes=known),
    ]


def _expect_judges(status: Any) -> list[Any]:
    """Expect to know who judged each row of a cascade; the offline judge judges none outside of its domain."""
    from great_expectations import expectations as gxe
    from great_expectations.expectations.row_conditions import Column as Cell

    return [
        gxe.ExpectColumnValuesToNotBeNull(
            column=JUDGED_BY, row_condition=status.is_in([statuses.ANSWERED, statuses.FAILED])
        ),
        gxe.ExpectColumnValuesToBeInSet(column=JUDGED_BY, value_set=[OFFLINE_JUDGE, LANGUAGE_MODEL]),
        *(
            gxe.ExpectColumnValuesToBeInSet(column=JUDGED_BY, value_set=[LANGUAGE_MODEL], row_condition=condition)
            for condition in (Cell("domain_reason").is_not_null(), status == statuses.FAILED)
        ),
    ]


def _check(sections: Mapping[str, Any]) -> None:
    if "dataset" in sections:  # a project may take its rows from a stage of its own
        check_prompts(sections)
        preference.check_preference(sections)
        if sections["judge"].stop:
            from goldmeter.judging.stopping import check_stop  # imports scipy

            check_stop(sections)


STAGE = Stage(
    params=Params,
    by_part=lambda rows, params, _: {
        "judge": judge_offline(rows, params),
        preference.TABLE: preference.SCHEMA.empty_table(),
    },
    whole=lambda params, inputs: judge(
        inputs.tables["normalize"],
        params,
        inputs.ledger(Verdicts),
        inputs.run.judge,
        inputs.progress,
        retry_failed=retries_failed(),
        crew=inputs.crew,
        spent=spent_file(),
    ),
    is_whole=lambda params: params.judge.asks_server,
    preload=("goldmeter.models.offline.warm_up",),
    expect=expect,
    counts=counts,
    advice=advice,
    check=_check,
)
