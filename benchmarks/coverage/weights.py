"""Rates and differences of rows that count by weights: how often their intervals contain the truth."""

from collections.abc import Callable, Iterator
from functools import partial
from math import exp

import numpy as np

from benchmarks.coverage.cells import Cell, Floats, covered, generator
from tasks.statistics.weighted import WeightedSums, difference_limits, weighted_mean
from tasks.statistics.wilson import score_interval

RATES, CLUSTERED, DIFFERENCES = "weighted rate", "weighted rate of clusters", "weighted difference"
TARGET, PAIRED_TARGET = 0.94, 0.935
SIGMAS = (0.5, 1.0, 1.5)
"""Of lognormal weights: with 1.5, 1,000 rows are worth 105."""
SIZES = (50, 200, 1_000)
LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)
TOWARDS = {"": 0.0, ", heavy rows fail": 1.0, ", heavy rows pass": -1.0}
"""Logarithm, in sigmas, by which the weights of failing rows are larger."""
CLUSTER_ROWS = 5


def rates(sigma: float, draws: int) -> Iterator[Cell]:
    """Independent rows; the contrast is Wilson's interval with Kish's number of rows."""
    for n in SIZES:
        for level in LEVELS:
            for name, towards in TOWARDS.items():
                rng, truth = generator(RATES, sigma, n, level, towards), _share(level, sigma, towards)
                hits = np.zeros(2, np.intp)
                for _ in range(draws):
                    passed = rng.random(n) < level
                    sums = WeightedSums.of(passed.astype(np.float64), _weights(rng, sigma, towards, ~passed))
                    own, kish = weighted_mean(sums), score_interval(sums.value, sums.n_eff)
                    hits += own.low <= truth <= own.high, kish[0] <= truth <= kish[1]
                cell = f"sigma = {sigma:g}, n = {n}, p = {level:g}{name}"
                yield covered(RATES, cell, TARGET, int(hits[0]), draws)
                yield covered(RATES, f"Wilson with Kish's n: {cell}", None, int(hits[1]), draws)


def clustered(sigma: float, draws: int) -> Iterator[Cell]:
    """Rows of clusters that have a rate of their own; weights of rows, or of clusters."""
    for clusters in (10, 30, 100):
        for level in (0.5, 0.9, 0.98):
            for icc in (0.0, 0.3):
                for of in ("rows", "clusters"):
                    rng = generator(CLUSTERED, sigma, clusters, level, icc, of)
                    codes, hits = np.repeat(np.arange(clusters), CLUSTER_ROWS), 0
                    for _ in range(draws):
                        own = rng.beta(*_beta(level, icc), clusters) if icc else np.full(clusters, level)
                        passed = rng.random(len(codes)) < own[codes]
                        weights = _weights(rng, sigma, 0.0, passed)
                        mean = weighted_mean(
                            WeightedSums.of(
                                passed.astype(np.float64), weights[codes] if of == "clusters" else weights, codes
                            )
                        )
                        hits += mean.low <= level <= mean.high
                    cell = f"sigma = {sigma:g} of {of}, {clusters} clusters, p = {level:g}, ICC {icc:g}"
                    yield covered(CLUSTERED, cell, TARGET, hits, draws)


def differences(sigma: float, draws: int) -> Iterator[Cell]:
    """Verdicts of two versions; rows that one alone is right about are rare or common, and may be heavier."""
    for n in SIZES:
        for lost, gained in ((0.02, 0.0), (0.02, 0.02), (0.1, 0.02), (0.3, 0.2)):
            for towards in (0.0, 1.0, -1.0):
                rng, hits = generator(DIFFERENCES, sigma, n, lost, gained, towards), 0
                heavier = exp(towards * sigma)
                truth = (gained - lost * heavier) / (1.0 - lost + lost * heavier)
                for _ in range(draws):
                    moves = rng.choice([-1.0, 1.0, 0.0], n, p=[lost, gained, 1.0 - lost - gained])
                    low, high = difference_limits(WeightedSums.of(moves, _weights(rng, sigma, towards, moves < 0)))
                    hits += low <= truth <= high
                name = {0.0: "", 1.0: ", heavy rows lose", -1.0: ", light rows lose"}[towards]
                cell = f"sigma = {sigma:g}, n = {n}, -{lost:g} +{gained:g}{name}"
                yield covered(DIFFERENCES, cell, PAIRED_TARGET, hits, draws)


def _weights(rng: np.random.Generator, sigma: float, towards: float, chosen: np.ndarray) -> Floats:
    """Lognormal weights, those of chosen rows larger by `towards` sigmas; at most 1."""
    weights = np.exp(sigma * (rng.standard_normal(len(chosen)) + towards * chosen))
    return np.asarray(weights / weights.max())


def _share(level: float, sigma: float, towards: float) -> float:
    """The weighted rate where failing rows have larger weights."""
    return level / (level + (1.0 - level) * exp(towards * sigma))


def _beta(level: float, icc: float) -> tuple[float, float]:
    total = 1.0 / icc - 1.0
    return level * total, (1.0 - level) * total


STUDIES: tuple[Callable[[int], Iterator[Cell]], ...] = tuple(
    partial(study, sigma) for study in (rates, clustered, differences) for sigma in SIGMAS
)
