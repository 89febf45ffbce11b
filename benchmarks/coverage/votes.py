"""What several judge together: agreement of raters, verdicts of a panel, and preferences between candidates."""

from collections.abc import Iterator
from functools import cache
from itertools import combinations, product
from math import comb
from typing import NamedTuple

import numpy as np
from scipy.special import expit, ndtr

from benchmarks.coverage import cells
from benchmarks.coverage.cells import Floats, Measure, Rng, Simulation, contains, covers, each
from goldmeter.statistics import mean_interval
from goldmeter.statistics.agreement import krippendorff_alpha
from goldmeter.statistics.bradley_terry import PairSums, Strength, strengths, win_rate
from goldmeter.statistics.clusters import Codes, cluster_totals
from goldmeter.statistics.majority import majority
from goldmeter.statistics.panel import majority_contributions, mean_contributions, with_jurors

# Krippendorff's alpha of raters who call each row right with a chance of its own: the intraclass correlation

ALPHA, CLUSTERED = "Krippendorff's alpha", "Krippendorff's alpha, clusters"
ROWS = 4
"""Rows of a cluster; their chances are equal."""


def rated(
    raters: int, n: int, rate: float, alpha: float, *, some_missing: bool = False, clustered: bool = False
) -> Simulation:
    """How often the interval contains alpha; where all ratings are equal it is as wide as can be.

    raters: of a row, or at most so many if some are missing. rate: the mean chance that a row is called right.
    """
    codes = np.arange(n) // (ROWS if clustered else 1)

    def draw(rng: Rng) -> bool:
        chances = cells.beta_rates(rng, rate, alpha, int(codes.max()) + 1)[codes]
        rated = rng.integers(1, raters + 1, n) if some_missing else np.full(n, raters)
        right = rng.binomial(rated, chances)
        counts = np.column_stack([rated - right, right]).astype(np.float64)
        return contains(krippendorff_alpha(counts, codes if clustered else None), alpha)

    topic, of_a_row = CLUSTERED if clustered else ALPHA, f"1 to {raters}" if some_missing else f"{raters}"
    name = f"{of_a_row} raters, n = {n}, p = {rate:g}, alpha = {alpha:g}"
    return Simulation(topic, name, (topic, raters, some_missing, n, rate, alpha), each(draw), (covers(0.92),))


def raters() -> Iterator[Simulation]:
    """Two raters, one to three, and rows in clusters of four."""
    rates, alphas = (0.5, 0.8, 0.95), (0.1, 0.4, 0.7, 0.9)
    for (most, some_missing), n, rate, alpha in product(((2, False), (3, True)), (20, 50, 200), rates, alphas):
        yield rated(most, n, rate, alpha, some_missing=some_missing)
    for case in product((80, 400), rates, alphas):
        yield rated(2, *case, clustered=True)


# The verdict of a panel over rows and jurors: each juror is drawn from many, with a leniency of its own

PANEL = "panel of judges"
DIFFICULTY = 1.5
"""Standard deviation of the rows, on the probit scale; that of the jurors is part of the design."""
KNOTS = 100
SPREADS = (0.0, 0.2, 0.6)


def panel(pooled: str, jurors: int, n: int, mean_row: float, spread: float) -> Simulation:
    """How often the interval over rows and jurors contains the truth, and that over rows alone, for contrast.

    pooled: how votes are pooled, majority or mean. spread: of the jurors.
    """
    is_majority = pooled == "majority"
    truth = _mean_verdict(jurors, mean_row, spread, is_majority=is_majority)

    def draw(rng: Rng) -> tuple[bool, bool]:
        rows = rng.normal(mean_row, DIFFICULTY, n)[:, None]
        lenient = rng.normal(0.0, spread, jurors)
        votes = (rng.random((n, jurors)) < ndtr(rows + lenient)).astype(np.float64)
        alone = mean_interval(majority(votes) if is_majority else votes.mean(axis=1))
        adds = majority_contributions(votes) if is_majority else mean_contributions(votes)
        return contains(with_jurors(alone, adds), truth), contains(alone, truth)

    name = f"{pooled} of {jurors}, n = {n}, p = {truth:.2f}, jurors ± {spread:g}"
    seed, measures = (PANEL, pooled, jurors, n, mean_row, spread), (covers(0.92), cells.contrast("rows alone"))
    return Simulation(PANEL, name, seed, each(draw), measures)


def _mean_verdict(k: int, mean_row: float, spread: float, *, is_majority: bool) -> float:
    """The mean verdict on all rows of all panels of k jurors."""
    knots, weights = np.polynomial.hermite_e.hermegauss(KNOTS)
    p = ndtr((mean_row + DIFFICULTY * knots) / np.sqrt(1.0 + spread**2))
    if is_majority:
        side = [1.0 if 2 * right > k else 0.5 * (2 * right == k) for right in range(k + 1)]
        p = sum(side[r] * comb(k, r) * p**r * (1.0 - p) ** (k - r) for r in range(k + 1))
    return float(weights @ p / weights.sum())


def panels() -> Iterator[Simulation]:
    """Every design."""
    for jurors, pooled, n, mean_row, spread in product((2, 3, 5), ("majority", "mean"), (60, 300), (0.0, 1.5), SPREADS):
        yield panel(pooled, jurors, n, mean_row, spread)


# Preferences between four candidates of known strengths: ranks, all together, strengths, and a win rate

RANKS, STRENGTHS, RATE = "ranks of 4 candidates, jointly", "Bradley-Terry strengths", "win rate"
QUALITIES = {
    "equal": (0.0, 0.0, 0.0, 0.0),
    "steps": (-0.9, -0.3, 0.3, 0.9),
    "two close": (-1.0, 0.0, 0.1, 1.0),
    "one far ahead": (0.0, 0.0, 0.2, 5.0),
}
CANDIDATES = 4
PAIRS = (*combinations(range(CANDIDATES), 2),)
SPREAD = 1.0
"""Standard deviation of a candidate's quality between questions."""
TIE = 0.5
"""A smaller difference of qualities is a tie."""
MANY = 1e12


class Preferred(NamedTuple):
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
    def groups(self) -> Codes | None:
        """The group of each question; None: each is its own."""
        return np.arange(self.n) // self.group if self.group > 1 else None

    def outcomes(self, rng: Rng) -> Floats:
        """Points of the second candidate of each pair, shape (n, pairs)."""
        groups = rng.standard_normal((self.n // self.group + 1, CANDIDATES))[np.arange(self.n) // self.group]
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


def ranked(quality: str, n: int, group: int = 1, share: float = 1.0) -> Simulation:
    """How often all ranks are in their intervals, and how often the strength is of which it is least often."""
    design, truth = Preferred(quality, n, group, share), true_strengths(quality)

    def draw(rng: Rng) -> tuple[bool, list[bool]]:
        found = strengths(CANDIDATES, PAIRS, PairSums.of(design.outcomes(rng), design.groups))
        return are_ranked(found, truth), [contains(one.estimate, own) for one, own in zip(found, truth, strict=True)]

    measures = covers(0.95), Measure("coverage", "at least", 0.92, _least, topic=STRENGTHS)
    return Simulation(RANKS, str(design), (RANKS, *design), each(draw), measures)


def _least(values: Floats) -> tuple[float, float]:
    return min(map(cells.mean, values.T))


def won(quality: str, n: int, group: int, pair: int) -> Simulation:
    """How often the interval of a pair's win rate contains it."""
    design, truth = Preferred(quality, n, group), float(expected(quality)[pair])

    def draw(rng: Rng) -> bool:
        points = design.outcomes(rng)[:, pair]
        wins, ties, losses = (int((points == one).sum()) for one in (1.0, 0.5, 0.0))
        clusters = None if design.groups is None else cluster_totals(2.0 * points - 1.0, design.groups)
        return contains(win_rate(wins, ties, losses, clusters), truth)

    name, seed = f"{design}, {truth:.0%}", (RATE, *design, pair)
    return Simulation(RATE, name, seed, each(draw), (covers(0.935),))


def preferences() -> Iterator[Simulation]:
    """Every pair on every question; pairs that were compared on some, and questions in groups; win rates."""
    for sizes in ((20, 100), (500,)):
        yield from (ranked(quality, n) for quality, n in product(QUALITIES, sizes))
    for quality in QUALITIES:
        yield from (ranked(quality, 50, share=0.6), ranked(quality, 200, group=4))
    pairs = (("equal", 0), ("steps", 2), ("one far ahead", 2))
    for n, (quality, pair), group in product((20, 100), pairs, (1, 4)):
        yield won(quality, group * n, group, pair)
