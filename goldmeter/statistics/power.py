"""Power of a paired comparison: the detectable difference, and the number of rows that a difference needs."""

from collections.abc import Callable
from functools import lru_cache
from math import ceil, inf, isfinite, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from goldmeter.statistics import paired
from goldmeter.statistics.arrays import Bounds, FloatArray, check_confidence
from goldmeter.statistics.clusters import ClusterTotals, check_clusters
from goldmeter.statistics.moments import evidence, unseen_variance
from goldmeter.statistics.paired import DifferenceSums, Items

# Above this many changed rows Connor's formula and the enumeration agree to 0.3 points of power.
_ENUMERATED = 1000

# Binomial counts beyond this many standard deviations from their mean are left out.
_DEVIATIONS = 9.0

# No data set is larger; a difference that needs more rows is refused.
_MOST_ROWS = 10**15

# A detectable difference is printed with two or three digits.
_PRECISION = 1e-5

# Smallest difference searched, as a share of the largest.
_NOTHING = 1e-15

# Largest difference searched, in standard deviations: two rows detect it in 99.9 % of cases at 99.99 % confidence.
_T_RANGE = 1e8


class TooManyRowsError(ValueError):
    """The difference is so small that it needs more rows than any data set has."""


PowerAt = Callable[[int, float], float]


class _Spread(NamedTuple):
    """How items differ, in units of the width of the metric (of the metric itself, if the width is infinite).

    Attributes:
        binary: Rows improve, get worse or stay.
        bounded: The width is finite.
        variance: Variance of the items' differences; for binary rows their discordance.
        size: Usual size of a change.
        seen: Mean of `evidence` over the items.
        worst: Mean square of items that change by the largest possible amount.
    """

    binary: bool
    bounded: bool
    variance: float
    size: float
    seen: float
    worst: float = 1.0


def required_rows(
    difference: float,
    *,
    discordance: float | None = None,
    sd: float | None = None,
    power: float = 0.8,
    confidence: float = 0.95,
    width: float = 1.0,
    design_effect: float = 1.0,
) -> int:
    """Return the number of rows that `paired_difference` needs to detect a true difference with that power.

    Binary rows are enumerated under the mid-p McNemar test while few change; with many, Connor's formula is used. Other
    rows follow normal theory of the interval itself, with its allowance for large changes that no row has shown.

    Args:
        difference: The true difference, not 0, in the units of the metric; its sign does not matter.
        discordance: Share of rows that improve or get worse, in [|difference| / width, 1], for binary rows.
        sd: Standard deviation of the row differences, in the units of the metric. Give either `discordance` or `sd`.
        power: Probability of detection, between 1 - confidence and 1.
        confidence: In (0, 1).
        width: Upper - lower bound of the metric; may be infinite.
        design_effect: Factor by which clusters inflate the variance of the mean: 1 + (rows per cluster - 1)·ICC for
            clusters of equal size. Few clusters need more rows.

    Raises:
        ValueError: An argument is outside its range, or not exactly one of `discordance` and `sd` is given.
        TooManyRowsError: More than 10¹⁵ rows are needed.

    Source: Connor 1987.

    >>> required_rows(0.05, discordance=0.1)  # by Connor's formula (1.96·√0.1 + 0.8416·√(0.1 - 0.05²))²/0.05² = 312
    305
    >>> required_rows(0.05, sd=0.3)  # (1.96 + 0.8416)²·0.3²/0.05² = 282.6, with t instead of 1.96
    285
    """
    _check_targets(power, confidence)
    if not width > 0.0:
        raise ValueError(f"width = {width}: expected upper - lower of the metric, above 0")
    unit = width if isfinite(width) else 1.0
    effect = _check_difference(difference, width) / unit
    if not (isfinite(design_effect) and design_effect > 0.0):
        raise ValueError(f"design_effect = {design_effect}: expected a number above 0, 1 for independent rows")
    spread = _planned(effect, discordance, None if sd is None else sd / unit, bounded=isfinite(width))
    return ceil(_smallest(_power_at(spread, confidence), effect, power) * design_effect)


def detectable_of_sums(
    sums: DifferenceSums,
    clusters: ClusterTotals | None = None,
    bounds: Bounds = (0.0, 1.0),
    power: float = 0.8,
    confidence: float = 0.95,
) -> float:
    """Return the smallest true difference that these rows detect with that power.

    Args:
        sums: Of the differences of the rows.
        clusters: Their totals by cluster.
        bounds: Lower and upper bound of the metric; may be infinite.
        power: Probability of detection, between 1 - confidence and 1.
        confidence: In (0, 1).

    Returns:
        The difference, above 0, in the units of the metric. It is infinite if none is detectable: there are no rows, or
        too few for any p value below 1 - confidence.

    Warns:
        FewClusters: There are fewer than 10 clusters.

    Source: Connor 1987.
    """
    _check_targets(power, confidence)
    width = paired.check_width(bounds)
    if sums.n == 0:
        return inf
    items = _items(sums, clusters, width)
    spread = _observed(sums, items, width)
    power_at, count = _power_at(spread, confidence), items.count
    if isfinite(width):
        return width * _root(lambda effect: power_at(count, effect) - power, 1.0)
    scale = sqrt(spread.variance) or 1.0
    return scale * _root(lambda effect: power_at(count, scale * effect) - power, _T_RANGE)


def detectable_of_error(error: float | None, count: int, power: float = 0.8, confidence: float = 0.95) -> float:
    """Return the smallest true difference of corpus scores that is detected with that power.

    By normal theory of the jackknife's error. It is infinite without one, or without spread.

    Args:
        error: The jackknife's standard error; None if it is not known.
        count: Number of rows or clusters that the jackknife deletes.
        power: Probability of detection, between 1 - confidence and 1.
        confidence: In (0, 1).
    """
    _check_targets(power, confidence)
    if not error:  # without spread it is unknown
        return inf
    return error * (
        float(scipy.special.stdtrit(count - 1.0, (1.0 + confidence) / 2.0)) + float(scipy.special.ndtri(power))
    )


def _planned(effect: float, discordance: float | None, sd: float | None, *, bounded: bool) -> _Spread:
    if (discordance is None) == (sd is None):
        raise ValueError(f"discordance = {discordance}, sd = {sd}: give one of them, and not both")
    if discordance is None:
        if sd is None or not (isfinite(sd) and sd > 0.0):
            raise ValueError(f"sd = {sd} of the width: expected a number above 0")
        return _Spread(binary=False, bounded=bounded, variance=sd**2, size=0.0, seen=float(evidence(np.array(sd), 1.0)))
    if not bounded or not effect <= discordance <= 1.0:
        raise ValueError(f"discordance = {discordance}: expected a share from |difference| / width = {effect:g} to 1")
    return _Spread(binary=True, bounded=True, variance=discordance, size=1.0, seen=0.0)


def _items(sums: DifferenceSums, clusters: ClusterTotals | None, width: float) -> Items:
    if clusters is not None:
        check_clusters(clusters.size.size)
    return Items(sums, clusters, width)


def _observed(sums: DifferenceSums, items: Items, width: float) -> _Spread:
    bounded = isfinite(width)
    counts = sums.wins_and_losses if bounded and not items.are_clusters else None
    if counts is not None:
        return _Spread(binary=True, bounded=True, variance=sum(counts) / sums.n, size=1.0, seen=0.0)
    seen = items.seen(1.0) / items.count if bounded else 0.0
    return _Spread(
        binary=False, bounded=bounded, variance=items.variance, size=items.usual, seen=seen, worst=items.worst
    )


def _power_at(spread: _Spread, confidence: float) -> PowerAt:
    """Return the power as a function of the number of items and the difference, above 0, in units of the spread."""
    alpha = 1.0 - confidence
    if spread.binary:
        return lambda n, effect: _mcnemar_power(n, effect, max(spread.variance, effect), alpha)
    if spread.bounded:
        return lambda n, effect: _bounded_power(n, effect, spread, alpha)
    return lambda n, effect: _t_power(n, effect, spread.variance, alpha)


def _mcnemar_power(n: int, effect: float, discordance: float, alpha: float) -> float:
    """Return the probability that mid-p McNemar detects the true direction at this discordance."""
    if n * discordance > _ENUMERATED:
        z = -float(scipy.special.ndtri(alpha / 2.0))
        rest = sqrt(discordance - effect**2) or 1e-300
        return float(scipy.special.ndtr((effect * sqrt(n) - z * sqrt(discordance)) / rest))
    reach = _DEVIATIONS * sqrt(n * discordance * (1.0 - discordance)) + _DEVIATIONS**2
    changed = np.arange(max(0, int(n * discordance - reach)), min(n, int(n * discordance + reach)) + 1)
    critical = _critical_wins(alpha)[changed]
    share = min((1.0 + effect / discordance) / 2.0, 1.0)
    detected = np.where(
        critical <= changed,
        scipy.special.betainc(np.maximum(critical, 1), np.maximum(changed - critical, 0) + 1, share),
        0.0,
    )
    return float(_binomial(changed, n, discordance) @ detected)


def _binomial(k: npt.NDArray[np.intp], n: int, p: float) -> FloatArray:
    log = (
        scipy.special.gammaln(n + 1.0)
        - scipy.special.gammaln(k + 1.0)
        - scipy.special.gammaln(n - k + 1.0)
        + scipy.special.xlogy(k, p)
        + scipy.special.xlog1py(n - k, -p)
    )
    return np.asarray(np.exp(log), dtype=np.float64)


@lru_cache(maxsize=16)
def _critical_wins(alpha: float) -> npt.NDArray[np.intp]:
    """Return, for 0, 1, … changed rows, the fewest wins whose mid-p value is below alpha.

    It is one more than the changed rows if there is none. All counts are bisected at once.
    """
    reach = _DEVIATIONS * sqrt(_ENUMERATED) + _DEVIATIONS**2
    changed = np.arange(int(_ENUMERATED + reach) + 2)
    below, critical = (changed - 1) // 2, changed + 1
    while (critical - below > 1).any():
        middle = (below + critical) // 2
        wins = np.maximum(middle, 1)
        tail = scipy.special.betainc(wins, changed - wins + 1.0, 0.5) + np.where(
            middle < changed, scipy.special.betainc(wins + 1.0, np.maximum(changed - wins, 1), 0.5), 0.0
        )
        rejects = (tail < alpha) & (middle >= 1) & (middle <= changed)
        below, critical = np.where(rejects, below, middle), np.where(rejects, middle, critical)
    critical.setflags(write=False)
    return critical


def _bounded_power(n: int, effect: float, spread: _Spread, alpha: float) -> float:
    """Return the probability that the interval of `paired_difference` excludes 0, at its expected width.

    Within 3 points where most rows change; where few do, the mean is not normal, and it is off by up to 9 points.
    """
    # A difference consists of changes of the usual size, so every difference has some spread.
    variance = max(spread.variance, effect * (spread.size - effect), 0.0) / n
    unseen = float(scipy.special.ndtri(alpha / 2.0)) ** 2 * unseen_variance(n * spread.seen, 1.0, n, spread.worst)
    if n == 1 or unseen >= 1.0:
        return 0.0
    # The smallest mean whose interval excludes 0: m² = t²·variance + unseen·(1 + m)².
    known = float(scipy.special.stdtrit(n - 1.0, alpha / 2.0)) ** 2 * variance + unseen
    least = (unseen + sqrt(unseen**2 + (1.0 - unseen) * known)) / (1.0 - unseen)
    if variance == 0.0:
        return float(effect > least)
    return float(scipy.special.ndtr((effect - least) / sqrt(variance)))


def _t_power(n: int, effect: float, variance: float, alpha: float) -> float:
    if n == 1:
        return 0.0
    if variance == 0.0:
        return float(effect > 0.0 and 2.0 ** (1.0 - n) < alpha)
    # For more rows the normal distribution agrees to 4 digits, and the noncentral t loses precision.
    quantile, shift = float(scipy.special.stdtrit(n - 1.0, 1.0 - alpha / 2.0)), effect * sqrt(n / variance)
    if n > _ENUMERATED:
        return float(scipy.special.ndtr(shift - quantile))
    return 1.0 - float(scipy.special.nctdtr(n - 1.0, shift, quantile))


def _smallest(power_at: PowerAt, effect: float, power: float) -> int:
    """Return the smallest number of items that reaches the power."""
    below, reached = 0, 1
    while power_at(reached, effect) < power:
        below, reached = reached, 2 * reached
        if reached > _MOST_ROWS:
            message = f"a difference of {effect:g} takes more than {_MOST_ROWS:.0e} rows: ask for a larger one"
            raise TooManyRowsError(message)
    while reached - below > 1:
        middle = (below + reached) // 2
        below, reached = (below, middle) if power_at(middle, effect) >= power else (middle, reached)
    return reached


def _root(function: Callable[[float], float], most: float) -> float:
    """Return where in (0, most] an increasing function reaches 0; infinity if it does not."""
    if function(most) < 0.0:
        return inf
    low, high = 0.0, most
    while high - low > max(_PRECISION * high, _NOTHING * most):
        middle = (low + high) / 2.0
        low, high = (low, middle) if function(middle) >= 0.0 else (middle, high)
    return high


def _check_difference(difference: float, width: float) -> float:
    if not (0.0 < abs(difference) <= width and isfinite(difference)):
        raise ValueError(f"difference = {difference}: expected one other than 0, within ±{width}")
    return abs(difference)


def _check_targets(power: float, confidence: float) -> None:
    check_confidence(confidence)
    if not 1.0 - confidence < power < 1.0:
        message = f"power = {power}: expected a number between 1 - confidence = {1.0 - confidence:g} and 1, such as 0.8"
        raise ValueError(message)
