"""Preferences between four candidates of known strengths: ranks, all together, strengths, and a win rate."""

from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from benchmarks.coverage.cells import Cell, Floats, covered, generator
from tasks.statistics.bradley_terry import PairSums, Strength, strengths
from tasks.statistics.clusters import Codes, cluster_totals
from tasks.statistics.win_rate import win_rate

RANKS, STRENGTHS, RATE = "ranks of 4 candidates, jointly", "Bradley-Terry strengths", "win rate"
RANK_TARGET, STRENGTH_TARGET, RATE_TARGET = 0.95, 0.92, 0.935
QUALITIES = {
    "equal": (0.0, 0.0, 0.0, 0.0),
    "steps": (-0.9, -0.3, 0.3, 0.9),
    "two close": (-1.0, 0.0, 0.1, 1.0),
    "one far ahead": (0.0, 0.0, 0.2, 5.0),
}
SIZES = (20, 100, 500)
CANDIDATES = 4
PAIRS = (*combinations(range(CANDIDATES), 2),)
SPREAD = 1.0
"""Standard deviation of a candidate's quality between questions."""
TIE = 0.5
"""A smaller difference of qualities is a tie."""
MANY = 1e12


class Design(NamedTuple):
    """Mean qualities, questions, questions of a group, and the share of pairs that are compared."""

    quality: str
    n: int
    group: int = 1
    share: float = 1.0

    def __str__(self) -> str:
        group = f", groups of {self.group}" if self.group > 1 else ""
        share = f", {self.share:.0%} compared" if self.share < 1.0 else ""
        return f"{self.quality}, n = {self.n}{group}{share}"

    @property
    def groups(self) -> Codes:
        """The group of each question."""
        return np.arange(self.n) // self.group

    def outcomes(self, rng: np.random.Generator) -> Floats:
        """Points of the second candidate of each pair, shape (n, pairs)."""
        groups = rng.standard_normal((self.n // self.group + 1, CANDIDATES))[self.groups]
        own = rng.standard_normal((self.n, CANDIDATES))
        weight = np.sqrt(0.5) if self.group > 1 else 0.0
        quality = np.array(QUALITIES[self.quality]) + SPREAD * (weight * groups + np.sqrt(1.0 - weight**2) * own)
        first, second = np.array(PAIRS).T
        difference = quality[:, second] - quality[:, first] + rng.logistic(size=(self.n, len(PAIRS)))
        points = np.where(np.abs(difference) < TIE, 0.5, (difference > 0.0).astype(np.float64))
        return np.where(rng.random(points.shape) < self.share, points, np.nan)


@cache
def expected(quality: str) -> Floats:
    """The win rate of the second candidate of each pair, shape (pairs,)."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    means = np.array(QUALITIES[quality])
    shifts = np.array([means[b] - means[a] for a, b in PAIRS])[:, None] + np.sqrt(2.0) * SPREAD * nodes
    rates: Floats = (expit(shifts - TIE) + expit(shifts + TIE)) / 2.0 @ weights / weights.sum()
    return rates


@cache
def true_strengths(quality: str) -> Floats:
    """The strengths of the model nearest to these win rates, shape (candidates,)."""
    p = len(PAIRS)
    sums = PairSums(expected(quality) * MANY, np.full(p, MANY), np.zeros((2 * p, 2 * p)), int(MANY))
    return np.array([one.estimate.value for one in strengths(CANDIDATES, PAIRS, sums)])


def are_ranked(found: list[Strength], truth: Floats) -> bool:
    """Whether each rank interval holds all ranks that the candidate may have; equal strengths share theirs."""
    equal = 1e-6
    better = [(truth > own + equal).sum() for own in truth]
    worse = [(truth < own - equal).sum() for own in truth]
    return all(
        one.best <= 1 + more and one.worst >= CANDIDATES - fewer
        for one, more, fewer in zip(found, better, worse, strict=True)
    )


def coverage(design: Design, draws: int) -> Iterator[Cell]:
    """Yield how often all ranks are in their intervals, and how often the strength is of which it is least often."""
    rng, truth = generator(RANKS, *design), true_strengths(design.quality)
    ranked, strong = 0, np.zeros(CANDIDATES)
    for _ in range(draws):
        groups = design.groups if design.group > 1 else None
        found = strengths(CANDIDATES, PAIRS, PairSums.of(design.outcomes(rng), groups))
        ranked += are_ranked(found, truth)
        strong += [one.estimate.low <= own <= one.estimate.high for one, own in zip(found, truth, strict=True)]
    yield covered(RANKS, str(design), RANK_TARGET, ranked, draws)
    yield covered(STRENGTHS, str(design), STRENGTH_TARGET, int(strong.min()), draws)


def coverage_of_rate(design: Design, pair: int, draws: int) -> Cell:
    """How often the interval of a pair's win rate contains it."""
    rng, truth, hits = generator(RATE, *design, pair), float(expected(design.quality)[pair]), 0
    for _ in range(draws):
        points = design.outcomes(rng)[:, pair]
        wins, ties, losses = (int((points == one).sum()) for one in (1.0, 0.5, 0.0))
        clusters = cluster_totals(2.0 * points - 1.0, design.groups) if design.group > 1 else None
        found = win_rate(wins, ties, losses, clusters)
        hits += found.low <= truth <= found.high
    return covered(RATE, f"{design}, {truth:.0%}", RATE_TARGET, hits, draws)


def complete(sizes: tuple[int, ...], draws: int) -> Iterator[Cell]:
    """Every pair on every question."""
    for quality, n in product(QUALITIES, sizes):
        yield from coverage(Design(quality, n), draws)


def incomplete(draws: int) -> Iterator[Cell]:
    """Pairs that were compared on some questions, and questions in groups."""
    for quality, n in product(QUALITIES, (50,)):
        yield from coverage(Design(quality, n, share=0.6), draws)
        yield from coverage(Design(quality, 4 * n, group=4), draws)


def rates(draws: int) -> Iterator[Cell]:
    """Win rates near a half and near 1."""
    for n, (quality, pair), group in product((20, 100), (("equal", 0), ("steps", 2), ("one far ahead", 2)), (1, 4)):
        yield coverage_of_rate(Design(quality, group * n, group), pair, draws)


STUDIES: tuple[Callable[[int], Iterator[Cell]], ...] = (
    partial(complete, SIZES[:2]),
    partial(complete, SIZES[2:]),
    incomplete,
    rates,
)
