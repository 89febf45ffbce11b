"""The value of a score column with its interval, whatever kind of column it is."""

import warnings
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from tasks.metrics.base import Floats
from tasks.metrics.catalogue import configure
from tasks.scores.columns import ScoreColumn

if TYPE_CHECKING:  # importing scipy takes half a second, and every stage reads this module's params
    from tasks.statistics import Estimate, PairedDifference, PpiEstimate

    AnyEstimate = TypeVar("AnyEstimate", Estimate, PairedDifference, PpiEstimate)

Bounds = tuple[float, float]
UNBOUNDED = (-np.inf, np.inf)
ONE_CLUSTER = "one cluster: no interval"
# Decimals of a number in reports.
DIGITS = 6


def estimate(column: ScoreColumn, clusters: Any, confidence: float, *, guarantee: bool = False) -> "Estimate":
    """Estimate the mean of the column's rows, or its corpus score, with an interval.

    Args:
        column: Every row is measured.
        clusters: Cluster of each row, shape (n,), or None for independent rows.
        confidence: Between 0.5 and 1.
        guarantee: Widen the interval so that its coverage never falls below `confidence`; for independent rows.
    """
    if column.stats is None and column.facts.bounds is not None:
        return mean(column.values, clusters, column.facts.bounds, confidence, guarantee=guarantee)
    if column.stats is not None:
        result = _corpus(column.stats, corpus_score(column), clusters, column.facts.bounds or UNBOUNDED, confidence)
    else:  # scores without bounds: the jackknife of a mean is its t interval
        sums = np.column_stack([column.values, np.ones_like(column.values)])
        result = _corpus(sums, lambda total: total[..., 0] / total[..., 1], clusters, UNBOUNDED, confidence)
    return result._replace(method=f"{result.method}; no guarantee") if guarantee else result


def mean(values: Floats, clusters: Any, bounds: Bounds, confidence: float, *, guarantee: bool = False) -> "Estimate":
    """Estimate the mean of bounded scores with an interval; arguments as of `estimate`."""
    from tasks.statistics import Estimate, mean_interval

    if is_one_cluster(clusters):
        return Estimate(float(values.mean()), *bounds, len(values), ONE_CLUSTER)
    return with_warnings(lambda: mean_interval(values, clusters, bounds, confidence, guarantee))


def corpus_score(column: ScoreColumn) -> Callable[[Floats], Floats]:
    """The function that scores (summed) statistics of a column whose corpus score is not the mean."""
    facts = column.facts
    metric = configure(facts.family, facts.metric, facts.options)
    return lambda stats: metric.column_scores(stats)[column.name]


def is_one_cluster(clusters: Any) -> bool:
    """Whether all rows are in one cluster, which says nothing of the spread."""
    return clusters is not None and len(clusters) > 0 and bool((clusters == clusters[0]).all())


def with_warnings(call: Callable[[], "AnyEstimate"]) -> "AnyEstimate":
    """Return the estimate that `call` computes, with the warnings of that computation appended to its method."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call()
    messages: list[str] = sorted({str(warning.message) for warning in caught})
    return result._replace(method="; ".join([result.method, *messages]))


def silenced() -> AbstractContextManager[Any]:
    """Silence warnings that another estimate already reports in its `method`."""
    return warnings.catch_warnings(action="ignore", category=UserWarning)


def rounded(value: Any) -> Any:
    """Round every float in a value to 6 decimals; NaN and infinite ones become None."""
    if isinstance(value, Mapping):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    if isinstance(value, float):
        return round(value, DIGITS) + 0.0 if isfinite(value) else None
    return value


def _corpus(stats: Floats, score: Any, clusters: Any, bounds: Bounds, confidence: float) -> "Estimate":
    from tasks.statistics import Estimate, corpus_interval

    if is_one_cluster(clusters):
        return Estimate(float(score(stats.sum(0))), *bounds, len(stats), ONE_CLUSTER)
    return with_warnings(lambda: corpus_interval(stats, score, clusters, confidence, bounds))
