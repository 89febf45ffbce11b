"""Prediction-powered means and differences: labels of some rows, a score of all."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product, starmap
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from benchmarks.coverage import cells
from benchmarks.coverage.cells import Floats, Measure, Rng, Simulation, contains, covers, each, length
from goldmeter.statistics.cross_fit import cross_fitted
from goldmeter.statistics.mean import mean_interval
from goldmeter.statistics.paired import paired_difference
from goldmeter.statistics.ppi import ppi_difference, ppi_mean

REST = 2_000


class Draw(NamedTuple):
    """One simulated evaluation: labels, the score beside them and of the rest, the truth, further arguments."""

    y: Floats
    f: Floats
    rest: Floats
    truth: float
    more: dict[str, Any]


def correlated(rng: Rng, n: int, p: float, strength: float) -> Draw:
    """Binary labels, and a continuous score of the given correlation with them."""
    y = (rng.random(n + REST) < p).astype(np.float64)
    f = _correlated(y - p, strength, p * (1.0 - p), rng.standard_normal(y.size))
    return Draw(y[:n], f[:n], f[n:], p, {})


def _correlated(deviations: Floats, strength: float, variance: float, noise: Floats) -> Floats:
    """Scores of this correlation with labels, of which the deviations from their mean are given."""
    return np.asarray(strength * deviations / sqrt(variance) + sqrt(1.0 - strength**2) * noise)


def judged(rng: Rng, n: int, p: float, sensitivity: float, specificity: float) -> Draw:
    """Binary labels, and the verdicts of a judge that errs."""
    y = (rng.random(n + REST) < p).astype(np.float64)
    f = (rng.random(y.size) < np.where(y > 0.0, sensitivity, 1.0 - specificity)).astype(np.float64)
    return Draw(y[:n], f[:n], f[n:], p, {})


def graded(rng: Rng, n: int, p: float, strength: float) -> Draw:
    """Labels between 0 and 1, most of them near the upper bound, and a score that sees them through noise."""
    y = rng.beta(4.0 * p, 4.0 * (1.0 - p), n + REST)
    f = _correlated(y - p, strength, p * (1.0 - p) / 5.0, rng.standard_normal(y.size))
    return Draw(y[:n], f[:n], f[n:], p, {})


def part_of_a_set(rng: Rng, n: int, total: int, p: float, strength: float) -> Draw:
    """The labels of a random part of a set whose own mean is the truth."""
    y = (rng.random(total) < p).astype(np.float64)
    f = _correlated(y - p, strength, p * (1.0 - p), rng.standard_normal(total))
    return Draw(y[:n], f[:n], f[n:], float(y.mean()), {"dataset": True})


def clustered(rng: Rng, groups: int, p: float, strength: float, *, shared: bool) -> Draw:
    """Clusters of 6 with a rate (intra-cluster correlation 0.3) and a score of their own, labelled whole or in part."""
    everything = groups + 200
    codes = np.repeat(np.arange(everything), 6)
    y = (rng.random(codes.size) < rng.beta(p * 7 / 3, (1.0 - p) * 7 / 3, everything)[codes]).astype(np.float64)
    noise = sqrt(0.3) * rng.standard_normal(everything)[codes] + sqrt(0.7) * rng.standard_normal(codes.size)
    f = _correlated(y - p, strength, p * (1.0 - p), noise)
    order = rng.permutation(codes.size) if shared else np.arange(codes.size)
    a, b = order[: 6 * groups], order[6 * groups :]
    return Draw(y[a], f[a], f[b], p, {"clusters": codes[a], "rest_clusters": codes[b]})


def regressed(rng: Rng, n: int, p: float, metrics: int) -> Draw:
    """Several weak scores made one by `cross_fitted`, from the very labels it then helps."""
    y = (rng.random(n + REST) < p).astype(np.float64)
    x = y[:, None] + rng.standard_normal((y.size, metrics)) + rng.standard_normal((y.size, 1))
    f, rest = cross_fitted(y[:n], x[:n], x[n:])
    return Draw(y[:n], f, rest, p, {})


def targets(narrower: float = 1.0) -> tuple[Measure, ...]:
    """Coverage, mean width against the labels alone, and how often it is wider than they are."""
    wider = Measure("wider than labels alone", "at most", 0.0, cells.most)
    return covers(0.92), cells.width(narrower, "width / labels alone"), wider


def powered(
    topic: str, name: str, seed: tuple[object, ...], draw: Callable[[Rng], Draw], narrower: float = 1.0
) -> Simulation:
    """Call the estimator once a draw, and the labels alone beside it."""

    def one(rng: Rng) -> tuple[bool, tuple[float, float], bool]:
        y, f, rest, truth, more = draw(rng)
        estimate, labels = ppi_mean(y, f, rest, **more), mean_interval(y, more.get("clusters"))
        return contains(estimate, truth), (length(estimate), length(labels)), length(estimate) > length(labels)

    return Simulation(topic, name, seed, each(one), targets(narrower))


def difference(n: int, p: float, gain: float) -> Simulation:
    """Differences of two versions, most rows of which are right in both or wrong in both."""

    def outcomes(rng: Rng, draws: int) -> Iterator[tuple[Any, ...]]:
        truth = float(np.mean([_gain(rng, p, gain) for _ in range(400)])) if gain else 0.0
        for _ in range(draws):
            d, g, rest = paired(rng, n, p, gain, 0.9)
            found, labels = ppi_difference(d, g, rest), paired_difference(d)
            widths = length(found), length(labels)
            yield contains(found, truth), widths, widths[0] > widths[1], found.p_value < 0.05  # noqa: PLR2004 (the level)

    measures = targets() if gain else (*targets(), cells.alarms(0.065))
    name, seed = f"n = {n}, p = {p}, gain = {gain}", ("ppi differences", n, p, gain)
    return Simulation("PPI, differences", name, seed, outcomes, measures)


def paired(rng: Rng, n: int, p: float, gain: float, strength: float) -> tuple[Floats, Floats, Floats]:
    """Differences of two versions' labels, those of a judge that sees some of them, and the judge's on other rows."""
    hard = rng.random(n + REST)
    labels = [(hard + rng.normal(0.0, 0.15, hard.size) < share).astype(np.float64) for share in (p, p + gain)]
    seen = [np.where(rng.random(y.size) < strength, y, rng.random(y.size) < p) for y in labels]
    d, g = labels[1] - labels[0], seen[1] - seen[0]
    return d[:n], g[:n], g[n:]


def _gain(rng: Rng, p: float, gain: float) -> float:
    """The mean difference of the labels of many rows."""
    hard = rng.random(10_000)
    base, head = (hard + rng.normal(0.0, 0.15, hard.size) < share for share in (p, p + gain))
    return float(head.mean() - base.mean())


def studies() -> Iterator[Simulation]:
    """Every kind of labels and scores."""
    # A continuous score from useless to strong: 32 cells of strength × n × p.
    for p, sizes in product((0.5, 0.95), ((30, 50), (100, 300))):
        for strength, n in product((0.0, 0.3, 0.6, 0.8), sizes):
            draw, name = partial(correlated, n=n, p=p, strength=strength), f"correlation {strength}, n = {n}, p = {p}"
            strong = p == 0.5 and n >= 100 and strength == 0.8  # noqa: PLR2004 (the row of the table)
            yield powered("PPI", name, ("ppi", strength, n, p), draw, 0.72 if strong else 1.0)
    # A judge's verdicts as the score, up to labels that are nearly all alike.
    for (sensitivity, specificity), n, p in product(((0.7, 0.5), (0.9, 0.6), (0.98, 0.9)), (30, 100), (0.5, 0.9, 0.98)):
        draw = partial(judged, n=n, p=p, sensitivity=sensitivity, specificity=specificity)
        name = f"judge of sensitivity {sensitivity}, specificity {specificity}, n = {n}, p = {p}"
        yield powered("PPI, verdicts", name, ("ppi verdicts", sensitivity, specificity, n, p), draw)
    for strength, n, p in product((0.0, 0.8), (30, 100), (0.5, 0.9)):
        draw, name = partial(graded, n=n, p=p, strength=strength), f"correlation {strength}, n = {n}, p = {p}"
        yield powered("PPI, graded labels", name, ("ppi grades", strength, n, p), draw)
    # The data set itself as the target, from a small part to most of it labelled.
    for (n, total), strength, p in product(((50, 1000), (150, 300), (270, 300)), (0.0, 0.8), (0.5, 0.95)):
        draw = partial(part_of_a_set, n=n, total=total, p=p, strength=strength)
        name = f"correlation {strength}, {n} of {total}, p = {p}"
        yield powered("PPI, the data set itself", name, ("ppi sets", n, total, strength, p), draw)
    yield from starmap(difference, product((50, 100, 300), (0.6, 0.9), (0.0, 0.05)))
    # Clusters labelled whole, or rows drawn from clusters that have more rows without a label.
    groups_shared = [(10, False), (30, False), (100, False), (10, True), (100, True)]
    for (groups, shared), strength, p in product(groups_shared, (0.3, 0.8), (0.5, 0.9)):
        draw = partial(clustered, groups=groups, p=p, strength=strength, shared=shared)
        name = f"correlation {strength}, {groups} x 6 rows {'of shared' if shared else 'in own'} clusters, p = {p}"
        yield powered("PPI, clusters", name, ("ppi clusters", shared, groups, strength, p), draw)
    for n, p in ((30, 0.5), (30, 0.9), (150, 0.9)):
        draw, name = partial(regressed, n=n, p=p, metrics=6), f"n = {n}, p = {p}"
        yield powered("PPI, six scores cross-fitted", name, ("ppi regressed", n, p), draw)
