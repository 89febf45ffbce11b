"""Differences of two means from labels that sampling designs chose, the same rows for both or others."""

import warnings
from math import sqrt
from typing import NamedTuple

import numpy as np

from tasks.statistics.arrays import FloatArray, check_confidence, unit_labels
from tasks.statistics.clusters import Codes, FewClusters, Labels, cluster_codes
from tasks.statistics.designed import WeightedMean, shares_of, weighted_mean
from tasks.statistics.estimate import DESIGNED, Method
from tasks.statistics.paired_ppi import inverted
from tasks.statistics.ppi import rows_of
from tasks.statistics.wilson import score_interval


class DesignedLabels(NamedTuple):
    """The labels of one version; N rows.

    Attributes:
        y: Labels in [0, 1], NaN where there is none, shape (N,).
        f: Scores of all rows, shape (N,), of any scale.
        probability: Inclusion probability of each labelled row, shape (N,), in (0, 1] there.
    """

    y: FloatArray
    f: FloatArray
    probability: FloatArray


class DesignedDifference(NamedTuple):
    """A difference (head - base) of two means with its interval, and the p value of "no difference".

    0 lies outside [low, high] exactly when p_value < 1 - confidence.

    Attributes:
        value: The difference.
        low: Lower limit.
        high: Upper limit.
        n: Number of labels of the version that has fewer.
        method: How the interval was computed; part of the reports.
        p_value: Two-sided p value.
        base: The mean of the base.
        head: The mean of the head.
    """

    value: float
    low: float
    high: float
    n: int
    method: Method
    p_value: float
    base: float
    head: float


def designed_difference(
    base: DesignedLabels, head: DesignedLabels, clusters: Labels | None = None, confidence: float = 0.95
) -> DesignedDifference:
    """Estimate the difference of two versions on the same rows, from labels that one design or two chose.

    Both means are those of `designed_mean`. The interval of their difference combines their intervals, given the
    correlation of the two: that of the influences of each row on both. A row whose label would change it may not have
    been drawn yet, so the correlation is that of one event more.

    Args:
        base: The labels of the base.
        head: The labels of the head, of the same N rows in the same order.
        clusters: Cluster of each row, shape (N,); rows of one cluster depend on each other.
        confidence: In (0, 1).

    Raises:
        ValueError: NaN in scores, a wrong shape, labels outside [0, 1], probabilities outside (0, 1], no label, or
            labels of a single cluster.

    Warns:
        FewClusters: There are fewer than 10 clusters.

    Source: Zou & Donner 2008 for intervals of differences; Tang, Ling, Ling & Tian 2010 for correlated ones.

    >>> rng = np.random.default_rng(1)
    >>> y, half = (rng.random(400) < 0.6).astype(float), np.full(400, 0.5)
    >>> y[200:] = np.nan
    >>> estimate = designed_difference(DesignedLabels(y, half, half), DesignedLabels(1 - y, half, half))
    >>> round(estimate.base + estimate.head, 6), estimate.p_value < 0.05
    (1.0, True)
    """
    check_confidence(confidence)
    codes = None if clusters is None else cluster_codes(clusters, base.y.size)
    (older, one), (newer, other) = _mean(base, codes), _mean(head, codes)
    correlation = _correlation(older, one, newer, other)
    value = newer.value - older.value

    def limits(confidence: float) -> tuple[float, float]:
        sides = [score_interval(mean.value, mean.n_eff, mean.df, confidence) for mean in (older, newer)]
        (low, high), (new_low, new_high) = sides
        below = _distance(newer.value - new_low, high - older.value, correlation)
        above = _distance(new_high - newer.value, older.value - low, correlation)
        return max(value - below, -1.0), min(value + above, 1.0)

    def excess(alpha: float) -> float:
        low, high = limits(1.0 - alpha)
        return low if value > 0.0 else -high

    p_value = inverted(excess) if value else 1.0
    n = min(int(np.count_nonzero(~np.isnan(one.y))) for one in (base, head))
    return DesignedDifference(value, *limits(confidence), n, Method(DESIGNED), p_value, older.value, newer.value)


def _mean(labels: DesignedLabels, codes: Codes | None) -> tuple[WeightedMean, FloatArray]:
    """Return the mean, and the influence of each row, or of each cluster."""
    known = ~np.isnan(labels.y)
    if not known.any():
        raise ValueError("there is no label: expected one or more of each version")
    unit = unit_labels(labels.y[known], (0.0, 1.0))
    share = shares_of(labels.probability[known], unit.size)
    parts = (None, None) if codes is None else (codes[known], codes[~known])
    with warnings.catch_warnings(action="ignore", category=FewClusters):  # the caller has warned
        rows, _ = rows_of(unit, labels.f[known], labels.f[~known], *parts)
    mean = weighted_mean(rows, share)
    influence = np.empty(labels.y.size)
    influence[known], influence[~known] = mean.influence[: unit.size], mean.influence[unit.size :]
    return mean, influence if codes is None else np.bincount(codes, weights=influence).astype(np.float64, copy=False)


def _correlation(older: WeightedMean, one: FloatArray, newer: WeightedMean, other: FloatArray) -> float:
    """Return the correlation of the two means, with one event more that only one of them has."""
    spread = sqrt(float(one @ one) * float(other @ other))
    events = min(older.events, newer.events)
    return min(max(float(one @ other) / spread, -1.0), 1.0) * events / (events + 1.0) if spread > 0.0 else 0.0


def _distance(own: float, others: float, correlation: float) -> float:
    return sqrt(max(own**2 + others**2 - 2.0 * correlation * own * others, 0.0))
