"""Score tables: one row per (id, candidate), per metric its score, result, statistics and details.

Also the sections of params.yaml that choose their metrics, and scores of a stage that a user adds.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any, ClassVar, cast

import numpy as np
import pyarrow as pa
from pydantic import ConfigDict, RootModel, field_validator

from goldmeter.estimates.column_facts import TO_FIT, ColumnFacts, statement
from goldmeter.metrics.base import Floats, Metric
from goldmeter.metrics.catalogue import configure
from goldmeter.metrics.pairs import Embed, Pairs
from goldmeter.pipeline.stage import Contract
from goldmeter.pipeline.tables import about, describe


def pairs_of(rows: pa.Table, embed: Embed | None = None) -> Pairs:
    """The pairs of one part of data/normalize."""
    column = {name: rows[name].combine_chunks() for name in rows.column_names}
    return Pairs(
        column["response"],
        column["references"],
        inputs=column["input"],
        phrases=column["phrases"],
        contexts=column.get("contexts"),
        relevant=column.get("relevant"),
        normalized=(column["response_normalized"], column["references_normalized"].flatten()),
        embed=embed,
    )


def score_table(
    rows: pa.Table, pairs: Pairs, metrics: Mapping[str, Metric], facts: Mapping[str, object] | None = None
) -> pa.Table:
    """The scores of `pairs` under every metric, with what the numbers mean in the table's metadata.

    facts: what else defines the numbers, such as the embedding model; part of every signature.
    """
    columns: dict[str, pa.Array] = {"id": rows["id"], "candidate": rows["candidate"]}
    meaning: dict[str, ColumnFacts] = {}
    for metric in metrics.values():
        columns |= _columns(metric, pairs)
        earlier = row_facts(rows.schema, reads_normalized=metric.reads_normalized)
        meaning |= facts_of(metric, {**(facts or {}), **earlier})
    return describe(pa.table(columns), statement(meaning))


def row_facts(schema: pa.Schema, *, reads_normalized: bool) -> dict[str, object]:
    """What the stages before did to the texts of data/normalize that changes a metric's numbers."""
    earlier = about(schema)
    facts: dict[str, object] = {"missing": "wrong"} if earlier.get("missing_response") == "wrong" else {}
    if reads_normalized and "normalize" in earlier:
        chosen = earlier["normalize"]
        facts["norm"] = "+".join([chosen["unicode"], *(name for name, on in chosen.items() if on is True)])
    return facts


def facts_of(metric: Metric, signed: Mapping[str, object]) -> dict[str, ColumnFacts]:
    """Column → its facts, of each column of a metric; signed: what else is part of the signatures."""
    shared = ColumnFacts(
        metric=metric.name,
        family=metric.family,
        signature=metric.signature(**signed),
        bounds=None,
        corpus_is_mean=metric.corpus_is_mean,
        options=metric.model_dump(),
    )
    gated = shared
    if metric.has_pass_rate:
        fixed = None if isinstance(metric.threshold, str) else metric.threshold
        rate = metric.rate_signature(**signed)
        gated = replace(shared, threshold=fixed, rate_signature=rate, awaits_threshold=metric.threshold == TO_FIT)
    return {
        name: replace(
            gated if name == metric.column else shared,
            bounds=metric.bounds_of(name) if np.isfinite(metric.bounds_of(name)).all() else None,
            higher_is_better=metric.is_higher_better(name),
            has_direction=metric.has_direction,
        )
        for name in metric.columns
    }


def expect_scores(metrics: Iterable[Metric]) -> Contract:
    """The contract of a score table made from data/normalize: scores within bounds, results that follow from them."""
    from great_expectations import expectations as gxe

    keys = ["id", "candidate"]
    return Contract(
        rows=[
            *(gxe.ExpectColumnValuesToNotBeNull(column=key) for key in keys),
            *(expectation for metric in metrics for expectation in expect_metric(metric)),
        ],
        counts=[gxe.ExpectColumnPairValuesToBeEqual(column_A="rows", column_B="rows_normalize")],
        same_keys_as="normalize",
    )


def expect_metric(metric: Metric) -> list[Any]:
    """Scores of one metric within its bounds; its result follows from the score."""
    from great_expectations import expectations as gxe

    from goldmeter.pipeline.expectations import ExpectResultToFollowFromScore

    score, result = metric.column, f"{metric.column}_result"
    limits = {name: [limit if isfinite(limit) else None for limit in metric.bounds_of(name)] for name in metric.columns}
    within = [gxe.ExpectColumnValuesToBeBetween(column=c, min_value=a, max_value=b) for c, (a, b) in limits.items()]
    if not metric.has_pass_rate:
        return within
    if isinstance(metric.threshold, str):
        return [*within, gxe.ExpectColumnValuesToBeNull(column=result)]
    limit = metric.bounds[int(metric.higher_is_better)] if metric.threshold is None else metric.threshold
    passing = {"pass_from" if metric.higher_is_better else "pass_to": limit}
    passing = passing if metric.pass_above is None else {"pass_above": metric.pass_above}
    return [*within, ExpectResultToFollowFromScore(column_A=score, column_B=result, **passing)]


def _columns(metric: Metric, pairs: Pairs) -> dict[str, pa.Array]:
    stats = metric.row_stats(pairs)
    scores = metric.column_scores(stats)
    columns = {name: nullable(values) for name, values in scores.items()}
    if metric.has_pass_rate:
        columns[f"{metric.column}_result"] = pa.array(metric.result(scores[metric.column]).tolist(), pa.string())
    if not metric.corpus_is_mean:
        flat = pa.array(np.ascontiguousarray(stats, dtype=np.float64).ravel())
        columns[f"{metric.name}_stats"] = pa.FixedSizeListArray.from_arrays(flat, stats.shape[1])
    columns[f"{metric.name}_details"] = pa.array(metric.row_details(pairs), pa.string())
    return columns


def nullable(values: Floats) -> pa.Array:
    """Floats with NaN as null: a missing score is never a number."""
    return pa.array(values, pa.float64(), from_pandas=True)


def own_scores(
    rows: pa.Table,
    name: str,
    scores: Sequence[float | None],
    *,
    version: int = 1,
    bounds: tuple[float, float] = (0.0, 1.0),
    threshold: float | None = None,
    higher_is_better: bool = True,
    reasons: Sequence[str | None] | None = None,
) -> pa.Table:
    """Return a score table: id, candidate, `<name>`, `<name>_result`, `<name>_details`.

    Args:
        rows: data/normalize or data/load: the scores are of its rows, in its order.
        name: Name of the metric and of its column.
        scores: One score per row; None or NaN is unmeasured.
        version: Of the definition. Scores of different versions are not compared.
        bounds: Smallest and largest possible score.
        threshold: The score from which on a row passes, or up to which if less is better; None: a binary score, which
            passes at its best.
        higher_is_better: Whether more is better.
        reasons: Why each row is unmeasured, or None. `not applicable` is by design, anything else a failure.

    Raises:
        ValueError: Another number of scores than of rows, a score outside of the bounds, or no threshold for a score of
            which less is better.
    """
    values = np.array([np.nan if score is None else score for score in scores], np.float64)
    if len(values) != rows.num_rows:
        raise ValueError(f"{name}: {len(values)} scores, but {rows.num_rows} rows")
    if len(outside := np.flatnonzero((values < bounds[0]) | (values > bounds[1]))):
        row, (low, high) = int(outside[0]), bounds
        raise ValueError(f"{name}: id {rows['id'][row]}: {values[row]:g} is outside the bounds, {low:g} to {high:g}")
    if threshold is None and not higher_is_better:
        raise ValueError(f"{name}: less of it is better, so state the threshold up to which a row passes")
    signature = f"{name}|better:{'higher' if higher_is_better else 'lower'}|v:{version}"
    rule = "pass:1" if threshold is None else f"thr:{threshold!r}"
    facts = ColumnFacts(
        metric=name,
        family="own",
        signature=signature,
        bounds=bounds,
        higher_is_better=higher_is_better,
        threshold=threshold,
        rate_signature=f"{signature}|{rule}",
    )
    passed = np.where(np.isnan(values), "unmeasured", np.where(facts.passes(values), "pass", "fail"))
    details = [
        None if reason is None else json.dumps({"unmeasured": reason}) for reason in reasons or [None] * len(values)
    ]
    columns = {
        "id": rows["id"],
        "candidate": rows["candidate"],
        name: pa.array(values, pa.float64(), from_pandas=True),
        f"{name}_result": pa.array(passed.tolist(), pa.string()),
        f"{name}_details": pa.array(details, pa.string()),
    }
    return describe(pa.table(columns), statement({name: facts}))


class Metrics(RootModel[dict[str, Metric]]):
    """Section of params.yaml that lists a family's metrics: metric → its options."""

    model_config = ConfigDict(frozen=True)
    family: ClassVar[str]

    @field_validator("root", mode="before")
    @classmethod
    def _configure(cls, metrics: Any) -> dict[str, Metric]:
        listed = cast(Mapping[str, Any], metrics or {})
        return {name: configure(cls.family, name, options) for name, options in listed.items()}


class Lexical(Metrics):
    """Metric → its options."""

    family: ClassVar[str] = "lexical"


class Semantic(Metrics):
    """Metric → its options."""

    family: ClassVar[str] = "semantic"
