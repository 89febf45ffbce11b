"""Quantiles of what answers take: lognormal, heavy-tailed, discrete and tied values; in clusters; and differences."""

from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import binom, poisson

from benchmarks.coverage.cells import Floats, Rng, Simulation, contains, contrast, covers, each
from benchmarks.coverage.means import cluster_codes
from goldmeter.statistics.clusters import Codes
from goldmeter.statistics.quantiles import average_interval, quantile_difference, quantile_interval

TOPIC, CLUSTERED, PAIRED = "quantile", "clustered quantile", "paired difference of quantiles"
SHARES = (0.5, 0.95)
PAIRED_SIZES = (20, 50, 72, 100, 300, 1000)
SIZES = (*PAIRED_SIZES, 10_000)
GROUPS = (10, 30, 100, 300)
TAIL = 0.025
"""Beyond each limit of a 95 % interval."""
COUNTS = poisson.cdf(np.arange(100), 20.0)
"""Chance of at most so many of a Poisson count."""
SHORT = 0.6
"""Share of the tied values that are equal, such as answers from a cache."""


def _pareto(u: Floats) -> Floats:
    return np.asarray((1.0 - u) ** (-1.0 / 1.5))


def _tied(u: Floats) -> Floats:
    return np.where(u <= SHORT, 0.1, 0.1 + np.exp(ndtri(np.clip((u - SHORT) / (1.0 - SHORT), 1e-16, 1.0))))


QUANTILES: dict[str, Callable[[Floats], Floats]] = {
    "lognormal": lambda u: np.exp(ndtri(u)),
    "heavy-tailed": _pareto,
    "discrete": lambda u: np.searchsorted(COUNTS, u).astype(np.float64),
    "tied": _tied,
}
"""Shape → its quantiles: of uniform numbers, values of the shape."""


MEANS = {"lognormal": np.exp(0.5), "heavy-tailed": 3.0, "discrete": 20.0, "tied": 0.1 + (1.0 - SHORT) * np.exp(0.5)}


def quantile(shape: str, n: int, share: float) -> Simulation:
    """How often the interval of a quantile contains the true one; the percentile bootstrap's; and t's, the mean."""
    quantiles = QUANTILES[shape]
    truth = float(quantiles(np.array([share]))[0])
    first, last = _bootstrap(n, share)
    is_median = share == SHARES[0]

    def draw(rng: Rng) -> tuple[bool, ...]:
        x = np.sort(quantiles(rng.random(n)))
        of_mean = [contains(average_interval(x), MEANS[shape])] if is_median else []
        return contains(quantile_interval(x, share), truth), bool(x[first - 1] <= truth <= x[last - 1]), *of_mean

    measures = (covers(0.95), contrast("percentile bootstrap"), contrast("t interval of the mean", f"{shape}, n = {n}"))
    name, seed = f"{shape}, n = {n}, p{100 * share:g}", (TOPIC, shape, n, share)
    return Simulation(TOPIC, name, seed, each(draw), measures if is_median else measures[:2])


@cache
def _bootstrap(n: int, share: float) -> tuple[int, int]:
    """The ranks of the percentile bootstrap with all resamples there are."""
    ranks = np.arange(1, n + 1)
    at_most = binom.sf(int(np.ceil(share * n - 1e-9)) - 1, n, ranks / n)
    return int(ranks[at_most >= TAIL][0]), int(ranks[at_most >= 1.0 - TAIL][0])


class Design(NamedTuple):
    """Intracluster correlation of the logarithms, number of clusters, and whether clusters are of one size."""

    icc: float
    groups: int
    equal: bool

    def __str__(self) -> str:
        sizes = "equal" if self.equal else "unequal"
        return f"ICC = {self.icc:g}, {self.groups} {sizes} clusters"

    def codes(self, rng: Rng) -> Codes:
        """The cluster of each row."""
        return cluster_codes(rng, self.groups, equal=self.equal)

    def normal(self, codes: Codes, rng: Rng) -> Floats:
        """Standard normal values that correlate within clusters."""
        own, shared = rng.standard_normal(codes.size), rng.standard_normal(self.groups)
        return np.asarray(np.sqrt(self.icc) * shared[codes] + np.sqrt(1.0 - self.icc) * own)


def in_clusters(design: Design, share: float) -> Simulation:
    """Lognormal values in clusters, and what is got when the clusters are ignored."""
    truth = float(ndtri(share))

    def draw(rng: Rng) -> tuple[bool, bool]:
        x = design.normal(codes := design.codes(rng), rng)
        found, of_rows = quantile_interval(x, share, codes), quantile_interval(x, share)
        return contains(found, truth), contains(of_rows, truth)

    name, measures = f"{design}, p{100 * share:g}", (covers(0.94), contrast("clusters ignored"))
    return Simulation(CLUSTERED, name, (CLUSTERED, *design, share), each(draw), measures)


PAIRS: dict[str, tuple[str, str, float]] = {
    "alike, correlation 0.8": ("lognormal", "lognormal", 0.8),
    "alike, independent": ("lognormal", "lognormal", 0.0),
    "alike, correlation -0.8": ("lognormal", "lognormal", -0.8),
    "nearly equal": ("lognormal", "lognormal", 0.999),
    "heavier tail": ("lognormal", "heavy-tailed", 0.5),
    "discrete": ("discrete", "discrete", 0.8),
    "now from a cache": ("lognormal", "tied", 0.5),
}
"""Base, head, and the correlation of the normal values behind them."""


def difference(name: str, n: int, share: float) -> Simulation:
    """Differences of quantiles between two measurements of the same rows."""
    of_base, of_head, rho = PAIRS[name]
    base, head, at = QUANTILES[of_base], QUANTILES[of_head], np.array([share])
    truth = float(head(at)[0] - base(at)[0])

    def draw(rng: Rng) -> bool:
        x, y = rng.standard_normal((2, n))
        y = rho * x + np.sqrt(1.0 - rho**2) * y
        return contains(quantile_difference(base(ndtr(x)), head(ndtr(y)), share), truth)

    design, seed = f"{name}, n = {n}, p{100 * share:g}", (PAIRED, name, n, share)
    return Simulation(PAIRED, design, seed, each(draw), (covers(0.935),))


def clustered_difference(design: Design, share: float) -> Simulation:
    """The same in clusters, the median and 95th percentile alike in base and head."""

    def draw(rng: Rng) -> bool:
        codes = design.codes(rng)
        x, y = design.normal(codes, rng), design.normal(codes, rng)
        found = quantile_difference(np.exp(x), np.exp(0.5 * x + np.sqrt(0.75) * y), share, codes)
        return contains(found, 0.0)

    name, seed = f"{design}, p{100 * share:g}", (PAIRED, *design, share)
    return Simulation(PAIRED, name, seed, each(draw), (covers(0.935),))


def studies() -> Iterator[Simulation]:
    """Independent rows, rows in clusters, and differences of both."""
    yield from (quantile(shape, n, share) for n, shape, share in product(SIZES, QUANTILES, SHARES))
    for groups, icc, equal, share in product(GROUPS, (0.0, 0.3, 0.9), (True, False), SHARES):
        yield in_clusters(Design(icc, groups, equal), share)
    yield from (difference(name, n, share) for n, name, share in product(PAIRED_SIZES, PAIRS, SHARES))
    for groups, icc, share in product(GROUPS, (0.3, 0.9), SHARES):
        yield clustered_difference(Design(icc, groups, equal=False), share)
