"""Rates and differences of rows that count by weights: how often their intervals contain the truth."""

from collections.abc import Iterator
from functools import partial
from itertools import product
from math import exp

import numpy as np

from benchmarks.coverage.cells import Floats, Simulation, contains, contrast, covers
from tasks.statistics.weighted import WeightedSums, difference_limits, weighted_mean
from tasks.statistics.wilson import score_interval

RATES, CLUSTERED, DIFFERENCES = "weighted rate", "weighted rate of clusters", "weighted difference"
TARGET = covers(0.94)
SIGMAS = (0.5, 1.0, 1.5)
"""Of lognormal weights: with 1.5, 1,000 rows are worth 105."""
SIZES = (50, 200, 1_000)
LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)
TOWARDS = {"": 0.0, ", heavy rows fail": 1.0, ", heavy rows pass": -1.0}
"""Logarithm, in sigmas, by which the weights of failing rows are larger."""
CLUSTER_ROWS = 5


def rate(sigma: float, n: int, level: float, which: str) -> Simulation:
    """Independent rows; the contrast is Wilson's interval with Kish's number of rows."""
    name, seed = f"sigma = {sigma:g}, n = {n}, p = {level:g}{which}", (RATES, sigma, n, level, TOWARDS[which])
    measures = TARGET, contrast("Wilson with Kish's n")
    return Simulation(RATES, name, seed, partial(_rate, sigma, n, level, TOWARDS[which]), measures)


def _rate(
    sigma: float, n: int, level: float, towards: float, rng: np.random.Generator, draws: int
) -> Iterator[tuple[bool, bool]]:
    truth = level / (level + (1.0 - level) * exp(towards * sigma))  # failing rows have larger weights
    for _ in range(draws):
        passed = rng.random(n) < level
        sums = WeightedSums.of(passed.astype(np.float64), _weights(rng, sigma, towards, ~passed))
        low, high = score_interval(sums.value, sums.n_eff)
        yield contains(weighted_mean(sums), truth), low <= truth <= high


def clustered(sigma: float, clusters: int, level: float, icc: float, of: str) -> Simulation:
    """Rows of clusters that have a rate of their own; weights of rows, or of clusters."""
    name = f"sigma = {sigma:g} of {of}, {clusters} clusters, p = {level:g}, ICC {icc:g}"
    seed, outcomes = (CLUSTERED, sigma, clusters, level, icc, of), partial(_clustered, sigma, clusters, level, icc, of)
    return Simulation(CLUSTERED, name, seed, outcomes, (TARGET,))


def _clustered(
    sigma: float, clusters: int, level: float, icc: float, of: str, rng: np.random.Generator, draws: int
) -> Iterator[tuple[bool]]:
    codes = np.repeat(np.arange(clusters), CLUSTER_ROWS)
    for _ in range(draws):
        own = rng.beta(*_beta(level, icc), clusters) if icc else np.full(clusters, level)
        passed = rng.random(len(codes)) < own[codes]
        weights = _weights(rng, sigma, 0.0, passed)
        rows = weights[codes] if of == "clusters" else weights
        yield (contains(weighted_mean(WeightedSums.of(passed.astype(np.float64), rows, codes)), level),)


def difference(sigma: float, n: int, lost: float, gained: float, towards: float) -> Simulation:
    """Verdicts of two versions; rows that one alone is right about are rare or common, and may be heavier."""
    which = {0.0: "", 1.0: ", heavy rows lose", -1.0: ", light rows lose"}[towards]
    name = f"sigma = {sigma:g}, n = {n}, -{lost:g} +{gained:g}{which}"
    seed, outcomes = (
        (DIFFERENCES, sigma, n, lost, gained, towards),
        partial(_difference, sigma, n, lost, gained, towards),
    )
    return Simulation(DIFFERENCES, name, seed, outcomes, (covers(0.935),))


def _difference(
    sigma: float, n: int, lost: float, gained: float, towards: float, rng: np.random.Generator, draws: int
) -> Iterator[tuple[bool]]:
    heavier = exp(towards * sigma)
    truth = (gained - lost * heavier) / (1.0 - lost + lost * heavier)
    for _ in range(draws):
        moves = rng.choice([-1.0, 1.0, 0.0], n, p=[lost, gained, 1.0 - lost - gained])
        low, high = difference_limits(WeightedSums.of(moves, _weights(rng, sigma, towards, moves < 0)))
        yield (low <= truth <= high,)


def _weights(rng: np.random.Generator, sigma: float, towards: float, chosen: np.ndarray) -> Floats:
    """Lognormal weights, those of chosen rows larger by `towards` sigmas; at most 1."""
    weights = np.exp(sigma * (rng.standard_normal(len(chosen)) + towards * chosen))
    return np.asarray(weights / weights.max())


def _beta(level: float, icc: float) -> tuple[float, float]:
    total = 1.0 / icc - 1.0
    return level * total, (1.0 - level) * total


def studies() -> Iterator[Simulation]:
    """Rates, rates of clusters, and differences."""
    yield from (rate(*case) for case in product(SIGMAS, SIZES, LEVELS, TOWARDS))
    yield from (
        clustered(*case) for case in product(SIGMAS, (10, 30, 100), (0.5, 0.9, 0.98), (0.0, 0.3), ("rows", "clusters"))
    )
    moves = ((0.02, 0.0), (0.02, 0.02), (0.1, 0.02), (0.3, 0.2))
    for sigma, n, (lost, gained), towards in product(SIGMAS, SIZES, moves, (0.0, 1.0, -1.0)):
        yield difference(sigma, n, lost, gained, towards)
