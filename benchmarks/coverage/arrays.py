"""Estimates of arrays of rows, by the functions of `goldmeter.statistics` that take sums of rows."""

from math import isfinite, nan

import numpy as np
import numpy.typing as npt

from goldmeter.statistics.arrays import Bounds, FloatArray
from goldmeter.statistics.clusters import ClusterTotals, Labels, cluster_codes
from goldmeter.statistics.corpus import Replicates, ScoreFunction, jackknife_interval, warn_of_few_rows
from goldmeter.statistics.estimate import NO_ROWS, Estimate, unknown
from goldmeter.statistics.gaffke import Distribution, gaffke_limits
from goldmeter.statistics.multiplicity import max_t_of_products
from goldmeter.statistics.paired import (
    DifferenceSums,
    PairedDifference,
    check_differences,
    check_width,
    deleted,
    difference_of_replicates,
    totals_of,
)
from goldmeter.statistics.power import detectable_of_sums

UNIT = (0.0, 1.0)


def corpus_interval(
    stats: npt.ArrayLike,
    score: ScoreFunction,
    clusters: Labels | None = None,
    confidence: float = 0.95,
    bounds: Bounds = UNIT,
) -> Estimate:
    """The score of all rows, stats of shape (n, k), and its jackknife interval; without clusters by rows."""
    rows = np.asarray(stats, dtype=np.float64)
    n = len(rows)
    if n == 0:
        return unknown(bounds, 0, NO_ROWS)
    warn_of_few_rows(n)
    items = by_cluster(rows, clusters)
    total = items.sum(axis=0)
    replicates = Replicates.of(np.asarray(score(total - items), dtype=np.float64))
    value = float(np.asarray(score(total)))
    return jackknife_interval(value, replicates.error, replicates.sums.n, n, confidence, bounds)


def corpus_difference(
    base: npt.ArrayLike,
    head: npt.ArrayLike,
    score: ScoreFunction,
    clusters: Labels | None = None,
    confidence: float = 0.95,
    bounds: Bounds = UNIT,
) -> PairedDifference:
    """score(head) - score(base) of the same rows, both of shape (n, k), and its jackknife interval."""
    rows = np.hstack([np.asarray(stats, dtype=np.float64) for stats in (base, head)])
    if not len(rows):
        return PairedDifference(nan, bounds[0] - bounds[1], bounds[1] - bounds[0], 0, NO_ROWS, 1.0)
    older, newer = np.hsplit(by_cluster(rows, clusters), 2)
    totals = older.sum(axis=0), newer.sum(axis=0)
    value = float(np.asarray(score(totals[1])) - np.asarray(score(totals[0])))
    replicates = Replicates.of(deleted(older, newer, *totals, score) if isfinite(value) else np.zeros(0))
    return difference_of_replicates(value, replicates, len(rows), confidence, bounds)


def max_t(influence: npt.ArrayLike, clusters: Labels | None = None, confidence: float = 0.95) -> float:
    """The critical value of a family of tests; influence: shape (n, k)."""
    items = by_cluster(np.asarray(influence, dtype=np.float64), clusters)
    return max_t_of_products(items.T @ items, confidence)


def detectable_difference(
    d: npt.ArrayLike,
    clusters: Labels | None = None,
    bounds: Bounds = UNIT,
    power: float = 0.8,
    confidence: float = 0.95,
) -> float:
    """The smallest true difference that rows with these differences detect."""
    return detectable_of_sums(*_sums(d, clusters, bounds), bounds, power, confidence)


def gaffke_interval(unit: FloatArray, confidence: float) -> tuple[float, float]:
    """Gaffke's limits of the mean of scores in [0, 1]."""
    return gaffke_limits(Distribution.of(unit, UNIT), confidence)


def by_cluster(rows: FloatArray, clusters: Labels | None) -> FloatArray:
    """Sum the rows of each cluster: shape (n, k) to (clusters, k)."""
    if clusters is None:
        return rows
    codes = cluster_codes(clusters, len(rows))
    return np.column_stack([np.bincount(codes, weights=column) for column in rows.T])


def _sums(d: npt.ArrayLike, clusters: Labels | None, bounds: Bounds) -> tuple[DifferenceSums, ClusterTotals | None]:
    width = check_width(bounds)
    differences = check_differences(d, width)
    return DifferenceSums.of(differences, width), totals_of(differences, clusters) if differences.size else None
