"""What a comparison of two versions could have found, and how many rows it takes to find a difference."""

from collections.abc import Callable
from functools import lru_cache
from math import ceil, inf, isfinite, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import betainc, gammaln, nctdtr, ndtr, ndtri, stdtrit, xlog1py, xlogy

from tasks.statistics.clusters import Labels, cluster_codes
from tasks.statistics.estimate import Bounds, FloatArray, check_confidence
from tasks.statistics.paired import (
    PSEUDO_ITEMS,
    PSEUDO_SQUARES,
    Items,
    check_differences,
    check_width,
    items_of,
    wins_and_losses,
    worst_square,
)

# Above this many changed rows Connor's formula and the enumeration agree to 0.3 points of power.
_ENUMERATED = 1000

# Binomial counts beyond this many standard deviations from their mean are left out.
_DEVIATIONS = 9.0

# No data set is larger; a difference that needs more is not found.
_MOST_ROWS = 10**15

# A detectable difference is printed with two or three digits.
_PRECISION = 1e-5

# Where every difference would be found, this share of the largest one is.
_NOTHING = 1e-15

# In standard deviations: two rows find 99.9 % of so large a difference even at 99.99 % confidence.
_T_RANGE = 1e8


class TooManyRowsError(ValueError):
    """So small a difference takes more rows than anybody has."""


PowerAt = Callable[[int, float], float]


class _Spread(NamedTuple):
    """How items differ: in units of the width of the metric, or in its own when that is infinite.

    `binary`: rows win, lose or stay. `bounded`: the width is finite. `variance`: of the items' differences about
    their mean, and for binary rows their discordance.
    `size`: the usual size of a change. `worst`: the mean square of items that change by all they can.
    """

    binary: bool
    bounded: bool
    variance: float
    size: float
    worst: float


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
    """Return how many rows `paired_difference` needs to find a true difference, with that power.

    `difference`: not 0, its sign does not matter, in the units of the metric, as `sd`. Of these give one:
    `discordance`, the share of rows that win or lose, in [|difference| / width, 1], for rows that do nothing else;
    `sd`, the standard deviation of the row differences.
    `width`: upper - lower of the metric, which may be infinite. `design_effect`: the factor by which clusters
    inflate the variance of the mean, 1 + (rows per cluster - 1)·ICC for equal ones; with few clusters it takes more,
    which `rows_to_find` accounts for.

    Rows that win or lose are enumerated under the mid-p McNemar test while few change, for many it is Connor's
    formula; for others it is normal theory of the interval itself, its pseudo-items included.
    Raises: ValueError for arguments outside those ranges, or not exactly one of `discordance` and `sd`.
    Source: Connor 1987.

    >>> required_rows(0.05, discordance=0.1)  # by Connor's formula (1.96·√0.1 + 0.8416·√(0.1 - 0.05²))²/0.05² = 312
    305
    >>> required_rows(0.05, sd=0.3)  # (1.96 + 0.8416)²·0.3²/0.05² = 282.6, and the pseudo-items
    301
    """
    _check_targets(power, confidence)
    if not width > 0.0:
        message = f"width = {width}: expected upper - lower of the metric, above 0"
        raise ValueError(message)
    unit = width if isfinite(width) else 1.0
    effect = _check_difference(difference, width) / unit
    if not (isfinite(design_effect) and design_effect > 0.0):
        message = f"design_effect = {design_effect}: expected a number above 0, 1 for independent rows"
        raise ValueError(message)
    spread = _planned(effect, discordance, None if sd is None else sd / unit, bounded=isfinite(width))
    return ceil(_smallest(_power_at(spread, confidence), effect, power) * design_effect)


def rows_to_find(
    difference: float,
    d: npt.ArrayLike,
    clusters: Labels | None = None,
    bounds: Bounds = (0.0, 1.0),
    power: float = 0.8,
    confidence: float = 0.95,
) -> int:
    """Return how many rows such as these would find a true `difference` with that power.

    `d`, `clusters`, `bounds`: as of `paired_difference`. Clusters are taken to keep their mean size.

    Warns FewClusters below 10 clusters.
    Raises: ValueError as `paired_difference`, without rows, or for a difference that is 0 or beyond the bounds.

    >>> rows_to_find(0.05, [1.0] * 5 + [-1.0] * 5 + [0.0] * 90)  # discordance 0.1
    305
    """
    _check_targets(power, confidence)
    width = check_width(bounds)
    differences = check_differences(d, width)
    effect = _check_difference(difference, width) / (width if isfinite(width) else 1.0)
    if differences.size == 0:
        message = "d has no rows, which say nothing of the spread: use required_rows"
        raise ValueError(message)
    items = items_of(differences, clusters)
    spread = _observed(items, width)
    count = _smallest(_power_at(spread, confidence), effect, power)
    return ceil(count * differences.size / items.change.size)


def detectable_difference(
    d: npt.ArrayLike,
    clusters: Labels | None = None,
    bounds: Bounds = (0.0, 1.0),
    power: float = 0.8,
    confidence: float = 0.95,
) -> float:
    """Return the smallest true difference that these rows would have shown with that power.

    `d`, `clusters`, `bounds`: as of `paired_difference`. In the units of the metric, above 0.
    Infinite where none would have been found: no rows, or too few for any p value to reach 1 - confidence.

    Warns FewClusters below 10 clusters.
    Raises: ValueError as `paired_difference`.
    Source: Connor 1987.

    >>> round(detectable_difference([1.0] * 15 + [-1.0] * 15 + [0.0] * 270), 3)  # discordance 0.1, as above
    0.05
    """
    _check_targets(power, confidence)
    width = check_width(bounds)
    differences = check_differences(d, width)
    if differences.size == 0:
        return inf
    items = items_of(differences, clusters)
    spread = _observed(items, width)
    power_at, count = _power_at(spread, confidence), items.change.size
    if isfinite(width):
        return width * _root(lambda effect: power_at(count, effect) - power, 1.0)
    scale = sqrt(spread.variance) or 1.0
    return scale * _root(lambda effect: power_at(count, scale * effect) - power, _T_RANGE)


def detectable_corpus_difference(
    influence: npt.ArrayLike, clusters: Labels | None = None, power: float = 0.8, confidence: float = 0.95
) -> float:
    """Return the smallest true difference of corpus scores that `corpus_difference` would have shown with that power.

    `influence`: shape (n,), float64, as `corpus_influence` returns it. `clusters`: shape (n,), one label per row.
    Normal theory of the jackknife's error; infinite for fewer than two rows, no spread, or an undefined influence.

    Warns FewClusters below 10 clusters.
    Raises: ValueError for a power or confidence that is none, a single cluster.

    >>> round(detectable_corpus_difference([0.01, -0.01] * 50), 3)  # (1.984 + 0.842)·√(100·0.01²·100/99)
    0.284
    """
    _check_targets(power, confidence)
    rows = np.asarray(influence, dtype=np.float64)
    items = rows if clusters is None else np.bincount(cluster_codes(clusters, rows.size), weights=rows)
    count = items.size
    if count <= 1 or not np.isfinite(items).all():
        return inf
    error = sqrt(float(items @ items) * count / (count - 1.0)) or inf  # no spread tells nothing of it
    return error * (float(stdtrit(count - 1.0, (1.0 + confidence) / 2.0)) + float(ndtri(power)))


def _planned(effect: float, discordance: float | None, sd: float | None, *, bounded: bool) -> _Spread:
    if (discordance is None) == (sd is None):
        message = f"discordance = {discordance}, sd = {sd}: give one of them, and not both"
        raise ValueError(message)
    if discordance is None:
        if sd is None or not (isfinite(sd) and sd > 0.0):
            message = f"sd = {sd} of the width: expected a number above 0"
            raise ValueError(message)
        return _Spread(binary=False, bounded=bounded, variance=sd**2, size=0.0, worst=1.0)
    if not bounded or not effect <= discordance <= 1.0:
        message = f"discordance = {discordance}: expected a share from |difference| / width = {effect:g} to 1"
        raise ValueError(message)
    return _Spread(binary=True, bounded=True, variance=discordance, size=1.0, worst=1.0)


def _observed(items: Items, width: float) -> _Spread:
    bounded = isfinite(width)
    change = items.change / width if bounded else items.change
    counts = wins_and_losses(change) if bounded and items.share is None else None
    if counts is not None:
        return _Spread(binary=True, bounded=True, variance=sum(counts) / change.size, size=1.0, worst=1.0)
    centre = float(change.mean())
    rest = change - (centre if items.share is None else items.share * centre)
    variance = float(rest @ rest) / max(change.size - 1, 1)
    moved, worst = float(np.abs(change).sum()), worst_square(items)
    size = float(change @ change) / moved if moved > 0.0 else sqrt(worst)
    return _Spread(binary=False, bounded=bounded, variance=variance, size=size, worst=worst)


def _power_at(spread: _Spread, confidence: float) -> PowerAt:
    """Return the power as a function of the number of items and the difference: above 0, in units of the spread."""
    alpha = 1.0 - confidence
    if spread.binary:
        return lambda n, effect: _mcnemar_power(n, effect, max(spread.variance, effect), alpha)
    if spread.bounded:
        return lambda n, effect: _bounded_power(n, effect, spread, alpha)
    return lambda n, effect: _t_power(n, effect, spread.variance, alpha)


def _mcnemar_power(n: int, effect: float, discordance: float, alpha: float) -> float:
    """Return the chance that mid-p McNemar finds the true direction, when so many rows win or lose."""
    if n * discordance > _ENUMERATED:
        z = -float(ndtri(alpha / 2.0))
        rest = sqrt(discordance - effect**2) or 1e-300
        return float(ndtr((effect * sqrt(n) - z * sqrt(discordance)) / rest))
    reach = _DEVIATIONS * sqrt(n * discordance * (1.0 - discordance)) + _DEVIATIONS**2
    changed = np.arange(max(0, int(n * discordance - reach)), min(n, int(n * discordance + reach)) + 1)
    critical = _critical_wins(alpha)[changed]
    share = min((1.0 + effect / discordance) / 2.0, 1.0)
    found = np.where(
        critical <= changed, betainc(np.maximum(critical, 1), np.maximum(changed - critical, 0) + 1, share), 0.0
    )
    return float(_binomial(changed, n, discordance) @ found)


def _binomial(k: npt.NDArray[np.intp], n: int, p: float) -> FloatArray:
    log = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0) + xlogy(k, p) + xlog1py(n - k, -p)
    return np.asarray(np.exp(log), dtype=np.float64)


@lru_cache(maxsize=16)
def _critical_wins(alpha: float) -> npt.NDArray[np.intp]:
    """Return, for 0, 1, ... changed rows, the fewest wins of which the mid-p value is below alpha.

    One more than the changed rows where none is. By bisection of all at once.
    """
    reach = _DEVIATIONS * sqrt(_ENUMERATED) + _DEVIATIONS**2
    changed = np.arange(int(_ENUMERATED + reach) + 2)
    below, critical = (changed - 1) // 2, changed + 1
    while (critical - below > 1).any():
        middle = (below + critical) // 2
        wins = np.maximum(middle, 1)
        tail = betainc(wins, changed - wins + 1.0, 0.5) + np.where(
            middle < changed, betainc(wins + 1.0, np.maximum(changed - wins, 1), 0.5), 0.0
        )
        found = (tail < alpha) & (middle >= 1) & (middle <= changed)
        below, critical = np.where(found, below, middle), np.where(found, middle, critical)
    critical.setflags(write=False)
    return critical


def _bounded_power(n: int, effect: float, spread: _Spread, alpha: float) -> float:
    """Return the chance that the interval of `paired_difference` lies beyond 0, its own error at its mean."""
    total = n + PSEUDO_ITEMS
    # A difference is made of changes of the usual size, so that none can come without any spread.
    variance = max(spread.variance, effect * (spread.size - effect), 0.0)
    centre = n * effect / total
    squares = n * (variance + (effect - centre) ** 2) + PSEUDO_SQUARES * spread.worst + PSEUDO_ITEMS * centre**2
    excess = centre + float(ndtri(alpha / 2.0)) * sqrt(squares) / total
    error = sqrt(n * variance) / total
    if error == 0.0:
        return float(excess > 0.0)
    return float(ndtr(excess / error))


def _t_power(n: int, effect: float, variance: float, alpha: float) -> float:
    if n == 1:
        return 0.0
    if variance == 0.0:
        return float(effect > 0.0 and 2.0 ** (1.0 - n) < alpha)
    # Beyond these many the normal distribution is the same to 4 digits, where the noncentral t loses its own.
    quantile, shift = float(stdtrit(n - 1.0, 1.0 - alpha / 2.0)), effect * sqrt(n / variance)
    if n > _ENUMERATED:
        return float(ndtr(shift - quantile))
    return 1.0 - float(nctdtr(n - 1.0, shift, quantile))


def _smallest(power_at: PowerAt, effect: float, power: float) -> int:
    """Return the number of items that reaches the power, when one fewer does not."""
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


def _root(lacking: Callable[[float], float], most: float) -> float:
    """Return where in (0, most] an increasing function reaches 0, or infinity where it does not."""
    if lacking(most) < 0.0:
        return inf
    low, high = 0.0, most
    while high - low > max(_PRECISION * high, _NOTHING * most):
        middle = (low + high) / 2.0
        low, high = (low, middle) if lacking(middle) >= 0.0 else (middle, high)
    return high


def _check_difference(difference: float, width: float) -> float:
    if not (0.0 < abs(difference) <= width and isfinite(difference)):
        message = f"difference = {difference}: expected one other than 0, within ±{width}"
        raise ValueError(message)
    return abs(difference)


def _check_targets(power: float, confidence: float) -> None:
    check_confidence(confidence)
    if not 1.0 - confidence < power < 1.0:
        message = f"power = {power}: expected a number between 1 - confidence = {1.0 - confidence:g} and 1, such as 0.8"
        raise ValueError(message)
