"""Means and differences from labels that a sampling design chose with unequal, known probabilities."""

import warnings
from collections.abc import Sequence
from math import inf, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from goldmeter.statistics.arrays import Bounds, FloatArray, check_confidence, finite_array, unit_labels
from goldmeter.statistics.clusters import Codes, FewClusters, Labels, cluster_codes
from goldmeter.statistics.estimate import DESIGNED, DESIGNED_ALONE, NO_ROWS, Estimate, Method, within
from goldmeter.statistics.ppi import ROUNDING, PpiEstimate, Rows, in_units, inverted, rows_of, too_few
from goldmeter.statistics.wilson import effective_n, score_interval

# Degrees of freedom of two clusters, also when one of them is nearly everything.
_LEAST_DF = 1.0
# Rows more that count whose label turns with the version: with 50 labels, one of 25 such rows may not have been drawn.
_UNSEEN = 2.0
# With all rows labelled no variance is left.
_LEAST_VARIANCE = 1e-18


def designed_mean(
    y: npt.ArrayLike,
    f_labelled: npt.ArrayLike,
    f_rest: npt.ArrayLike,
    probability: npt.ArrayLike,
    clusters: Labels | None = None,
    rest_clusters: Labels | None = None,
    bounds: Bounds = (0.0, 1.0),
    confidence: float = 0.95,
) -> PpiEstimate:
    """Estimate a mean from labels of rows that were chosen with unequal probabilities, and a score of every row.

    The estimate is λ·mean(f) + Σ(y - λf)/π / Σ1/π: the score of all rows, corrected by the labels, of which each counts
    for as many rows as its probability says. λ is the slope of the labels on the score; at 0 only the labels count.
    Its variance is the sum of squared influences of the rows, so it holds for the mean of a population from which the
    rows come. While there are few events it is pulled towards a worst case, because rows on which the score is sure are
    seldom drawn: the less the score explains the labels, the nearer that case is to labels which all count as much as
    the one that counts most, and the fewer labels count as events.

    Args:
        y: Labels, shape (n,), within `bounds`.
        f_labelled: Scores of the labelled rows, shape (n,), of any scale.
        f_rest: Scores of the other rows, shape (n_rest,).
        probability: Inclusion probability of each labelled row, shape (n,), in (0, 1].
        clusters: Cluster of each labelled row, shape (n,); rows of one cluster depend on each other.
        rest_clusters: Cluster of each other row, shape (n_rest,); give both or neither.
        bounds: Lower and upper bound of the labels, finite.
        confidence: In (0, 1).

    Returns:
        The estimate. `labels_worth` is the number of labels, chosen with equal chances from independent rows, that
        alone would give as narrow an interval; a poor design leaves it below n.

    Raises:
        ValueError: NaN, a wrong shape, labels outside the bounds, probabilities outside (0, 1], or a single labelled
            cluster.

    Warns:
        FewClusters: There are fewer than 10 labelled clusters.

    Source: Cassel, Särndal & Wretman 1976 and Särndal, Swensson & Wretman 1992, chapter 6, for the estimate; Zrnic
    & Candès 2024 (arXiv 2403.03208) for labels chosen by a score.

    >>> estimate = designed_mean([1, 0, 1, 1], [0.5, 0.5, 1, 1], [0.5] * 2 + [1] * 12, [0.5, 0.5, 1 / 7, 1 / 7])
    >>> round(estimate.value, 4), estimate.n, estimate.n_rest  # 4 rows of which half are right, and 14 right ones
    (0.8889, 4, 14)
    """
    check_confidence(confidence)
    unit = unit_labels(y, bounds)
    share = shares_of(probability, unit.size)
    rows, scale = rows_of(unit, f_labelled, f_rest, clusters, rest_clusters)
    if not unit.size:
        return PpiEstimate(np.nan, *bounds, 0, NO_ROWS, rows.rest.size, 0.0, 0.0)
    return in_units(_estimate(rows, share, confidence), bounds, scale)


class WeightedMean(NamedTuple):
    """A mean from labels that count for different numbers of rows, and what intervals need.

    Attributes:
        value: In [0, 1].
        n_eff: Number of independent binary rows that carry as much information.
        df: Degrees of freedom; None without clusters.
        slope: Of the labels on the score.
        influence: What each row adds to the error of the value, shape (n + n_rest,), labelled rows first.
        of_labels: What each label adds to the error of the mean over just these rows, shape (n,).
        events: Number of events among as many labels that count as the worst case says.
    """

    value: float
    n_eff: float
    df: float | None
    slope: float
    influence: FloatArray
    of_labels: FloatArray
    events: float


class _Score(NamedTuple):
    """How the labels depend on the score: slope, and the share of their variance that it explains."""

    slope: float
    explained: float


def _estimate(rows: Rows, share: FloatArray, confidence: float) -> PpiEstimate:
    mean = weighted_mean(rows, share)
    limits = score_interval(mean.value, mean.n_eff, mean.df, confidence)
    method = Method(DESIGNED if mean.slope > 0.0 else DESIGNED_ALONE)
    estimate = within(mean.value, limits, (0.0, 1.0), rows.y.size, method)
    return PpiEstimate(*estimate, rows.rest.size, mean.slope, _worth(estimate, confidence))


def weighted_mean(rows: Rows, share: FloatArray) -> WeightedMean:
    """Return the mean; share: of the whole for which each label counts."""
    score = _Score(0.0, 0.0) if too_few(rows) else _score(rows, share)
    scores = np.concatenate([rows.f, rows.rest])
    residual = rows.y - score.slope * rows.f
    level = float(share @ residual)
    value = min(max(score.slope * float(scores.mean()) + level, 0.0), 1.0)
    influence = share * (residual - level)
    every = _of_all_rows(rows, share, influence, score.slope * (scores - scores.mean()))
    sums = every if rows.shared is None else _summed(rows.shared, every)
    variance = float(sums @ sums) * _lost(rows.y.size if rows.codes is None else int(rows.codes.max()) + 1)
    n_eff, df, events = _effective(rows, share, value, variance, influence, score.explained)
    return WeightedMean(value, n_eff, df, score.slope, every, influence, events)


def _of_all_rows(rows: Rows, share: FloatArray, influence: FloatArray, scores: FloatArray) -> FloatArray:
    """Return the influence of each row by label and score; as in CR2, that of a cluster is enlarged by its leverage."""
    n = rows.y.size
    every: FloatArray = scores / scores.size
    if rows.codes is None or rows.shared is None:
        every[:n] += influence
        return every
    of_labels, of_all = _summed(rows.codes, share), np.bincount(rows.shared) / scores.size
    every /= np.sqrt(np.maximum(1.0 - of_all, ROUNDING))[rows.shared]
    every[:n] += influence / np.sqrt(np.maximum(1.0 - of_labels, ROUNDING))[rows.codes]
    return every


def _lost(n: int) -> float:
    """Return the factor for the mean and the slope that n rows or clusters also estimate."""
    return (n - 1.0) / (n - 2.0) if n > 2 else 1.0  # noqa: PLR2004


def _effective(
    rows: Rows, share: FloatArray, value: float, variance: float, influence: FloatArray, explained: float
) -> tuple[float, float | None, float]:
    """Return the effective number of rows, the degrees of freedom, and the number of events in the worst case.

    influence: of the labelled rows. explained: share of the labels' variance by the score.
    """
    n, df = rows.y.size, None
    right = min(float(share @ rows.y), 1.0)
    if rows.codes is not None:
        share, influence = _summed(rows.codes, share), _summed(rows.codes, influence)
        df = max(_effective_number(share**2) - 1.0, _LEAST_DF)
    events = sorted([share.size * min(right, 1.0 - right), _effective_number(influence**2)])
    worst = sorted([n * float(share @ share), n * float(share.max())])
    trusted = explained * events[1] + (1.0 - explained) * events[0]
    r_max = explained * worst[0] + (1.0 - explained) * worst[1]
    binomial = value * (1.0 - value)
    r = variance * n / binomial if binomial > 0.0 else r_max
    return effective_n(n, r, trusted, r_max=r_max), df, binomial * n / r_max


def _worth(estimate: Estimate, confidence: float) -> float:
    low, high = score_interval(estimate.value, estimate.n, confidence=confidence)
    width = estimate.high - estimate.low
    return estimate.n * ((high - low) / width) ** 2 if width > 0.0 else inf


def shares_of(probability: npt.ArrayLike, n: int) -> FloatArray:
    """Return the share of the whole for which each label counts, shape (n,), with the sum 1."""
    chances = finite_array(probability, "probability", 1)
    if chances.size != n:
        raise ValueError(f"y has {n} rows, probability {chances.size}: give those of just the labelled rows")
    outside = (chances <= 0.0) | (chances > 1.0)
    if outside.any():
        row = int(outside.argmax())
        raise ValueError(f"probability[{row}] = {chances[row]}: expected a number above 0 and at most 1")
    counts = float(chances.min(initial=1.0)) / chances
    return np.asarray(counts / counts.sum())


def _score(rows: Rows, share: FloatArray) -> _Score:
    """Return the slope of the labels on the score, clipped as that of `ppi_mean`, and what it explains."""
    both = np.concatenate([rows.f, rows.rest])
    if float(np.ptp(both)) <= ROUNDING:
        return _Score(0.0, 0.0)
    labels, scores = rows.y - share @ rows.y, rows.f - share @ rows.f
    n, variance, spread = rows.y.size, float(both.var(ddof=1)), float(share @ labels**2)
    together, seen = float((share * labels) @ scores), float(share @ scores**2)
    if together <= 0.0 or spread * seen <= 0.0:
        return _Score(0.0, 0.0)
    unbiased = n / (n - 1)
    slope = min(together * unbiased / variance, sqrt(spread * unbiased / variance))
    return _Score(slope, min(together**2 / (spread * seen), 1.0))


def _summed(codes: Codes, values: FloatArray) -> FloatArray:
    return np.bincount(codes, weights=values).astype(np.float64, copy=False)


def _effective_number(summands: FloatArray) -> float:
    """Return how many equal summands would add up with the same spread (Kish)."""
    largest = float(summands.max())
    if largest <= 0.0:
        return 0.0
    relative = summands / largest
    return float(relative.sum()) ** 2 / float(relative @ relative)


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
        variance: Of the difference over just these rows, above 0: what the labels of the others could change. Two rows
            more count whose labels turn with the version, as rare changes may not have been drawn.
    """

    value: float
    low: float
    high: float
    n: int
    method: Method
    p_value: float
    base: float
    head: float
    variance: float


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
    variance = _variance_over_rows([(base, older, -1.0), (head, newer, 1.0)], codes)
    method = Method(DESIGNED)
    return DesignedDifference(value, *limits(confidence), n, method, p_value, older.value, newer.value, variance)


def variance_over_rows(labels: DesignedLabels, clusters: Labels | None = None) -> float:
    """Return the variance of the mean over just these rows: what the labels of the others could change, above 0.

    Args:
        labels: N rows, one or more of them labelled.
        clusters: Cluster of each row, shape (N,); rows of one cluster depend on each other.

    Raises:
        ValueError: As of `designed_difference`.
    """
    codes = None if clusters is None else cluster_codes(clusters, labels.y.size)
    return _variance_over_rows([(labels, _mean(labels, codes)[0], 1.0)], codes)


def _variance_over_rows(sides: Sequence[tuple[DesignedLabels, WeightedMean, float]], codes: Codes | None) -> float:
    """Return the variance of a sum of means over just these rows, each with its sign; codes: the cluster of each."""
    added, largest = np.zeros(sides[0][0].y.size), 0.0
    for labels, mean, sign in sides:
        known = ~np.isnan(labels.y)
        chances = labels.probability[known]
        left_open = np.sqrt(1.0 - chances)
        added[known] += sign * mean.of_labels * left_open
        largest = max(largest, float((shares_of(chances, chances.size) * left_open).max()))
    sums = added if codes is None else np.bincount(codes, weights=added)
    n = int(np.count_nonzero(sums))
    return max(float(sums @ sums) * _lost(n) + _UNSEEN * largest**2, _LEAST_VARIANCE)


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
