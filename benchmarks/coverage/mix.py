"""Rates and differences by the shares of strata: how often their intervals contain the truth."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import product, starmap

import numpy as np

from benchmarks.coverage.cells import Floats, Rng, Simulation, contains, covers, each
from tasks.scores.sums import summed
from tasks.statistics.arrays import IntArray
from tasks.statistics.moments import Moments
from tasks.statistics.weighted import WeightedSums, difference_limits, weighted_mean

RATES, DIFFERENCES = "rate by a mix of strata", "difference by a mix of strata"
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


def rate(name: str, design: str, level: str) -> Simulation:
    """The interval of the weighted mean, the rows of each stratum weighing its share together."""
    shares = np.array(SHARES[name])
    sizes, passing = _designs(shares)[design], _levels(len(shares))[level]
    truth, weights = float(shares @ passing), (shares / sizes).tolist()

    def draw(rng: Rng) -> bool:
        counts = rng.binomial(sizes, passing).tolist()
        return contains(weighted_mean(_mixed(map(_verdicts, sizes.tolist(), counts), weights)), truth)

    cell = f"{name}, {design}, p = {level}"
    return Simulation(RATES, cell, (RATES, name, design, level), each(draw), (covers(0.94),))


def _designs(shares: Floats) -> dict[str, IntArray]:
    equal = {f"n = {n}": np.full(len(shares), n) for n in SIZES}
    ours = np.maximum((TOTAL * shares).round().astype(np.intp), 2)
    return equal | {"rows of the shares": ours, "rows against the shares": ours[::-1]}


def _levels(count: int) -> dict[str, Floats]:
    spread = np.linspace(0.55, 0.99, count)
    return {f"{p:g}": np.full(count, p) for p in LEVELS} | {".55 to .99": spread, ".99 to .55": spread[::-1]}


@cache
def _verdicts(n: int, k: int) -> WeightedSums:
    return WeightedSums.of_equal(Moments.of_passes(n, k), (0.0, 1.0))


def _mixed(strata: Iterable[WeightedSums], weights: Sequence[float]) -> WeightedSums:
    return summed(sums.times(weight) for sums, weight in zip(strata, weights, strict=True))


def difference(name: str, n: int, moves: tuple[float, float]) -> Simulation:
    """The interval of the weighted difference; rows that one side alone is right about are rare or common."""
    lost, gained = moves
    weights = [share / n for share in SHARES[name]]

    def draw(rng: Rng) -> bool:
        counts = rng.multinomial(n, [lost, gained, 1.0 - lost - gained], len(weights)).tolist()
        low, high = difference_limits(_mixed(starmap(_moves, counts), weights))
        return low <= gained - lost <= high

    cell = f"{name}, n = {n}, -{lost:g} +{gained:g}"
    return Simulation(DIFFERENCES, cell, (DIFFERENCES, name, n, *moves), each(draw), (covers(0.935),))


@cache
def _moves(lost: int, gained: int, same: int) -> WeightedSums:
    return WeightedSums.of(np.repeat([-1.0, 1.0, 0.0], [lost, gained, same]), np.ones(lost + gained + same))


def studies() -> Iterator[Simulation]:
    """Every mix: rates, then differences."""
    for name, shares in SHARES.items():
        yield from starmap(rate, product([name], _designs(np.array(shares)), _levels(len(shares))))
    moves = ((0.02, 0.0), (0.02, 0.02), (0.1, 0.02), (0.3, 0.2))
    yield from starmap(difference, product(SHARES, (10, 50, 200), moves))
