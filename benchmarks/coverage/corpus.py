"""Scores of summed statistics: a ratio of sums, and corpus BLEU of simulated rows whose true value is known."""

import warnings
from collections.abc import Callable, Iterator

import numpy as np
from scipy.stats import poisson

from benchmarks.coverage.cells import Cell, Floats, covered, generator
from tasks.metrics.lexical.bleu import Bleu
from tasks.statistics import FewRows, corpus_interval
from tasks.statistics.clusters import Codes

Score = Callable[[Floats], Floats]

RATIO, BLEU = "ratio of sums", "corpus BLEU"
SIZES = (10, 30, 100, 300)
ENOUGH = 100
"""Rows from which a target holds; with fewer, what is reached is only shown, and below 50 a run warns."""
ORDERS = 4
LENGTH = 12
"""Words of a response, on average."""
QUALITY = (2.0, 2.0)
"""A row's chance that a word matches is beta-distributed: some rows are nearly perfect, some nearly all wrong."""
LONGER = 1.1
"""The reference's length over the response's, on average: brevity costs something."""
RESAMPLES = 500


def ratio(stats: Floats) -> Floats:
    """Matches over length: (…, 2) -> (…)."""
    return np.asarray(stats[..., 0] / stats[..., 1])


def ratio_coverage(n: int, draws: int, *, grouped: bool = False) -> Cell:
    """How often the interval of a ratio of sums contains the true one; `grouped`: two rows share a quality."""
    rng = generator(RATIO, n, grouped)
    clusters = np.repeat(np.arange(n // 2), 2) if grouped else None
    samples = (_ratio_rows(rng, n, grouped=grouped) for _ in range(draws))
    name = f"n = {n}, in pairs" if grouped else f"n = {n}"
    return _jackknifed(RATIO, name, n, (_interval(stats, ratio, clusters) for stats in samples), 0.7, draws)


def bleu_coverage(n: int, draws: int) -> Cell:
    """How often the jackknife interval of corpus BLEU contains the true one."""
    rng, score = generator(BLEU, n), Bleu().score
    limits = (_interval(bleu_rows(rng, n), score) for _ in range(draws))
    return _jackknifed(BLEU, f"n = {n}", n, limits, true_bleu(), draws)


def true_bleu() -> float:
    """BLEU of the expected statistics, which that of ever more rows tends to."""
    lengths = np.arange(1, 10 * LENGTH)
    chance = poisson.pmf(lengths - 1, LENGTH - 1)
    grams = np.array([chance @ np.maximum(lengths - k, 0) for k in range(ORDERS)])
    a, b = QUALITY
    matching = np.cumprod([(a + k) / (a + b + k) for k in range(ORDERS)])  # E q, E q², …: words match independently
    stats = np.concatenate([matching * grams, grams, grams[:1], LONGER * grams[:1]])
    return float(Bleu().score(stats))


def bleu_rows(rng: np.random.Generator, n: int) -> Floats:
    """Shape (n, 10): the statistics of n rows, where a k-gram matches when its k words do."""
    length = 1 + rng.poisson(LENGTH - 1, n)
    words = np.arange(length.max()) < length[:, None]
    match = words & (rng.random(words.shape) < rng.beta(*QUALITY, n)[:, None])
    runs = [match]
    for k in range(1, ORDERS):
        runs.append(runs[-1][:, :-1] & match[:, k:])
    matches = np.stack([run.sum(axis=1) for run in runs], axis=1)
    totals = np.maximum(length[:, None] - np.arange(ORDERS), 0)
    reference = LONGER * length * rng.uniform(0.8, 1.2, n)
    return np.column_stack([matches, totals, length, reference]).astype(np.float64)


def bootstrapped(draws: int) -> Iterator[Cell]:
    """What the percentile bootstrap gives for corpus BLEU; a quarter of the draws say it."""
    draws, truth, score = max(1, draws // 4), true_bleu(), Bleu().score
    for n in SIZES[:-1]:
        rng = generator(BLEU, "percentile bootstrap", n)
        limits = (_percentiles(bleu_rows(rng, n), score, rng) for _ in range(draws))
        hits = sum(low <= truth <= high for low, high in limits)
        yield covered(BLEU, f"percentile bootstrap: n = {n}", None, hits, draws)


def ratios(draws: int) -> Iterator[Cell]:
    """A ratio of sums, of rows on their own and in pairs."""
    for n in SIZES:
        yield ratio_coverage(n, draws)
    yield ratio_coverage(ENOUGH, draws, grouped=True)


def bleus(draws: int) -> Iterator[Cell]:
    """Corpus BLEU."""
    for n in SIZES:
        yield bleu_coverage(n, draws)


STUDIES: tuple[Callable[[int], Iterator[Cell]], ...] = (ratios, bleus, bootstrapped)


def _ratio_rows(rng: np.random.Generator, n: int, *, grouped: bool) -> Floats:
    length = 1 + rng.poisson(9, n)
    quality = np.repeat(rng.beta(7, 3, n // 2), 2) if grouped else rng.beta(7, 3, n)
    return np.stack([rng.binomial(length, quality), length], axis=1).astype(np.float64)


def _interval(stats: Floats, score: Score, clusters: Codes | None = None) -> tuple[float, float]:
    estimate = corpus_interval(stats, score, clusters)
    return estimate.low, estimate.high


def _jackknifed(topic: str, name: str, n: int, limits: Iterator[tuple[float, float]], truth: float, draws: int) -> Cell:
    with warnings.catch_warnings(action="ignore", category=FewRows):
        hits = sum(low <= truth <= high for low, high in limits)
    if n >= ENOUGH:
        return covered(topic, name, 0.93, hits, draws)
    return covered(topic, f"the same on fewer rows: {name}", None, hits, draws)


def _percentiles(stats: Floats, score: Score, rng: np.random.Generator) -> Floats:
    n = stats.shape[0]
    weights = rng.multinomial(n, np.full(n, 1.0 / n), RESAMPLES).astype(np.float64)
    return np.asarray(np.quantile(score(weights @ stats), [0.025, 0.975]))
