"""The mean of binary rows in clusters (conversations, documents) that have a rate of their own."""

from collections.abc import Callable, Iterator
from functools import partial
from math import sqrt
from typing import NamedTuple

import numpy as np

from benchmarks.coverage.cells import Cell, Floats, covered, generator
from tasks.statistics import mean_interval
from tasks.statistics.clusters import Codes

TOPIC = "clustered mean"
RATES = (0.5, 0.9, 0.98)
GROUPS = (10, 30, 100, 300)
CORRELATIONS = (0.0, 0.3)
ROWS = 6
"""Rows of a cluster, when all have as many."""
STOPS = 0.15
"""Chance that an unequal cluster ends after a row: sizes from 1 on, 6.7 on average, the largest of 100 about 33."""


class Design(NamedTuple):
    """Intracluster correlation, number of clusters, true rate, and whether clusters are of one size."""

    icc: float
    groups: int
    rate: float
    equal: bool

    def __str__(self) -> str:
        sizes = "equal" if self.equal else "unequal"
        return f"ICC = {self.icc:g}, {self.groups} {sizes} clusters, p = {self.rate:g}"

    def samples(self, draws: int) -> Iterator[tuple[Floats, Codes]]:
        """Rows, 0 or 1, and their clusters; unequal sizes are drawn anew each time."""
        rng = generator(TOPIC, *self)
        numbers = np.arange(self.groups)
        for _ in range(draws):
            sizes = ROWS if self.equal else rng.geometric(STOPS, self.groups)
            codes = np.repeat(numbers, sizes)
            yield (rng.random(codes.size) < self._rates(rng)[codes]).astype(np.float64), codes

    def _rates(self, rng: np.random.Generator) -> Floats:
        """Shape (groups,): beta-distributed, so that rows of a cluster correlate by `icc`."""
        if self.icc == 0.0:
            return np.full(self.groups, self.rate)
        spread = 1.0 / self.icc - 1.0
        return rng.beta(self.rate * spread, (1.0 - self.rate) * spread, self.groups)


def coverage(design: Design, draws: int) -> Cell:
    """How often the interval contains the true rate."""
    found = (mean_interval(x, codes) for x, codes in design.samples(draws))
    return covered(TOPIC, str(design), 0.94, sum(e.low <= design.rate <= e.high for e in found), draws)


def coverage_of_rows(design: Design, draws: int) -> Cell:
    """The same when the clusters are ignored."""
    found = (mean_interval(x) for x, _ in design.samples(draws))
    hits = sum(e.low <= design.rate <= e.high for e in found)
    return covered(TOPIC, f"clusters ignored: {design}", None, hits, draws)


def coverage_of_sandwich(design: Design, draws: int) -> Cell:
    """The same of the mean ± 1.96 clustered standard errors. Source: Miller 2024 (arXiv 2411.00640)."""
    hits = sum(abs(x.mean() - design.rate) <= 1.959964 * _sandwich(x, codes) for x, codes in design.samples(draws))
    return covered(TOPIC, f"±1.96·clustered SE: {design}", None, hits, draws)


def _sandwich(x: Floats, codes: Codes) -> float:
    totals = np.bincount(codes, weights=x - x.mean())
    return sqrt(float(totals @ totals)) / x.size


def of_groups(groups: int, draws: int) -> Iterator[Cell]:
    """Every design with so many clusters."""
    for icc in CORRELATIONS:
        for equal in (True, False):
            for rate in RATES:
                yield coverage(Design(icc, groups, rate, equal), draws)


def peers(draws: int) -> Iterator[Cell]:
    """What is got without clusters, or with clusters and a normal interval."""
    for groups, rate in ((10, 0.9), (10, 0.98), (30, 0.9), (100, 0.98)):
        design = Design(0.3, groups, rate, equal=False)
        yield coverage_of_rows(design, draws)
        yield coverage_of_sandwich(design, draws)


STUDIES: tuple[Callable[[int], Iterator[Cell]], ...] = (*(partial(of_groups, groups) for groups in GROUPS), peers)
