"""Scores of summed statistics: a ratio of sums, and corpus BLEU of simulated rows whose true value is known."""

import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial

import numpy as np
from scipy.stats import poisson

from benchmarks.coverage.arrays import corpus_difference, corpus_interval
from benchmarks.coverage.cells import Floats, Rng, Simulation, contains, contrast, covers, each
from goldmeter.metrics.lexical.bleu import Bleu
from goldmeter.statistics import FewRows
from goldmeter.statistics.clusters import Codes

RATIO, BLEU, PAIRED = "ratio of sums", "corpus BLEU", "paired corpus score"
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


def ratio_of_sums(n: int, *, grouped: bool = False) -> Simulation:
    """How often the interval of a ratio of sums contains the true one; `grouped`: two rows share a quality."""

    def sample(rng: Rng) -> Floats:
        length, quality = _rows(n, rng, grouped=grouped)
        return np.stack([rng.binomial(length, quality), length], axis=1).astype(np.float64)

    name = f"n = {n}, in pairs" if grouped else f"n = {n}"
    return _jackknifed(RATIO, n, name, (n, grouped), sample, ratio, 0.7, _pairs(n, grouped=grouped))


def corpus_bleu(n: int) -> Simulation:
    """How often the jackknife interval of corpus BLEU contains the true one."""
    return _jackknifed(BLEU, n, f"n = {n}", (n,), partial(bleu_rows, n), Bleu().score, true_bleu())


def _jackknifed(
    topic: str,
    n: int,
    name: str,
    seed: tuple[object, ...],
    sample: Callable[[Rng], Floats],
    score: Callable[[Floats], Floats],
    truth: float,
    clusters: Codes | None = None,
) -> Simulation:
    def draw(rng: Rng) -> bool:
        with warnings.catch_warnings(action="ignore", category=FewRows):
            return contains(corpus_interval(sample(rng), score, clusters), truth)

    measure = covers(0.93) if n >= ENOUGH else contrast("the same on fewer rows")
    return Simulation(topic, name, (topic, *seed), each(draw), (measure,))


@cache
def true_bleu() -> float:
    """BLEU of the expected statistics, which that of ever more rows tends to."""
    lengths = np.arange(1, 10 * LENGTH)
    chance = poisson.pmf(lengths - 1, LENGTH - 1)
    grams = np.array([chance @ np.maximum(lengths - k, 0) for k in range(ORDERS)])
    a, b = QUALITY
    matching = np.cumprod([(a + k) / (a + b + k) for k in range(ORDERS)])  # E q, E q², …: words match independently
    stats = np.concatenate([matching * grams, grams, grams[:1], LONGER * grams[:1]])
    return float(Bleu().score(stats))


def bleu_rows(n: int, rng: Rng) -> Floats:
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


def bootstrap(n: int) -> Simulation:
    """How often the percentile bootstrap of corpus BLEU contains the true one, in a quarter of the draws."""
    truth, score, peer = true_bleu(), Bleu().score, "percentile bootstrap"

    def draw(rng: Rng) -> bool:
        stats = bleu_rows(n, rng)
        weights = rng.multinomial(n, np.full(n, 1.0 / n), RESAMPLES).astype(np.float64)
        low, high = np.quantile(score(weights @ stats), [0.025, 0.975])
        return bool(low <= truth <= high)

    return Simulation(BLEU, f"n = {n}", (BLEU, peer, n), each(draw), (contrast(peer),), 0.25)


def difference_of_ratios(n: int, *, grouped: bool) -> Simulation:
    """Coverage of the difference of a ratio, of n rows or of n / 2 pairs of rows that share their quality."""

    def draw(rng: Rng) -> bool:
        length, quality = _rows(n, rng, grouped=grouped)
        base, head = (np.column_stack([rng.binomial(length, q), length]) for q in (quality, quality - 0.1 * quality))
        return contains(corpus_difference(base, head, ratio, _pairs(n, grouped=grouped)), -0.07)

    name = f"{'pairs of rows' if grouped else 'rows'}, n = {n}"
    return Simulation(PAIRED, name, (PAIRED, name), each(draw), (covers(0.935),))


def _pairs(n: int, *, grouped: bool) -> Codes | None:
    return np.repeat(np.arange(n // 2), 2) if grouped else None


def _rows(n: int, rng: Rng, *, grouped: bool) -> tuple[Codes, Floats]:
    """Length and quality of each row."""
    length = 1 + rng.poisson(9, n)
    return length, np.repeat(rng.beta(7.0, 3.0, n // 2), 2) if grouped else rng.beta(7.0, 3.0, n)


def studies() -> Iterator[Simulation]:
    """Both scores, and what the percentile bootstrap gives for BLEU."""
    yield from map(ratio_of_sums, SIZES)
    yield ratio_of_sums(ENOUGH, grouped=True)
    yield from map(corpus_bleu, SIZES)
    yield from map(bootstrap, SIZES[:-1])
