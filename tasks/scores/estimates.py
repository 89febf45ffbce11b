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

    Noted = TypeVar("Noted", Estimate, PairedDifference, PpiEstimate)

Bounds = tuple[float, float]
UNBOUNDED = (-np.inf, np.inf)
ONE_CLUSTER = "one cluster: no interval"
DIGITS = 6
"""Decimals of a number in reports."""


def estimate(column: ScoreColumn, clusters: Any, confidence: float, *, guarantee: bool = False) -> "Estimate":
    """The mean of the column's rows, or its corpus score. All rows must be measured.

    clusters: shape (n,), or None. guarantee: wider, never below the confidence, for independent rows.
    """
    if column.stats is not None:
        found = _corpus(column.stats, corpus_score(column), clusters, tuple(column.about["bounds"]), confidence)
    elif column.about["bounds"] is None:  # numbers from elsewhere: the jackknife of a mean is its t interval
        sums = np.column_stack([column.values, np.ones_like(column.values)])
        found = _corpus(sums, lambda total: total[..., 0] / total[..., 1], clusters, UNBOUNDED, confidence)
    else:
        return mean(column.values, clusters, tuple(column.about["bounds"]), confidence, guarantee=guarantee)
    return found._replace(method=f"{found.method}; no guarantee") if guarantee else found


def mean(values: Floats, clusters: Any, bounds: Bounds, confidence: float, *, guarantee: bool = False) -> "Estimate":
    """The mean of bounded scores."""
    from tasks.statistics import Estimate, mean_interval

    if single(clusters):
        return Estimate(float(values.mean()), *bounds, len(values), ONE_CLUSTER)
    return noted(lambda: mean_interval(values, clusters, bounds, confidence, guarantee))


def corpus_score(column: ScoreColumn) -> Callable[[Floats], Floats]:
    """The score of (summed) statistics of a column whose corpus score is not the mean."""
    about = column.about
    return configure(about["family"], about["metric"], about["options"]).score


def single(clusters: Any) -> bool:
    """Whether all rows are in one cluster, which says nothing of the spread."""
    return clusters is not None and len(clusters) > 0 and bool((clusters == clusters[0]).all())


def noted(call: Callable[[], "Noted"]) -> "Noted":
    """The estimate, with what the statistics warned of in its method."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call()
    notes: list[str] = sorted({str(each.message) for each in caught})
    return result._replace(method="; ".join([result.method, *notes]))


def quiet() -> AbstractContextManager[Any]:
    """Where what the statistics warn of stands in the method of an estimate beside it."""
    return warnings.catch_warnings(action="ignore", category=UserWarning)


def rounded(value: Any) -> Any:
    """The value with every float in it cut to 6 decimals, those that are no number as None."""
    if isinstance(value, Mapping):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    if isinstance(value, float):
        return round(value, DIGITS) + 0.0 if isfinite(value) else None
    return value


def _corpus(stats: Floats, score: Any, clusters: Any, bounds: Bounds, confidence: float) -> "Estimate":
    from tasks.statistics import Estimate, corpus_interval

    if single(clusters):
        return Estimate(float(score(stats.sum(0))), *bounds, len(stats), ONE_CLUSTER)
    return noted(lambda: corpus_interval(stats, score, clusters, confidence, bounds))
