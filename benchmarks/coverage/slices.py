"""Slices of a data set together: whether all bands of a column contain their rates, and false claims of a worse one."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from math import prod

import numpy as np
from scipy.stats import binom

from benchmarks.coverage import bounded
from benchmarks.coverage.cells import Cell, Floats, alarmed, covered, generator, share_error
from tasks.scores.column_facts import ColumnFacts
from tasks.scores.sums import CandidateSums, ColumnSums
from tasks.scores.worst_slices import worst_slices
from tasks.statistics import Estimate
from tasks.statistics.clusters import ClusterTotals
from tasks.statistics.mean import interval_of_moments
from tasks.statistics.moments import Moments
from tasks.statistics.simultaneous import simultaneous_interval

TOPIC, CROSSED = "all slices of a column", "all slices of a column, groups cross them"
BOUNDED, WORSE = "all slices of a column, bounded scores", "a slice below the others"
TARGET, ALPHA = 0.935, 0.05
SLICES = (2, 5, 20, 60)
SIZES = (5, 20, 100, 500)
RATES = (0.5, 0.8, 0.9, 0.95, 0.98, 0.99)
ROWS, CORRELATION = 5, 0.3
"""Rows of a group, and their intracluster correlation."""
SHAPES = ("steady with rare failures", "dense with rare failures", "half or nothing")

Limits = Callable[[Moments, int], Estimate]


def ours(moments: Moments, tests: int) -> Estimate:
    """The band of one slice of several."""
    return simultaneous_interval(moments, tests=tests)


def midp(moments: Moments, tests: int) -> Estimate:
    """The interval of a single rate, at Šidák's level."""
    return interval_of_moments(moments, confidence=(1.0 - ALPHA) ** (1.0 / tests))


def alone(moments: Moments, _: int) -> Estimate:
    """The interval of a single rate."""
    return interval_of_moments(moments)


def independent(tests: int, _: int = 0) -> Iterator[Cell]:
    """Every cell of so many slices without common groups, enumerated, beside intervals that are not meant for many."""
    yield from _enumerated(tests, "", ours, TARGET)
    yield from _enumerated(tests, "mid-p tails at Šidák's level: ", midp, None)
    yield from _enumerated(tests, "each interval on its own: ", alone, None)


def _enumerated(tests: int, name: str, limits: Limits, target: float | None) -> Iterator[Cell]:
    tables = {n: [limits(Moments.of_passes(n, k), tests) for k in range(n + 1)] for n in SIZES}
    for rate in RATES:
        shares = {n: _share(table, n, rate) for n, table in tables.items()}
        designs = {f"n = {n}": [n] * tests for n in SIZES} | {"n = 5 to 500": ([*SIZES] * tests)[:tests]}
        for design, sizes in designs.items():
            measured = prod(shares[n] for n in sizes)
            label = f"{name}{tests} slices, {design}, p = {rate:g}"
            yield Cell(TOPIC, label, "coverage", "at least" if target else "contrast", target, measured, 0.0, 0)


def _share(limits: Sequence[Estimate], n: int, rate: float) -> float:
    """The probability that the interval of a slice of n rows contains its rate."""
    contains = [one.low <= rate <= one.high for one in limits]
    return float(binom.pmf(np.flatnonzero(contains), n, rate).sum())


def crossed(tests: int, sizes: Sequence[int], rates: Sequence[float], draws: int) -> Iterator[Cell]:
    """Slices of n rows each; the rows of a group have its rate and lie in several slices."""
    for n, rate in product(sizes, rates):
        rng = generator(CROSSED, tests, n, rate)
        hits = sum(all(_contain(_slices(rng, tests, n, rate), tests, rate)) for _ in range(draws))
        yield covered(CROSSED, f"{tests} slices, n = {n}, p = {rate:g}", TARGET, hits, draws)


def _slices(rng: np.random.Generator, tests: int, n: int, rate: float) -> Iterator[ClusterTotals]:
    """Yield the rows of each slice by group."""
    groups = tests * n // ROWS
    spread = 1.0 / CORRELATION - 1.0
    rates = rng.beta(rate * spread, (1.0 - rate) * spread, groups)
    group = np.repeat(np.arange(groups), ROWS)
    passed = rng.random(group.size) < rates[group]
    for rows in rng.permutation(group.size).reshape(tests, n):
        _, codes = np.unique(group[rows], return_inverse=True)
        size = np.bincount(codes).astype(np.float64)
        yield ClusterTotals(size, np.bincount(codes, weights=passed[rows]).astype(np.float64))


def _contain(slices: Iterator[ClusterTotals], tests: int, rate: float) -> Iterator[bool]:
    for clusters in slices:
        moments = Moments.of_passes(int(clusters.size.sum()), int(clusters.total.sum()))
        band = simultaneous_interval(moments, clusters, tests=tests)
        yield band.low <= rate <= band.high


def of_shape(shape: str, draws: int) -> Iterator[Cell]:
    """Twenty slices of bounded scores: the coverage of one slice in ten times as many draws, to the power of 20."""
    tests, draws = 20, 10 * draws
    for mean, n in product((0.45, 0.9, 0.95), (100, 500)):
        design = bounded.Design(shape, mean / 2 if shape == "half or nothing" else mean, n)
        hits = sum(_contains(scores, design.mean, tests) for scores in design.scores(draws))
        one = hits / draws
        error = tests * share_error(hits, draws)
        yield Cell(BOUNDED, f"{tests} slices, {design}", "coverage", "at least", TARGET, one**tests, error, draws)


def _contains(scores: Floats, mean: float, tests: int) -> bool:
    band = simultaneous_interval(Moments.of(scores, (0.0, 1.0)), tests=tests)
    return band.low <= mean <= band.high


def false_claims(tests: int, n: int, rate: float, draws: int) -> Cell:
    """How often any of so many slices of one rate is called worse than the other rows."""
    rng = generator(WORSE, tests, n, rate)
    facts = ColumnFacts("label", "load", "", (0.0, 1.0), rate_signature="label")
    alarms = 0
    for passes in rng.binomial(n, rate, (draws, tests)):
        columns = {f"{place:02}": [_column(facts, n, int(k))] for place, k in enumerate(passes)}
        whole = CandidateSums("", [_column(facts, n * tests, int(passes.sum()))], {"topic": columns})
        found = worst_slices([whole], "label", 1.0 - ALPHA, by_judge=False)
        alarms += any(entry["worse"] for part in found["slices"] for entry in part["candidates"])
    return alarmed(WORSE, f"{tests} slices, n = {n}, p = {rate:g}", "familywise error", ALPHA, alarms, draws)


def _column(facts: ColumnFacts, n: int, passed: int) -> ColumnSums:
    return ColumnSums("label", facts, n, 0, 0, Moments.of_passes(n, passed), passed, None, None, None)


def claims(tests: int, draws: int) -> Iterator[Cell]:
    """False claims at several sizes and rates."""
    for n, rate in product((20, 50), (0.9, 0.98)):
        yield false_claims(tests, n, rate, draws)


STUDIES: tuple[Callable[[int], Iterator[Cell]], ...] = (
    *(partial(independent, tests) for tests in SLICES),
    *(partial(crossed, tests, (5, 50), (0.95,) if tests > 20 else (0.5, 0.95)) for tests in SLICES),  # noqa: PLR2004
    *(partial(crossed, tests, (500,), (0.9,)) for tests in SLICES),
    *(partial(of_shape, shape) for shape in SHAPES),
    *(partial(claims, tests) for tests in (5, 60)),
)
