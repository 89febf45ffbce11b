"""Sequential tests for scheduled runs: alpha spending over repeated looks, and an e-process for drift below a floor."""

from math import log, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from goldmeter.statistics.arrays import Bounds, FloatArray, check_bounds, check_scores
from goldmeter.statistics.clusters import Labels, numbered

# Σ 1/(m·ln² m) over m >= 2, rounded up.
_SERIES = 2.109743

# Stakes λ of the e-process, as shares of the largest λ that keeps it positive. The fastest-growing stake is about 2 %
# when a pass rate falls from 98 % to 96 %, 6 % from 85 % to 80 %, and close to 1 when scores hardly vary. A factor of
# 2 between neighbours costs at most a tenth of the best stake's growth. Small stakes detect slow drift and weigh more.
_STAKES = tuple(0.01 * 2.0**k for k in range(7))
_LOG_PRIOR = tuple(-0.5 * log(stake) - log(sum(1.0 / sqrt(s) for s in _STAKES)) for stake in _STAKES)


class DriftState(NamedTuple):
    """The e-process against "the mean is at least the floor", after some days; plain numbers, fit for JSON.

    `DriftState(*json.loads(json.dumps(state)))` restores it.

    Attributes:
        floor: In [0, 1]: 0 is the lower bound of the metric, 1 the upper.
        days: Number of days with rows.
        observations: Number of rows (of clusters, when the rows are clustered).
        log_wealth: Natural logarithm of the wealth of each stake.
        log_evidence: Natural logarithm of the e-process now.
        log_peak: Its largest value so far, at least 0.
    """

    floor: float
    days: int
    observations: int
    log_wealth: tuple[float, ...]
    log_evidence: float
    log_peak: float

    def alarm(self, alpha: float = 0.05) -> bool:
        """Return whether the e-process has ever reached 1/alpha.

        If the mean stays at the floor, that happens with probability alpha at most, however many days follow.
        An alarm stays on: after the drift is explained, start with a new state.

        Raises:
            ValueError: `alpha` is not strictly between 0 and 1.
        """
        _check_alpha(alpha)
        return self.log_peak >= -log(alpha)


def alpha_spending(t: int, alpha: float = 0.05) -> float:
    """Return the significance level of look t at the same rows, so that all looks together keep level alpha.

    It is alpha·w_t with w_t = 1/(2.109743·(t + 1)·ln²(t + 1)); these weights sum to at most 1.

    Args:
        t: Number of the look, from 1.
        alpha: Probability of any false alarm, in (0, 1).

    Raises:
        ValueError: t < 1, or `alpha` is not strictly between 0 and 1.

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
    """Update the e-process with a day of fresh rows; `alarm()` of the result may be checked after every day.

    Each row multiplies the wealth by 1 + λ·(floor - x), whose expectation is at most 1 while the mean is at least the
    floor. Several stakes λ are mixed. Every day t starts such a product with weight w_t of `alpha_spending`, so that
    late drift is detected too; one number per stake holds the sum of all of them.

    Args:
        state: The result of the day before; None on the first day.
        x: Shape (n,), float64, within `bounds`. A day without rows changes nothing.
        floor: The smallest acceptable mean, strictly between the bounds.
        clusters: Shape (n,), one label per row. Each cluster then counts as one observation, its mean, and the tested
            mean is that over clusters, not over rows.
        bounds: Lower and upper bound of the scores.

    Raises:
        ValueError: NaN, values outside the bounds, or a floor that is outside them or differs from the state's.

    Source: Waudby-Smith & Ramdas 2024 for the e-process; Shin, Ramdas & Rinaldo 2024 for the detector.

    >>> state = drift_detector(None, [0.0] * 4, floor=0.8)
    >>> state.alarm(), drift_detector(state, [0.0] * 2, floor=0.8).alarm()
    (False, True)
    """
    check_bounds(bounds)
    scores = np.asarray(x, dtype=np.float64)
    check_scores(scores, bounds)
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
    log_wealth = before.log_wealth or (-np.inf,) * len(_STAKES)
    wealth = np.logaddexp(log_wealth, log(_weight(before.days + 1))) + day
    weighted = wealth + _LOG_PRIOR
    largest = float(weighted.max())
    evidence = largest + log(float(np.exp(weighted - largest).sum()))
    return DriftState(
        floor=before.floor,
        days=before.days + 1,
        observations=before.observations + unit.size,
        log_wealth=tuple(wealth.tolist()),
        log_evidence=evidence,
        log_peak=max(before.log_peak, evidence),
    )


def _weight(t: int) -> float:
    if t < 1:
        raise ValueError(f"t = {t}: looks are counted from 1")
    return 1.0 / (_SERIES * (t + 1.0) * log(t + 1.0) ** 2)


def _cluster_means(unit: FloatArray, clusters: Labels) -> FloatArray:
    if len(clusters) != unit.size:
        raise ValueError(f"clusters has {len(clusters)} labels for {unit.size} rows: give one label per row")
    codes = numbered(clusters)  # `cluster_codes` refuses a single cluster; here it is one observation
    return np.minimum(np.bincount(codes, weights=unit) / np.bincount(codes), 1.0)


def _check_floor(state: DriftState | None, floor: float, share: float, bounds: Bounds) -> None:
    if not 0.0 < share < 1.0:
        raise ValueError(f"floor = {floor}: expected a number strictly between {bounds[0]} and {bounds[1]}")
    if state is None:
        return
    if state.floor != share:
        raise ValueError(f"floor = {floor}, but the state was built against another: begin with a new state, None")
    if len(state.log_wealth) not in {0, len(_STAKES)}:
        message = f"state.log_wealth has {len(state.log_wealth)} numbers, expected {len(_STAKES)}: begin with None"
        raise ValueError(message)


def _check_alpha(alpha: float) -> None:
    if not 0.0 < alpha < 1.0:
        raise ValueError(f"alpha = {alpha}: expected a number between 0 and 1, such as 0.05")
