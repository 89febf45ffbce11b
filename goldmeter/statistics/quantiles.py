"""Quantiles by order statistics, without assumptions on the distribution; and the mean of numbers without bounds."""

from functools import lru_cache
from math import ceil, floor, inf, isfinite, log, nan, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from goldmeter.statistics.arrays import BoolArray, FloatArray, check_confidence, finite_array
from goldmeter.statistics.clusters import Labels, cluster_codes, cluster_totals, clustered_n
from goldmeter.statistics.corpus import EVERYTHING, Replicates, jackknife_interval
from goldmeter.statistics.estimate import NO_ROWS, Estimate, Method, mean_of

# Rounding must not exclude a rank whose tail is exactly the allowed one.
_OUTWARD = 1e-9
# Events that the largest negative correlation counts for; see `quantile_difference`.
_PRIOR_EVENTS = 2.0


class QuantileDifference(NamedTuple):
    """A quantile of head less that of base, and both.

    Attributes:
        value: The difference.
        low: Lower limit; -inf where a limit of base or head is missing.
        high: Upper limit; inf where a limit of base or head is missing.
        base: The quantile of base.
        head: The quantile of head.
    """

    value: float
    low: float
    high: float
    base: Estimate
    head: Estimate


def quantile_interval(
    x: npt.ArrayLike, share: float, clusters: Labels | None = None, confidence: float = 0.95
) -> Estimate:
    """Estimate a quantile: the smallest value that so large a share of the rows does not exceed.

    The limits are values of the sample. For independent rows each tail is exactly binomial, so the interval covers at
    least `confidence` whatever the distribution, ties included. With clusters the ranks are those of so many
    independent rows as tell as much of the share of rows up to the quantile (Woodruff's interval), which holds
    approximately.

    Args:
        x: Shape (n,), float64, finite.
        share: Of the rows, in (0, 1); 0.5: the median.
        clusters: Shape (n,), one label per row; rows of one cluster depend on each other.
        confidence: In (0, 1).

    Returns:
        The estimate. A limit that so few rows do not have is -inf or inf; `method` says so.

    Raises:
        ValueError: A value is not finite, or `share` is not in (0, 1).

    Warns:
        FewClusters: There are fewer than 10 clusters.

    Source: David & Nagaraja 2003, section 7.1; Woodruff 1952 and Korn & Graubard 1998 for clusters.

    >>> quantile_interval(range(1, 101), 0.95)[:3]
    (95.0, 90.0, 100.0)
    >>> str(quantile_interval([1.0, 2.0, 3.0], 0.5).method)
    'order statistics; no limits: fewer than 6 independent rows'
    """
    check_confidence(confidence)
    if not 0.0 < share < 1.0:
        raise ValueError(f"share = {share}: expected a number between 0 and 1, such as 0.95")
    values = np.sort(finite_array(x, "x", 1))
    n = values.size
    if not n:
        return Estimate(nan, -inf, inf, 0, NO_ROWS)
    value, n_eff, kind = float(values[_rank(share, n) - 1]), float(n), "order statistics"
    if clusters is not None:
        n_eff = _effective_rows(np.asarray(x, np.float64) <= value, clusters, confidence)
        kind = "order statistics, clusters"
    first, last = _first_rank(n, n_eff, share, confidence), _first_rank(n, n_eff, 1.0 - share, confidence)
    low = float(values[first - 1]) if first else -inf
    high = float(values[n - last]) if last else inf
    return Estimate(value, min(low, value), max(high, value), n, Method(kind, _missing(low, high, share, confidence)))


def average_interval(x: npt.ArrayLike, clusters: Labels | None = None, confidence: float = 0.95) -> Estimate:
    """Estimate the mean of numbers without bounds, by Student's t; with clusters, by the jackknife of clusters.

    No interval covers for every distribution: the longer the tail and the fewer the rows, the less this one does.

    Args: as of `quantile_interval`.

    Returns: The estimate; its limits are infinite for a single row.

    >>> found = average_interval([1.0, 2.0, 3.0])
    >>> found.value, round(found.low, 4), round(found.high, 4)  # 2 ± 4.3027·√(1/3)
    (2.0, -0.4841, 4.4841)
    """
    check_confidence(confidence)
    values = finite_array(x, "x", 1)
    n = values.size
    if not n:
        return Estimate(nan, -inf, inf, 0, NO_ROWS)
    value, items = mean_of(values), n
    if clusters is None:
        error = None if n == 1 else float(values.std(ddof=1)) / sqrt(n)
    else:
        size, total = cluster_totals(values, cluster_codes(clusters, n))
        items, error = size.size, Replicates.of((values.sum() - total) / (n - size)).error
    return jackknife_interval(value, error, items, n, confidence, EVERYTHING)


def fewest_rows(share: float, confidence: float = 0.95) -> tuple[int, int]:
    """Return how many independent rows the lower and the upper limit of a quantile need.

    >>> fewest_rows(0.5), fewest_rows(0.95)
    ((6, 6), (2, 72))
    """
    tail = (1.0 - confidence) / 2.0
    lower, upper = (ceil(log(tail) / log(part) - _OUTWARD) for part in (1.0 - share, share))
    return lower, upper


def quantile_difference(
    base: npt.ArrayLike, head: npt.ArrayLike, share: float, clusters: Labels | None = None, confidence: float = 0.95
) -> QuantileDifference:
    """Estimate how a quantile differs between two measurements of the same rows.

    The distances of both quantiles from their limits are combined like standard errors (MOVER), with the correlation
    of "this row is up to the quantile" between base and head. It is pulled towards -1, the worst case, the more the
    fewer rows lie on the smaller side of the quantile. One above 0 is also pulled towards 0, the more values between
    the limits are tied, because tied quantiles do not move together.

    Args:
        base: Shape (n,), float64, finite.
        head: Shape (n,), the same rows.
        share: As of `quantile_interval`.
        clusters: As of `quantile_interval`.
        confidence: In (0, 1).

    Raises:
        ValueError: As of `quantile_interval`, or the two are of different length.

    Source: Zou & Donner 2008; Newcombe 1998 for the correlation.
    """
    before, after = finite_array(base, "base", 1), finite_array(head, "head", 1)
    if before.size != after.size:
        raise ValueError(f"base has {before.size} rows and head {after.size}: expected the same rows")
    older, newer = (quantile_interval(x, share, clusters, confidence) for x in (before, after))
    value = newer.value - older.value
    rho = _correlation(before <= older.value, after <= newer.value, clusters)
    if rho > 0.0:
        rho *= min(_share_distinct(before, older), _share_distinct(after, newer))

    def reach(down: float, up: float) -> float:
        if not (isfinite(down) and isfinite(up)):
            return inf
        return sqrt(max(down * down + up * up - 2.0 * rho * down * up, 0.0))

    low = value - reach(newer.value - newer.low, older.high - older.value)
    high = value + reach(newer.high - newer.value, older.value - older.low)
    return QuantileDifference(value, low, high, older, newer)


def _rank(share: float, n: int) -> int:
    """Return the rank of the quantile, from 1; rounding of share · n does not move it."""
    return min(max(ceil(share * n - _OUTWARD * n), 1), n)


@lru_cache(maxsize=256)
def _first_rank(n: int, n_eff: float, share: float, confidence: float) -> int:
    """Return the largest rank whose value exceeds the quantile with at most half of what confidence leaves; 0: none."""
    tail = (1.0 - confidence) / 2.0

    def excess(k: float) -> float:
        """P(at most k of n_eff rows are up to the quantile) less the tail, k fractional."""
        return float(scipy.special.betaincc(k + 1.0, n_eff - k, share)) - tail

    if excess(0.0) >= 0.0:
        return int(excess(0.0) < _OUTWARD)
    k = float(scipy.optimize.brentq(excess, 0.0, n_eff * (1.0 - 1e-12), xtol=1e-12, rtol=1e-14))
    return floor(k / n_eff * n + _OUTWARD) + 1


def _effective_rows(is_up_to: BoolArray, clusters: Labels, confidence: float) -> float:
    """Return the number of independent rows that tell as much of a share as these, with Student's t allowed for."""
    n = is_up_to.size
    n_eff, df = clustered_n(is_up_to.astype(np.float64), cluster_codes(clusters, n))
    upper = (1.0 + confidence) / 2.0
    return min(n_eff, float(n)) * (float(scipy.special.ndtri(upper)) / float(scipy.special.stdtrit(df, upper))) ** 2


def _missing(low: float, high: float, share: float, confidence: float) -> tuple[str, ...]:
    """Say which limits are missing, and how many rows they need."""
    needs = fewest_rows(share, confidence)
    missing = [
        (name, rows)
        for name, limit, rows in zip(("lower", "upper"), (low, high), needs, strict=True)
        if not isfinite(limit)
    ]
    if not missing:
        return ()
    which = f"{missing[0][0]} limit" if len(missing) == 1 else "limits"
    return (f"no {which}: fewer than {max(rows for _, rows in missing)} independent rows",)


def _share_distinct(x: FloatArray, found: Estimate) -> float:
    """Return how many of the values between the limits are distinct, as a share: 1 without ties, 0 if all are equal."""
    between = x[(found.low <= x) & (x <= found.high)]
    return (np.unique(between).size - 1) / max(between.size - 1, 1)


def _correlation(before: BoolArray, after: BoolArray, clusters: Labels | None) -> float:
    """Return the correlation of two shares of the same rows, pulled towards -1."""
    x, y = (mask.astype(np.float64) - mask.mean() for mask in (before, after))
    if clusters is not None and before.size:
        codes = cluster_codes(clusters, before.size)
        x, y = (cluster_totals(one, codes).total for one in (x, y))
    spread = sqrt(float(x @ x) * float(y @ y))
    seen = float(x @ y) / spread if spread > 0.0 else 0.0
    events = float(min(min(mask.sum(), (~mask).sum()) for mask in (before, after)))
    return (events * seen - _PRIOR_EVENTS) / (events + _PRIOR_EVENTS)
