"""The mean of scores in [0, 1]: shapes between binary and steady, drawn at several means and sizes."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from math import sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from benchmarks.coverage.cells import Cell, Floats, covered, generator, mean_ratio
from tasks.statistics import mean_interval

Size = tuple[int, int]
Sampler = Callable[[np.random.Generator, float, Size], Floats]
"""Scores with a mean, of a shape (draws, n)."""

TOPIC, GUARANTEED = "bounded mean", "bounded mean, guarantee"
MEANS = (0.5, 0.8, 0.9, 0.95, 0.98)
SIZES = (5, 10, 30, 100, 300, 1000)
WIDE = 1000
"""Rows at which the width is compared with the t interval's: there that one covers nearly everywhere too."""
NARROW, NEAR_BOUND, NEAR = 1.05, 1.25, 0.95
"""Targets of that ratio; the second from a mean of 0.95 on where scores are steady: rare ones far away, seen in no row,
need it. Any interval that covers 93.5 % of them reaches 1.80/n of the room on that side, about as much as t alone."""
RESAMPLES = 1000


def _beta(concentration: float, rng: np.random.Generator, mean: float, size: Size) -> Floats:
    return rng.beta(mean * concentration, (1.0 - mean) * concentration, size)


def _right_or_anything(rng: np.random.Generator, mean: float, size: Size) -> Floats:
    return np.where(rng.random(size) < 2.0 * (1.0 - mean), rng.random(size), 1.0)


def _rare_failures(rng: np.random.Generator, mean: float, size: Size) -> Floats:
    level = (1.0 + mean) / 2.0
    return np.where(rng.random(size) < mean / level, level, 0.0)


def _dense_with_failures(rng: np.random.Generator, mean: float, size: Size) -> Floats:
    level = (1.0 + mean) / 2.0
    return np.where(rng.random(size) < mean / level, _beta(60.0, rng, level, size), 0.0)


def _half_or_nothing(rng: np.random.Generator, mean: float, size: Size) -> Floats:
    return np.where(rng.random(size) < 2.0 * mean, 0.5, 0.0)


def _nearly_binary(rng: np.random.Generator, mean: float, size: Size) -> Floats:
    return np.where(rng.random(size) < (mean - 0.01) / 0.98, 0.99, 0.01)


def _grades(rng: np.random.Generator, mean: float, size: Size) -> Floats:
    return rng.binomial(4, rng.beta(2.0 * mean, 2.0 * (1.0 - mean), size)) / 4.0


SHAPES: dict[str, Sampler] = {
    "spread out": partial(_beta, 2.0),  # uniform at a mean of 1/2
    "dense": partial(_beta, 20.0),
    "right or anything": _right_or_anything,
    "steady with rare failures": _rare_failures,
    "dense with rare failures": _dense_with_failures,
    "half or nothing": _half_or_nothing,
    "nearly binary": _nearly_binary,
    "five grades": _grades,
}


class Design(NamedTuple):
    """The shape, true mean and number of rows of a cell."""

    shape: str
    mean: float
    n: int

    def __str__(self) -> str:
        return f"{self.shape}, mean = {self.mean:g}, n = {self.n}"

    def scores(self, draws: int) -> Floats:
        """Shape (draws, n)."""
        return SHAPES[self.shape](generator(TOPIC, *self), self.mean, (draws, self.n))


GUARANTEES = (
    Design("spread out", 0.5, 10),
    Design("right or anything", 0.95, 10),
    Design("nearly binary", 0.8, 300),  # close to Clopper and Pearson's on many rows, and so to what it says
)


def of_shape(shape: str, draws: int) -> Iterator[Cell]:
    """Every cell of a shape."""
    # Half a score is the most of "half or nothing", so its means are half of the others'.
    means = [m / 2 for m in MEANS] if shape == "half or nothing" else MEANS
    for mean, n in product(means, SIZES):
        yield from of_design(Design(shape, mean, n), draws)


def of_design(design: Design, draws: int) -> Iterator[Cell]:
    """Coverage beside the t interval's, and widths where that one is fair."""
    scores = design.scores(draws)
    mine, peer = _limits(scores), _student(scores)
    yield covered(TOPIC, str(design), 0.93, hits(mine, design.mean), draws)
    yield covered(TOPIC, f"t interval: {design}", None, hits(peer, design.mean), draws)
    if design.n == WIDE:
        ratio, error = mean_ratio(mine[:, 1] - mine[:, 0], peer[:, 1] - peer[:, 0])
        target = NEAR_BOUND if design.shape == "dense" and design.mean >= NEAR else NARROW
        yield Cell(TOPIC, str(design), "mean width over t's", "at most", target, ratio, error, draws)


def bootstrapped(draws: int) -> Iterator[Cell]:
    """What the percentile bootstrap gives for skewed scores; a quarter of the draws say it."""
    draws = max(1, draws // 4)
    for n in (10, 30, 100):
        design = Design("spread out", 0.98, n)
        rng = generator(TOPIC, "percentile bootstrap", *design)
        limits = np.array([_percentiles(row, rng) for row in design.scores(draws)])
        yield covered(TOPIC, f"percentile bootstrap: {design}", None, hits(limits, design.mean), draws)


def guarantee(design: Design, draws: int) -> Iterator[Cell]:
    """Coverage of Gaffke's bound, whose limits take milliseconds."""
    limits = _limits(design.scores(draws), guarantee=True)
    yield covered(GUARANTEED, str(design), 0.95, hits(limits, design.mean), draws)


STUDIES: tuple[Callable[[int], Iterator[Cell]], ...] = (
    *(partial(of_shape, shape) for shape in SHAPES),
    *(partial(guarantee, design) for design in GUARANTEES),
    bootstrapped,
)


def hits(limits: Floats, truth: float) -> int:
    """How many intervals, shape (draws, 2), contain the truth."""
    return int(((limits[:, 0] <= truth) & (truth <= limits[:, 1])).sum())


def _limits(scores: Floats, *, guarantee: bool = False) -> Floats:
    found = [mean_interval(row, guarantee=guarantee) for row in scores]
    return np.array([(estimate.low, estimate.high) for estimate in found])


def _student(scores: Floats) -> Floats:
    n = scores.shape[1]
    centre = scores.mean(axis=1)
    half = float(stdtrit(n - 1, 0.975)) * scores.std(axis=1, ddof=1) / sqrt(n)
    return np.stack([centre - half, centre + half], axis=1)


def _percentiles(row: Floats, rng: np.random.Generator) -> Floats:
    means = row[rng.integers(0, row.size, (RESAMPLES, row.size))].mean(axis=1)
    return np.asarray(np.quantile(means, [0.025, 0.975]))
