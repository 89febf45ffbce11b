"""Scores of summed statistics: a ratio of sums, and corpus BLEU of simulated rows whose true value is known."""

import warnings
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from scipy.stats import poisson

from benchmarks.coverage.cells import Floats, Simulation, contains, contrast, covers
from tasks.metrics.lexical.bleu import Bleu
from tasks.statistics import FewRows, corpus_interval
from tasks.statistics.clusters import Codes
from tasks.statistics.paired import corpus_difference

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
_TARGET, _FEWER = covers(0.93), contrast("the same on fewer rows")


def ratio(stats: Floats) -> Floats:
    """Matches over length: (…, 2) -> (…)."""
    return np.asarray(stats[..., 0] / stats[..., 1])


def ratio_of_sums(n: int, *, grouped: bool = False) -> Simulation:
    """How often the interval of a ratio of sums contains the true one; `grouped`: two rows share a quality."""
    outcomes = partial(
        _jackknifed, partial(_ratio_rows, n, grouped=grouped), ratio, 0.7, _pairs(n) if grouped else None
    )
    name = f"n = {n}, in pairs" if grouped else f"n = {n}"
    return Simulation(RATIO, name, (RATIO, n, grouped), outcomes, (_TARGET if n >= ENOUGH else _FEWER,))


def corpus_bleu(n: int) -> Simulation:
    """How often the jackknife interval of corpus BLEU contains the true one."""
    outcomes = partial(_jackknifed, partial(bleu_rows, n), Bleu().score, true_bleu(), None)
    return Simulation(BLEU, f"n = {n}", (BLEU, n), outcomes, (_TARGET if n >= ENOUGH else _FEWER,))


def _jackknifed(
    sample: Callable[[np.random.Generator], Floats],
    score: Callable[[Floats], Floats],
    truth: float,
    clusters: Codes | None,
    rng: np.random.Generator,
    draws: int,
) -> Iterator[tuple[bool]]:
    for _ in range(draws):
        with warnings.catch_warnings(action="ignore", category=FewRows):
            found = corpus_interval(sample(rng), score, clusters)
        yield (contains(found, truth),)


def true_bleu() -> float:
    """BLEU of the expected statistics, which that of ever more rows tends to."""
    lengths = np.arange(1, 10 * LENGTH)
    chance = poisson.pmf(lengths - 1, LENGTH - 1)
    grams = np.array([chance @ np.maximum(lengths - k, 0) for k in range(ORDERS)])
    a, b = QUALITY
    matching = np.cumprod([(a + k) / (a + b + k) for k in range(ORDERS)])  # E q, E q², …: words match independently
    stats = np.concatenate([matching * grams, grams, grams[:1], LONGER * grams[:1]])
    return float(Bleu().score(stats))


def bleu_rows(n: int, rng: np.random.Generator) -> Floats:
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


def _resampled(n: int, rng: np.random.Generator, draws: int) -> Iterator[tuple[bool]]:
    truth, score = true_bleu(), Bleu().score
    for _ in range(draws):
        stats = bleu_rows(n, rng)
        weights = rng.multinomial(n, np.full(n, 1.0 / n), RESAMPLES).astype(np.float64)
        low, high = np.quantile(score(weights @ stats), [0.025, 0.975])
        yield (low <= truth <= high,)


def _pairs(n: int) -> Codes:
    return np.repeat(np.arange(n // 2), 2)


def _ratio_rows(n: int, rng: np.random.Generator, *, grouped: bool) -> Floats:
    length = 1 + rng.poisson(9, n)
    quality = np.repeat(rng.beta(7, 3, n // 2), 2) if grouped else rng.beta(7, 3, n)
    return np.stack([rng.binomial(length, quality), length], axis=1).astype(np.float64)


def difference_of_ratios(n: int, *, grouped: bool) -> Simulation:
    """Coverage of the difference of a ratio, of n rows or of n / 2 pairs of rows that share their quality."""
    name = f"{'pairs of rows' if grouped else 'rows'}, n = {n}"
    return Simulation(PAIRED, name, (PAIRED, name), partial(_differences, n, grouped=grouped), (covers(0.935),))


def _differences(n: int, rng: np.random.Generator, draws: int, *, grouped: bool) -> Iterator[tuple[bool]]:
    for _ in range(draws):
        length = 1 + rng.poisson(9, n)
        quality = np.repeat(rng.beta(7.0, 3.0, n // 2), 2) if grouped else rng.beta(7.0, 3.0, n)
        base, head = (np.column_stack([rng.binomial(length, q), length]) for q in (quality, quality - 0.1 * quality))
        yield (contains(corpus_difference(base, head, ratio, _pairs(n) if grouped else None), -0.07),)


def studies() -> Iterator[Simulation]:
    """Both scores, and what the percentile bootstrap gives for BLEU in a quarter of the draws."""
    yield from map(ratio_of_sums, SIZES)
    yield ratio_of_sums(ENOUGH, grouped=True)
    yield from map(corpus_bleu, SIZES)
    peer = "percentile bootstrap"
    for n in SIZES[:-1]:
        yield Simulation(BLEU, f"n = {n}", (BLEU, peer, n), partial(_resampled, n), (contrast(peer),), 0.25)
