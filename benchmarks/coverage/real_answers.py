"""Estimates from labels of real answers, redrawn: `python -m benchmarks.coverage.real_answers STUDY FILE …`.

STUDY and its files: ppi NQ.json, designed NQ.json, recalibrated NQ.json NQ301/, people NQ.json TQ.json NQ301/,
models NQ301/. NQ.json and TQ.json are of EVOUNA, NQ301/ is the folder of NQ301.
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.coverage import people
from benchmarks.coverage.cells import Floats, contains, generator, length, mean_ratio
from benchmarks.coverage.designed import SIZES, both_estimates
from benchmarks.coverage.ppi import Draw, powered
from benchmarks.coverage.recalibrated import LEVEL, WAVE, second_wave
from benchmarks.data import SYSTEMS
from goldmeter.estimates.judge_bias import STATED_RATE, offline_bias, offline_scale
from goldmeter.metrics import score
from goldmeter.statistics.calibration import calibration
from goldmeter.statistics.clusters import Codes
from goldmeter.statistics.cross_fit import cross_fitted

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


def with_scores(path: Path, labels: int = 150, draws: int = 500) -> Iterator[str]:
    """Take people's verdicts of some rows, estimate those of all, and compare what the score may be.

    The truth is the mean verdict over all rows of a system.
    """
    for system in SYSTEMS:
        y, x = _scored(path, system)
        for way, dataset in product(WAYS, (False, True)):
            draw = partial(_redrawn, y=y, x=x, labels=labels, way=way, dataset=dataset)
            name = f"{system}, {way}, {'these rows' if dataset else 'rows like these'}"
            for cell in powered("PPI, real answers", name, ("real answers", system, labels), draw)(draws):
                yield f"{cell.name}: {cell.measure} {cell.measured:.3f}"


def _scored(path: Path, system: str) -> tuple[Floats, Floats]:
    rows = [row for row in json.loads(path.read_text()) if not row["improper"] and row["golden_answer"]]
    rows = [row for row in rows if row[f"judge_{system}"] is not None and row[f"answer_{system}"] is not None]
    answers = [row[f"answer_{system}"] for row in rows]
    references = [row["golden_answer"].split("/") for row in rows]
    y = np.array([row[f"judge_{system}"] for row in rows], dtype=np.float64)
    return y, np.column_stack([score(name, answers, references) for name in SCORES])


def _redrawn(rng: np.random.Generator, y: Floats, x: Floats, labels: int, way: str, *, dataset: bool) -> Draw:
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


def with_designs(path: Path, draws: int = 1_000) -> Iterator[str]:
    """Redraw the answers of each system of EVOUNA-NQ, judged by models that were not trained on their questions."""
    from benchmarks.offline_judge.training import examples, held_out, training_rows

    trained = training_rows(path)
    answers, rows = [row for row in trained if not row.written], examples(trained)
    probability = held_out(rows)[: len(answers)]
    verdicts = rows.verdicts[: len(answers)].astype(np.float64)
    for system in sorted({answer.source for answer in answers}):
        own = np.array([answer.source == system for answer in answers])
        p, y = probability[own], verdicts[own]
        for n in SIZES:
            rng = generator("designed answers", system, n)
            found = [both_estimates(partial(_again, p, y), p.size, n, rng) for _ in range(draws)]
            hits, equal_hits = (sum(contains(one[k], float(y.mean())) for one in found) / draws for k in (0, 1))
            ratio, _ = mean_ratio(np.array([[length(one) for one in both] for both in found]))
            variance = np.divide(*np.array([[one.value for one in both] for both in found]).var(axis=0))
            yield (
                f"{system}, {n} of {p.size} rows, p = {y.mean():.3f}: coverage {hits:.3f}, equal chances "
                f"{equal_hits:.3f}; width {ratio:.2f}, variance {variance:.2f} of theirs"
            )


def _again(p: Floats, y: Floats, rng: np.random.Generator, rows: int) -> tuple[Floats, Floats]:
    """Rows that are drawn again from real ones."""
    chosen = rng.integers(0, rows, rows)
    return p[chosen], y[chosen]


def with_recalibration(nq: Path, folder: Path) -> Iterator[str]:
    """Say what recalibration changes on NQ301, judged by a model that was trained without its questions."""
    from benchmarks.judge_bias import judged_elsewhere
    from benchmarks.nq301 import nq301
    from benchmarks.offline_judge.training import examples, training_rows

    trained, rows = training_rows(nq), [*nq301(folder)]
    judged = judged_elsewhere("NQ301", rows, trained, examples(trained))
    questions = np.unique(judged.questions, return_inverse=True)[1]
    yield from recalibrated(judged.probabilities, judged.labels.astype(np.float64), questions)


def recalibrated(p: Floats, y: Floats, questions: Codes, draws: int = 100) -> Iterator[str]:
    """Say what recalibration changes on answers that all have human labels.

    p, y, questions: of shape (n,).
    """
    found = calibration(p, y, questions)
    errors = [float(np.mean((scores - y) ** 2)) for scores in (p, found.recalibrated)]
    yield f"{len(y):,} labels: p = {found.p_value:.3f}; {p.mean():.1%} expected right, {y.mean():.1%} are"
    yield f"  mean squared error {errors[0]:.3f}, recalibrated {errors[1]:.3f}"
    rng = generator("recalibrated answers")
    rejected, waves, plans = 0, np.empty((draws, 2)), np.empty((draws, 2))
    for i in range(draws):
        first = np.isin(np.arange(len(y)), rng.permutation(len(y))[:WAVE])
        found = calibration(p[first], y[first], questions[first])
        rejected += found.p_value < LEVEL
        for place, scores in enumerate((found.of(p), p)):
            rate, plans[i, place] = second_wave(y, scores, first, rng)
            waves[i, place] = length(rate) / 2.0
    yield f"  {WAVE} random labels: {rejected} of {draws} samples reject"
    for name, place in (("recalibrated", 0), ("as it is", 1)):
        half, plan = 100.0 * waves[:, place].mean(), 100.0 * plans[:, place].mean()
        yield f"  {WAVE} more, chosen by the probability {name}: ±{plan:.1f} points planned, ±{half:.1f} reached"


def with_people(nq: Path, tq: Path, folder: Path, draws: int = 600) -> Iterator[str]:
    """Say how often comparisons hold and find people's difference, the judge's biases measured on other data sets."""
    from benchmarks.judge_bias import judged_across, judged_held_out
    from benchmarks.nq301 import nq301
    from benchmarks.offline_judge.labelled import human_labelled
    from benchmarks.offline_judge.training import examples, training_rows

    trained = training_rows(nq)
    answers = [row for row in trained if not row.written]
    _, others = judged_held_out(trained, {"EVOUNA-TQ": [*human_labelled(tq)], "NQ301": [*nq301(folder)]})
    for one in (judged_across("EVOUNA-NQ", answers, examples(trained)), *others):
        systems = {name: one.of(name) for name in np.unique(one.systems).tolist()}
        table = {
            name: dict(zip(of.questions, zip(of.labels, of.probabilities, strict=True), strict=True))
            for name, of in systems.items()
        }
        pairs, scale = [*people.pairs_of(table)], offline_scale(one.name)
        for labels in (0, 60) if one.name == "NQ301" else (0, 50, 100, 1000):
            found = people.of_real_answers(pairs, scale, 1000, labels, draws // len(pairs))
            yield (
                f"{one.name}, {len(pairs)} pairs, 1,000 rows, {labels} labels: covered {found.covered:.3f}, decided "
                f"rightly {found.decided:.3f}, wrongly {found.wrong:.4f}"
            )
        yield from _rates(table, one.name, draws)


def _rates(table: people.Table, name: str, draws: int) -> Iterator[str]:
    """Say how often the rate of a system is covered, and how much the judge's bias on other data narrows it."""
    alone = [*people.systems_of(table)]
    for labels in (30, 60) if name == "NQ301" else (20, 50, 100):
        found = people.rates_of_real_answers(
            alone, offline_bias(name), people.OFFLINE, 1000, labels, draws // len(alone)
        )
        yield (
            f"{name}, {len(alone)} systems, {labels} labels: rate covered {found.covered:.3f}, "
            f"width {found.width:.3f}, {found.without:.3f} without the prior"
        )


def with_models(folder: Path) -> Iterator[str]:
    """Say how far two language models are from people, of each system and of each pair of systems of NQ301."""
    from benchmarks.nq301 import by_models, nq301

    tables: dict[str, dict[str, dict[str, tuple[bool, float]]]] = {}
    for model, system, answer, verdict in by_models(folder, [*nq301(folder)]):
        if not np.isnan(verdict):
            tables.setdefault(model, {}).setdefault(system, {})[answer.question] = answer.verdict, verdict
    for model, systems in tables.items():
        alone = [*people.systems_of(systems)]
        found = people.rates_of_real_answers(alone, STATED_RATE, people.MODEL, 1000, 60, 40)
        yield (
            f"{model}, 60 labels: rate covered {found.covered:.3f}, width {found.width:.3f}, "
            f"{found.without:.3f} without the prior"
        )
        biases = [np.mean([verdict - label for label, verdict in rows.values()]) for rows in systems.values()]
        scaled = [
            abs((one.verdicts - one.right) @ np.ones(one.right.shape[1]) @ [-1.0, 1.0])
            / one.right.shape[1]
            / np.sqrt((one.verdicts[0] != one.verdicts[1]).mean())
            for one in people.pairs_of(systems)
        ]
        yield (
            f"{model}: {100 * min(biases):+.1f} to {100 * max(biases):+.1f} points on {len(biases)} systems; of "
            f"{len(scaled)} pairs, at most {max(scaled):.2f} of the root of the share judged differently"
        )


STUDIES: Mapping[str, Callable[..., Iterator[str]]] = {
    "ppi": with_scores,
    "designed": with_designs,
    "recalibrated": with_recalibration,
    "people": with_people,
    "models": with_models,
}

if __name__ == "__main__":
    print(*STUDIES[sys.argv[1]](*map(Path, sys.argv[2:])), sep="\n")
