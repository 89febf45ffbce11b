"""The decisions of the gate: false verdicts of a family of metrics, planned power, and alarms of scheduled runs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product, starmap
from math import expm1, log1p, sqrt

import numpy as np
from scipy.special import ndtr
from scipy.stats import binom

from benchmarks.coverage import cells
from benchmarks.coverage.arrays import detectable_difference, max_t
from benchmarks.coverage.cells import Cell, Floats, Measure, Outcomes, Rng, Simulation, Study, each
from goldmeter.statistics.clusters import Codes
from goldmeter.statistics.paired import PairedDifference, mcnemar_midp, paired_difference
from goldmeter.statistics.power import required_rows
from goldmeter.statistics.sequential import alpha_spending, drift_detector

FAMILY, POWER = "15 correlated metrics", "power planning"
LOOKS, FRESH = "90 daily looks, same rows", "100 fresh rows a day, floor .85"
ALPHA = 0.05
ROWS = 100
"""Of each metric of a family, and of each day."""

# Several metrics on the same rows: the power that max-T adds to Holm

METRICS = 15
SPREAD = 0.3


def normals(rng: Rng, correlation: float) -> Floats:
    """Return shape (rows, metrics): standard normal, each pair of columns with this correlation."""
    common = rng.standard_normal((ROWS, 1))
    return sqrt(correlation) * common + sqrt(1.0 - correlation) * rng.standard_normal((ROWS, METRICS))


def binary(latent: Floats) -> Floats:
    """Return rows that lose, stay or win: 15, 70 and 15 % of them."""
    edge = 1.0364333894937898  # 15 % of a normal lies beyond
    return (latent > edge).astype(np.float64) - (latent < -edge)


def continuous(latent: Floats) -> Floats:
    """Return differences of standard deviation 0.3, cut at ±1."""
    return np.clip(SPREAD * latent, -1.0, 1.0)


KINDS: dict[str, Callable[[Floats], Floats]] = {"binary": binary, "continuous": continuous}


def p_values_of(d: Floats) -> Floats:
    """Return each metric's p-value on its own, shape (metrics,); d: shape (rows, metrics)."""
    return np.array([paired_difference(column, confidence=1.0 - ALPHA).p_value for column in d.T])


def changed(d: Floats, p_values: Floats) -> list[int]:
    """Return the metrics whose interval, at the family's critical value, excludes 0.

    That value lies between a single test's and Šidák's, so most draws are decided without it.
    """
    least = -expm1(log1p(-ALPHA) / METRICS)
    if not ((p_values < ALPHA) & (p_values >= least)).any():
        return [int(k) for k in np.flatnonzero(p_values < least)]
    local = 2.0 * float(ndtr(max_t(d - d.mean(axis=0), confidence=1.0 - ALPHA))) - 1.0
    found = {int(k): paired_difference(d[:, k], confidence=local) for k in np.flatnonzero(p_values < ALPHA)}
    return [k for k, one in found.items() if one.high < 0.0 or one.low > 0.0]


def false_verdicts(kind: str, correlation: float) -> Simulation:
    """Measure how often any of 15 unchanged metrics is called worse or better."""

    def draw(rng: Rng) -> bool:
        d = KINDS[kind](normals(rng, correlation))
        return bool(changed(d, p_values_of(d)))

    name, seed = f"{kind}, ρ = {correlation}, n = {ROWS}", ("families", kind, correlation, ROWS)
    return Simulation(FAMILY, name, seed, each(draw), (cells.alarms(0.057, "familywise error"),))


def rejected_by_holm(p_values: Floats) -> set[int]:
    """The tests that Holm's procedure (1979) rejects."""
    order = np.argsort(p_values)
    kept = p_values[order] > ALPHA / np.arange(len(order), 0, -1)
    return {*order[: int(np.argmax(kept)) if kept.any() else len(order)].tolist()}


def power_over_holm(draws: int) -> Iterator[Cell]:
    """Measure how much more often than Holm's procedure the family finds one metric that changed by 3 SE at ρ = 0.8."""
    rng = cells.generator("families", "power", ROWS)
    found = np.zeros((draws, 2))
    for draw in range(draws):
        d = continuous(normals(rng, 0.8))
        d[:, 0] = np.clip(d[:, 0] + 3.0 * SPREAD / sqrt(ROWS), -1.0, 1.0)
        p_values = p_values_of(d)
        found[draw] = 0 in changed(d, p_values), 0 in rejected_by_holm(p_values)
    ours, holms = found.mean(axis=0)
    name = f"one changed, ρ = 0.8, n = {ROWS} ({ours:.3f} to {holms:.3f})"
    yield Measure("power over Holm's", "at least", 1.2).cell(FAMILY, name, *cells.mean_ratio(found), draws)


def families() -> Iterator[Study]:
    """The familywise error, and the power."""
    yield from starmap(false_verdicts, product(KINDS, (0.0, 0.3, 0.6, 0.8, 0.95)))
    yield power_over_holm


# Planned power: whether the rows that were asked for find the difference as often as promised

PROMISED = Measure("power", "at least", 0.79), Measure("power", "at most", 0.83)
# Difference and discordance; below about 30 rows a step of one row can miss the band.
BINARY_DESIGNS = ((0.03, 0.05), (0.03, 0.2), (0.05, 0.05), (0.05, 0.1), (0.05, 0.4), (0.1, 0.1), (0.1, 0.3), (0.2, 0.4))


def binary_power(_draws: int) -> Iterator[Cell]:
    """Power of mid-p McNemar at the rows asked for, exactly; also at a confidence corrected for 15 metrics."""
    for confidence, (difference, discordance) in product((0.95, 0.9973), BINARY_DESIGNS):
        n = required_rows(difference, discordance=discordance, confidence=confidence)
        power = mcnemar_power(n, difference, discordance, 1.0 - confidence)
        design = f"difference {difference}, discordance {discordance}, confidence {confidence}, n = {n}"
        yield from (measure.cell(POWER, design, power) for measure in PROMISED)


def binary_detectable(_draws: int) -> Iterator[Cell]:
    """Power at the difference that was said to be detectable, exactly."""
    for n, flips in ((50, 10), (100, 10), (300, 30), (300, 120), (1000, 20)):
        difference = detectable_difference(np.repeat([1.0, -1.0, 0.0], [flips // 2, flips // 2, n - flips]))
        power = mcnemar_power(n, difference, max(flips / n, difference), 0.05)
        yield from (measure.cell(POWER, f"detectable: {flips} of {n} rows changed", power) for measure in PROMISED)


def mcnemar_power(n: int, difference: float, discordance: float, alpha: float) -> float:
    """The chance that mid-p McNemar rejects on the true side: written out, over every number of changed rows."""
    chances = binom.pmf(np.arange(n + 1), n, discordance)
    share = (1.0 + difference / discordance) / 2.0
    kept = np.flatnonzero(chances > 1e-9)  # noqa: PLR2004 (what is left out cannot show)
    return float(sum(chances[m] * binom.sf(_fewest_wins(int(m), alpha) - 1, m, share) for m in kept))


def _fewest_wins(flips: int, alpha: float) -> int:
    wins = flips + 1
    while 2 * (wins - 1) > flips and mcnemar_midp(wins - 1, flips - wins + 1) < alpha:
        wins -= 1
    return wins


def planned(name: str, seed: tuple[object, ...], differences: Outcomes) -> Simulation:
    """How often the interval lies above 0."""

    def outcomes(rng: Rng, draws: int) -> Iterator[tuple[bool, bool]]:
        return ((one.low > 0.0, one.low > 0.0) for one in differences(rng, draws))

    return Simulation(POWER, name, (POWER, *seed), outcomes, PROMISED)


def bounded(difference: float, sd: float) -> Simulation:
    """Differences that are cut at ±1."""
    n = required_rows(difference, sd=sd)
    draws = each(lambda rng: paired_difference(np.clip(rng.normal(difference, sd, n), -1.0, 1.0)))
    return planned(f"difference {difference}, sd {sd}, n = {n}", (difference, sd), draws)


def unbounded(difference: float, sd: float) -> Simulation:
    """Differences that are not, such as of seconds."""
    n = required_rows(difference, sd=sd, width=np.inf)
    draws = each(lambda rng: paired_difference(rng.normal(difference, sd, n), bounds=(0.0, np.inf)))
    return planned(f"unbounded, difference {difference}, sd {sd}, n = {n}", ("unbounded", difference, sd), draws)


def in_clusters(difference: float) -> Simulation:
    """Verdicts in clusters of 6 rows, as many as a pilot study of the same draws asks for."""

    def outcomes(rng: Rng, draws: int) -> Iterator[PairedDifference]:
        groups = _pilot(difference, rng)
        return (paired_difference(*_conversations(rng, groups, difference)) for _ in range(draws))

    groups = _pilot(difference, cells.generator(POWER, "clustered", difference))
    name = f"clusters of 6, difference {difference}, G = {groups}"
    return planned(name, ("clustered", difference), outcomes)


def _pilot(difference: float, rng: Rng) -> int:
    """The clusters of 6 rows that a large pilot study asks for."""
    d, _ = _conversations(rng, 3000, 0.0)
    return required_rows(difference, sd=float(d.reshape(-1, 6).mean(axis=1).std()))


def _conversations(rng: Rng, groups: int, gain: float) -> tuple[Floats, Codes]:
    codes = np.repeat(np.arange(groups), 6)
    rates = (rng.beta(0.8 * p, 0.8 * (1.0 - p), groups)[codes] for p in (0.7, 0.7 + gain))
    base, head = (rng.random(codes.size) < rate for rate in rates)
    return head.astype(np.float64) - base, codes


def power() -> Iterator[Study]:
    """Exactly, and in simulation of bounded, unbounded and clustered rows."""
    yield from (binary_power, binary_detectable)
    yield from starmap(bounded, ((0.01, 0.05), (0.03, 0.05), (0.05, 0.2), (0.05, 0.3), (0.1, 0.2)))
    yield from starmap(unbounded, ((30.0, 100.0), (5.0, 10.0)))
    yield from map(in_clusters, (0.05, 0.1))


# Scheduled runs: false alarms of 90 daily looks, and how soon a drop of fresh rows is found

DAYS = 90
FLOOR = 0.85
EARLY = (0, {7: 0.50, 14: 0.90, 30: 0.99})
LATE = (30, {14: 0.55, 30: 0.99})
"""Good days before a drop, and how often it is to be found within how many days."""


def false_alarm(nights: Floats, level: Callable[[int], float]) -> bool:
    """Return whether any night is called worse; `nights`: shape (days, rows), differences to the baseline."""
    return any(
        paired_difference(d, confidence=1.0 - level(night)).high < 0.0
        for night, d in enumerate(nights, 1)
        if d.sum() < 0.0
    )


def binary_nights(rng: Rng) -> Floats:
    """Return 90 new versions as good as the baseline, whose rows differ in difficulty."""
    rate = rng.beta(8.0, 2.0, ROWS)
    right: Floats = (rng.random((DAYS + 1, ROWS)) < rate).astype(np.float64)
    return np.asarray(right[1:] - right[0])


def persistent_nights(rng: Rng) -> Floats:
    """Return 90 nights on which a score keeps 0.9 of its last deviation."""
    step = 0.25 * rng.standard_normal((DAYS + 1, ROWS))
    deviation = step.copy()
    for night in range(1, DAYS + 1):
        deviation[night] = 0.9 * deviation[night - 1] + np.sqrt(1.0 - 0.9**2) * step[night]
    return np.asarray(np.clip(deviation[1:] - deviation[0], -1.0, 1.0))


NIGHTS = {"binary": binary_nights, "persistent": persistent_nights}


def looks(kind: str, level: Callable[[int], float] = alpha_spending) -> Simulation:
    """Measure how often 90 unchanged nights raise an alarm."""
    outcomes = each(lambda rng: false_alarm(NIGHTS[kind](rng), level))
    return Simulation(LOOKS, kind, ("looks", kind), outcomes, (cells.alarms(0.05, "false alarms"),))


def _alarm_day(rates: Sequence[float], scores: str, rng: Rng) -> float:
    """The day of the first alarm, infinite when there is none."""
    state = None
    for day, rate in enumerate(rates, 1):
        rows = (rng.random(ROWS) < rate).astype(float) if scores == "binary" else rng.beta(9 * rate, 9 - 9 * rate, ROWS)
        state = drift_detector(state, rows, FLOOR)
        if state.alarm():
            return float(day)
    return float("inf")


def no_drift(scores: str) -> Simulation:
    """Measure false alarms while the mean stays at the floor."""
    rates = [FLOOR] * DAYS
    outcomes = each(lambda rng: _alarm_day(rates, scores, rng) < np.inf)
    measures = (cells.alarms(0.05, "false alarms"),)
    return Simulation(FRESH, f"{scores}, stays", ("drift", scores, *rates), outcomes, measures)


def drop(good_days: int, targets: Mapping[int, float]) -> Simulation:
    """Measure how often a drop to 0.80, after days at 0.87, is found within some days; targets: days → how often."""
    rates = [0.87] * good_days + [0.80] * max(targets)

    def draw(rng: Rng) -> tuple[bool, ...]:
        day = _alarm_day(rates, "binary", rng)
        return tuple(0.0 < day - good_days <= days for days in targets)

    name = f"drop after {good_days} days, within "
    measures = tuple(Measure("found", "at least", target, name=f"{name}{within}") for within, target in targets.items())
    return Simulation(FRESH, name, ("drift", "binary", *rates), each(draw), measures)


def sequential() -> Iterator[Simulation]:
    """Looks at the same rows, and fresh rows without and with a drop."""
    yield from map(looks, NIGHTS)
    yield from map(no_drift, ("binary", "continuous"))
    yield from (drop(*EARLY), drop(*LATE))
