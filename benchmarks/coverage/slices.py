"""Slices of a data set together: whether all intervals contain their rates, and false claims of a worse one."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from math import prod

import numpy as np
from scipy.stats import binom

from benchmarks.coverage import cells, means
from benchmarks.coverage.cells import Cell, Floats, Measure, Rng, Simulation, Study, contains, covers, each
from benchmarks.coverage.means import Bounded
from goldmeter.estimates.column_facts import ColumnFacts
from goldmeter.estimates.sums import CandidateSums, ColumnSums
from goldmeter.estimates.worst_slices import worst_slices
from goldmeter.statistics import Estimate
from goldmeter.statistics.clusters import ClusterTotals
from goldmeter.statistics.mean import interval_of_moments
from goldmeter.statistics.moments import Moments
from goldmeter.statistics.multiplicity import simultaneous_interval

TOPIC, CROSSED = "all slices of a column", "all slices of a column, groups cross them"
BOUNDED, WORSE = "all slices of a column, bounded scores", "a slice below the others"
TARGET, ALPHA = 0.935, 0.05
SLICES = (2, 5, 20, 60)
SIZES = (5, 20, 100, 500)
RATES = (0.5, 0.8, 0.9, 0.95, 0.98, 0.99)
ROWS, CORRELATION = 5, 0.3
"""Rows of a group, and their intracluster correlation."""
TOGETHER = 20
"""Slices of bounded scores."""
SHAPES = ("steady with rare failures", "dense with rare failures", "half or nothing")

Limits = Callable[[Moments, int], Estimate]


def ours(moments: Moments, tests: int) -> Estimate:
    """The interval of one slice of several."""
    return simultaneous_interval(moments, tests=tests)


def midp(moments: Moments, tests: int) -> Estimate:
    """The interval of a single rate, at Šidák's level."""
    return interval_of_moments(moments, confidence=(1.0 - ALPHA) ** (1.0 / tests))


def alone(moments: Moments, _: int) -> Estimate:
    """The interval of a single rate."""
    return interval_of_moments(moments)


def independent(tests: int, _: int = 0) -> Iterator[Cell]:
    """Every cell of so many slices without common groups, enumerated, beside intervals that are not meant for many."""
    yield from _enumerated(tests, ours, covers(TARGET))
    yield from _enumerated(tests, midp, cells.contrast("mid-p tails at Šidák's level"))
    yield from _enumerated(tests, alone, cells.contrast("each interval on its own"))


def _enumerated(tests: int, limits: Limits, measure: Measure) -> Iterator[Cell]:
    tables = {n: [limits(Moments.of_passes(n, k), tests) for k in range(n + 1)] for n in SIZES}
    for rate in RATES:
        shares = {n: _share(table, n, rate) for n, table in tables.items()}
        designs = {f"n = {n}": [n] * tests for n in SIZES} | {"n = 5 to 500": ([*SIZES] * tests)[:tests]}
        for design, sizes in designs.items():
            name = f"{tests} slices, {design}, p = {rate:g}"
            yield measure.cell(TOPIC, name, prod(shares[n] for n in sizes))


def _share(limits: Sequence[Estimate], n: int, rate: float) -> float:
    """The probability that the interval of a slice of n rows contains its rate."""
    contains = [one.low <= rate <= one.high for one in limits]
    return float(binom.pmf(np.flatnonzero(contains), n, rate).sum())


def crossed(tests: int, n: int, rate: float) -> Simulation:
    """Slices of n rows each; the rows of a group have its rate and lie in several slices."""
    outcomes = each(lambda rng: all(_contain(_slices(rng, tests, n, rate), tests, rate)))
    name, seed = f"{tests} slices, n = {n}, p = {rate:g}", (CROSSED, tests, n, rate)
    return Simulation(CROSSED, name, seed, outcomes, (covers(TARGET),))


def _slices(rng: Rng, tests: int, n: int, rate: float) -> Iterator[ClusterTotals]:
    """Yield the rows of each slice by group."""
    groups = tests * n // ROWS
    rates = cells.beta_rates(rng, rate, CORRELATION, groups)
    group = np.repeat(np.arange(groups), ROWS)
    passed = rng.random(group.size) < rates[group]
    for rows in rng.permutation(group.size).reshape(tests, n):
        _, codes = np.unique(group[rows], return_inverse=True)
        size = np.bincount(codes).astype(np.float64)
        yield ClusterTotals(size, np.bincount(codes, weights=passed[rows]).astype(np.float64))


def _contain(slices: Iterator[ClusterTotals], tests: int, rate: float) -> Iterator[bool]:
    for clusters in slices:
        moments = Moments.of_passes(int(clusters.size.sum()), int(clusters.total.sum()))
        yield contains(simultaneous_interval(moments, clusters, tests=tests), rate)


def of_bounded(design: Bounded) -> Simulation:
    """Twenty slices of bounded scores: the coverage of one slice in ten times as many draws, to the power of 20."""

    def outcomes(rng: Rng, draws: int) -> Iterator[bool]:
        for scores in design.scores(rng, draws):
            yield contains(simultaneous_interval(Moments.of(scores, (0.0, 1.0)), tests=TOGETHER), design.mean)

    name, together = f"{TOGETHER} slices, {design}", Measure("coverage", "at least", TARGET, _to_the_power)
    return Simulation(BOUNDED, name, (means.BOUNDED, *design), outcomes, (together,), 10.0)


def _to_the_power(values: Floats) -> tuple[float, float]:
    one, error = cells.mean(values)
    return one**TOGETHER, TOGETHER * error


def false_claims(tests: int, n: int, rate: float) -> Simulation:
    """How often any of so many slices of one rate is called worse than the other rows."""
    facts = ColumnFacts("label", "load", "", (0.0, 1.0), rate_signature="label")

    def draw(rng: Rng) -> bool:
        passes = rng.binomial(n, rate, tests)
        columns = {f"{place:02}": [_column(facts, n, int(k))] for place, k in enumerate(passes)}
        whole = CandidateSums("", [_column(facts, n * tests, int(passes.sum()))], {"topic": columns})
        found = worst_slices([whole], "label", 1.0 - ALPHA, by_judge=False)
        return any(entry["worse"] for part in found["slices"] for entry in part["candidates"])

    name, seed = f"{tests} slices, n = {n}, p = {rate:g}", (WORSE, tests, n, rate)
    return Simulation(WORSE, name, seed, each(draw), (cells.alarms(ALPHA, "familywise error"),))


def _column(facts: ColumnFacts, n: int, passed: int) -> ColumnSums:
    return ColumnSums("label", facts, n, 0, 0, Moments.of_passes(n, passed), passed, None, None, None)


def studies() -> Iterator[Study]:
    """Independent slices, slices that groups cross, bounded scores, and false claims."""
    yield from (partial(independent, tests) for tests in SLICES)
    for tests in SLICES:
        rates = (0.95,) if tests > 20 else (0.5, 0.95)  # noqa: PLR2004
        yield from (crossed(tests, n, rate) for n, rate in product((5, 50), rates))
    yield from (crossed(tests, 500, 0.9) for tests in SLICES)
    for shape, mean_score, n in product(SHAPES, (0.45, 0.9, 0.95), (100, 500)):
        yield of_bounded(Bounded(shape, mean_score / 2 if shape == "half or nothing" else mean_score, n))
    yield from (false_claims(*case) for case in product((5, 60), (20, 50), (0.9, 0.98)))
