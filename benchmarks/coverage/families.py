"""Several metrics on the same rows: false verdicts of the gate's family, and the power that max-T adds to Holm."""

from collections.abc import Callable, Iterator
from functools import partial
from math import expm1, log1p, sqrt

import numpy as np
from scipy.special import ndtr

from benchmarks.coverage.cells import Cell, Floats, alarmed, generator, mean_ratio
from tasks.statistics.multiplicity import holm, max_t
from tasks.statistics.paired import PairedDifference, paired_difference

TOPIC = "15 correlated metrics"
METRICS = 15
ALPHA = 0.05
CORRELATIONS = (0.0, 0.3, 0.6, 0.8, 0.95)
ROWS = 100
SPREAD = 0.3

Kind = Callable[[Floats], Floats]


def normals(rng: np.random.Generator, correlation: float) -> Floats:
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


KINDS: dict[str, Kind] = {"binary": binary, "continuous": continuous}


def family(d: Floats) -> list[PairedDifference]:
    """Return each metric's difference on its own, shape (rows, metrics)."""
    return [paired_difference(column, confidence=1.0 - ALPHA) for column in d.T]


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


def false_verdicts(kind: str, correlation: float, draws: int) -> Cell:
    """Measure how often any of 15 unchanged metrics is called worse or better."""
    rng = generator("families", kind, correlation, ROWS)
    hits = 0
    for _ in range(draws):
        d = KINDS[kind](normals(rng, correlation))
        hits += bool(changed(d, np.array([one.p_value for one in family(d)])))
    return alarmed(TOPIC, f"{kind}, ρ = {correlation}, n = {ROWS}", "familywise error", 0.057, hits, draws)


def power_over_holm(draws: int) -> Cell:
    """Measure how much more often than Holm's procedure the family finds one metric that changed by 3 SE at ρ = 0.8."""
    rng = generator("families", "power", ROWS)
    found = np.zeros((draws, 2))
    for draw in range(draws):
        d = continuous(normals(rng, 0.8))
        d[:, 0] = np.clip(d[:, 0] + 3.0 * SPREAD / sqrt(ROWS), -1.0, 1.0)
        p_values = np.array([one.p_value for one in family(d)])
        found[draw] = 0 in changed(d, p_values), holm(p_values)[0] <= ALPHA
    ours, holms = found.mean(axis=0)
    ratio, error = mean_ratio(*found.T)
    name = f"one changed, ρ = 0.8, n = {ROWS} ({ours:.3f} to {holms:.3f})"
    return Cell(TOPIC, name, "power over Holm's", "at least", 1.2, ratio, error, draws)


def errors(kind: str, correlations: tuple[float, ...], draws: int) -> Iterator[Cell]:
    """Yield the familywise error at some correlations."""
    for correlation in correlations:
        yield false_verdicts(kind, correlation, draws)


def power(draws: int) -> Iterator[Cell]:
    """Yield the power over Holm's."""
    yield power_over_holm(draws)


STUDIES: tuple[Callable[[int], Iterator[Cell]], ...] = (
    partial(errors, "binary", CORRELATIONS[:2]),
    partial(errors, "binary", CORRELATIONS[2:]),
    partial(errors, "continuous", CORRELATIONS),
    power,
)
