"""How often intervals contain the truth: exact for binary rows, simulated with a seed for the others."""

from collections.abc import Callable
from functools import cache
from math import sqrt

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import binom
from statsmodels.stats.proportion import proportion_confint

from tasks.statistics import corpus_interval, mean_interval, score_interval
from tasks.statistics.binomial import blaker_interval

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]

SIZES = [5, 10, 20, 30, 50, 100, 300, 1000]
EDGE = np.geomspace(1e-5, 1e-3, 62)[:-1]
RATES = np.concatenate([EDGE, np.linspace(0.001, 0.999, 999), 1 - EDGE])  # 1121 true rates


@cache
def chances(n: int) -> Floats:
    """Shape (1121, n + 1): the chance of each count at each true rate."""
    return np.asarray(binom.pmf(np.arange(n + 1), n, RATES[:, None]))


def coverage(limits: Floats, n: int) -> Floats:
    """Shape (1121,): how often the interval of the count contains the true rate, exactly."""
    inside = (limits[:, 0] <= RATES[:, None]) & (RATES[:, None] <= limits[:, 1])
    return np.asarray((chances(n) * inside).sum(axis=1))


def width(limits: Floats, n: int) -> float:
    """Return the expected width, averaged over the true rates."""
    return float((chances(n) @ (limits[:, 1] - limits[:, 0])).mean())


def reaches(hits: int, draws: int, target: float) -> bool:
    """Return whether a simulated coverage reaches the target within three Monte Carlo standard errors."""
    share = hits / draws
    return share + 3 * sqrt(share * (1 - share) / draws) >= target


@pytest.mark.parametrize("n", SIZES)
def test_binary_covers_at_every_rate_and_costs_little_width(n: int) -> None:
    limits = np.array([score_interval(k / n, n) for k in range(n + 1)])
    wilson = np.array([proportion_confint(k, n, method="wilson") for k in range(n + 1)])

    assert coverage(limits, n).min() >= 0.915
    assert coverage(limits, n).mean() >= 0.95
    assert coverage(wilson, n).min() < 0.91  # what the tail is for
    if n >= 10:
        assert width(limits, n) <= (1.01 if n >= 30 else 1.03) * width(wilson, n)


@pytest.mark.parametrize("n", SIZES)
def test_blaker_never_covers_less_than_it_says(n: int) -> None:
    limits = np.array([blaker_interval(k, n, 0.95) for k in range(n + 1)])
    exact = np.array([proportion_confint(k, n, method="beta") for k in range(n + 1)])

    assert coverage(limits, n).min() >= 0.95
    assert width(limits, n) < width(exact, n)


Sampler = Callable[[np.random.Generator, tuple[int, int]], npt.NDArray[np.floating]]
SHAPES: dict[str, tuple[float, Sampler]] = {
    "uniform": (0.5, lambda rng, size: rng.random(size)),
    "dense": (0.8, lambda rng, size: rng.beta(16, 4, size)),
    "skewed": (0.95, lambda rng, size: rng.beta(1.9, 0.1, size)),
    "high": (0.99, lambda rng, size: rng.beta(1.98, 0.02, size)),
    "mostly right, else anything": (
        0.99,
        lambda rng, size: np.where(rng.random(size) < 0.02, rng.random(size), 1.0),
    ),
    "steady with rare failures": (0.882, lambda rng, size: 0.9 * rng.binomial(1, 0.98, size)),
    "half or nothing": (0.45, lambda rng, size: 0.5 * rng.binomial(1, 0.9, size)),
    "nearly binary": (0.892, lambda rng, size: 0.01 + 0.98 * rng.binomial(1, 0.9, size)),
    "grades": (
        0.8775,
        lambda rng, size: rng.choice([0, 0.25, 0.5, 0.75, 1], size, p=[0.02, 0.03, 0.05, 0.22, 0.68]),
    ),
}


@pytest.mark.parametrize("n", [5, 30, 300])
@pytest.mark.parametrize("shape", SHAPES)
def test_bounded_scores_are_covered(shape: str, n: int) -> None:
    truth, sample = SHAPES[shape]
    found = [mean_interval(x) for x in sample(np.random.default_rng(1), (4000, n))]

    assert reaches(sum(e.low <= truth <= e.high for e in found), len(found), 0.93)


@pytest.mark.parametrize("shape", ["uniform", "nearly binary", "mostly right, else anything"])
def test_gaffke_covers_what_it_says(shape: str) -> None:
    truth, sample = SHAPES[shape]
    found = [mean_interval(x, guarantee=True) for x in sample(np.random.default_rng(2), (400, 10))]

    assert reaches(sum(e.low <= truth <= e.high for e in found), len(found), 0.95)


def clustered(rng: np.random.Generator, draws: int, codes: Codes, p: float, icc: float) -> Floats:
    """Shape (draws, n): binary rows whose clusters have their own beta-distributed rate."""
    spread, shape = 1 / icc - 1 if icc else 0.0, (draws, codes.max() + 1)
    rates = rng.beta(p * spread, (1 - p) * spread, shape) if icc else np.full(shape, p)
    return (rng.random((draws, codes.size)) < rates[:, codes]).astype(np.float64)


@pytest.mark.parametrize("p", [0.5, 0.9, 0.98])
@pytest.mark.parametrize("groups", [10, 30, 100])
@pytest.mark.parametrize(("icc", "equal"), [(0.0, True), (0.3, True), (0.3, False)])
def test_clustered_means_are_covered(icc: float, equal: bool, groups: int, p: float) -> None:
    rng = np.random.default_rng(3)
    codes = np.repeat(np.arange(groups), 6 if equal else 1 + rng.geometric(0.15, groups))
    found = [mean_interval(x, codes) for x in clustered(rng, 4000, codes, p, icc)]

    assert reaches(sum(e.low <= p <= e.high for e in found), len(found), 0.94)


def test_ignoring_clusters_would_not_cover() -> None:
    rng = np.random.default_rng(4)
    found = [mean_interval(x) for x in clustered(rng, 2000, np.repeat(np.arange(30), 6), 0.9, 0.3)]

    assert not reaches(sum(e.low <= 0.9 <= e.high for e in found), len(found), 0.94)


@pytest.mark.parametrize("grouped", [False, True])
def test_a_ratio_of_sums_is_covered(grouped: bool) -> None:
    rng = np.random.default_rng(5)
    hits = 0
    for _ in range(4000):
        length = 1.0 + rng.poisson(9, 100)
        quality = np.repeat(rng.beta(7, 3, 50), 2) if grouped else rng.beta(7, 3, 100)
        stats = np.column_stack([rng.binomial(length.astype(int), quality), length])
        clusters = np.repeat(np.arange(50), 2) if grouped else None
        estimate = corpus_interval(stats, lambda s: s[..., 0] / s[..., 1], clusters)
        hits += estimate.low <= 0.7 <= estimate.high

    assert reaches(hits, 4000, 0.94)
