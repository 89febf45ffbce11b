"""Prediction-powered means: simulated draws, and redraws of real answers.

Use for those: python -m benchmarks.coverage.ppi FILE (EVOUNA's NQ.json).
"""

import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.coverage.cells import Cell, Floats, alarmed, covered, generator, mean_ratio
from tasks.statistics.cross_fit import cross_fitted
from tasks.statistics.mean import mean_interval
from tasks.statistics.paired import paired_difference
from tasks.statistics.paired_ppi import ppi_difference
from tasks.statistics.ppi import ppi_mean

COVERS = 0.92
REST = 2_000
SCORES = (
    "exact_match",
    "accuracy",
    "string_presence",
    "f1",
    "bleu",
    "gleu",
    "rouge",
    "meteor",
    "non_llm_string_similarity",
)


class Draw(NamedTuple):
    """One simulated evaluation: labels, the score beside them and of the rest, the truth, further arguments."""

    y: Floats
    f: Floats
    rest: Floats
    truth: float
    more: dict[str, Any]


class Reached(NamedTuple):
    """What the draws of one design reached; widths are compared with the labels alone."""

    draws: int
    hits: int
    wider: int
    width: float
    width_error: float


def correlated(rng: np.random.Generator, n: int, p: float, strength: float) -> Draw:
    """Binary labels, and a continuous score of the given correlation with them."""
    y = (rng.random(n + REST) < p).astype(np.float64)
    f = strength * (y - p) / sqrt(p * (1.0 - p)) + sqrt(1.0 - strength**2) * rng.standard_normal(y.size)
    return Draw(y[:n], f[:n], f[n:], p, {})


def judged(rng: np.random.Generator, n: int, p: float, sensitivity: float, specificity: float) -> Draw:
    """Binary labels, and the verdicts of a judge that errs."""
    y = (rng.random(n + REST) < p).astype(np.float64)
    f = (rng.random(y.size) < np.where(y > 0.0, sensitivity, 1.0 - specificity)).astype(np.float64)
    return Draw(y[:n], f[:n], f[n:], p, {})


def graded(rng: np.random.Generator, n: int, p: float, strength: float) -> Draw:
    """Labels between 0 and 1, most of them near the upper bound, and a score that sees them through noise."""
    y = rng.beta(4.0 * p, 4.0 * (1.0 - p), n + REST)
    spread = sqrt(p * (1.0 - p) / 5.0)
    f = strength * (y - p) / spread + sqrt(1.0 - strength**2) * rng.standard_normal(y.size)
    return Draw(y[:n], f[:n], f[n:], p, {})


def part_of_a_set(rng: np.random.Generator, n: int, total: int, p: float, strength: float) -> Draw:
    """The labels of a random part of a set whose own mean is the truth."""
    y = (rng.random(total) < p).astype(np.float64)
    f = strength * (y - p) / sqrt(p * (1.0 - p)) + sqrt(1.0 - strength**2) * rng.standard_normal(total)
    return Draw(y[:n], f[:n], f[n:], float(y.mean()), {"dataset": True})


def clustered(rng: np.random.Generator, groups: int, p: float, strength: float, *, shared: bool) -> Draw:
    """Clusters of 6 with a rate (intra-cluster correlation 0.3) and a score of their own, labelled whole or in part."""
    everything = groups + 200
    codes = np.repeat(np.arange(everything), 6)
    y = (rng.random(codes.size) < rng.beta(p * 7 / 3, (1.0 - p) * 7 / 3, everything)[codes]).astype(np.float64)
    noise = sqrt(0.3) * rng.standard_normal(everything)[codes] + sqrt(0.7) * rng.standard_normal(codes.size)
    f = strength * (y - p) / sqrt(p * (1.0 - p)) + sqrt(1.0 - strength**2) * noise
    order = rng.permutation(codes.size) if shared else np.arange(codes.size)
    a, b = order[: 6 * groups], order[6 * groups :]
    return Draw(y[a], f[a], f[b], p, {"clusters": codes[a], "rest_clusters": codes[b]})


def regressed(rng: np.random.Generator, n: int, p: float, metrics: int) -> Draw:
    """Several weak scores made one by `cross_fitted`, from the very labels it then helps."""
    y = (rng.random(n + REST) < p).astype(np.float64)
    x = y[:, None] + rng.standard_normal((y.size, metrics)) + rng.standard_normal((y.size, 1))
    f, rest = cross_fitted(y[:n], x[:n], x[n:])
    return Draw(y[:n], f, rest, p, {})


def reached(draw: Callable[[np.random.Generator], Draw], rng: np.random.Generator, draws: int) -> Reached:
    """Call the estimator once a draw, and the labels alone beside it."""
    hits = wider = 0
    widths, alone = np.empty(draws), np.empty(draws)
    for i in range(draws):
        y, f, rest, truth, more = draw(rng)
        estimate, labels = ppi_mean(y, f, rest, **more), mean_interval(y, more.get("clusters"))
        widths[i], alone[i] = estimate.high - estimate.low, labels.high - labels.low
        hits += estimate.low <= truth <= estimate.high
        wider += int(widths[i] > alone[i])
    return Reached(draws, hits, wider, *mean_ratio(widths, alone))


def cells(topic: str, name: str, found: Reached, width: float = 1.0) -> Iterator[Cell]:
    """Coverage, mean width against the labels alone, and how often it is wider than they are."""
    draws = found.draws
    yield covered(topic, name, COVERS, found.hits, draws)
    yield Cell(topic, name, "width / labels alone", "at most", width, found.width, found.width_error, draws)
    yield Cell(topic, name, "wider than labels alone", "at most", 0.0, found.wider / draws, 0.0, draws)


def correlations(p: float, sizes: tuple[int, ...], draws: int) -> Iterator[Cell]:
    """A continuous score from useless to strong: some of the 32 cells of strength × n × p."""
    for strength, n in product((0.0, 0.3, 0.6, 0.8), sizes):
        rng = generator("ppi", strength, n, p)
        found = reached(partial(correlated, n=n, p=p, strength=strength), rng, draws)
        strong = p == 0.5 and n >= 100 and strength == 0.8  # noqa: PLR2004 (the row of the table)
        yield from cells("PPI", f"correlation {strength}, n = {n}, p = {p}", found, 0.72 if strong else 1.0)


def verdicts(draws: int) -> Iterator[Cell]:
    """A judge's verdicts as the score, up to labels that are nearly all alike."""
    for (sensitivity, specificity), n, p in product(((0.7, 0.5), (0.9, 0.6), (0.98, 0.9)), (30, 100), (0.5, 0.9, 0.98)):
        rng = generator("ppi verdicts", sensitivity, specificity, n, p)
        found = reached(partial(judged, n=n, p=p, sensitivity=sensitivity, specificity=specificity), rng, draws)
        name = f"judge of sensitivity {sensitivity}, specificity {specificity}, n = {n}, p = {p}"
        yield from cells("PPI, verdicts", name, found)


def grades(draws: int) -> Iterator[Cell]:
    """Labels that are no yes or no."""
    for strength, n, p in product((0.0, 0.8), (30, 100), (0.5, 0.9)):
        rng = generator("ppi grades", strength, n, p)
        found = reached(partial(graded, n=n, p=p, strength=strength), rng, draws)
        yield from cells("PPI, graded labels", f"correlation {strength}, n = {n}, p = {p}", found)


def sets(draws: int) -> Iterator[Cell]:
    """The data set itself as the target, from a small part to most of it labelled."""
    for (n, total), strength, p in product(((50, 1000), (150, 300), (270, 300)), (0.0, 0.8), (0.5, 0.95)):
        rng = generator("ppi sets", n, total, strength, p)
        found = reached(partial(part_of_a_set, n=n, total=total, p=p, strength=strength), rng, draws)
        yield from cells("PPI, the data set itself", f"correlation {strength}, {n} of {total}, p = {p}", found)


def whole_clusters(groups: int, draws: int) -> Iterator[Cell]:
    """Clusters labelled whole."""
    return _clusters(groups, draws, shared=False)


def parts_of_clusters(groups: int, draws: int) -> Iterator[Cell]:
    """Rows drawn from clusters that have more rows without a label."""
    return _clusters(groups, draws, shared=True)


def _clusters(groups: int, draws: int, *, shared: bool) -> Iterator[Cell]:
    for strength, p in product((0.3, 0.8), (0.5, 0.9)):
        rng = generator("ppi clusters", shared, groups, strength, p)
        found = reached(partial(clustered, groups=groups, p=p, strength=strength, shared=shared), rng, draws)
        name = f"correlation {strength}, {groups} x 6 rows {'of shared' if shared else 'in own'} clusters, p = {p}"
        yield from cells("PPI, clusters", name, found)


def regressions(n: int, p: float, draws: int) -> Iterator[Cell]:
    """Cross-fitted scores."""
    found = reached(partial(regressed, n=n, p=p, metrics=6), generator("ppi regressed", n, p), draws)
    return cells("PPI, six scores cross-fitted", f"n = {n}, p = {p}", found)


def paired(rng: np.random.Generator, n: int, p: float, gain: float, strength: float) -> tuple[Floats, Floats, Floats]:
    """Differences of two versions' labels, those of a judge that sees some of them, and the judge's on other rows."""
    hard = rng.random(n + REST)
    labels = [(hard + rng.normal(0.0, 0.15, hard.size) < share).astype(np.float64) for share in (p, p + gain)]
    seen = [np.where(rng.random(y.size) < strength, y, rng.random(y.size) < p) for y in labels]
    d, g = labels[1] - labels[0], seen[1] - seen[0]
    return d[:n], g[:n], g[n:]


def differences(draws: int) -> Iterator[Cell]:
    """Differences of two versions, most rows of which are right in both or wrong in both."""
    for n, p, gain in product((50, 100, 300), (0.6, 0.9), (0.0, 0.05)):
        draw = partial(paired, n=n, p=p, gain=gain, strength=0.9)
        rng = generator("ppi differences", n, p, gain)
        truth = float(np.mean([_gain(rng, p, gain) for _ in range(400)])) if gain else 0.0
        hits = wider = alarms = 0
        widths, alone = np.empty(draws), np.empty(draws)
        for i in range(draws):
            d, g, rest = draw(rng)
            estimate, labels = ppi_difference(d, g, rest), paired_difference(d)
            widths[i], alone[i] = estimate.high - estimate.low, labels.high - labels.low
            hits += estimate.low <= truth <= estimate.high
            alarms += estimate.p_value < 0.05  # noqa: PLR2004 (the level)
            wider += int(widths[i] > alone[i])
        name = f"n = {n}, p = {p}, gain = {gain}"
        yield from cells("PPI, differences", name, Reached(draws, hits, wider, *mean_ratio(widths, alone)))
        if not gain:
            yield alarmed("PPI, differences", name, "type I", 0.065, alarms, draws)


def _gain(rng: np.random.Generator, p: float, gain: float) -> float:
    """The mean difference of the labels of many rows."""
    hard = rng.random(10_000)
    base, head = (hard + rng.normal(0.0, 0.15, hard.size) < share for share in (p, p + gain))
    return float(head.mean() - base.mean())


def study_of_real_answers(path: Path, labels: int = 150, draws: int = 500) -> Iterator[Cell]:
    """Take people's verdicts of some rows, estimate those of all, and compare what the score may be.

    `path`: EVOUNA's NQ.json. The truth is the mean verdict over all rows of a system.
    """
    for system in ("fid", "gpt35", "chatgpt", "gpt4", "newbing"):
        y, x = _answers(path, system)
        for way, dataset in product(WAYS, (False, True)):
            draw = partial(_real, y=y, x=x, labels=labels, way=way, dataset=dataset)
            found = reached(draw, generator("real answers", system, labels), draws)
            target = "these rows" if dataset else "rows like these"
            yield from cells("PPI, real answers", f"{system}, {way}, {target}", found)


def _answers(path: Path, system: str) -> tuple[Floats, Floats]:
    from tasks.metrics import score

    rows = [row for row in json.loads(path.read_text()) if not row["improper"] and row["golden_answer"]]
    rows = [row for row in rows if row[f"judge_{system}"] is not None and row[f"answer_{system}"] is not None]
    answers = [row[f"answer_{system}"] for row in rows]
    references = [row["golden_answer"].split("/") for row in rows]
    y = np.array([row[f"judge_{system}"] for row in rows], dtype=np.float64)
    return y, np.column_stack([score(name, answers, references) for name in SCORES])


def _real(rng: np.random.Generator, y: Floats, x: Floats, labels: int, way: str, *, dataset: bool) -> Draw:
    order = rng.permutation(y.size)
    a, b = order[:labels], order[labels:]
    f, rest = WAYS[way](y[a], x[a], x[b])
    return Draw(y[a], f, rest, float(y.mean()), {"dataset": dataset})


def _fixed(name: str, _y: Floats, inside: Floats, outside: Floats) -> tuple[Floats, Floats]:
    column = SCORES.index(name)
    return inside[:, column], outside[:, column]


def _chosen(y: Floats, inside: Floats, outside: Floats) -> tuple[Floats, Floats]:
    varying = np.flatnonzero(inside.std(axis=0) > 0.0)
    best = max(varying, key=lambda column: float(np.corrcoef(inside[:, column], y)[0, 1]))
    return inside[:, best], outside[:, best]


WAYS: dict[str, Callable[[Floats, Floats, Floats], tuple[Floats, Floats]]] = {
    "string presence": partial(_fixed, "string_presence"),
    "token F1": partial(_fixed, "f1"),
    "best correlated": _chosen,
    "nine cross-fitted": cross_fitted,
}

STUDIES: tuple[Callable[[int], Iterator[Cell]], ...] = (
    *(partial(correlations, p, sizes) for p in (0.5, 0.95) for sizes in ((30, 50), (100, 300))),
    verdicts,
    grades,
    sets,
    differences,
    *(partial(whole_clusters, groups) for groups in (10, 30, 100)),
    *(partial(parts_of_clusters, groups) for groups in (10, 100)),
    *(partial(regressions, n, p) for n, p in ((30, 0.5), (30, 0.9), (150, 0.9))),
)

if __name__ == "__main__":
    for cell in study_of_real_answers(Path(sys.argv[1])):
        print(f"{cell.name}: {cell.measure} {cell.measured:.3f}")
