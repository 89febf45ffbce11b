"""Means from labels that flows.label chose, the more likely the less sure the judge is: simulated, and real answers.

Use for those: python -m benchmarks.coverage.designed FILE (EVOUNA's NQ.json).
"""

import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.coverage.cells import Cell, Floats, alarmed, covered, generator, mean_ratio
from tasks.statistics.designed import designed_mean
from tasks.statistics.designed_difference import DesignedLabels, designed_difference
from tasks.statistics.ppi import ppi_mean
from tasks.statistics.sampling_design import active_chances, draw, inclusion_probabilities

COVERS = 0.94
ROWS = 2_000
SIZES = (50, 100, 300)
# Share of rows that both versions get right or wrong together, and how far rows differ in difficulty.
SAME_ANSWER, SPREAD = 0.7, 0.45

Judged = Callable[[np.random.Generator, int], tuple[Floats, Floats]]
"""Rows → the judge's probability that each is right, and the true one."""


class Reached(NamedTuple):
    """What the draws of one population reached; equal: as many labels, chosen with equal chances, by `ppi_mean`."""

    draws: int
    hits: int
    equal_hits: int
    width: float
    width_error: float
    variance: float


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


def reached(judge: Judged, truth: float, rows: int, n: int, rng: np.random.Generator, draws: int) -> Reached:
    """Draw rows and labels, and estimate the mean; beside it from as many labels chosen with equal chances."""
    hits = np.zeros((draws, 2), np.bool_)
    widths, values = np.empty((draws, 2)), np.empty((draws, 2))
    for i in range(draws):
        p, right = judge(rng, rows)
        y = (rng.random(rows) < right).astype(np.float64)
        probability = inclusion_probabilities(active_chances(p), n)
        chosen = draw(probability, rng)
        rest = np.delete(np.arange(rows), chosen)
        random = rng.permutation(rows)
        both = (
            designed_mean(y[chosen], p[chosen], p[rest], probability[chosen]),
            ppi_mean(y[random[:n]], p[random[:n]], p[random[n:]]),
        )
        hits[i] = [one.low <= truth <= one.high for one in both]
        widths[i], values[i] = [one.high - one.low for one in both], [one.value for one in both]
    variance = float(values[:, 0].var() / values[:, 1].var())
    mine, equal = hits.sum(axis=0).tolist()
    return Reached(draws, mine, equal, *mean_ratio(*widths.T), variance)


def cells(topic: str, name: str, found: Reached, width: float | None = None) -> Iterator[Cell]:
    """Coverage, beside that of equal chances, and where a target is named the mean width against theirs."""
    yield covered(topic, name, COVERS, found.hits, found.draws)
    yield covered(topic, f"equal chances: {name}", None, found.equal_hits, found.draws)
    if width is not None:
        yield Cell(topic, name, "width / equal chances", "at most", width, found.width, found.width_error, found.draws)


def strengths(rate: float, draws: int) -> Iterator[Cell]:
    """Calibrated judges from weak to strong, in small and large data sets."""
    for strength, rows, n in product((0.3, 0.6, 0.8), (400, ROWS), SIZES):
        judge = partial(calibrated, rate=rate, strength=strength)
        found = reached(judge, rate, rows, n, generator("designed", strength, rate, rows, n), draws)
        name = f"correlation {strength}, {n} of {rows} rows, p = {rate}"
        yield from cells("Designed labels", name, found)


def like_evouna(draws: int) -> Iterator[Cell]:
    """Judges like the offline one on EVOUNA-NQ: out of fold its correlation with the labels is .73 to .92."""
    for rate, n in product((0.66, 0.79), SIZES):
        judge = partial(calibrated, rate=rate, strength=0.8)
        found = reached(judge, rate, 3_000, n, generator("designed evouna", rate, n), draws)
        yield from cells("Designed labels, EVOUNA-like", f"{n} of 3000 rows, p = {rate}", found, 0.95)


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


def differences(knows: bool, draws: int) -> Iterator[Cell]:  # noqa: FBT001
    """Differences of two versions, from labels of the same rows or of rows chosen for each version."""
    topic = "Designed labels, differences"
    for one_design, n, rate, gain in product((True, False), SIZES, (0.6, 0.9), (0.0, 0.05)):
        rng = generator("designed differences", knows, one_design, n, rate, gain)
        hits = alarms = 0
        for _ in range(draws):
            both = versions(rng, ROWS, rate, gain, knows=knows)
            estimate = designed_difference(*labelled(rng, both, n, one_design=one_design))
            hits += estimate.low <= gain <= estimate.high
            alarms += estimate.p_value < 0.05  # noqa: PLR2004 (the level)
        rows = "the same rows" if one_design else "rows of each version"
        name = f"{'' if knows else 'blind, '}{n} of {rows}, p = {rate}, gain = {gain}"
        yield covered(topic, name, COVERS, hits, draws)
        if not gain:
            yield alarmed(topic, name, "type I", 0.06, alarms, draws)


def labelled(
    rng: np.random.Generator, both: tuple[tuple[Floats, Floats], ...], n: int, *, one_design: bool
) -> tuple[DesignedLabels, DesignedLabels]:
    """The labels of each version on rows of one design by both judgements, or of one for each."""
    chances = [active_chances(p) for _, p in both]
    probability = inclusion_probabilities(chances[0] + chances[1], n)
    chosen = draw(probability, rng)
    found = []
    for (y, p), own in zip(both, chances, strict=True):
        if not one_design:
            probability = inclusion_probabilities(own, n)
            chosen = draw(probability, rng)
        labels = np.full(y.size, np.nan)
        labels[chosen] = y[chosen]
        found.append(DesignedLabels(labels, p, probability))
    return found[0], found[1]


def grouped(draws: int) -> Iterator[Cell]:
    """Rows in clusters of 6 with a rate of their own (intra-cluster correlation 0.3), and a judge that sees both."""
    for groups, n, rate in product((100, 400), (50, 150), (0.5, 0.9)):
        rng = generator("designed groups", groups, n, rate)
        codes = np.repeat(np.arange(groups), 6)
        hits = 0
        for _ in range(draws):
            right = rng.beta(rate * 7 / 3, (1.0 - rate) * 7 / 3, groups)[codes]
            p = np.clip(right + rng.normal(0.0, 0.1, codes.size), 0.01, 0.99)
            y = (rng.random(codes.size) < right).astype(np.float64)
            probability = inclusion_probabilities(active_chances(p), n)
            chosen = draw(probability, rng)
            rest = np.delete(np.arange(codes.size), chosen)
            parts = y[chosen], p[chosen], p[rest], probability[chosen], codes[chosen], codes[rest]
            estimate = designed_mean(*parts)
            hits += estimate.low <= rate <= estimate.high
        name = f"{n} of {groups} x 6 rows, p = {rate}"
        yield covered("Designed labels, clusters", name, COVERS, hits, draws)


def sets(draws: int) -> Iterator[Cell]:
    """The data set itself as the target, from a small part to most of it labelled."""
    for (n, rows), rate in product(((50, 1000), (150, 300), (270, 300)), (0.5, 0.9)):
        rng = generator("designed sets", n, rows, rate)
        hits = 0
        for _ in range(draws):
            p, right = calibrated(rng, rows, rate, 0.6)
            y = (rng.random(rows) < right).astype(np.float64)
            probability = inclusion_probabilities(active_chances(p), n)
            chosen = draw(probability, rng)
            rest = np.delete(np.arange(rows), chosen)
            estimate = designed_mean(y[chosen], p[chosen], p[rest], probability[chosen], dataset=True)
            hits += estimate.low <= y.mean() <= estimate.high
        yield covered("Designed labels, the data set itself", f"{n} of {rows} rows, p = {rate}", COVERS, hits, draws)


def misjudged(kind: str, draws: int) -> Iterator[Cell]:
    """Judges whose probabilities are wrong."""
    for rate, n in product((0.5, 0.9, 0.98), SIZES):
        rng = generator("designed", kind, rate, n)
        judge = partial(MISJUDGED[kind], rate=rate)
        truth = float(judge(rng, 4_000_000)[1].mean())
        found = reached(judge, truth, ROWS, n, rng, draws)
        yield from cells("Designed labels, wrong probabilities", f"{kind}, {n} of {ROWS} rows, p = {rate}", found)


MISJUDGED: dict[str, Callable[..., tuple[Floats, Floats]]] = {
    "too sure": too_sure,
    "lenient": lenient,
    "blind to some": blind_to_some,
    "blind": blind,
}


def study_of_real_answers(path: Path, draws: int = 1_000) -> Iterator[str]:
    """Redraw the answers of each system of EVOUNA-NQ, judged by models that were not trained on their questions."""
    from tasks.models.offline.training import cross_validated, examples, held_out, training_rows

    trained = training_rows(path)
    answers, rows = [row for row in trained if not row.written], examples(trained)
    probability = cross_validated(rows, held_out(rows))[: len(answers)]
    verdicts = rows.verdicts[: len(answers)].astype(np.float64)
    for system in sorted({answer.source for answer in answers}):
        own = np.array([answer.source == system for answer in answers])
        p, y = probability[own], verdicts[own]
        for n in SIZES:
            found = reached_by_answers(p, y, n, generator("designed answers", system, n), draws)
            yield (
                f"{system}, {n} of {p.size} rows, p = {y.mean():.3f}: coverage {found.hits / draws:.3f}, equal chances "
                f"{found.equal_hits / draws:.3f}; width {found.width:.2f}, variance {found.variance:.2f} of theirs"
            )


def reached_by_answers(p: Floats, y: Floats, n: int, rng: np.random.Generator, draws: int) -> Reached:
    """As `reached`, with rows that are drawn again from real ones."""

    def again(rng: np.random.Generator, rows: int) -> tuple[Floats, Floats]:
        chosen = rng.integers(0, rows, rows)
        return p[chosen], y[chosen]

    return reached(again, float(y.mean()), p.size, n, rng, draws)


STUDIES: tuple[Callable[[int], Iterator[Cell]], ...] = (
    *(partial(strengths, rate) for rate in (0.5, 0.8, 0.95)),
    like_evouna,
    *(partial(misjudged, kind) for kind in MISJUDGED),
    *(partial(differences, knows) for knows in (True, False)),
    grouped,
    sets,
)

if __name__ == "__main__":
    for line in study_of_real_answers(Path(sys.argv[1])):
        print(line)
