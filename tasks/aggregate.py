"""Estimates: one row per (candidate, metric, slice column, slice value); the row without a slice is the headline."""

import json
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from hashlib import sha256
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from tasks.columns import Candidate, ScoreColumn, candidates
from tasks.contract import Contract
from tasks.errors import ParamsError
from tasks.metrics.base import Floats
from tasks.metrics.catalogue import configure
from tasks.section import Section, Share
from tasks.tables import Parts

if TYPE_CHECKING:  # importing scipy takes half a second, and every stage reads this module's params
    from tasks.statistics import Estimate

WHOLE = True
SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("candidate", "metric", "slice", "slice_value")),
        *((name, pa.float64()) for name in ("value", "low", "high")),
        *((name, pa.int64()) for name in ("rows", "n", "n_not_asked", "n_failed")),
        *((name, pa.float64()) for name in ("worst", "best", "lower_bound", "upper_bound", "failed_share")),
        *((name, pa.float64()) for name in ("pass_value", "pass_low", "pass_high", "threshold")),
        *((name, pa.string()) for name in ("method", "signature", "rate_signature")),
    ]
)

Row = dict[str, Any]
Bounds = tuple[float, float]


class Aggregate(Section):
    """How sure, and how much may be missing."""

    confidence: Annotated[float, Field(gt=0.5, lt=1)]
    guarantee: bool
    max_unmeasured: Share


class Params(Section):
    """The sections this stage sees."""

    aggregate: Aggregate


def aggregate(
    load: Parts, rejected: Parts, embed: Parts, lexical: Parts, semantic: Parts, judge: Parts, params: Params
) -> Iterator[dict[str, pa.Table | str]]:
    """Every metric of every candidate: value, interval, counts, pass rate; over all rows and slice by slice."""
    rows = [
        row
        for candidate in candidates(load, [lexical, semantic, judge])
        for row in _candidate_rows(candidate, params.aggregate)
    ]
    table = pa.Table.from_pylist(rows, SCHEMA)
    dataset = _dataset(load, rejected, embed)
    yield {
        "aggregate": table,
        "reports/metrics.json": to_json(metrics_document(table, dataset, params.aggregate)),
        "reports/summary.json": to_json(summary(table)),
    }


def expect(params: Params) -> Contract:
    """Intervals contain their value, rows add up, and few enough of them failed."""
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
                gxe.ExpectColumnValuesToNotBeNull(column=limit, row_condition=Column(known).is_not_null())
                for limit, known in [("value", "pass_value"), ("low", "lower_bound"), ("high", "upper_bound")]
            ),
            gxe.ExpectColumnValuesToBeBetween(
                column="failed_share",
                max_value=params.aggregate.max_unmeasured,
                row_condition=Column("slice").is_null(),
                notes="Too many rows could not be measured; data/load and the details columns say why. "
                "Missing answers can count as wrong (dataset.missing_response); the limit is aggregate.max_unmeasured.",
            ),
        ],
        keys=[gxe.ExpectCompoundColumnsToBeUnique(column_list=["candidate", "metric", "slice", "slice_value"])],
        counts=[
            gxe.ExpectColumnPairValuesToBeEqual(
                column_A="rows_of_a_metric", column_B="rows_load", ignore_row_if="either_value_is_missing"
            )
        ],
    )


def counts(table: pa.Table) -> dict[str, float]:
    """Rows that a metric counts as measured, not asked or failed: the mean of the metrics, NaN without any."""
    headlines = table.filter(pc.is_null(table["slice"]))
    metrics = len(headlines["metric"].unique())
    counted = sum(pc.sum(headlines[name]).as_py() or 0 for name in ("n", "n_not_asked", "n_failed"))
    return {"rows_of_a_metric": counted / metrics if metrics else float("nan")}


def _candidate_rows(candidate: Candidate, params: Aggregate) -> Iterator[Row]:
    if params.guarantee and candidate.groups is not None:
        raise ParamsError("aggregate.guarantee: no interval guarantees its coverage for grouped rows; set it to false")
    for column in candidate.columns:
        yield {"candidate": candidate.name} | _row(column, candidate.groups, params)
        for name, values in candidate.slices.items():
            for value in sorted(set(values)):
                chosen = values == value
                groups = None if candidate.groups is None else candidate.groups[chosen]
                where = {"candidate": candidate.name, "slice": name, "slice_value": value}
                yield where | _row(column.rows(chosen), groups, params)


def _row(column: ScoreColumn, groups: Any, params: Aggregate) -> Row:
    """The numbers of one column over some rows."""
    measured = ~np.isnan(column.values)
    inside = column.rows(measured)
    clusters = None if groups is None else groups[measured]
    estimate = _estimate(inside, clusters, params)
    low, high = column.about["bounds"] or (None, None)
    n, not_asked = int(measured.sum()), int(column.not_asked.sum())
    failed = int((~measured & ~column.not_asked).sum())
    return {
        "metric": column.name,
        **{name: _finite(getattr(estimate, name)) for name in ("value", "low", "high")},
        "method": estimate.method,
        "rows": len(measured),
        "n": n,
        "n_not_asked": not_asked,
        "n_failed": failed,
        "worst": _with_failed(estimate.value, n, low, failed, min),
        "best": _with_failed(estimate.value, n, high, failed, max),
        "lower_bound": low,
        "upper_bound": high,
        "failed_share": failed / (n + failed) if n + failed else 0.0,
        "signature": column.about["signature"],
        **_pass_rate(inside, clusters, params),
    }


def _with_failed(
    value: float, n: int, score: float | None, failed: int, outermost: Callable[[float, float], float]
) -> float | None:
    """The value had every failed row had this score; None when no row was asked, or scores have no bounds."""
    if n == 0:
        return score if failed else None
    if failed == 0:
        return _finite(value)
    return None if score is None else outermost(value, (value * n + score * failed) / (n + failed))


def _estimate(column: ScoreColumn, clusters: Any, params: Aggregate) -> "Estimate":
    """The mean of the rows, or the corpus score, with its interval."""
    about = column.about
    if column.stats is not None:
        score = configure(about["family"], about["metric"], about["options"]).score
        return _corpus(column.stats, score, clusters, tuple(about["bounds"]), params)
    if about["bounds"] is None:  # numbers from elsewhere: the jackknife of a mean is its t interval
        sums = np.column_stack([column.values, np.ones_like(column.values)])
        return _corpus(sums, lambda total: total[..., 0] / total[..., 1], clusters, (-np.inf, np.inf), params)
    return _mean(column.values, clusters, tuple(about["bounds"]), params)


def _mean(values: Floats, clusters: Any, bounds: Bounds, params: Aggregate) -> "Estimate":
    from tasks.statistics import Estimate, mean_interval

    if _single(clusters):
        return Estimate(float(values.mean()), *bounds, len(values), "one cluster: no interval")
    return _noted(lambda: mean_interval(values, clusters, bounds, params.confidence, params.guarantee))


def _corpus(stats: Floats, score: Any, clusters: Any, bounds: Bounds, params: Aggregate) -> "Estimate":
    from tasks.statistics import Estimate, corpus_interval

    if _single(clusters):
        return Estimate(float(score(stats.sum(0))), *bounds, len(stats), "one cluster: no interval")
    estimate = _noted(lambda: corpus_interval(stats, score, clusters, params.confidence, bounds))
    return estimate._replace(method=f"{estimate.method}; no guarantee") if params.guarantee else estimate


def _single(clusters: Any) -> bool:
    return clusters is not None and len(set(clusters)) == 1


def _noted(estimate: Callable[[], "Estimate"]) -> "Estimate":
    """The estimate, with what the statistics warned of in its method."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = estimate()
    notes = sorted({str(each.message) for each in caught})
    return result._replace(method="; ".join([result.method, *notes]))


def _pass_rate(column: ScoreColumn, clusters: Any, params: Aggregate) -> Row:
    about = column.about
    if column.passed is None:
        return {}
    rate = _mean(column.passed.astype(np.float64), clusters, (0.0, 1.0), params)
    return {
        "pass_value": _finite(rate.value),
        "pass_low": rate.low,
        "pass_high": rate.high,
        "threshold": about["threshold"],
        "rate_signature": about["rate_signature"],
    }


def _dataset(load: Parts, rejected: Parts, embed: Parts) -> Row:
    """Counts, and a hash of what was asked and expected that does not depend on the order of rows."""
    rows = load.whole(["id", "content"])
    reasons = Counter(rejected.whole(["reason"])["reason"].to_pylist())
    return {
        "rows": load.rows,
        "ids": len(rows["id"].unique()),
        "rejected": rejected.rows,
        "rejected_reasons": dict(sorted(reasons.items())),
        "truncated_texts": embed.about.get("truncated", 0),
        "hash": sha256("\n".join(sorted(rows["content"].unique().to_pylist())).encode()).hexdigest(),
    }


def metrics_document(table: pa.Table, dataset: Row, params: Aggregate) -> Row:
    """reports/metrics.json: the table as a tree, numbers rounded to 6 decimals."""
    tree: dict[str, Any] = {}
    for row in table.to_pylist():
        metrics = tree.setdefault(row["candidate"], {})
        if row["slice"] is None:
            metrics[row["metric"]] = _entry(row)
        else:
            slices = metrics[row["metric"]].setdefault("slices", {})
            slices.setdefault(row["slice"], {})[row["slice_value"]] = _entry(row)
    head = {"schema": 1, "confidence": params.confidence, "dataset": dataset}
    return head | {"candidates": tree, "comparisons": []}


def _entry(row: Row) -> Row:
    names = ("value", "low", "high", "n", "n_not_asked", "n_failed", "worst", "best", "method", "signature")
    entry = {name: _rounded(row[name]) for name in names}
    if row["pass_low"] is None:
        return entry
    rate = {name: _rounded(row[f"pass_{name}"]) for name in ("value", "low", "high")}
    return entry | {"pass_rate": rate | {"threshold": row["threshold"], "signature": row["rate_signature"]}}


def summary(table: pa.Table) -> dict[str, dict[str, float]]:
    """reports/summary.json: candidate → metric → value to 4 significant digits, nothing else."""
    values: dict[str, dict[str, float]] = {}
    for row in table.to_pylist():
        if row["slice"] is None and row["value"] is not None:
            values.setdefault(row["candidate"], {})[row["metric"]] = float(f"{row['value']:.4g}")
    return values


def to_json(document: Row) -> str:
    """Readable JSON; the same document gives the same bytes."""
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _finite(value: float | None) -> float | None:
    return value if value is not None and isfinite(value) else None


def _rounded(value: Any) -> Any:
    return round(value, 6) if isinstance(value, float) else value
