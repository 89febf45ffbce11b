"""What several judge together: agreement of raters, verdicts of a panel, and preferences between candidates."""

from collections.abc import Iterator
from functools import cache, partial
from itertools import combinations, product
from math import comb
from typing import NamedTuple

import numpy as np
from scipy.special import expit, ndtr

from benchmarks.coverage.cells import Floats, Measure, Simulation, contains, contrast, covers, mean
from tasks.statistics import mean_interval
from tasks.statistics.agreement import krippendorff_alpha
from tasks.statistics.bradley_terry import PairSums, Strength, strengths, win_rate
from tasks.statistics.clusters import Codes, cluster_totals
from tasks.statistics.majority import majority
from tasks.statistics.panel import majority_contributions, mean_contributions, with_jurors

# Krippendorff's alpha of raters who call each row right with a chance of its own: the intraclass correlation

ALPHA, CLUSTERED = "Krippendorff's alpha", "Krippendorff's alpha, clusters"
ROWS = 4
"""Rows of a cluster; their chances are equal."""


class Rated(NamedTuple):
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


def rated(design: Rated, *, clustered: bool = False) -> Simulation:
    """How often the interval contains alpha; where all ratings are equal it is as wide as can be."""
    topic = CLUSTERED if clustered else ALPHA
    outcomes = partial(_rated, design, clustered=clustered)
    return Simulation(topic, str(design), (topic, *design), outcomes, (covers(0.92),))


def _rated(design: Rated, rng: np.random.Generator, draws: int, *, clustered: bool) -> Iterator[tuple[bool]]:
    codes = np.arange(design.n) // ROWS if clustered else np.arange(design.n)
    for _ in range(draws):
        counts = design.counts(rng, codes)
        found = krippendorff_alpha(counts, codes) if clustered else krippendorff_alpha(counts)
        yield (contains(found, design.alpha),)


def raters() -> Iterator[Simulation]:
    """Two raters, one to three, and rows in clusters of four."""
    rates, alphas = (0.5, 0.8, 0.95), (0.1, 0.4, 0.7, 0.9)
    for (most, some_missing), n, rate, alpha in product(((2, False), (3, True)), (20, 50, 200), rates, alphas):
        yield rated(Rated(most, some_missing, n, rate, alpha))
    for n, rate, alpha in product((80, 400), rates, alphas):
        yield rated(Rated(2, some_missing=False, n=n, rate=rate, alpha=alpha), clustered=True)


# The verdict of a panel over rows and jurors: each juror is drawn from many, with a leniency of its own

PANEL = "panel of judges"
DIFFICULTY = 1.5
"""Standard deviation of the rows, on the probit scale; that of the jurors is part of the design."""
KNOTS = 100
SPREADS = (0.0, 0.2, 0.6)


class Panel(NamedTuple):
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


def panel(design: Panel) -> Simulation:
    """How often the interval over rows and jurors contains the truth, and that over rows alone, for contrast."""
    measures = covers(0.92), contrast("rows alone")
    return Simulation(PANEL, str(design), (PANEL, *design), partial(_panel, design), measures)


def _panel(design: Panel, rng: np.random.Generator, draws: int) -> Iterator[tuple[bool, bool]]:
    truth, is_majority = design.truth, design.pooled == "majority"
    for _ in range(draws):
        votes = design.votes(rng)
        alone = mean_interval(majority(votes) if is_majority else votes.mean(axis=1))
        adds = majority_contributions(votes) if is_majority else mean_contributions(votes)
        yield contains(with_jurors(alone, adds), truth), contains(alone, truth)


def panels() -> Iterator[Simulation]:
    """Every design."""
    for jurors, pooled, n, mean_row, spread in product((2, 3, 5), ("majority", "mean"), (60, 300), (0.0, 1.5), SPREADS):
        yield panel(Panel(pooled, jurors, n, mean_row, spread))


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

    def outcomes(self, rng: np.random.Generator) -> Floats:
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
    design = Preferred(quality, n, group, share)
    measures = covers(0.95), Measure("coverage", "at least", 0.92, _least, topic=STRENGTHS)
    return Simulation(RANKS, str(design), (RANKS, *design), partial(_ranked, design), measures)


def _ranked(design: Preferred, rng: np.random.Generator, draws: int) -> Iterator[tuple[bool, list[bool]]]:
    truth = true_strengths(design.quality)
    for _ in range(draws):
        found = strengths(CANDIDATES, PAIRS, PairSums.of(design.outcomes(rng), design.groups))
        yield are_ranked(found, truth), [contains(one.estimate, own) for one, own in zip(found, truth, strict=True)]


def _least(values: Floats) -> tuple[float, float]:
    return min(map(mean, values.T))


def won(quality: str, n: int, group: int, pair: int) -> Simulation:
    """How often the interval of a pair's win rate contains it."""
    design, truth = Preferred(quality, n, group), float(expected(quality)[pair])
    name, seed = f"{design}, {truth:.0%}", (RATE, *design, pair)
    return Simulation(RATE, name, seed, partial(_won, design, pair, truth), (covers(0.935),))


def _won(design: Preferred, pair: int, truth: float, rng: np.random.Generator, draws: int) -> Iterator[tuple[bool]]:
    for _ in range(draws):
        points = design.outcomes(rng)[:, pair]
        wins, ties, losses = (int((points == one).sum()) for one in (1.0, 0.5, 0.0))
        clusters = None if design.groups is None else cluster_totals(2.0 * points - 1.0, design.groups)
        yield (contains(win_rate(wins, ties, losses, clusters), truth),)


def preferences() -> Iterator[Simulation]:
    """Every pair on every question; pairs that were compared on some, and questions in groups; win rates."""
    for sizes in ((20, 100), (500,)):
        yield from (ranked(quality, n) for quality, n in product(QUALITIES, sizes))
    for quality in QUALITIES:
        yield from (ranked(quality, 50, share=0.6), ranked(quality, 200, group=4))
    pairs = (("equal", 0), ("steps", 2), ("one far ahead", 2))
    for n, (quality, pair), group in product((20, 100), pairs, (1, 4)):
        yield won(quality, group * n, group, pair)
