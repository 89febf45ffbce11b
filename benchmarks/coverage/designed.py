"""Means and differences from labels that flows.label chose, the more likely the less sure the judge is."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product, starmap
from typing import Any

import numpy as np

from benchmarks.coverage import cells
from benchmarks.coverage.cells import Floats, Rng, Simulation, contains, covers, each, length
from goldmeter.statistics.designed import DesignedLabels, designed_difference, designed_mean
from goldmeter.statistics.ppi import PpiEstimate, ppi_mean
from goldmeter.statistics.sampling_design import active_chances, draw, inclusion_probabilities

COVERS = covers(0.94)
ROWS = 2_000
SIZES = (50, 100, 300)
# Share of rows that both versions get right or wrong together, and how far rows differ in difficulty.
SAME_ANSWER, SPREAD = 0.7, 0.45

Judged = Callable[[Rng, int], tuple[Floats, Floats]]
"""Rows → the judge's probability that each is right, and the true one."""


def calibrated(rng: Rng, rows: int, rate: float, strength: float) -> tuple[Floats, Floats]:
    """A judge whose probability is the true one, with the given correlation to the labels."""
    p = cells.beta_rates(rng, rate, strength**2, rows)
    return p, p


def too_sure(rng: Rng, rows: int, rate: float) -> tuple[Floats, Floats]:
    """A judge whose odds are the true ones to the power of 2.5."""
    p = np.clip(rng.beta(rate, 1.0 - rate, rows), 1e-9, 1.0 - 1e-9)
    return p**2.5 / (p**2.5 + (1.0 - p) ** 2.5), p


def lenient(rng: Rng, rows: int, rate: float) -> tuple[Floats, Floats]:
    """A judge that lets much pass."""
    p = rng.beta(0.5 * rate, 0.5 * (1.0 - rate), rows)
    return p**0.3, p


def blind_to_some(rng: Rng, rows: int, rate: float) -> tuple[Floats, Floats]:
    """A judge that is sure, but guesses on 8 % of the rows."""
    p = rng.beta(0.3 * rate, 0.3 * (1.0 - rate), rows)
    return p, 0.92 * p + 0.08 * rate


def blind(rng: Rng, rows: int, rate: float) -> tuple[Floats, Floats]:
    """A judge that is sure and knows nothing."""
    return rng.beta(2.0 * rate, 2.0 * (1.0 - rate), rows), np.full(rows, rate)


MISJUDGED: dict[str, Callable[..., tuple[Floats, Floats]]] = {
    "too sure": too_sure,
    "lenient": lenient,
    "blind to some": blind_to_some,
    "blind": blind,
}


def chosen(rng: Rng, p: Floats, n: int) -> tuple[np.ndarray, np.ndarray, Floats]:
    """Choose n rows by a judge's probabilities: their positions, those of the rest, and the inclusion probabilities."""
    probability = inclusion_probabilities(active_chances(p), n)
    rows = draw(probability, rng)
    return rows, np.delete(np.arange(p.size), rows), probability


def both_estimates(judge: Judged, rows: int, n: int, rng: Rng) -> tuple[PpiEstimate, PpiEstimate]:
    """Draw rows and labels, and estimate the mean; beside it from as many labels chosen with equal chances."""
    p, right = judge(rng, rows)
    y = (rng.random(rows) < right).astype(np.float64)
    own, rest, probability = chosen(rng, p, n)
    random = rng.permutation(rows)
    return (
        designed_mean(y[own], p[own], p[rest], probability[own]),
        ppi_mean(y[random[:n]], p[random[:n]], p[random[n:]]),
    )


def designed(
    topic: str,
    name: str,
    seed: tuple[object, ...],
    judge: Judged,
    truth: float | None,
    rows: int,
    n: int,
    narrower: float | None = None,
) -> Simulation:
    """Coverage, beside that of equal chances, and where a target is named the mean width against theirs.

    truth: None where it is the mean of the judge's true probabilities.
    """

    def outcomes(rng: Rng, draws: int) -> Iterator[tuple[Any, ...]]:
        mean = float(judge(rng, 4_000_000)[1].mean()) if truth is None else truth
        for _ in range(draws):
            own, equal = both_estimates(judge, rows, n, rng)
            yield contains(own, mean), contains(equal, mean), (length(own), length(equal))

    narrow = () if narrower is None else (cells.width(narrower, "width / equal chances"),)
    return Simulation(topic, name, seed, outcomes, (COVERS, cells.contrast("equal chances"), *narrow))


def versions(
    rng: Rng, rows: int, rate: float, gain: float, *, knows: bool
) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
    """Labels and judge's probabilities of two versions that find the same rows hard; a judge that knows nothing."""
    hard, alike = rng.random(rows), rng.random(rows) < SAME_ANSWER
    luck = rng.random(rows)
    found = []
    for right in (rate, rate + gain):
        p = np.clip(right + (hard - 0.5) * 4.0 * min(right, 1.0 - right) * SPREAD, 0.0, 1.0)
        y = (np.where(alike, luck, rng.random(rows)) < p).astype(np.float64)
        found.append((y, p if knows else rng.permutation(p)))
    return found[0], found[1]


def labelled(
    rng: Rng, both: tuple[tuple[Floats, Floats], ...], n: int, *, one_design: bool
) -> tuple[DesignedLabels, DesignedLabels]:
    """The labels of each version on rows of one design by both judgements, or of one for each."""
    chances = [active_chances(p) for _, p in both]
    probability = inclusion_probabilities(chances[0] + chances[1], n)
    rows = draw(probability, rng)
    found = []
    for (y, p), own in zip(both, chances, strict=True):
        if not one_design:
            probability = inclusion_probabilities(own, n)
            rows = draw(probability, rng)
        labels = np.full(y.size, np.nan)
        labels[rows] = y[rows]
        found.append(DesignedLabels(labels, p, probability))
    return found[0], found[1]


def difference(knows: bool, one_design: bool, n: int, rate: float, gain: float) -> Simulation:  # noqa: FBT001
    """Two versions, from n labels of the same rows or of rows chosen for each; the judge knows the rows or nothing."""

    def one(rng: Rng) -> tuple[bool, bool]:
        both = versions(rng, ROWS, rate, gain, knows=knows)
        found = designed_difference(*labelled(rng, both, n, one_design=one_design))
        return contains(found, gain), found.p_value < 0.05  # noqa: PLR2004 (the level)

    rows = "the same rows" if one_design else "rows of each version"
    name = f"{'' if knows else 'blind, '}{n} of {rows}, p = {rate}, gain = {gain}"
    seed = ("designed differences", knows, one_design, n, rate, gain)
    measures = (COVERS,) if gain else (COVERS, cells.alarms(0.06))
    return Simulation("Designed labels, differences", name, seed, each(one), measures)


def clusters(groups: int, n: int, rate: float) -> Simulation:
    """Rows in clusters of 6 with a rate of their own (intra-cluster correlation 0.3), and a judge that sees both."""
    codes = np.repeat(np.arange(groups), 6)

    def one(rng: Rng) -> bool:
        right = rng.beta(rate * 7 / 3, (1.0 - rate) * 7 / 3, groups)[codes]
        p = np.clip(right + rng.normal(0.0, 0.1, codes.size), 0.01, 0.99)
        y = (rng.random(codes.size) < right).astype(np.float64)
        own, rest, probability = chosen(rng, p, n)
        return contains(designed_mean(y[own], p[own], p[rest], probability[own], codes[own], codes[rest]), rate)

    name = f"{n} of {groups} x 6 rows, p = {rate}"
    return Simulation("Designed labels, clusters", name, ("designed groups", groups, n, rate), each(one), (COVERS,))


def studies() -> Iterator[Simulation]:
    """Calibrated judges, such as are like the offline one on EVOUNA-NQ, and wrong ones; then what else is estimated."""
    for rate, strength, rows, n in product((0.5, 0.8, 0.95), (0.3, 0.6, 0.8), (400, ROWS), SIZES):
        judge, name = partial(calibrated, rate=rate, strength=strength), f"{n} of {rows} rows, p = {rate}"
        seed = ("designed", strength, rate, rows, n)
        yield designed("Designed labels", f"correlation {strength}, {name}", seed, judge, rate, rows, n)
    for rate, n in product((0.66, 0.79), SIZES):  # out of fold its correlation with the labels is .73 to .92
        topic, name = "Designed labels, EVOUNA-like", f"{n} of 3000 rows, p = {rate}"
        judge = partial(calibrated, rate=rate, strength=0.8)
        yield designed(topic, name, ("designed evouna", rate, n), judge, rate, 3_000, n, 0.95)
    for kind, rate, n in product(MISJUDGED, (0.5, 0.9, 0.98), SIZES):
        topic, name = "Designed labels, wrong probabilities", f"{kind}, {n} of {ROWS} rows, p = {rate}"
        yield designed(topic, name, ("designed", kind, rate, n), partial(MISJUDGED[kind], rate=rate), None, ROWS, n)
    yield from starmap(difference, product((True, False), (True, False), SIZES, (0.6, 0.9), (0.0, 0.05)))
    yield from starmap(clusters, product((100, 400), (50, 150), (0.5, 0.9)))
