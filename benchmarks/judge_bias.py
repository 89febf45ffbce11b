"""The offline judge's bias: its rate less that of human labels, per system, on every data set with human labels.

No system is judged by a model that saw its questions; on the data set that the judge was trained on, the model has seen
neither the system nor the question.

Use: python -m benchmarks.judge_bias NQ.json TQ.json NQ301/ (EVOUNA's two files, and the folder of NQ301)
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from benchmarks.data import ROOT
from benchmarks.nq301 import letters, nq301
from benchmarks.offline_judge.by_kind import by_kind
from benchmarks.offline_judge.labelled import Labelled, human_labelled
from benchmarks.offline_judge.training import (
    FOLDS,
    Examples,
    examples,
    fitted,
    held_out,
    training_rows,
)
from benchmarks.pages import grid, rewritten
from goldmeter.models.offline import RIGHT, model_hash
from goldmeter.models.offline.measured import FILE, Kind, question_hash
from goldmeter.pipeline.files import to_json
from goldmeter.statistics import bias_model, cross_fitted, people_rate, ppi_mean

PAGE = ROOT / "docs/explanation/judge.md"
MARK, KIND = "bias", "English answers to short questions"
LABELS, DRAWS, SEED = 100, 200, 1
Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]


class Judged(NamedTuple):
    """Rows of one data set: system, question, human label and the judge's probability; n rows."""

    name: str
    systems: NDArray[np.str_]
    questions: NDArray[np.str_]
    labels: Booleans
    probabilities: Floats

    def of(self, system: str) -> "Judged":
        chosen = self.systems == system
        return Judged(self.name, *(column[chosen] for column in self[1:]))

    @property
    def verdicts(self) -> Booleans:
        right: Booleans = self.probabilities >= RIGHT
        return right


def judged_elsewhere(name: str, rows: Sequence[Labelled], trained: Sequence[Labelled], training: Examples) -> Judged:
    """Judge a data set by a model that was trained without its questions, matched by text."""
    asked = {letters(row.question) for row in rows}
    unseen = np.array([letters(row.group) not in asked for row in trained])
    return _judged(name, rows, fitted(training.take(unseen)).probabilities(examples(rows).features))


def judged_across(name: str, rows: Sequence[Labelled], training: Examples) -> Judged:
    """Judge the training set: each system and fold of questions by a model that was trained without both."""
    systems = np.array([row.source for row in rows] + [""] * (len(training.verdicts) - len(rows)))
    unseen = np.empty(len(systems))
    for system in sorted({row.source for row in rows}):
        own = systems == system
        for fold in range(FOLDS):
            inside = training.folds == fold
            model = fitted(training.take(~own & ~inside))
            unseen[own & inside] = model.probabilities(training.features[own & inside])
    return _judged(name, rows, unseen[: len(rows)])


def judged_held_out(
    trained: Sequence[Labelled], others: Mapping[str, Sequence[Labelled]]
) -> tuple[Floats, list[Judged]]:
    """Probabilities of the human labels among training rows and of others, by models that never saw their questions."""
    with threadpool_limits(limits=1):  # as in training: the same numbers on any number of cores
        training = examples(trained)
        known = held_out(training)[: sum(not row.written for row in trained)]
        return known, [judged_elsewhere(name, rows, trained, training) for name, rows in others.items()]


def facts(
    sets: Sequence[Judged], cross: Mapping[str, Any], questions: Sequence[str], kinds: Mapping[str, Mapping[str, Kind]]
) -> dict[str, Any]:
    """The contents of the judge's file of measured facts."""
    return {
        "model": model_hash(),
        "kind": KIND,
        "sources": {
            "EVOUNA-NQ, EVOUNA-TQ": "Wang et al. 2023, github.com/wangcunxiang/QA-Eval, commit 90007d3, Apache-2.0",
            "NQ301": "Kamalloo et al. 2023, github.com/ehsk/OpenQA-eval, MIT",
        },
        "kinds": kinds,
        "trained_on": {**cross, "questions": " ".join(sorted({question_hash(question) for question in questions}))},
        "systems": [_entry(one.of(system)) for one in sets for system in np.unique(one.systems)],
        "pairs": [
            pair_entry(one, *names) for one in sets for names in combinations(np.unique(one.systems).tolist(), 2)
        ],
    }


def pair_entry(one: Judged, base: str, head: str) -> dict[str, Any]:
    """How far the judge's biases of two systems differ, on the questions that both answered."""
    older, newer = one.of(base), one.of(head)
    _, places, new_places = np.intersect1d(older.questions, newer.questions, return_indices=True)
    labels = newer.labels[new_places].astype(np.float64) - older.labels[places]
    verdicts = newer.verdicts[new_places].astype(np.float64) - older.verdicts[places]
    difference = verdicts - labels
    return {
        "set": one.name,
        "systems": [base, head],
        "bias": round(float(difference.mean()), 4),
        "error": round(float(difference.std(ddof=1) / len(difference) ** 0.5), 4),
        "discordant": round(float((verdicts != 0.0).mean()), 4),
    }


def _entry(one: Judged) -> dict[str, Any]:
    difference = one.verdicts.astype(np.float64) - one.labels
    return {
        "set": one.name,
        "system": str(one.systems[0]),
        "n": len(difference),
        "judge": round(float(one.verdicts.mean()), 4),
        "human": round(float(one.labels.mean()), 4),
        "bias": round(float(difference.mean()), 4),
        "error": round(float(difference.std(ddof=1) / len(difference) ** 0.5), 4),
        "accuracy": round(float((one.verdicts == one.labels).mean()), 4),
    }


class Coverage(NamedTuple):
    """How many (system, set) pairs were covered, of how many, and the mean width of their intervals."""

    covered: int
    pairs: int
    width: float


def coverage(systems: Sequence[Mapping[str, Any]], *, sets: bool) -> Coverage:
    """Predict each system's human rate from the judge's rate and the bias elsewhere.

    sets: leave the system's whole data set out; else the system alone.
    """
    covered, widths = 0, []
    for held in systems:
        rest = [one for one in systems if one["set"] != held["set"]] if sets else [o for o in systems if o is not held]
        columns = ([one[name] for one in rest] for name in ("bias", "error", "set"))
        bias, errors, names = columns
        model = bias_model(bias, np.square(errors), names)
        rate = held["judge"]
        low, high = people_rate(rate, model, rate * (1.0 - rate) / held["n"])
        covered += low <= held["human"] <= high
        widths.append(high - low)
    return Coverage(covered, len(systems), float(np.mean(widths)))


def ordered(one: Judged) -> dict[str, float]:
    """How many pairs of systems each method puts in the right order with some labels; the mean over draws."""
    systems, questions = np.unique(one.systems), np.unique(one.questions)
    place = {question: i for i, question in enumerate(questions)}
    labels, scores = (np.full((len(systems), len(questions)), np.nan) for _ in range(2))
    for i, system in enumerate(systems):
        part = one.of(system)
        columns = [place[question] for question in part.questions]
        labels[i, columns], scores[i, columns] = part.labels, part.probabilities
    keep = ~np.isnan(labels).any(axis=0)
    labels, scores = labels[:, keep], scores[:, keep]
    pairs = [(a, b) for a, b in combinations(range(len(systems)), 2) if labels[a].sum() != labels[b].sum()]
    rng, right = np.random.default_rng(SEED), np.zeros(3)
    for _ in range(DRAWS):
        chosen = np.zeros(labels.shape[1], np.bool_)
        chosen[rng.choice(len(chosen), LABELS, replace=False)] = True
        powered = [_powered(y, f, chosen) for y, f in zip(labels, scores, strict=True)]
        for k, rates in enumerate((powered, labels[:, chosen].mean(axis=1), (scores >= RIGHT).mean(axis=1))):
            right[k] += sum(_share(labels, np.asarray(rates), a, b) for a, b in pairs)
    names = ("prediction-powered", "labels alone", "judge")
    return {"pairs": float(len(pairs)), **dict(zip(names, (right / DRAWS).tolist(), strict=True))}


def labelled(sets: Sequence[Judged]) -> Coverage:
    """How often the prediction-powered interval of a system, from some labels, contains its rate by all labels."""
    rng, covered, widths = np.random.default_rng(SEED), [], []
    for one in sets:
        for system in np.unique(one.systems):
            part, hits = one.of(system), 0
            y, f, truth = part.labels.astype(np.float64), part.probabilities, float(part.labels.mean())
            for _ in range(DRAWS // 4):
                chosen = np.zeros(len(y), np.bool_)
                chosen[rng.choice(len(y), LABELS, replace=False)] = True
                inside, rest = cross_fitted(y[chosen], f[chosen, None], f[~chosen, None])
                estimate = ppi_mean(y[chosen], inside, rest)
                hits += estimate.low <= truth <= estimate.high
                widths.append(estimate.high - estimate.low)
            covered.append(hits >= 0.93 * (DRAWS // 4))
    return Coverage(sum(covered), len(covered), float(np.mean(widths)))


def _powered(labels: Floats, scores: Floats, chosen: Booleans) -> float:
    inside, rest = cross_fitted(labels[chosen], scores[chosen, None], scores[~chosen, None])
    return ppi_mean(labels[chosen], inside, rest).value


def _share(labels: Floats, rates: Floats, a: int, b: int) -> float:
    """1 for the right order, 0.5 for a tie."""
    truth, found = np.sign(labels[a].sum() - labels[b].sum()), np.sign(rates[a] - rates[b])
    return 0.5 if found == 0 else float(found == truth)


def _judged(name: str, rows: Sequence[Labelled], probabilities: Floats) -> Judged:
    systems, questions = (np.array([getattr(row, field) for row in rows]) for field in ("source", "question"))
    return Judged(name, systems, questions, np.array([row.verdict for row in rows]), probabilities)


def table(systems: Sequence[Mapping[str, Any]], orders: Mapping[str, Mapping[str, float]], powered: Coverage) -> str:
    """The measured figures, in Markdown."""
    by_set = {name: [one for one in systems if one["set"] == name] for name in dict.fromkeys(s["set"] for s in systems)}
    spread = []
    for name, ones in by_set.items():
        points, agreed = [100 * one["bias"] for one in ones], [one["accuracy"] for one in ones]
        signed = f"{_signed(min(points))} to {_signed(max(points))}"
        spread.append((name, str(len(ones)), signed, f"{min(agreed):.3f} to {max(agreed):.3f}"))
    left_out = []
    for name, sets in (("the system's whole data set", True), ("the system alone", False)):
        one = coverage(systems, sets=sets)
        left_out.append((name, f"{one.covered} of {one.pairs} systems", f"{100 * one.width:.0f}"))
    draws = f"in at least 93 % of {DRAWS // 4} draws: {powered.covered} of {powered.pairs} systems"
    left_out.append((f"nothing: {LABELS} random labels, prediction-powered", draws, f"{100 * powered.width:.0f}"))
    methods = ("prediction-powered", "labels alone", "judge")
    right = [
        (f"{name}: of {order['pairs']:.0f}", *(f"{order[method]:.1f}" for method in methods))
        for name, order in orders.items()
    ]
    return "\n\n".join((
        grid(("data set", "systems", "judge less human labels, points", "agreement"), spread),
        grid(("left out", "human rate inside the interval", "mean width, points"), left_out),
        grid((f"pairs of systems in the right order, {LABELS} labels", *methods), right),
    ))  # fmt: skip


def _signed(points: float) -> str:
    return f"{points:+.1f}".replace("-", "−")


def main(arguments: Sequence[str]) -> None:
    """Measure, write the facts beside the model and the figures into the page, and print them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.judge_bias", description=__doc__)
    for name, text in (("nq", "NQ.json of EVOUNA"), ("tq", "TQ.json of EVOUNA"), ("nq301", "the folder of NQ301")):
        parser.add_argument(name, type=Path, help=text)
    chosen = parser.parse_args(arguments)
    trained = training_rows(chosen.nq)
    nq = [row for row in trained if not row.written]
    others = {"EVOUNA-TQ": [*human_labelled(chosen.tq)], "NQ301": [*nq301(chosen.nq301)]}
    with threadpool_limits(limits=1):
        across = judged_across("EVOUNA-NQ", nq, examples(trained))
    probabilities, elsewhere = judged_held_out(trained, others)
    sets = [across, *elsewhere]
    right = (probabilities >= RIGHT) == np.array([row.verdict for row in nq])
    cross = {"set": "EVOUNA-NQ", "cross_validated": round(float(right.mean()), 4), "n": len(nq)}
    measured = facts(sets, cross, [row.question for row in nq], by_kind(nq, right))
    FILE.write_text(to_json(measured), encoding="utf-8")
    content = table(measured["systems"], {one.name: ordered(one) for one in sets}, labelled(sets))
    PAGE.write_text(rewritten(PAGE.read_text(encoding="utf-8"), content, MARK), encoding="utf-8")
    print(content)


if __name__ == "__main__":
    main(sys.argv[1:])
