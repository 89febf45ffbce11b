"""People's difference of two systems from a judge's verdicts and labels of some rows, as comparisons give it."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations, product
from typing import Any, NamedTuple, TypeAlias
from unittest.mock import patch

import numpy as np

from benchmarks.coverage.cells import Floats, Measure, Rng, Simulation, Study, alarms, contains, covers, each, generator
from goldmeter.comparison.compared import Compared
from goldmeter.comparison.differences import Difference, family
from goldmeter.comparison.pairing import pair
from goldmeter.dataset.description import LABEL
from goldmeter.estimates import judge_bias, labelled_rate
from goldmeter.estimates.column_facts import ColumnFacts
from goldmeter.estimates.columns import Candidate, ScoreColumn
from goldmeter.estimates.labelled_rate import prediction_powered
from goldmeter.estimates.metrics_report import PredictionPowered
from goldmeter.estimates.primary import VERDICT
from goldmeter.models.offline import RIGHT as RIGHT_FROM
from goldmeter.statistics import BiasModel
from goldmeter.wording.verdicts import Verdict

CONFIDENCE = 0.95
TOPIC = "People's difference"
RIGHT, FAILED, LOSS = 0.8, 0.08, 0.02
# Of answers that changed: how many are right then, and how often the judge errs.
LEFT, ERRS = 0.5, 0.1
OFFLINE, MODEL = "offline", "openai|model:m"
LABELS = (0, 50, 100)
# System → question → label, and the judge's probability.
Table: TypeAlias = Mapping[str, Mapping[str, tuple[bool, float]]]


class Answers(NamedTuple):
    """Two systems on the same n rows: whether people and the judge call each answer right, and the judge's probability.

    Every array has shape (2, n). changed: which rows have two answers, shape (n,).
    """

    right: Floats
    verdicts: Floats
    probability: Floats
    changed: np.ndarray

    def rows(self, chosen: Any) -> "Answers":
        """Some rows, by their numbers."""
        return Answers(*(array[..., chosen] for array in self))


def difference(
    answers: Answers, labelled: np.ndarray, judge: str, margin: float = 0.0, clusters: np.ndarray | None = None
) -> Difference:
    """The difference that a comparison gives.

    labelled: which rows have labels of both answers, shape (n,). margin: of the gate. clusters: those of the rows.
    """
    sides = [_candidate(answers, side, labelled, judge, clusters) for side in (0, 1)]
    name = "label" if labelled.any() else VERDICT
    [[found], _] = family([Compared([pair(*sides)], name)], [margin], CONFIDENCE)
    return found


def rate(answers: Answers, side: int, labelled: np.ndarray, judge: str) -> PredictionPowered:
    """The rate of one system that its headline gives; labelled: which rows have a label, a part of them."""
    one = _candidate(answers, side, labelled, judge, None)
    p = np.full(len(labelled), np.nan) if one.probabilities is None else one.probabilities
    found = prediction_powered(one, p, CONFIDENCE, random=True)
    if found is None:
        raise ValueError("expected labels of a part of the rows, 10 or more")
    return found


def _candidate(answers: Answers, side: int, labelled: np.ndarray, judge: str, clusters: np.ndarray | None) -> Candidate:
    n = len(labelled)
    keys, asked = np.arange(n, dtype=np.uint64), np.zeros(n, np.bool_)
    facts, verdicts = _facts(VERDICT, judge), answers.verdicts[side]
    label = np.where(labelled, answers.right[side], np.nan)
    columns = [
        ScoreColumn("label", label, ~labelled, LABEL.passes(label), None, LABEL),
        ScoreColumn(VERDICT, verdicts, asked, facts.passes(verdicts), None, facts),
    ]
    texts = keys + np.uint64(n) * (answers.changed & bool(side)).astype(np.uint64)
    p = answers.probability[side][:, None] if judge == OFFLINE else None
    return Candidate(
        "ab"[side], keys, np.arange(n), columns, clusters, {}, labels_random=True, answers=texts, probabilities=p
    )


def _facts(name: str, judge: str) -> ColumnFacts:
    signature = f"{name}|provider:{judge}|v:1"
    return ColumnFacts(name, "judge", signature, (0.0, 1.0), rate_signature=f"{signature}|pass:1")


def studies() -> Iterator[Study]:
    """Every study."""
    for n, labels in product((100, 300, 1000), LABELS):
        design = f"equal systems, n = {n}, {labels} labels"
        yield Simulation(TOPIC, design, ("people", "equal", n, labels), each(partial(_refused, n, labels)), (REFUSALS,))
    for n in (20, 50, 100, 300, 1000):
        yield Simulation(
            TOPIC, f"a loss of 2 points, n = {n}", ("people", "loss", n), each(partial(_shipped, n)), (SHIPS,)
        )
    for share, labels in product((0.02, 0.05, 0.1), LABELS):
        design = f"{share:.0%} of 1,000 answers changed, {labels} labels"
        yield Simulation(
            TOPIC, design, ("people", share, labels), each(partial(_covered, share, labels)), (covers(0.935),)
        )


REFUSALS: Measure = alarms(0.05, "refusals of an equal system by a model that fails 8 % of its right answers")
SHIPS: Measure = alarms(0.025, "wrong ships with labels on all rows")


def _refused(n: int, labels: int, rng: Rng) -> bool:
    """Both systems answer the same rows right; the judge fails some right answers of the new one."""
    right = np.tile((rng.random(n) < RIGHT).astype(float), (2, 1))
    verdicts = right.copy()
    verdicts[1] *= rng.random(n) >= FAILED
    answers = Answers(right, verdicts, verdicts, np.ones(n, np.bool_))
    return difference(answers, _some(rng, n, labels), MODEL).verdict is Verdict.WORSE


def _shipped(n: int, rng: Rng) -> bool:
    """All answers are reworded, and the new system is worse by LOSS; all have labels."""
    base = rng.random(n) < RIGHT
    flip = LOSS + 0.05
    lost, won = base & (rng.random(n) < flip / RIGHT), ~base & (rng.random(n) < 0.05 / (1.0 - RIGHT))
    right = np.array([base, (base & ~lost) | won], np.float64)
    found = difference(Answers(right, right, right, np.ones(n, np.bool_)), np.ones(n, np.bool_), MODEL)
    return found.verdict not in {Verdict.WORSE, Verdict.CANNOT_TELL}


def _covered(share: float, labels: int, rng: Rng, n: int = 1000) -> bool:
    """Few answers changed, most of them for the worse; the judge errs on 10 % of the answers, alike on equal ones."""
    changed = rng.random(n) < share
    base = (rng.random(n) < RIGHT).astype(float)
    new = np.where(changed, (rng.random(n) < LEFT).astype(float), base)
    errs = rng.random((2, n)) < ERRS
    verdicts = np.array([np.where(errs[0], 1 - base, base), np.where(changed & errs[1], 1 - new, new)])
    verdicts[1] = np.where(changed, verdicts[1], verdicts[0])
    found = difference(Answers(np.array([base, new]), verdicts, verdicts, changed), _some(rng, n, labels), OFFLINE)
    return contains(found.estimate, share * (LEFT - RIGHT))


def _some(rng: Rng, n: int, labels: int) -> np.ndarray:
    """Which rows have labels, chosen at random; shape (n,)."""
    return np.asarray(rng.permutation(n) < labels)


class Found(NamedTuple):
    """Over all pairs of systems: how often intervals hold the difference, and decide rightly, and wrongly."""

    covered: float
    decided: float
    wrong: float


def of_real_answers(pairs: Sequence[Answers], scale: float | None, rows: int, labels: int, draws: int) -> Found:
    """Redraw rows and labels of pairs of systems; the truth is the difference over all rows.

    scale: of the judge's biases, measured on other data sets.
    """
    rng, found = generator("people", rows, labels, len(pairs)), []
    with patch.object(judge_bias, "offline_scale", lambda: scale):
        for answers in pairs:
            truth = float((answers.right[1] - answers.right[0]).mean())
            for _ in range(draws):
                chosen = rng.choice(len(answers.changed), min(rows, len(answers.changed)), replace=False)
                estimate = difference(answers.rows(chosen), _some(rng, len(chosen), labels), OFFLINE).estimate
                sign = (estimate.low > 0.0) - (estimate.high < 0.0)
                found.append((contains(estimate, truth), sign * truth > 0.0, sign * truth < 0.0))
    return Found(*np.mean(found, axis=0).tolist())


class Rates(NamedTuple):
    """Over all systems: how often intervals hold the rate, their width, and the width without a prior."""

    covered: float
    width: float
    without: float


def rates_of_real_answers(
    systems: Sequence[Answers], bias: BiasModel | float | None, judge: str, rows: int, labels: int, draws: int
) -> Rates:
    """Redraw rows and labels of systems; the truth is the rate over all rows.

    systems: each as a pair with itself. bias: the judge's, measured on other data sets, or the scale that is stated.
    """
    rng, found = generator("people's rates", rows, labels, len(systems)), []
    for answers in systems:
        truth = float(answers.right[0].mean())
        for _ in range(draws):
            chosen = rng.choice(len(answers.changed), min(rows, len(answers.changed)), replace=False)
            part, labelled = answers.rows(chosen), _some(rng, len(chosen), labels)
            limits = []
            for prior in (bias, None):
                with patch.object(labelled_rate, "rate_bias", lambda *_, prior=prior: prior):
                    entry = rate(part, 0, labelled, judge)
                limits.append((entry["low"], entry["high"]))
            (low, high), (lowest, highest) = limits
            found.append((low <= truth <= high, high - low, highest - lowest))
    return Rates(*np.mean(found, axis=0).tolist())


def systems_of(systems: Table) -> Iterator[Answers]:
    """Each system, as a pair with itself."""
    for rows in systems.values():
        right, probability = np.tile(np.array([*rows.values()], np.float64).T[:, None], (1, 2, 1))
        verdicts = (probability >= RIGHT_FROM).astype(np.float64)
        yield Answers(right, verdicts, probability, np.ones(right.shape[1], np.bool_))


def pairs_of(systems: Table) -> Iterator[Answers]:
    """Each pair of systems on the questions that both answered."""
    for base, head in combinations(systems, 2):
        shared = [question for question in systems[base] if question in systems[head]]
        both = np.array([[systems[name][question] for question in shared] for name in (base, head)], np.float64)
        right, probability = both[..., 0], both[..., 1]
        verdicts = (probability >= RIGHT_FROM).astype(np.float64)
        yield Answers(right, verdicts, probability, np.ones(len(shared), np.bool_))
