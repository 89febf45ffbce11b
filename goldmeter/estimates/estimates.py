"""The value of a score column with its interval, whatever kind of column it is."""

import warnings
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from math import isfinite, sqrt
from typing import Any, TypeVar

import numpy as np

from goldmeter.console.format import CERTAIN
from goldmeter.estimates.sums import ColumnSums, Counted
from goldmeter.metrics.base import Floats
from goldmeter.metrics.catalogue import configure
from goldmeter.statistics import DesignedDifference, Estimate, Method, PairedDifference, PpiEstimate
from goldmeter.statistics.clusters import ClusterTotals, check_clusters
from goldmeter.statistics.corpus import Replicates, jackknife_interval, warn_of_few_rows
from goldmeter.statistics.estimate import NO_ROWS, unknown
from goldmeter.statistics.gaffke import Distribution
from goldmeter.statistics.mean import interval_of_moments
from goldmeter.statistics.moments import Deviations, Moments

AnyEstimate = TypeVar("AnyEstimate", Estimate, PairedDifference, PpiEstimate, DesignedDifference)

Bounds = tuple[float, float]
UNBOUNDED = (-np.inf, np.inf)
# The method of an estimate of rows that are all in one cluster.
ONE_CLUSTER = "one cluster: no interval"
NO_GUARANTEE = "no guarantee"
# Decimals of a number in reports.
DIGITS = 6


def estimate(
    sums: ColumnSums,
    replicates: Replicates | None,
    confidence: float,
    *,
    deviations: Deviations | None = None,
    guarantee: bool = False,
) -> Estimate:
    """Estimate the mean of the measured rows, or their corpus score, with an interval.

    Args:
        sums: The sums of the column's rows.
        replicates: Of a corpus score of independent rows, without each of them; else None.
        confidence: Between 0.5 and 1.
        deviations: Of independent rows' scores that may be steady, from their mean; else None.
        guarantee: Widen the interval so that its coverage never falls below `confidence`; for independent rows.
    """
    bounds = sums.facts.bounds
    if sums.stats is None and bounds is not None:
        clusters = None if sums.clusters is None else sums.clusters.of_scores(bounds)
        return mean(sums.moments, clusters, bounds, confidence, sums.spread if guarantee else None, deviations)
    result = _jackknifed(sums, replicates, bounds or UNBOUNDED, confidence)
    return result._replace(method=result.method.with_notes(NO_GUARANTEE)) if guarantee else result


def pass_rate(sums: ColumnSums, confidence: float, *, guarantee: bool = False) -> Estimate:
    """Estimate the share of the measured rows that pass, with an interval; arguments as of `estimate`."""
    clusters = None if sums.clusters is None else sums.clusters.of_verdicts()
    spread = Distribution.of_passes(sums.n_measured, sums.passed or 0) if guarantee else None
    return mean(sums.verdicts, clusters, (0.0, 1.0), confidence, spread)


def mean(
    moments: Moments,
    clusters: ClusterTotals | None,
    bounds: Bounds,
    confidence: float,
    spread: Distribution | None = None,
    deviations: Deviations | None = None,
) -> Estimate:
    """Estimate the mean of bounded scores with an interval.

    Args:
        moments: The sums of the scores.
        clusters: The totals of each cluster, or None for independent rows.
        bounds: Of the scores.
        confidence: Between 0.5 and 1.
        spread: How often each score occurs, for an interval that never covers less than `confidence`; else None.
        deviations: As of `estimate`.
    """
    if clusters is not None and len(clusters.size) == 1:
        return Estimate(moments.mean, *bounds, moments.n, Method(ONE_CLUSTER))

    def interval() -> Estimate:
        if clusters is not None and moments.n:
            check_clusters(len(clusters.size))
        return interval_of_moments(moments, clusters, bounds, confidence, spread, deviations)

    return with_warnings(interval)


def corpus_value(sums: ColumnSums) -> float:
    """The corpus score of the measured rows."""
    return float(corpus_score(sums)(np.array(sums.stats or ())))


def corpus_score(column: Counted) -> Callable[[Floats], Floats]:
    """The function that scores (summed) statistics of a column whose corpus score is not the mean."""
    facts = column.facts
    metric = configure(facts.family, facts.metric, facts.options)
    return lambda stats: metric.column_scores(stats)[column.name]


def is_one_cluster(clusters: Any) -> bool:
    """Whether all rows are in one cluster, which says nothing of the spread."""
    return clusters is not None and len(clusters) > 0 and bool((clusters == clusters[0]).all())


def with_warnings(call: Callable[[], AnyEstimate]) -> AnyEstimate:
    """Return the estimate that `call` computes, with the warnings of that computation appended to its method."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call()
    messages: list[str] = sorted({str(warning.message) for warning in caught})
    return result._replace(method=result.method.with_notes(*messages))


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
        # The last digits of a sum depend on its parts: they must not decide how 2.9356615 is rounded.
        return round(float(f"{value:.{CERTAIN}g}"), DIGITS) + 0.0 if isfinite(value) else None
    return value


def _jackknifed(sums: ColumnSums, replicates: Replicates | None, bounds: Bounds, confidence: float) -> Estimate:
    """Estimate a corpus score, or the mean of scores without bounds, whose jackknife is its t interval."""
    n = sums.n_measured
    if not n:
        return unknown(bounds, 0, NO_ROWS)
    value = sums.moments.mean if sums.stats is None else corpus_value(sums)
    items = n if sums.clusters is None else len(sums.clusters.keys)
    if sums.clusters is not None and items == 1:
        return Estimate(value, *bounds, n, Method(ONE_CLUSTER))

    def interval() -> Estimate:
        warn_of_few_rows(n)
        if sums.clusters is not None:
            check_clusters(items)
        return jackknife_interval(value, _error(sums, replicates), items, n, confidence, bounds)

    return with_warnings(interval)


def _error(sums: ColumnSums, replicates: Replicates | None) -> float | None:
    """The standard error of a score by the jackknife; None if it is undefined."""
    n = sums.n_measured
    if sums.clusters is None and sums.stats is None:
        return sqrt(sums.moments.variance / n) if n > 1 else None
    if sums.clusters is None:
        return (replicates or Replicates()).error
    if sums.stats is not None:
        total = np.array(sums.stats)
        return Replicates.of(corpus_score(sums)(total - sums.clusters.stats)).error
    size, totals = sums.clusters.of_scores(None)
    return Replicates.of((sums.moments.mean * n - totals) / (n - size)).error
