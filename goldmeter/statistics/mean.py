"""The mean of one score per row and its interval: binary, bounded or clustered."""

from math import hypot, sqrt

import numpy as np
import numpy.typing as npt
import scipy

from goldmeter.statistics.arrays import Bounds, check_confidence, check_finite_bounds, check_scores
from goldmeter.statistics.clusters import ClusterTotals, Labels, cluster_codes, cluster_totals, clustered_n_of_totals
from goldmeter.statistics.estimate import NO_ROWS, Estimate, Method, unknown, within
from goldmeter.statistics.gaffke import Distribution, gaffke_limits
from goldmeter.statistics.moments import Deviations, Moments, unseen_variance
from goldmeter.statistics.wilson import blaker_interval, effective_n, score_interval

Limits = tuple[float, float]

# Steady scores have their own interval from so many rows on, below this skew, if the usual one is so much wider.
_STEADY_ROWS, _STEADY_SKEW, _STEADY_GAIN = 30, 0.12, 1.05


def mean_interval(
    x: npt.ArrayLike,
    clusters: Labels | None = None,
    bounds: Bounds = (0.0, 1.0),
    confidence: float = 0.95,
    guarantee: bool = False,  # noqa: FBT001, FBT002
) -> Estimate:
    """Estimate a mean and its interval.

    Args:
        x: Shape (n,), float64, within `bounds`, without unmeasured rows. Scores that are all on a bound are binary.
        clusters: Shape (n,), one label per row; rows of one cluster depend on each other.
        bounds: Lower and upper bound of the scores, finite.
        confidence: In (0, 1).
        guarantee: Return an interval that never covers less than `confidence`, for independent rows: Blaker's for
            binary scores (proven), else Gaffke's (no counterexample is known).

    Returns:
        The estimate; its `method` is `wilson+midp`, `bounded`, `steady`, `cr2`, `blaker`, `gaffke` or `no rows`.

    Raises:
        ValueError: NaN, values outside the bounds, a single cluster, or `guarantee` with clusters.

    Warns:
        FewClusters: There are fewer than 10 clusters.

    >>> estimate = mean_interval([1.0] * 9 + [0.0])
    >>> estimate.value, round(estimate.low, 4), round(estimate.high, 4), str(estimate.method)
    (0.9, 0.5958, 0.995, 'wilson+midp')
    """
    check_confidence(confidence)
    scores = np.asarray(x, dtype=np.float64)
    check_finite_bounds(bounds)
    check_scores(scores, bounds)
    totals = (
        None if clusters is None or not scores.size else cluster_totals(scores, cluster_codes(clusters, scores.size))
    )
    spread, moments = Distribution.of(scores, bounds) if guarantee else None, Moments.of(scores, bounds)
    steady = totals is None and not guarantee and may_be_steady(moments, bounds, confidence)
    deviations = Deviations.of(scores, moments.mean, bounds) if steady else None
    return interval_of_moments(moments, totals, bounds, confidence, spread, deviations)


def interval_of_moments(
    moments: Moments,
    clusters: ClusterTotals | None = None,
    bounds: Bounds = (0.0, 1.0),
    confidence: float = 0.95,
    guaranteed: Distribution | None = None,
    deviations: Deviations | None = None,
) -> Estimate:
    """Estimate a mean and its interval from sums, as `mean_interval` does from rows.

    Args:
        moments: Sums of scores within `bounds`.
        clusters: The totals of at least two clusters, or None for independent rows.
        bounds: Lower and upper bound of the scores, finite.
        confidence: In (0, 1).
        guaranteed: How often each score occurs, for an interval that never covers less than `confidence`; else None.
        deviations: Of the scores from their mean, if `may_be_steady`; else None.

    Raises:
        ValueError: `guaranteed` with clusters.
    """
    if moments.n == 0:
        return unknown(bounds, 0, NO_ROWS)
    lower, upper = bounds
    width = upper - lower
    value = moments.mean
    p = min(max((value - lower) / width, 0.0), 1.0)
    units = None if clusters is None else clusters.in_unit(bounds)
    (low, high), method = _unit_interval(moments, p, width, units, confidence, guaranteed)
    if deviations is not None and units is None and guaranteed is None:
        closer = _steady_limits(moments, p, width, deviations, confidence)
        if closer is not None and high - low > _STEADY_GAIN * (closer[1] - closer[0]):
            (low, high), method = closer, "steady"
    return within(value, (lower + width * low, lower + width * high), bounds, moments.n, Method(method))


def may_be_steady(moments: Moments, bounds: Bounds, confidence: float = 0.95) -> bool:
    """Return whether the `Deviations` of independent rows could narrow the interval of their mean.

    They can for at least 30 scores, neither binary nor all equal, whose interval is more than 1.05 times as wide as
    Student's t.
    """
    if moments.n < _STEADY_ROWS or moments.is_binary or moments.is_constant:
        return False
    limits = interval_of_moments(moments, None, bounds, confidence)
    half = float(scipy.special.stdtrit(moments.n - 1.0, (1.0 + confidence) / 2.0)) * sqrt(moments.variance / moments.n)
    return limits.high - limits.low > _STEADY_GAIN * 2.0 * half


def _unit_interval(
    moments: Moments,
    p: float,
    width: float,
    clusters: ClusterTotals | None,
    confidence: float,
    guaranteed: Distribution | None,
) -> tuple[Limits, str]:
    """Return the limits of the mean p of scores rescaled to [0, 1]; width: of their bounds."""
    if guaranteed is not None and clusters is not None:
        raise ValueError("no interval guarantees its coverage for clustered rows: drop guarantee or clusters")
    if guaranteed is not None and moments.is_binary:
        return blaker_interval(moments.at_high, moments.n, confidence), "blaker"
    if guaranteed is not None:
        return gaffke_limits(guaranteed, confidence), "gaffke"
    independent = float(moments.n) if moments.is_binary else _bounded_n(moments, p, width)
    if clusters is not None:
        n_eff, df = clustered_n_of_totals(clusters)
        # Clustered rows never carry more information than independent ones.
        return score_interval(p, min(n_eff, independent), df, confidence), "cr2"
    limits = score_interval(p, independent, confidence=confidence)
    if moments.is_binary:
        return limits, "wilson+midp"
    return _with_unseen(limits, p, moments.n, confidence) if moments.is_constant else limits, "bounded"


def _bounded_n(moments: Moments, p: float, width: float) -> float:
    """Return the effective number of binary rows; the less the scores vary, the larger it is."""
    n = moments.n
    binomial = p * (1.0 - p)
    if n == 1 or binomial == 0.0:
        return float(n)
    r = min(moments.variance / width**2 / binomial, 1.0)
    return effective_n(n, r, events=n * min(p, 1.0 - p))


def _steady_limits(
    moments: Moments, p: float, width: float, deviations: Deviations, confidence: float
) -> Limits | None:
    """Return Student's limits with an allowance for unseen scores far from the mean; None where skew forbids them."""
    n, spread = moments.n, sqrt(moments.variance) / width
    if deviations.skew((n - 1) * spread**2) >= _STEADY_SKEW:
        return None
    tail = (1.0 + confidence) / 2.0
    sampling = float(scipy.special.stdtrit(n - 1.0, tail)) * spread / sqrt(n)
    below, above = (
        hypot(sampling, float(scipy.special.ndtri(tail)) * sqrt(unseen_variance(seen, room, n)))
        for seen, room in zip(deviations.seen, (p, 1.0 - p), strict=True)
    )
    return max(0.0, p - below), min(1.0, p + above)


def _with_unseen(limits: Limits, p: float, n: int, confidence: float) -> Limits:
    """Widen the limits for rare extreme values that n identical rows may have missed.

    The upper limit of 0 events of n is their largest share. Without it, the mean of scores that are constant except
    for rare failures is covered in only 90 % of samples of 100 rows, because most samples that miss contain no failure.
    """
    unseen = score_interval(0.0, n, confidence=confidence)[1]
    return min(limits[0], p * (1.0 - unseen)), max(limits[1], 1.0 - (1.0 - p) * (1.0 - unseen))
