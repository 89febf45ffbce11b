"""Means and differences from labels that flows.label chose, the more likely the less sure the judge is."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from benchmarks.coverage.cells import Floats, Measure, Simulation, alarms, contains, contrast, covers, length, width
from tasks.statistics.designed import DesignedLabels, designed_difference, designed_mean
from tasks.statistics.ppi import PpiEstimate, ppi_mean
from tasks.statistics.sampling_design import active_chances, draw, inclusion_probabilities

COVERS = covers(0.94)
ROWS = 2_000
SIZES = (50, 100, 300)
# Share of rows that both versions get right or wrong together, and how far rows differ in difficulty.
SAME_ANSWER, SPREAD = 0.7, 0.45

Judged = Callable[[np.random.Generator, int], tuple[Floats, Floats]]
"""Rows → the judge's probability that each is right, and the true one."""


def calibrated(rng: np.random.Generator, rows: int, rate: float, strength: float) -> tuple[Floats, Floats]:
    """A judge whose probability is the true one, with the given correlation to the labels."""
    spread = 1.0 / strength**2 - 1.0
    p = rng.beta(rate * spread, (1.0 - rate) * spread, rows)
    return p, p


def too_sure(rng: np.random.Generator, rows: int, rate: float) -> tuple[Floats, Floats]:
    """A judge whose odds are the true ones to the power of 2.5."""
    p = np.clip(rng.beta(rate, 1.0 - rate, rows), 1e-9, 1.0 - 1e-9)
    return p**2.5 / (p**2.5 + (1.0 - p) ** 2.5), p


def lenient(rng: np.random.Generator, rows: int, rate: float) -> tuple[Floats, Floats]:
    """A judge that lets much pass."""
    p = rng.beta(0.5 * rate, 0.5 * (1.0 - rate), rows)
    return p**0.3, p


def blind_to_some(rng: np.random.Generator, rows: int, rate: float) -> tuple[Floats, Floats]:
    """A judge that is sure, but guesses on 8 % of the rows."""
    p = rng.beta(0.3 * rate, 0.3 * (1.0 - rate), rows)
    return p, 0.92 * p + 0.08 * rate


def blind(rng: np.random.Generator, rows: int, rate: float) -> tuple[Floats, Floats]:
    """A judge that is sure and knows nothing."""
    return rng.beta(2.0 * rate, 2.0 * (1.0 - rate), rows), np.full(rows, rate)


MISJUDGED: dict[str, Callable[..., tuple[Floats, Floats]]] = {
    "too sure": too_sure,
    "lenient": lenient,
    "blind to some": blind_to_some,
    "blind": blind,
}


def chosen(rng: np.random.Generator, p: Floats, n: int) -> tuple[np.ndarray, np.ndarray, Floats]:
    """Choose n rows by a judge's probabilities: their positions, those of the rest, and the inclusion probabilities."""
    probability = inclusion_probabilities(active_chances(p), n)
    rows = draw(probability, rng)
    return rows, np.delete(np.arange(p.size), rows), probability


def both_estimates(
    judge: Judged, rows: int, n: int, rng: np.random.Generator, draws: int
) -> Iterator[tuple[PpiEstimate, PpiEstimate]]:
    """Draw rows and labels, and estimate the mean; beside it from as many labels chosen with equal chances."""
    for _ in range(draws):
        p, right = judge(rng, rows)
        y = (rng.random(rows) < right).astype(np.float64)
        own, rest, probability = chosen(rng, p, n)
        random = rng.permutation(rows)
        yield (
            designed_mean(y[own], p[own], p[rest], probability[own]),
            ppi_mean(y[random[:n]], p[random[:n]], p[random[n:]]),
        )


def designed(
    topic: str, name: str, seed: tuple[object, ...], outcomes: Any, narrower: float | None = None
) -> Simulation:
    """Coverage, beside that of equal chances, and where a target is named the mean width against theirs."""
    measures = (COVERS, contrast("equal chances"))
    narrow = () if narrower is None else (width(narrower, "width / equal chances"),)
    return Simulation(topic, name, seed, outcomes, measures + narrow)


def reached(
    judge: Judged, truth: float | None, rows: int, n: int, rng: np.random.Generator, draws: int, *, widths: bool = False
) -> Iterator[tuple[Any, ...]]:
    """Outcomes of one population; truth: None where it is the mean of the judge's true probabilities."""
    mean = float(judge(rng, 4_000_000)[1].mean()) if truth is None else truth
    for own, equal in both_estimates(judge, rows, n, rng, draws):
        yield contains(own, mean), contains(equal, mean), *([(length(own), length(equal))] if widths else [])


def versions(
    rng: np.random.Generator, rows: int, rate: float, gain: float, *, knows: bool
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
    rng: np.random.Generator, both: tuple[tuple[Floats, Floats], ...], n: int, *, one_design: bool
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


class Versions(NamedTuple):
    """Whether the judge knows the rows, whether labels are of the same rows, their number, the rate and the gain."""

    knows: bool
    one_design: bool
    n: int
    rate: float
    gain: float

    def __str__(self) -> str:
        rows = "the same rows" if self.one_design else "rows of each version"
        return f"{'' if self.knows else 'blind, '}{self.n} of {rows}, p = {self.rate}, gain = {self.gain}"


def _differences(design: Versions, rng: np.random.Generator, draws: int) -> Iterator[tuple[bool, ...]]:
    """Differences of two versions, from labels of the same rows or of rows chosen for each version."""
    knows, one_design, n, rate, gain = design
    for _ in range(draws):
        both = versions(rng, ROWS, rate, gain, knows=knows)
        found = designed_difference(*labelled(rng, both, n, one_design=one_design))
        alarm = () if gain else (found.p_value < 0.05,)  # noqa: PLR2004 (the level)
        yield contains(found, gain), *alarm


def _grouped(groups: int, n: int, rate: float, rng: np.random.Generator, draws: int) -> Iterator[tuple[bool]]:
    """Rows in clusters of 6 with a rate of their own (intra-cluster correlation 0.3), and a judge that sees both."""
    codes = np.repeat(np.arange(groups), 6)
    for _ in range(draws):
        right = rng.beta(rate * 7 / 3, (1.0 - rate) * 7 / 3, groups)[codes]
        p = np.clip(right + rng.normal(0.0, 0.1, codes.size), 0.01, 0.99)
        y = (rng.random(codes.size) < right).astype(np.float64)
        own, rest, probability = chosen(rng, p, n)
        parts = y[own], p[own], p[rest], probability[own], codes[own], codes[rest]
        yield (contains(designed_mean(*parts), rate),)


def _set(n: int, rows: int, rate: float, rng: np.random.Generator, draws: int) -> Iterator[tuple[bool]]:
    """The data set itself as the target, from a small part to most of it labelled."""
    for _ in range(draws):
        p, right = calibrated(rng, rows, rate, 0.6)
        y = (rng.random(rows) < right).astype(np.float64)
        own, rest, probability = chosen(rng, p, n)
        found = designed_mean(y[own], p[own], p[rest], probability[own], dataset=True)
        yield (contains(found, float(y.mean())),)


def studies() -> Iterator[Simulation]:
    """Calibrated judges, such as are like the offline one on EVOUNA-NQ, and wrong ones; then what else is estimated."""
    for rate, strength, rows, n in product((0.5, 0.8, 0.95), (0.3, 0.6, 0.8), (400, ROWS), SIZES):
        outcomes = partial(reached, partial(calibrated, rate=rate, strength=strength), rate, rows, n)
        name = f"correlation {strength}, {n} of {rows} rows, p = {rate}"
        yield designed("Designed labels", name, ("designed", strength, rate, rows, n), outcomes)
    for rate, n in product((0.66, 0.79), SIZES):  # out of fold its correlation with the labels is .73 to .92
        judge, name = partial(calibrated, rate=rate, strength=0.8), f"{n} of 3000 rows, p = {rate}"
        outcomes = partial(reached, judge, rate, 3_000, n, widths=True)
        yield designed("Designed labels, EVOUNA-like", name, ("designed evouna", rate, n), outcomes, 0.95)
    for kind, rate, n in product(MISJUDGED, (0.5, 0.9, 0.98), SIZES):
        outcomes, name = partial(reached, partial(MISJUDGED[kind], rate=rate), None, ROWS, n), f"{n} of {ROWS} rows"
        topic = "Designed labels, wrong probabilities"
        yield designed(topic, f"{kind}, {name}, p = {rate}", ("designed", kind, rate, n), outcomes)
    for case in product((True, False), (True, False), SIZES, (0.6, 0.9), (0.0, 0.05)):
        topic, both = "Designed labels, differences", Versions(*case)
        measures: tuple[Measure, ...] = (COVERS,) if both.gain else (COVERS, alarms(0.06))
        yield Simulation(topic, str(both), ("designed differences", *both), partial(_differences, both), measures)
    for groups, n, rate in product((100, 400), (50, 150), (0.5, 0.9)):
        topic, name = "Designed labels, clusters", f"{n} of {groups} x 6 rows, p = {rate}"
        seed, outcomes = ("designed groups", groups, n, rate), partial(_grouped, groups, n, rate)
        yield Simulation(topic, name, seed, outcomes, (COVERS,))
    for (n, rows), rate in product(((50, 1000), (150, 300), (270, 300)), (0.5, 0.9)):
        topic, name = "Designed labels, the data set itself", f"{n} of {rows} rows, p = {rate}"
        yield Simulation(topic, name, ("designed sets", n, rows, rate), partial(_set, n, rows, rate), (COVERS,))
