"""Rates and differences of rows that count by weights: how often their intervals contain the truth."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import product, starmap
from math import exp

import numpy as np

from benchmarks.coverage.cells import Floats, Rng, Simulation, beta_rates, contains, contrast, covers, each
from goldmeter.estimates.sums import summed
from goldmeter.statistics.arrays import IntArray
from goldmeter.statistics.moments import Moments
from goldmeter.statistics.weighted import WeightedSums, difference_limits, weighted_mean
from goldmeter.statistics.wilson import score_interval

RATES, CLUSTERED, DIFFERENCES = "weighted rate", "weighted rate of clusters", "weighted difference"
TARGET = covers(0.94)
SIGMAS = (0.5, 1.0, 1.5)
"""Of lognormal weights: with 1.5, 1,000 rows are worth 105."""
SIZES = (50, 200, 1_000)
LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)
TOWARDS = {"": 0.0, ", heavy rows fail": 1.0, ", heavy rows pass": -1.0}
"""Logarithm, in sigmas, by which the weights of failing rows are larger."""
CLUSTER_ROWS = 5
MOVES = ((0.02, 0.0), (0.02, 0.02), (0.1, 0.02), (0.3, 0.2))
"""Shares of rows that one version alone is right about."""


def rate(sigma: float, n: int, level: float, which: str) -> Simulation:
    """Independent rows; the contrast is Wilson's interval with Kish's number of rows."""
    towards = TOWARDS[which]
    truth = level / (level + (1.0 - level) * exp(towards * sigma))  # failing rows have larger weights

    def draw(rng: Rng) -> tuple[bool, bool]:
        passed = rng.random(n) < level
        sums = WeightedSums.of(passed.astype(np.float64), _weights(rng, sigma, towards, ~passed))
        low, high = score_interval(sums.value, sums.n_eff)
        return contains(weighted_mean(sums), truth), low <= truth <= high

    name, seed = f"sigma = {sigma:g}, n = {n}, p = {level:g}{which}", (RATES, sigma, n, level, towards)
    return Simulation(RATES, name, seed, each(draw), (TARGET, contrast("Wilson with Kish's n")))


def clustered(sigma: float, clusters: int, level: float, icc: float, of: str) -> Simulation:
    """Rows of clusters that have a rate of their own; weights of rows, or of clusters."""
    codes = np.repeat(np.arange(clusters), CLUSTER_ROWS)

    def draw(rng: Rng) -> bool:
        own = beta_rates(rng, level, icc, clusters)
        passed = rng.random(len(codes)) < own[codes]
        weights = _weights(rng, sigma, 0.0, passed)
        rows = weights[codes] if of == "clusters" else weights
        return contains(weighted_mean(WeightedSums.of(passed.astype(np.float64), rows, codes)), level)

    name = f"sigma = {sigma:g} of {of}, {clusters} clusters, p = {level:g}, ICC {icc:g}"
    return Simulation(CLUSTERED, name, (CLUSTERED, sigma, clusters, level, icc, of), each(draw), (TARGET,))


def difference(sigma: float, n: int, moves: tuple[float, float], towards: float) -> Simulation:
    """Verdicts of two versions; rows that one alone is right about are rare or common, and may be heavier."""
    lost, gained = moves
    heavier = exp(towards * sigma)
    truth = (gained - lost * heavier) / (1.0 - lost + lost * heavier)

    def draw(rng: Rng) -> bool:
        signs = rng.choice([-1.0, 1.0, 0.0], n, p=[lost, gained, 1.0 - lost - gained])
        low, high = difference_limits(WeightedSums.of(signs, _weights(rng, sigma, towards, signs < 0)))
        return low <= truth <= high

    which = {0.0: "", 1.0: ", heavy rows lose", -1.0: ", light rows lose"}[towards]
    name = f"sigma = {sigma:g}, n = {n}, -{lost:g} +{gained:g}{which}"
    return Simulation(DIFFERENCES, name, (DIFFERENCES, sigma, n, lost, gained, towards), each(draw), (covers(0.935),))


def _weights(rng: Rng, sigma: float, towards: float, chosen: np.ndarray) -> Floats:
    """Lognormal weights, those of chosen rows larger by `towards` sigmas; at most 1."""
    weights = np.exp(sigma * (rng.standard_normal(len(chosen)) + towards * chosen))
    return np.asarray(weights / weights.max())


def weight_studies() -> Iterator[Simulation]:
    """Rates, rates of clusters, and differences."""
    yield from starmap(rate, product(SIGMAS, SIZES, LEVELS, TOWARDS))
    of_clusters = product(SIGMAS, (10, 30, 100), (0.5, 0.9, 0.98), (0.0, 0.3), ("rows", "clusters"))
    yield from starmap(clustered, of_clusters)
    yield from starmap(difference, product(SIGMAS, SIZES, MOVES, (0.0, 1.0, -1.0)))


# Rates and differences by the shares of strata

MIXED_RATES, MIXED_DIFFERENCES = "rate by a mix of strata", "difference by a mix of strata"
SHARES: dict[str, Sequence[float]] = {
    "halves": [0.5] * 2,
    ".9 and .1": [0.9, 0.1],
    ".99 and .01": [0.99, 0.01],
    "five alike": [0.2] * 5,
    "five, half in one": [0.5, 0.3, 0.1, 0.05, 0.05],
    "twenty alike": [0.05] * 20,
    "twenty, half in one": [0.5, 0.3, *[0.2 / 18] * 18],
}
STRATUM_SIZES = (4, 10, 50, 200)
STRATUM_LEVELS = (0.5, 0.8, 0.95, 0.99)
TOTAL = 300
"""Rows of designs whose strata have the rows of their shares, or those of each other's."""


def mixed_rate(name: str, design: str, level: str) -> Simulation:
    """The interval of the weighted mean, the rows of each stratum weighing its share together."""
    shares = np.array(SHARES[name])
    sizes, passing = _designs(shares)[design], _levels(len(shares))[level]
    truth, weights = float(shares @ passing), (shares / sizes).tolist()

    def draw(rng: Rng) -> bool:
        counts = rng.binomial(sizes, passing).tolist()
        return contains(weighted_mean(_mixed(map(_verdicts, sizes.tolist(), counts), weights)), truth)

    cell = f"{name}, {design}, p = {level}"
    return Simulation(MIXED_RATES, cell, (MIXED_RATES, name, design, level), each(draw), (covers(0.94),))


def _designs(shares: Floats) -> dict[str, IntArray]:
    equal = {f"n = {n}": np.full(len(shares), n) for n in STRATUM_SIZES}
    ours = np.maximum((TOTAL * shares).round().astype(np.intp), 2)
    return equal | {"rows of the shares": ours, "rows against the shares": ours[::-1]}


def _levels(count: int) -> dict[str, Floats]:
    spread = np.linspace(0.55, 0.99, count)
    return {f"{p:g}": np.full(count, p) for p in STRATUM_LEVELS} | {".55 to .99": spread, ".99 to .55": spread[::-1]}


@cache
def _verdicts(n: int, k: int) -> WeightedSums:
    return WeightedSums.of_equal(Moments.of_passes(n, k), (0.0, 1.0))


def _mixed(strata: Iterable[WeightedSums], weights: Sequence[float]) -> WeightedSums:
    return summed(sums.times(weight) for sums, weight in zip(strata, weights, strict=True))


def mixed_difference(name: str, n: int, moves: tuple[float, float]) -> Simulation:
    """The interval of the weighted difference; rows that one side alone is right about are rare or common."""
    lost, gained = moves
    weights = [share / n for share in SHARES[name]]

    def draw(rng: Rng) -> bool:
        counts = rng.multinomial(n, [lost, gained, 1.0 - lost - gained], len(weights)).tolist()
        low, high = difference_limits(_mixed(starmap(_moves, counts), weights))
        return low <= gained - lost <= high

    cell = f"{name}, n = {n}, -{lost:g} +{gained:g}"
    return Simulation(MIXED_DIFFERENCES, cell, (MIXED_DIFFERENCES, name, n, *moves), each(draw), (covers(0.935),))


@cache
def _moves(lost: int, gained: int, same: int) -> WeightedSums:
    return WeightedSums.of(np.repeat([-1.0, 1.0, 0.0], [lost, gained, same]), np.ones(lost + gained + same))


def mix_studies() -> Iterator[Simulation]:
    """Every mix: rates, then differences."""
    for name, shares in SHARES.items():
        yield from starmap(mixed_rate, product([name], _designs(np.array(shares)), _levels(len(shares))))
    yield from starmap(mixed_difference, product(SHARES, (10, 50, 200), MOVES))
