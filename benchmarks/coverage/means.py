"""Intervals of means: binary rows, enumerated over every count; scores in [0, 1]; and rows in clusters."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from math import sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit
from scipy.stats import binom

from benchmarks.coverage import cells
from benchmarks.coverage.cells import Cell, Floats, Measure, Rng, Simulation, Study, contains, covers, each, length
from goldmeter.statistics import mean_interval
from goldmeter.statistics.clusters import Codes

BINARY, BOUNDED, CLUSTERED = "binary mean", "bounded mean", "clustered mean"
_Z = 1.959963984540054

# Binary rows

Interval = Callable[[int, int], tuple[float, float]]
"""The limits of k right ones of n."""
SIZES = (5, 10, 20, 30, 50, 100, 300, 1000)
_EDGE = np.geomspace(1e-5, 1e-3, 62)[:-1]
RATES = np.concatenate([_EDGE, np.linspace(0.001, 0.999, 999), 1 - _EDGE])
HIGH = 0.98
"""Where evaluations live: what popular tools give there."""


def ours(k: int, n: int, *, guarantee: bool = False) -> tuple[float, float]:
    """The limits of `mean_interval`."""
    estimate = mean_interval(np.repeat([1.0, 0.0], [k, n - k]), guarantee=guarantee)
    return estimate.low, estimate.high


def wilson(k: int, n: int) -> tuple[float, float]:
    """Wilson's limits, without a tail. Source: Wilson 1927."""
    p, shrink = k / n, 1.0 + _Z**2 / n
    centre, half = p + _Z**2 / (2 * n), _Z * sqrt(p * (1 - p) / n + _Z**2 / (4 * n * n))
    return (centre - half) / shrink, (centre + half) / shrink


def wald(k: int, n: int) -> tuple[float, float]:
    """The mean ± 1.96 standard errors, as most evaluation tools print it."""
    p = k / n
    half = _Z * sqrt(p * (1 - p) / n)
    return p - half, p + half


def student(k: int, n: int) -> tuple[float, float]:
    """The t interval of the rows."""
    p = k / n
    half = float(stdtrit(n - 1, 0.975)) * sqrt(p * (1 - p) / (n - 1))
    return p - half, p + half


def bootstrap(k: int, n: int) -> tuple[float, float]:
    """The percentile bootstrap with all resamples there are: quantiles of a binomial count."""
    if k in {0, n}:
        return k / n, k / n
    return float(binom.ppf(0.025, n, k / n)) / n, float(binom.ppf(0.975, n, k / n)) / n


def binary_rates(_draws: int) -> Iterator[Cell]:
    """The default: coverage at the worst rate, and the expected width over Wilson's."""
    for n in SIZES:
        mine, plain = table(ours, n), table(wilson, n)
        yield worst_rate(BINARY, covers(0.915), mine, n)
        yield worst_rate(BINARY, cells.contrast("Wilson"), plain, n)
        if n >= 10:  # noqa: PLR2004 (no target below)
            wider = cells.width(1.01 if n >= 30 else 1.03, "mean width over Wilson's")  # noqa: PLR2004 (the table's rows)
            yield wider.cell(BINARY, f"n = {n}", expected_width(mine, n) / expected_width(plain, n))


def high_rate(_draws: int) -> Iterator[Cell]:
    """What popular tools give at a true rate of 98 %."""
    peers: dict[str, Interval] = {"percentile bootstrap": bootstrap, "±1.96·SE": wald, "t interval": student}
    for n, (peer, interval) in product((10, 30, 100), peers.items()):
        found = float(coverage(table(interval, n), n, HIGH)[0])
        yield cells.contrast(peer).cell(BINARY, f"n = {n}, p = {HIGH}", found)


def binary_guarantee(_draws: int) -> Iterator[Cell]:
    """Blaker's interval: coverage at the worst rate."""
    for n in SIZES:
        yield worst_rate(f"{BINARY}, guarantee", covers(0.95), table(partial(ours, guarantee=True), n), n)


def table(interval: Interval, n: int) -> Floats:
    """Shape (n + 1, 2): the limits of each count."""
    return np.array([interval(k, n) for k in range(n + 1)])


def coverage(limits: Floats, n: int, p: float | Floats = RATES) -> Floats:
    """How often the interval of the count contains the true rate, one number a rate, exactly."""
    rate = np.atleast_1d(p)[:, None]
    inside = (limits[:, 0] <= rate) & (rate <= limits[:, 1])
    return np.asarray((_chances(n, rate) * inside).sum(axis=1))


def expected_width(limits: Floats, n: int) -> float:
    """The expected width, averaged over the true rates."""
    return float((_chances(n, RATES[:, None]) @ (limits[:, 1] - limits[:, 0])).mean())


def worst_rate(topic: str, measure: Measure, limits: Floats, n: int) -> Cell:
    """The coverage at the rate where it is least."""
    found = coverage(limits, n)
    at = int(found.round(9).argmin())  # of p and 1 - p, which cover alike, the smaller
    return measure.cell(topic, f"n = {n}, p = {RATES[at]:.4g}", float(found[at]))


def _chances(n: int, rate: Floats) -> Floats:
    """Shape (rates, n + 1): the chance of each count."""
    return np.asarray(binom.pmf(np.arange(n + 1), n, rate))


def binary_studies() -> tuple[Study, ...]:
    """All of them enumerated."""
    return binary_rates, high_rate, binary_guarantee


# Scores in [0, 1]: shapes between binary and steady

Sampler = Callable[[Rng, float, tuple[int, int]], Floats]
"""Scores with a mean, of a shape (draws, n)."""
WIDE = 1000
"""Rows at which the width is compared with the t interval's: there that one covers nearly everywhere too."""
NARROW, NEAR_BOUND, NEAR = 1.05, 1.25, 0.95
"""Targets of that ratio; the second from a mean of 0.95 on where scores are steady: rare ones far away, seen in no row,
need it. Any interval that covers 93.5 % of them reaches 1.80/n of the room on that side, about as much as t alone."""
RESAMPLES = 1000


def _beta(concentration: float, rng: Rng, mean: float, size: tuple[int, int]) -> Floats:
    return rng.beta(mean * concentration, (1.0 - mean) * concentration, size)


def _dense_with_failures(rng: Rng, mean: float, size: tuple[int, int]) -> Floats:
    level = (1.0 + mean) / 2.0
    return np.where(rng.random(size) < mean / level, _beta(60.0, rng, level, size), 0.0)


SHAPES: dict[str, Sampler] = {
    "spread out": partial(_beta, 2.0),  # uniform at a mean of 1/2
    "dense": partial(_beta, 20.0),
    "right or anything": lambda rng, m, size: np.where(rng.random(size) < 2.0 * (1.0 - m), rng.random(size), 1.0),
    "steady with rare failures": lambda rng, m, size: np.where(
        rng.random(size) < m / ((1.0 + m) / 2.0), (1.0 + m) / 2.0, 0.0
    ),
    "dense with rare failures": _dense_with_failures,
    "half or nothing": lambda rng, m, size: np.where(rng.random(size) < 2.0 * m, 0.5, 0.0),
    "nearly binary": lambda rng, m, size: np.where(rng.random(size) < (m - 0.01) / 0.98, 0.99, 0.01),
    "five grades": lambda rng, m, size: rng.binomial(4, rng.beta(2.0 * m, 2.0 * (1.0 - m), size)) / 4.0,
}


class Bounded(NamedTuple):
    """The shape, true mean and number of rows of a cell."""

    shape: str
    mean: float
    n: int

    def __str__(self) -> str:
        return f"{self.shape}, mean = {self.mean:g}, n = {self.n}"

    def scores(self, rng: Rng, draws: int) -> Floats:
        """Shape (draws, n)."""
        return SHAPES[self.shape](rng, self.mean, (draws, self.n))


def of_shape(shape: str) -> Iterator[Simulation]:
    """Every cell of a shape: coverage beside the t interval's, and widths where that one is fair."""
    # Half a score is the most of "half or nothing", so its means are half of the others'.
    half = 0.5 if shape == "half or nothing" else 1.0
    for mean, n in product((0.5, 0.8, 0.9, 0.95, 0.98), (5, 10, 30, 100, 300, 1000)):
        yield bounded(Bounded(shape, mean * half, n))


def bounded(design: Bounded) -> Simulation:
    """One design."""

    def outcomes(rng: Rng, draws: int) -> Iterator[tuple[object, ...]]:
        scores = design.scores(rng, draws)
        half = float(stdtrit(design.n - 1, 0.975)) * scores.std(axis=1, ddof=1) / sqrt(design.n)
        peers = np.stack([scores.mean(axis=1) - half, scores.mean(axis=1) + half], axis=1)
        for row, (low, high) in zip(scores, peers.tolist(), strict=True):
            mine = mean_interval(row)
            yield contains(mine, design.mean), low <= design.mean <= high, (length(mine), high - low)

    measures: tuple[Measure, ...] = (covers(0.93), cells.contrast("t interval"))
    if design.n == WIDE:
        target = NEAR_BOUND if design.shape == "dense" and design.mean >= NEAR else NARROW
        measures += (cells.width(target, "mean width over t's"),)
    return Simulation(BOUNDED, str(design), (BOUNDED, *design), outcomes, measures)


def bounded_guarantee(design: Bounded) -> Simulation:
    """Coverage of Gaffke's bound, whose limits take milliseconds."""

    def outcomes(rng: Rng, draws: int) -> Iterator[bool]:
        return (contains(mean_interval(row, guarantee=True), design.mean) for row in design.scores(rng, draws))

    return Simulation(f"{BOUNDED}, guarantee", str(design), (BOUNDED, *design), outcomes, (covers(0.95),))


def bounded_bootstrap(design: Bounded) -> Simulation:
    """Coverage of the percentile bootstrap in a quarter of the draws, on the samples of `bounded`."""

    def outcomes(rng: Rng, draws: int) -> Iterator[bool]:
        for row in design.scores(cells.generator(BOUNDED, *design), draws):
            means = row[rng.integers(0, row.size, (RESAMPLES, row.size))].mean(axis=1)
            low, high = np.quantile(means, [0.025, 0.975])
            yield bool(low <= design.mean <= high)

    peer = "percentile bootstrap"
    return Simulation(BOUNDED, str(design), (BOUNDED, peer, *design), outcomes, (cells.contrast(peer),), 0.25)


def bounded_studies() -> Iterator[Simulation]:
    """Every shape, some guarantees, and the percentile bootstrap of skewed scores."""
    for shape in SHAPES:
        yield from of_shape(shape)
    for design in (("spread out", 0.5, 10), ("right or anything", 0.95, 10)):
        yield bounded_guarantee(Bounded(*design))
    # Close to Clopper and Pearson's on many rows, and so to what it says.
    yield bounded_guarantee(Bounded("nearly binary", 0.8, 300))
    yield from (bounded_bootstrap(Bounded("spread out", 0.98, n)) for n in (10, 30, 100))


# Binary rows in clusters (conversations, documents) that have a rate of their own

ROWS = 6
"""Rows of a cluster, when all have as many."""
STOPS = 0.15
"""Chance that an unequal cluster ends after a row: sizes from 1 on, 6.7 on average, the largest of 100 about 33."""


class Clustered(NamedTuple):
    """Intracluster correlation, number of clusters, true rate, and whether clusters are of one size."""

    icc: float
    groups: int
    rate: float
    equal: bool

    def __str__(self) -> str:
        sizes = "equal" if self.equal else "unequal"
        return f"ICC = {self.icc:g}, {self.groups} {sizes} clusters, p = {self.rate:g}"

    def sample(self, rng: Rng) -> tuple[Floats, Codes]:
        """Rows, 0 or 1, and their clusters; unequal sizes are drawn anew each time."""
        codes = cluster_codes(rng, self.groups, equal=self.equal)
        passed = rng.random(codes.size) < cells.beta_rates(rng, self.rate, self.icc, self.groups)[codes]
        return passed.astype(np.float64), codes


def cluster_codes(rng: Rng, groups: int, *, equal: bool) -> Codes:
    """The cluster of each row."""
    return np.repeat(np.arange(groups), ROWS if equal else rng.geometric(STOPS, groups))


def clustered(design: Clustered) -> Simulation:
    """How often the interval contains the true rate."""
    outcomes = each(lambda rng: contains(mean_interval(*design.sample(rng)), design.rate))
    return Simulation(CLUSTERED, str(design), (CLUSTERED, *design), outcomes, (covers(0.94),))


def clusters_ignored(design: Clustered) -> Simulation:
    """What is got without clusters, or with clusters and a normal interval (Miller 2024, arXiv 2411.00640)."""

    def draw(rng: Rng) -> tuple[bool, bool]:
        x, codes = design.sample(rng)
        totals = np.bincount(codes, weights=x - x.mean())
        error = sqrt(float(totals @ totals)) / x.size
        return contains(mean_interval(x), design.rate), abs(x.mean() - design.rate) <= 1.959964 * error

    peers = cells.contrast("clusters ignored"), cells.contrast("±1.96·clustered SE")
    return Simulation(CLUSTERED, str(design), (CLUSTERED, *design), each(draw), peers)


def clustered_studies() -> Iterator[Simulation]:
    """Every design, and those that show what others give."""
    for groups, icc, equal, rate in product((10, 30, 100, 300), (0.0, 0.3), (True, False), (0.5, 0.9, 0.98)):
        yield clustered(Clustered(icc, groups, rate, equal))
    for groups, rate in ((10, 0.9), (10, 0.98), (30, 0.9), (100, 0.98)):
        yield clusters_ignored(Clustered(0.3, groups, rate, equal=False))
