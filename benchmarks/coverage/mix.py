"""Rates and differences by the shares of strata: how often their intervals contain the truth."""

from collections.abc import Iterator, Sequence
from functools import cache, partial
from itertools import product

import numpy as np

from benchmarks.coverage.cells import Floats, Simulation, contains, contrast, covers
from tasks.statistics.arrays import IntArray
from tasks.statistics.mean import interval_of_moments
from tasks.statistics.mixed import Stratum, bounded_limits, mixed_mean
from tasks.statistics.moments import Moments
from tasks.statistics.paired import paired_difference

RATES, DIFFERENCES = "rate by a mix of strata", "difference by a mix of strata"
TARGET, PAIRED_TARGET = 0.94, 0.935
SHARES: dict[str, Sequence[float]] = {
    "halves": [0.5] * 2,
    ".9 and .1": [0.9, 0.1],
    ".99 and .01": [0.99, 0.01],
    "five alike": [0.2] * 5,
    "five, half in one": [0.5, 0.3, 0.1, 0.05, 0.05],
    "twenty alike": [0.05] * 20,
    "twenty, half in one": [0.5, 0.3, *[0.2 / 18] * 18],
}
SIZES = (4, 10, 50, 200)
LEVELS = (0.5, 0.8, 0.95, 0.99)
TOTAL = 300
"""Rows of designs whose strata have the rows of their shares, or those of each other's."""


def _rates(
    shares: Floats, sizes: IntArray, passing: Floats, rng: np.random.Generator, draws: int
) -> Iterator[tuple[bool, bool]]:
    """Our interval, and MOVER's alone as the contrast."""
    truth = float(shares @ passing)
    for counts in rng.binomial(sizes, passing, (draws, len(shares))):
        own, alone = _limits(shares, sizes, counts)
        yield own[0] <= truth <= own[1], alone[0] <= truth <= alone[1]


def _designs(shares: Floats) -> dict[str, IntArray]:
    equal = {f"n = {n}": np.full(len(shares), n) for n in SIZES}
    ours = np.maximum((TOTAL * shares).round().astype(np.intp), 2)
    return equal | {"rows of the shares": ours, "rows against the shares": ours[::-1]}


def _levels(count: int) -> dict[str, Floats]:
    spread = np.linspace(0.55, 0.99, count)
    return {f"{p:g}": np.full(count, p) for p in LEVELS} | {".55 to .99": spread, ".99 to .55": spread[::-1]}


@cache
def _interval(n: int, k: int) -> tuple[float, float, float]:
    found = interval_of_moments(Moments.of_passes(n, k))
    return found.value, found.low, found.high


def _limits(shares: Floats, sizes: IntArray, counts: IntArray) -> tuple[tuple[float, float], tuple[float, float]]:
    strata = [
        Stratum(share, *_interval(n, k), n)
        for share, n, k in zip(shares.tolist(), sizes.tolist(), counts.tolist(), strict=True)
    ]
    mean = mixed_mean(strata)
    passing = counts / sizes
    errors = shares * np.sqrt(passing * (1.0 - passing) / (sizes - 1))
    low, high = bounded_limits(mean, errors, float((shares / sizes).max()), (0.0, 1.0), 0.95)
    return (min(low, mean.low), max(high, mean.high)), (mean.low, mean.high)


def _differences(
    name: str, n: int, lost: float, gained: float, rng: np.random.Generator, draws: int
) -> Iterator[tuple[bool]]:
    """MOVER over the paired intervals of strata; rows that one side alone is right about are rare or common."""
    shares = SHARES[name]
    for counts in rng.multinomial(n, [lost, gained, 1.0 - lost - gained], (draws, len(shares))).tolist():
        strata = [Stratum(share, *_difference(*moves), n) for share, moves in zip(shares, counts, strict=True)]
        yield (contains(mixed_mean(strata), gained - lost),)


@cache
def _difference(lost: int, gained: int, same: int) -> tuple[float, float, float]:
    found = paired_difference(np.repeat([-1.0, 1.0, 0.0], [lost, gained, same]))
    return found.value, found.low, found.high


def studies() -> Iterator[Simulation]:
    """Every mix: rates, then differences."""
    for name, shares in SHARES.items():
        for (design, sizes), (level, passing) in product(
            _designs(np.array(shares)).items(), _levels(len(shares)).items()
        ):
            cell, seed = f"{name}, {design}, p = {level}", (RATES, name, design, level)
            outcomes = partial(_rates, np.array(shares), sizes, passing)
            yield Simulation(RATES, cell, seed, outcomes, (covers(TARGET), contrast("MOVER")))
    moves = ((0.02, 0.0), (0.02, 0.02), (0.1, 0.02), (0.3, 0.2))
    for case in product(SHARES, (10, 50, 200), moves):
        yield _difference_by(*case)


def _difference_by(name: str, n: int, moves: tuple[float, float]) -> Simulation:
    cell = f"{name}, n = {n}, -{moves[0]:g} +{moves[1]:g}"
    outcomes = partial(_differences, name, n, *moves)
    return Simulation(DIFFERENCES, cell, (DIFFERENCES, name, n, *moves), outcomes, (covers(PAIRED_TARGET),))
