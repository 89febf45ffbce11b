"""Scheduled runs: the level of each look at the same rows, and the drift of fresh rows below a floor."""

from math import log, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tasks.statistics.clusters import Labels, numbered
from tasks.statistics.estimate import Bounds, FloatArray, check_bounds, check_scores

# Σ 1/(m·ln² m) over m >= 2, rounded up.
_SERIES = 2.109743

# Stakes, as shares of the largest that can't go bankrupt: the best one is about 2 % for a pass rate that falls
# from 98 % to 96 %, 6 % from 85 % to 80 %, and most of it where scores hardly vary. A factor of 2 between
# neighbours costs at most a tenth of the best one's growth. The small ones, which slow drift asks for, weigh more.
_STAKES = tuple(0.01 * 2.0**k for k in range(7))
_LOG_PRIOR = tuple(-0.5 * log(stake) - log(sum(1.0 / sqrt(s) for s in _STAKES)) for stake in _STAKES)


class DriftState(NamedTuple):
    """What fresh rows have said so far against "the mean is at least the floor"; plain numbers, fit for JSON.

    `floor`: in [0, 1], as a share of the way between the bounds. `days` and `bets`: how many were seen.
    `log_wealth`: one number per stake. `log_evidence`: ln of the evidence now; `log_peak`: its largest, 0 at least.
    `DriftState(*json.loads(json.dumps(state)))` goes on where it stopped.
    """

    floor: float
    days: int
    bets: int
    log_wealth: tuple[float, ...]
    log_evidence: float
    log_peak: float

    def alarm(self, alpha: float = 0.05) -> bool:
        """Return whether the evidence has ever reached 1/alpha: with the mean at the floor, in a share alpha at most.

        It stays raised: once the drift is understood, begin with a new state.

        Raises: ValueError unless alpha lies strictly between 0 and 1.
        """
        _check_alpha(alpha)
        return self.log_peak >= -log(alpha)


def alpha_spending(t: int, alpha: float = 0.05) -> float:
    """Return the level of look t = 1, 2, …: however many follow, a false alarm has probability alpha at most.

    It is alpha·w_t, w_t = 1/(2.109743·(t + 1)·ln²(t + 1)), which sum to 1 at most.

    Raises: ValueError for t < 1, or unless alpha lies strictly between 0 and 1.
    Source: Lan & DeMets 1983; Shin, Ramdas & Rinaldo 2024 for the weights.

    >>> [round(alpha_spending(t), 5) for t in (1, 2, 30)]
    [0.02466, 0.00655, 6e-05]
    """
    _check_alpha(alpha)
    return alpha * _weight(t)


def drift_detector(
    state: DriftState | None,
    x: npt.ArrayLike,
    floor: float,
    clusters: Labels | None = None,
    bounds: Bounds = (0.0, 1.0),
) -> DriftState:
    """Return the state after a day of fresh rows; its `alarm()` may be asked after every day, for years.

    `state`: what the day before returned, None on the first. `x`: shape (n,), float64, within `bounds`; a day
    without rows changes nothing. `floor`: strictly between the bounds.
    `clusters`: shape (n,), one label per row. The rows of a cluster are then one bet, on their mean: it is the mean
    over clusters, not over rows, that is held against the floor.
    Each row is a bet that pays when it falls below the floor and loses on average when the mean is at least the
    floor: Π(1 + λ·(floor - x)) grows only by luck. Several stakes λ are mixed, and every day t opens such a product
    with weight w_t, those of `alpha_spending`, the first day's holding half. All are kept in one number per stake.

    Raises: ValueError for NaN, values outside the bounds, a floor that is not inside them or not the state's.
    Source: Waudby-Smith & Ramdas 2024 for the bets; Shin, Ramdas & Rinaldo 2024 for the detector.

    >>> state = drift_detector(None, [0.0] * 4, floor=0.8)
    >>> state.alarm(), drift_detector(state, [0.0] * 2, floor=0.8).alarm()
    (False, True)
    """
    check_bounds(bounds)
    scores = _scores(x, bounds)
    share = (floor - bounds[0]) / (bounds[1] - bounds[0])
    _check_floor(state, floor, share, bounds)
    before = state or DriftState(share, 0, 0, (), 0.0, 0.0)
    if scores.size == 0:
        return before
    unit = (scores - bounds[0]) / (bounds[1] - bounds[0])
    return _after(before, unit if clusters is None else _cluster_means(unit, clusters))


def _after(before: DriftState, unit: FloatArray) -> DriftState:
    gain = (before.floor - unit) / (1.0 - before.floor)
    day = np.log1p(np.multiply.outer(_STAKES, gain)).sum(axis=1)
    held = before.log_wealth or (-np.inf,) * len(_STAKES)
    wealth = np.logaddexp(held, log(_weight(before.days + 1))) + day
    weighed = wealth + _LOG_PRIOR
    largest = float(weighed.max())
    evidence = largest + log(float(np.exp(weighed - largest).sum()))
    peak = max(before.log_peak, evidence)
    return DriftState(before.floor, before.days + 1, before.bets + unit.size, tuple(wealth.tolist()), evidence, peak)


def _weight(t: int) -> float:
    if t < 1:
        message = f"t = {t}: looks are counted from 1"
        raise ValueError(message)
    return 1.0 / (_SERIES * (t + 1.0) * log(t + 1.0) ** 2)


def _cluster_means(unit: FloatArray, clusters: Labels) -> FloatArray:
    if len(clusters) != unit.size:
        message = f"clusters has {len(clusters)} labels for {unit.size} rows: give one label per row"
        raise ValueError(message)
    codes = numbered(clusters)  # a day of a single cluster, which `cluster_codes` refuses, is one fair bet
    return np.minimum(np.bincount(codes, weights=unit) / np.bincount(codes), 1.0)


def _scores(x: npt.ArrayLike, bounds: Bounds) -> FloatArray:
    scores = np.asarray(x, dtype=np.float64)
    check_scores(scores, bounds)
    return scores


def _check_floor(state: DriftState | None, floor: float, share: float, bounds: Bounds) -> None:
    if not 0.0 < share < 1.0:
        message = f"floor = {floor}: expected a number strictly between {bounds[0]} and {bounds[1]}"
        raise ValueError(message)
    if state is None:
        return
    if state.floor != share:
        message = f"floor = {floor}, but the state was built against another: begin with a new state, None"
        raise ValueError(message)
    if len(state.log_wealth) not in {0, len(_STAKES)}:
        message = f"state.log_wealth has {len(state.log_wealth)} numbers, expected {len(_STAKES)}: begin with None"
        raise ValueError(message)


def _check_alpha(alpha: float) -> None:
    if not 0.0 < alpha < 1.0:
        message = f"alpha = {alpha}: expected a number between 0 and 1, such as 0.05"
        raise ValueError(message)
