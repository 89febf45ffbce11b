"""The mean of one score per row and its interval: binary, bounded or clustered."""

import numpy as np
import numpy.typing as npt

from tasks.statistics.arrays import Bounds, FloatArray, check_confidence, check_finite_bounds, check_scores
from tasks.statistics.binomial_limits import blaker_interval
from tasks.statistics.clusters import Labels, cluster_codes, clustered_n
from tasks.statistics.estimate import Estimate, mean_of, unknown, within
from tasks.statistics.gaffke import gaffke_interval
from tasks.statistics.wilson import effective_n, score_interval


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
        The estimate; its `method` is `wilson+midp`, `bounded`, `cr2`, `blaker`, `gaffke` or `no rows`.

    Raises:
        ValueError: NaN, values outside the bounds, a single cluster, or `guarantee` with clusters.

    Warns:
        FewClusters: There are fewer than 10 clusters.

    >>> estimate = mean_interval([1.0] * 9 + [0.0])
    >>> estimate.value, round(estimate.low, 4), round(estimate.high, 4), estimate.method
    (0.9, 0.5958, 0.995, 'wilson+midp')
    """
    check_confidence(confidence)
    scores = np.asarray(x, dtype=np.float64)
    check_finite_bounds(bounds)
    check_scores(scores, bounds)
    if scores.size == 0:
        return unknown(bounds, 0, "no rows")
    lower, upper = bounds
    unit = scores if (lower, upper) == (0.0, 1.0) else np.clip((scores - lower) / (upper - lower), 0.0, 1.0)
    value = mean_of(scores)
    p = value if unit is scores else mean_of(unit)
    (low, high), method = _unit_interval(unit, p, clusters, confidence, guarantee=guarantee)
    width = upper - lower
    return within(value, (lower + width * low, lower + width * high), bounds, scores.size, method)


def _unit_interval(
    unit: FloatArray, p: float, clusters: Labels | None, confidence: float, *, guarantee: bool
) -> tuple[tuple[float, float], str]:
    binary = _is_binary(unit)
    if guarantee and clusters is not None:
        raise ValueError("no interval guarantees its coverage for clustered rows: drop guarantee or clusters")
    if guarantee and binary:
        return blaker_interval(int(unit.sum()), unit.size, confidence), "blaker"
    if guarantee:
        return gaffke_interval(unit, confidence), "gaffke"
    independent = float(unit.size) if binary else _bounded_n(unit, p)
    if clusters is None and binary:
        return score_interval(p, independent, confidence=confidence), "wilson+midp"
    if clusters is None:
        limits = score_interval(p, independent, confidence=confidence)
        equal = bool(unit[0] == unit[-1]) and bool((unit == unit[0]).all())
        return _with_unseen(limits, p, unit.size, confidence) if equal else limits, "bounded"
    n_eff, df = clustered_n(unit, cluster_codes(clusters, unit.size))
    # Clustered rows never carry more information than independent ones.
    return score_interval(p, min(n_eff, independent), df, confidence), "cr2"


def _is_binary(unit: FloatArray) -> bool:
    """Return whether all scores are 0 or 1; the first 64 rows usually show when they are not."""
    return all(bool(((rows == 0.0) | (rows == 1.0)).all()) for rows in (unit[:64], unit[64:]))


def _bounded_n(unit: FloatArray, p: float) -> float:
    """Return the effective number of binary rows; the less the scores vary, the larger it is."""
    n = unit.size
    binomial = p * (1.0 - p)
    if n == 1 or binomial == 0.0:
        return float(n)
    r = min(float(unit.var(ddof=1)) / binomial, 1.0)
    return effective_n(n, r, events=n * min(p, 1.0 - p))


def _with_unseen(limits: tuple[float, float], p: float, n: int, confidence: float) -> tuple[float, float]:
    """Widen the limits for rare extreme values that n identical rows may have missed.

    The upper limit of 0 events of n is their largest share. Without it, the mean of scores that are constant except
    for rare failures is covered in only 90 % of samples of 100 rows, because most samples that miss contain no failure.
    """
    unseen = score_interval(0.0, n, confidence=confidence)[1]
    return min(limits[0], p * (1.0 - unseen)), max(limits[1], 1.0 - (1.0 - p) * (1.0 - unseen))
