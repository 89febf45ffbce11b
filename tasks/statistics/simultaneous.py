"""Intervals of several means that hold together, such as those of all slices of a data set."""

from math import log

from tasks.statistics.arrays import Bounds, check_confidence
from tasks.statistics.clusters import ClusterTotals, clustered_n_of_totals
from tasks.statistics.estimate import NO_ROWS, Estimate, Method, unknown, within
from tasks.statistics.moments import Moments
from tasks.statistics.wilson import effective_n, exact_interval


def simultaneous_interval(
    moments: Moments,
    clusters: ClusterTotals | None = None,
    bounds: Bounds = (0.0, 1.0),
    tests: int = 1,
    confidence: float = 0.95,
) -> Estimate:
    """Estimate one of several means with an interval; all their intervals hold together with `confidence`.

    Each interval has Šidák's level, confidence^(1/tests). That is exact for independent means, such as those of slices
    without a common row, and errs on the wide side for correlated ones, such as those of slices with common clusters.
    The tails are exact: of 20 rates of 98 % on 50 rows each, mid-p tails at that level cover all in 70 % of samples.

    Args:
        moments: Sums of scores within `bounds`.
        clusters: The totals of each cluster, or None for independent rows. Of a single one the limits are the bounds.
        bounds: Lower and upper bound of the scores, finite.
        tests: How many means there are, at least 1.
        confidence: Of all intervals together, in (0, 1).

    Raises:
        ValueError: `confidence` or `tests` is outside its range.

    Source: Šidák 1967; Clopper & Pearson 1934; Korn & Graubard 1998.

    >>> estimate = simultaneous_interval(Moments.of_passes(5, 5), tests=20)
    >>> round(estimate.low, 4), estimate.high  # ((1 - .95^(1/20))/2)^(1/5)
    (0.2639, 1.0)
    """
    check_confidence(confidence)
    if tests < 1:
        raise ValueError(f"tests = {tests}: expected at least 1")
    if moments.n == 0:
        return unknown(bounds, 0, NO_ROWS)
    level = confidence ** (1.0 / tests)
    if clusters is not None and len(clusters.size) == 1:
        return unknown(bounds, moments.n, Method("one cluster"), moments.mean)
    lower, upper = bounds
    width = upper - lower
    p = min(max((moments.mean - lower) / width, 0.0), 1.0)
    n_eff, df = _bounded_n(moments, p, width, level), None
    if clusters is not None:
        clustered, df = clustered_n_of_totals(clusters.in_unit(bounds))
        n_eff = min(n_eff, clustered)
    low, high = exact_interval(p, n_eff, df, level)
    limits = lower + width * low, lower + width * high
    return within(moments.mean, limits, bounds, moments.n, Method("sidak+korn-graubard"))


def _bounded_n(moments: Moments, p: float, width: float, level: float) -> float:
    """Return the effective number of binary rows; the less the scores vary, the larger it is.

    The observed variance counts for little until more extreme scores are seen than n rows may have missed at this
    level: -log(tail), since e^-k is the probability of none where k are expected.
    """
    n, binomial = moments.n, p * (1.0 - p)
    if moments.is_binary or moments.is_constant or binomial == 0.0:
        return float(n)
    r = min(moments.variance / width**2 / binomial, 1.0)
    return effective_n(n, r, n * min(p, 1.0 - p), prior_events=-log((1.0 - level) / 2.0))
