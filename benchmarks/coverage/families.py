"""Several metrics on the same rows: false verdicts of the gate's family, and the power that max-T adds to Holm."""

from collections.abc import Callable, Iterator
from math import expm1, log1p, sqrt

import numpy as np
from scipy.special import ndtr

from benchmarks.coverage.cells import Cell, generator, share_error
from tasks.statistics.estimate import FloatArray
from tasks.statistics.multiplicity import holm, max_t
from tasks.statistics.paired import PairedDifference, paired_difference

TOPIC = "15 correlated metrics"
METRICS = 15
ALPHA = 0.05
CORRELATIONS = (0.0, 0.3, 0.6, 0.8, 0.95)
ROWS = 100
SPREAD = 0.3

Kind = Callable[[FloatArray], FloatArray]


def normals(rng: np.random.Generator, rows: int, correlation: float) -> FloatArray:
    """Return shape (rows, metrics): standard normal, each pair of columns with this correlation."""
    common = rng.standard_normal((rows, 1))
    return sqrt(correlation) * common + sqrt(1.0 - correlation) * rng.standard_normal((rows, METRICS))


def binary(latent: FloatArray) -> FloatArray:
    """Return rows that lose, stay or win: 15, 70 and 15 % of them."""
    edge = 1.0364333894937898  # 15 % of a normal lies beyond
    return (latent > edge).astype(np.float64) - (latent < -edge)


def continuous(latent: FloatArray) -> FloatArray:
    """Return differences of standard deviation 0.3, cut at ±1."""
    return np.clip(SPREAD * latent, -1.0, 1.0)


KINDS: dict[str, Kind] = {"binary": binary, "continuous": continuous}


def family(d: FloatArray) -> list[PairedDifference]:
    """Return each metric's difference on its own, shape (rows, metrics)."""
    return [paired_difference(column, confidence=1.0 - ALPHA) for column in d.T]


def changed(d: FloatArray, p_values: FloatArray) -> list[int]:
    """Return the metrics whose interval, at the family's critical value, excludes 0.

    That value lies between a single test's and Šidák's, so most draws are decided without it.
    """
    least = -expm1(log1p(-ALPHA) / METRICS)
    if not ((p_values < ALPHA) & (p_values >= least)).any():
        return [int(k) for k in np.flatnonzero(p_values < least)]
    local = 2.0 * float(ndtr(max_t(d - d.mean(axis=0), confidence=1.0 - ALPHA))) - 1.0
    found = {int(k): paired_difference(d[:, k], confidence=local) for k in np.flatnonzero(p_values < ALPHA)}
    return [k for k, one in found.items() if one.high < 0.0 or one.low > 0.0]


def false_verdicts(kind: str, correlation: float, draws: int, rows: int = ROWS) -> Cell:
    """Measure how often any of 15 unchanged metrics is called worse or better."""
    rng = generator("families", kind, correlation, rows)
    hits = 0
    for _ in range(draws):
        d = KINDS[kind](normals(rng, rows, correlation))
        hits += bool(changed(d, np.array([one.p_value for one in family(d)])))
    name = f"{kind}, ρ = {correlation}, n = {rows}"
    return Cell(TOPIC, name, "familywise error", "at most", 0.057, hits / draws, share_error(hits, draws), draws)


def power_over_holm(draws: int, rows: int = ROWS) -> Cell:
    """Measure how much more often than Holm's procedure the family finds one metric that changed by 3 SE at ρ = 0.8."""
    rng = generator("families", "power", rows)
    found = np.zeros((draws, 2))
    for draw in range(draws):
        d = continuous(normals(rng, rows, 0.8))
        d[:, 0] = np.clip(d[:, 0] + 3.0 * SPREAD / sqrt(rows), -1.0, 1.0)
        p_values = np.array([one.p_value for one in family(d)])
        found[draw] = 0 in changed(d, p_values), holm(p_values)[0] <= ALPHA
    ours, holms = found.mean(axis=0)
    ratio = float(ours / holms)
    error = float((found[:, 0] - ratio * found[:, 1]).std() / holms / sqrt(draws))
    name = f"one changed, ρ = 0.8, n = {rows} ({ours:.3f} to {holms:.3f})"
    return Cell(TOPIC, name, "power over Holm's", "at least", 1.2, ratio, error, draws)


def binary_errors_loose(draws: int) -> Iterator[Cell]:
    """Yield the familywise error of binary scores that share little."""
    for correlation in CORRELATIONS[:2]:
        yield false_verdicts("binary", correlation, draws)


def binary_errors_close(draws: int) -> Iterator[Cell]:
    """Yield the familywise error of binary scores that share much."""
    for correlation in CORRELATIONS[2:]:
        yield false_verdicts("binary", correlation, draws)


def continuous_errors(draws: int) -> Iterator[Cell]:
    """Yield the familywise error of continuous scores at every correlation."""
    for correlation in CORRELATIONS:
        yield false_verdicts("continuous", correlation, draws)


def power(draws: int) -> Iterator[Cell]:
    """Yield the power over Holm's."""
    yield power_over_holm(draws)


STUDIES: tuple[Callable[[int], Iterator[Cell]], ...] = (
    binary_errors_loose,
    binary_errors_close,
    continuous_errors,
    power,
)
