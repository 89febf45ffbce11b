"""Quantiles of what answers take: lognormal, heavy-tailed, discrete and tied values; in clusters; and differences."""

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import binom, poisson

from benchmarks.coverage.cells import Cell, Floats, covered, generator
from tasks.statistics.clusters import Codes
from tasks.statistics.quantiles import average_interval, quantile_difference, quantile_interval

TOPIC, CLUSTERED, PAIRED = "quantile", "clustered quantile", "paired difference of quantiles"
SHARES = (0.5, 0.95)
PAIRED_SIZES = (20, 50, 72, 100, 300, 1000)
SIZES = (*PAIRED_SIZES, 10_000)
GROUPS = (10, 30, 100, 300)
ROWS = 6
"""Rows of a cluster, when all have as many."""
STOPS = 0.15
"""Chance that an unequal cluster ends after a row."""
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


MEANS = {
    "lognormal": np.exp(0.5),
    "heavy-tailed": 3.0,
    "discrete": 20.0,
    "tied": 0.1 + (1.0 - SHORT) * np.exp(0.5),
}


def coverage(shape: str, n: int, share: float, draws: int) -> Iterator[Cell]:
    """How often the interval of a quantile contains the true one; the percentile bootstrap's; and t's, the mean."""
    rng, quantiles = generator(TOPIC, shape, n, share), QUANTILES[shape]
    truth, name = float(quantiles(np.array([share]))[0]), f"{shape}, n = {n}, p{100 * share:g}"
    first, last = _bootstrap(n, share)
    hits = of_bootstrap = of_mean = 0
    for _ in range(draws):
        x = np.sort(quantiles(rng.random(n)))
        found = quantile_interval(x, share)
        average = average_interval(x)
        hits += found.low <= truth <= found.high
        of_bootstrap += bool(x[first - 1] <= truth <= x[last - 1])
        of_mean += bool(average.low <= MEANS[shape] <= average.high)
    yield covered(TOPIC, name, 0.95, hits, draws)
    yield covered(TOPIC, f"percentile bootstrap: {name}", None, of_bootstrap, draws)
    if share == SHARES[0]:
        yield covered(TOPIC, f"t interval of the mean: {shape}, n = {n}", None, of_mean, draws)


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

    def codes(self, rng: np.random.Generator) -> Codes:
        """The cluster of each row."""
        return np.repeat(np.arange(self.groups), ROWS if self.equal else rng.geometric(STOPS, self.groups))

    def normal(self, codes: Codes, rng: np.random.Generator) -> Floats:
        """Standard normal values that correlate within clusters."""
        own, shared = rng.standard_normal(codes.size), rng.standard_normal(self.groups)
        return np.asarray(np.sqrt(self.icc) * shared[codes] + np.sqrt(1.0 - self.icc) * own)


def in_clusters(groups: int, draws: int) -> Iterator[Cell]:
    """Lognormal values in clusters, and what is got when the clusters are ignored."""
    for icc in (0.0, 0.3, 0.9):
        for equal in (True, False):
            for share in SHARES:
                design = Design(icc, groups, equal)
                rng, truth = generator(CLUSTERED, *design, share), float(ndtri(share))
                name = f"{design}, p{100 * share:g}"
                hits = ignored = 0
                for _ in range(draws):
                    x = design.normal(codes := design.codes(rng), rng)
                    found, of_rows = quantile_interval(x, share, codes), quantile_interval(x, share)
                    hits += found.low <= truth <= found.high
                    ignored += of_rows.low <= truth <= of_rows.high
                yield covered(CLUSTERED, name, 0.94, hits, draws)
                yield covered(CLUSTERED, f"clusters ignored: {name}", None, ignored, draws)


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


def differences(n: int, draws: int) -> Iterator[Cell]:
    """Differences of quantiles between two measurements of the same rows."""
    for name, (base, head, rho) in PAIRS.items():
        for share in SHARES:
            rng = generator(PAIRED, name, n, share)
            at = np.array([share])
            truth = float(QUANTILES[head](at)[0] - QUANTILES[base](at)[0])
            hits = 0
            for _ in range(draws):
                x, y = rng.standard_normal((2, n))
                y = rho * x + np.sqrt(1.0 - rho**2) * y
                found = quantile_difference(QUANTILES[base](ndtr(x)), QUANTILES[head](ndtr(y)), share)
                hits += found.low <= truth <= found.high
            yield covered(PAIRED, f"{name}, n = {n}, p{100 * share:g}", 0.935, hits, draws)


def clustered_differences(groups: int, draws: int) -> Iterator[Cell]:
    """The same in clusters, the median and 95th percentile alike in base and head."""
    for icc in (0.3, 0.9):
        for share in SHARES:
            design = Design(icc, groups, equal=False)
            rng = generator(PAIRED, *design, share)
            hits = 0
            for _ in range(draws):
                codes = design.codes(rng)
                x, y = design.normal(codes, rng), design.normal(codes, rng)
                found = quantile_difference(np.exp(x), np.exp(0.5 * x + np.sqrt(0.75) * y), share, codes)
                hits += found.low <= 0.0 <= found.high
            yield covered(PAIRED, f"{design}, p{100 * share:g}", 0.935, hits, draws)


def of_size(n: int, draws: int) -> Iterator[Cell]:
    """Every shape and share with so many independent rows."""
    for shape in QUANTILES:
        for share in SHARES:
            yield from coverage(shape, n, share, draws)


STUDIES: tuple[Callable[[int], Iterator[Cell]], ...] = (
    *(partial(of_size, n) for n in SIZES),
    *(partial(in_clusters, groups) for groups in GROUPS),
    *(partial(differences, n) for n in PAIRED_SIZES),
    *(partial(clustered_differences, groups) for groups in GROUPS),
)
