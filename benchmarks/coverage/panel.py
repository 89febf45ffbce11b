"""The verdict of a panel over rows and jurors: each juror is drawn from many, with a leniency of its own."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from math import comb
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from benchmarks.coverage.cells import Cell, Floats, covered, generator
from tasks.statistics import mean_interval
from tasks.statistics.majority import majority
from tasks.statistics.panel import majority_contributions, mean_contributions, with_jurors

TOPIC = "panel of judges"
TARGET = 0.92
DIFFICULTY = 1.5
"""Standard deviation of the rows, on the probit scale; that of the jurors is part of the design."""
KNOTS = 100


class Design(NamedTuple):
    """How votes are pooled (majority, mean), jurors, rows, the mean row, and the spread of the jurors."""

    pooled: str
    jurors: int
    n: int
    mean: float
    spread: float

    def __str__(self) -> str:
        return f"{self.pooled} of {self.jurors}, n = {self.n}, p = {self.truth:.2f}, jurors ± {self.spread:g}"

    @property
    def truth(self) -> float:
        """The mean verdict on all rows of all panels of so many jurors."""
        knots, weights = np.polynomial.hermite_e.hermegauss(KNOTS)
        p = ndtr((self.mean + DIFFICULTY * knots) / np.sqrt(1.0 + self.spread**2))
        k = self.jurors
        if self.pooled == "majority":
            side = [1.0 if 2 * right > k else 0.5 * (2 * right == k) for right in range(k + 1)]
            p = sum(side[r] * comb(k, r) * p**r * (1.0 - p) ** (k - r) for r in range(k + 1))
        return float(weights @ p / weights.sum())

    def votes(self, rng: np.random.Generator) -> Floats:
        """Votes of one panel on one sample of rows, shape (n, jurors)."""
        rows = rng.normal(self.mean, DIFFICULTY, self.n)[:, None]
        lenient = rng.normal(0.0, self.spread, self.jurors)
        return (rng.random((self.n, self.jurors)) < ndtr(rows + lenient)).astype(np.float64)


def coverage(design: Design, draws: int) -> list[Cell]:
    """How often the interval over rows and jurors contains the truth, and that over rows alone, for contrast."""
    rng, truth = generator(TOPIC, *design), design.truth
    both = rows_alone = 0
    for _ in range(draws):
        votes = design.votes(rng)
        is_majority = design.pooled == "majority"
        alone = mean_interval(majority(votes) if is_majority else votes.mean(axis=1))
        adds = majority_contributions(votes) if is_majority else mean_contributions(votes)
        wide = with_jurors(alone, adds)
        both += wide.low <= truth <= wide.high
        rows_alone += alone.low <= truth <= alone.high
    name = str(design)
    return [
        covered(TOPIC, name, TARGET, both, draws),
        covered(TOPIC, f"rows alone: {name}", None, rows_alone, draws),
    ]


def of_jurors(jurors: int, draws: int) -> Iterator[Cell]:
    """Every design with so many jurors."""
    for pooled, n, mean, spread in product(("majority", "mean"), (60, 300), (0.0, 1.5), (0.0, 0.2, 0.6)):
        yield from coverage(Design(pooled, jurors, n, mean, spread), draws)


STUDIES: tuple[Callable[[int], Iterator[Cell]], ...] = tuple(partial(of_jurors, jurors) for jurors in (2, 3, 5))
