"""Prediction-powered means: labels of some rows, a score of all."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from benchmarks.coverage import cells
from benchmarks.coverage.cells import Floats, Measure, Rng, Simulation, contains, covers, each, length
from goldmeter.statistics.cross_fit import cross_fitted
from goldmeter.statistics.mean import mean_interval
from goldmeter.statistics.ppi import ppi_mean

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
    # Clusters labelled whole, or rows drawn from clusters that have more rows without a label.
    groups_shared = [(10, False), (30, False), (100, False), (10, True), (100, True)]
    for (groups, shared), strength, p in product(groups_shared, (0.3, 0.8), (0.5, 0.9)):
        draw = partial(clustered, groups=groups, p=p, strength=strength, shared=shared)
        name = f"correlation {strength}, {groups} x 6 rows {'of shared' if shared else 'in own'} clusters, p = {p}"
        yield powered("PPI, clusters", name, ("ppi clusters", shared, groups, strength, p), draw)
    for n, p in ((30, 0.5), (30, 0.9), (150, 0.9)):
        draw, name = partial(regressed, n=n, p=p, metrics=6), f"n = {n}, p = {p}"
        yield powered("PPI, six scores cross-fitted", name, ("ppi regressed", n, p), draw)
