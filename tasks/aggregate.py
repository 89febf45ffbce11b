"""Estimates: one row per (candidate, metric, slice column, slice value); the row of all rows has no slice."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from goldmeter.comparison.measures import check_measures
from goldmeter.estimates.weighting import (
    check_weighting,
)
from goldmeter.pipeline.stage import Contract, Stage
from goldmeter.pipeline.tables import Parts
from goldmeter.reporting.metrics_document import Params, aggregate


def expect(params: Params) -> Contract:
    """Expect intervals that contain their value, counts that add up to all rows, and few failed rows."""
    from great_expectations import expectations as gxe
    from great_expectations.expectations.row_conditions import Column

    ordered = [("high", "value"), ("value", "low"), ("upper_bound", "high"), ("low", "lower_bound")]
    ordered += [("pass_high", "pass_value"), ("pass_value", "pass_low"), ("value", "worst"), ("best", "value")]
    return Contract(
        rows=[
            *(
                gxe.ExpectColumnPairValuesAToBeGreaterThanB(
                    column_A=a, column_B=b, or_equal=True, ignore_row_if="either_value_is_missing"
                )
                for a, b in ordered
            ),
            *(
                gxe.ExpectColumnValuesToNotBeNull(column=limit, row_condition=Column(other).is_not_null())
                for limit, other in [("value", "pass_value"), ("low", "lower_bound"), ("high", "upper_bound")]
            ),
            gxe.ExpectColumnValuesToBeBetween(
                column="failed_share",
                max_value=params.aggregate.max_unmeasured,
                row_condition=Column("slice").is_null(),
                notes="Too many rows could not be measured; data/load and the details columns say why. For missing "
                "answers: dataset.missing_response: wrong counts them as wrong, dataset.exclude leaves records out. "
                "The limit is aggregate.max_unmeasured.",
            ),
        ],
        keys=[gxe.ExpectCompoundColumnsToBeUnique(column_list=["candidate", "metric", "slice", "slice_value"])],
        counts=[
            gxe.ExpectColumnPairValuesToBeEqual(
                column_A="rows_of_a_metric", column_B="rows_load", ignore_row_if="either_value_is_missing"
            )
        ],
    )


def advice(written: Mapping[str, Parts], params: Params) -> list[str]:
    """List the candidates and metrics of which too many rows failed."""
    limit = params.aggregate.max_unmeasured
    over: dict[tuple[str, int, int], list[str]] = {}
    for row in written["aggregate"].whole().to_pylist():
        if row["slice"] is None and row["failed_share"] > limit:
            failed, asked = row["n_failed"], row["n"] + row["n_failed"]
            over.setdefault((row["candidate"], failed, asked), []).append(row["metric"])
    return [
        f"  {candidate}/{names[0]}{f' and {len(names) - 1} more' if len(names) > 1 else ''}: "
        f"{failed / asked:.1%} of its rows failed ({failed:,} of {asked:,}), allowed {100 * limit:g}%"
        for (candidate, failed, asked), names in over.items()
    ]


def counts(tables: Mapping[str, pa.Table]) -> dict[str, float]:
    """Count the rows of a metric as measured, not asked or failed: the mean over the metrics, NaN without any."""
    headlines = tables["aggregate"].filter(pc.is_null(tables["aggregate"]["slice"]))
    metrics = len(headlines["metric"].unique())
    counted = sum(pc.sum(headlines[name]).as_py() or 0 for name in ("n", "n_not_asked", "n_failed"))
    return {"rows_of_a_metric": counted / metrics if metrics else float("nan")}


def _check(sections: Mapping[str, Any]) -> None:
    check_measures(sections)
    check_weighting(sections)


STAGE = Stage(
    params=Params,
    whole=lambda params, inputs: aggregate(inputs.tables, params, inputs.progress, inputs.crew, inputs.scratch),
    expect=expect,
    counts=counts,
    advice=advice,
    check=_check,
    preload=("goldmeter.statistics.correlation", "goldmeter.statistics.corpus"),
)
