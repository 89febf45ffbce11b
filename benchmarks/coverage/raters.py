"""Krippendorff's alpha of raters who call each row right with a chance of its own: the intraclass correlation."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np

from benchmarks.coverage.cells import Cell, Floats, covered, generator
from tasks.statistics.clusters import Codes
from tasks.statistics.raters import krippendorff_alpha

TOPIC, CLUSTERED = "Krippendorff's alpha", "Krippendorff's alpha, clusters"
TARGET = 0.92
SIZES = (20, 50, 200)
RATES = (0.5, 0.8, 0.95)
ALPHAS = (0.1, 0.4, 0.7, 0.9)
ROWS = 4
"""Rows of a cluster; their chances are equal."""


class Design(NamedTuple):
    """Raters of a row at most, whether each row has from one to so many, rows, the mean chance, and alpha."""

    raters: int
    some_missing: bool
    n: int
    rate: float
    alpha: float

    def __str__(self) -> str:
        raters = f"1 to {self.raters}" if self.some_missing else f"{self.raters}"
        return f"{raters} raters, n = {self.n}, p = {self.rate:g}, alpha = {self.alpha:g}"

    def counts(self, rng: np.random.Generator, codes: Codes) -> Floats:
        """Ratings of wrong and right, shape (n, 2); codes: the cluster of each row."""
        spread = 1.0 / self.alpha - 1.0
        chances = rng.beta(self.rate * spread, (1.0 - self.rate) * spread, codes.max() + 1)[codes]
        rated = rng.integers(1, self.raters + 1, self.n) if self.some_missing else np.full(self.n, self.raters)
        right = rng.binomial(rated, chances)
        return np.column_stack([rated - right, right]).astype(np.float64)


def coverage(design: Design, draws: int) -> Cell:
    """How often the interval contains alpha; where all ratings are equal it is as wide as can be."""
    rng, codes = generator(TOPIC, *design), np.arange(design.n)
    found = (krippendorff_alpha(design.counts(rng, codes)) for _ in range(draws))
    return covered(TOPIC, str(design), TARGET, sum(e.low <= design.alpha <= e.high for e in found), draws)


def coverage_of_clusters(design: Design, draws: int) -> Cell:
    """The same of rows in clusters."""
    rng, codes = generator(CLUSTERED, *design), np.arange(design.n) // ROWS
    found = (krippendorff_alpha(design.counts(rng, codes), codes) for _ in range(draws))
    return covered(CLUSTERED, str(design), TARGET, sum(e.low <= design.alpha <= e.high for e in found), draws)


def of_raters(raters: int, draws: int, *, some_missing: bool) -> Iterator[Cell]:
    """Every design with so many raters."""
    for n, rate, alpha in product(SIZES, RATES, ALPHAS):
        yield coverage(Design(raters, some_missing, n, rate, alpha), draws)


def clustered(draws: int) -> Iterator[Cell]:
    """Rows in clusters of four."""
    for n, rate, alpha in product((80, 400), RATES, ALPHAS):
        yield coverage_of_clusters(Design(2, some_missing=False, n=n, rate=rate, alpha=alpha), draws)


STUDIES: tuple[Callable[[int], Iterator[Cell]], ...] = (
    partial(of_raters, 2, some_missing=False),
    partial(of_raters, 3, some_missing=True),
    clustered,
)
