"""The offline judge's accuracy beside other judges: on answers with human labels, and on adversarial pairs.

A question of NQ301 is judged by a model that was trained without it, one of EVOUNA-NQ by cross-validation; the
adversarial pairs by the shipped model. Data: GOLDMETER_EVOUNA (a folder with NQ.json), GOLDMETER_NQ301 (a folder).
Writes its tables into docs/explanation/judge.md.

Use: python -m benchmarks.judge_accuracy
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks.data import EVOUNA, ROOT
from benchmarks.judge_bias import PAGE, judged_held_out
from benchmarks.nq301 import FOLDER, Listed, letters, listed, nq301
from benchmarks.offline_judge.labelled import Labelled
from benchmarks.offline_judge.training import calibration_error, contains, training_rows
from benchmarks.pages import grid, rewritten
from goldmeter.console.arguments import Parser
from goldmeter.console.terminal import exit_status, say
from goldmeter.models.offline import RIGHT, judge, model_hash
from goldmeter.statistics import Estimate, agreement

PAIRS, MARK = ROOT / "benchmarks/adversarial.jsonl", "accuracy"
MODEL_CHARACTERS = 12
BANDS = (0.05, 0.2, 0.5, 0.8, 0.95)
ONCE, BY_SYSTEM = "NQ301, each answer once", "NQ301, each system's answers"
Floats = npt.NDArray[np.float64]
Booleans = npt.NDArray[np.bool_]


class Scored(NamedTuple):
    """A judge's view of n rows.

    Attributes:
        judge: Its name.
        scores: Probabilities that the answers are right, or verdicts 1 and 0; shape (n,), NaN is no verdict.
        graded: The scores are probabilities.
    """

    judge: str
    scores: Floats
    graded: bool = False

    def at(self, rows: npt.NDArray[np.intp]) -> "Scored":
        return self._replace(scores=self.scores[rows])


class Figures(NamedTuple):
    """How well a judge agrees with the labels of the n rows that it has a verdict on.

    Attributes:
        n: Number of rows.
        accuracy: Share of equal verdicts; rows of a question depend on each other.
        balanced: Mean of the shares of equal verdicts of right and of wrong answers; NaN without either.
        auc: Probability that a right answer scores higher than a wrong one; NaN for verdicts without probability.
        calibration: Expected calibration error; NaN for verdicts without probability.
    """

    n: int
    accuracy: Estimate
    balanced: float
    auc: float
    calibration: float


def figures(scored: Scored, rows: Sequence[Labelled]) -> Figures:
    """Compare a judge with the labels of n rows."""
    has = np.flatnonzero(~np.isnan(scored.scores))
    scores, labels = scored.scores[has], np.array([rows[i].verdict for i in has.tolist()], np.bool_)
    questions = [letters(rows[i].question) for i in has.tolist()]
    found = agreement(scores >= RIGHT, labels, scores if scored.graded else None, questions)
    good, bad = found.true_pass + found.false_fail, found.false_pass + found.true_fail
    balanced = (found.true_pass / good + found.true_fail / bad) / 2 if good and bad else np.nan
    auc = found.auc.value if found.auc else np.nan
    error = calibration_error(scores, labels) if scored.graded else np.nan
    return Figures(len(has), found.accuracy, balanced, auc, error)


def substring(rows: Sequence[Labelled]) -> Scored:
    """The verdicts of substring matching."""
    return Scored("substring", np.array([contains(row) for row in rows], np.float64))


def published(entries: Sequence[Listed]) -> list[Scored]:
    """The verdicts that come with NQ301's answers."""
    bem, gpt4 = (np.array([getattr(entry, name) for entry in entries]) for name in ("bem", "gpt4"))
    return [Scored("BEM", bem, graded=True), Scored("GPT-4", gpt4)]


def between_people(entries: Sequence[Listed]) -> Figures:
    """One person's verdicts against another's, before a third one decided where they differ."""
    both = [entry for entry in entries if not np.isnan(entry.first + entry.second)]
    second = Scored("person", np.array([entry.second for entry in both]))
    return figures(second, [entry.answer._replace(verdict=entry.first == 1) for entry in both])


def places(entries: Sequence[Listed], answers: Sequence[Labelled]) -> npt.NDArray[np.intp]:
    """The listed answer that each system's answer is, in other spelling at most; shape (n,)."""
    keys = {(letters(one.answer.question), letters(one.answer.response)): i for i, one in enumerate(entries)}
    return np.array([keys[letters(one.question), letters(one.response)] for one in answers], np.intp)


def adversarial() -> Iterator[Labelled]:
    """Yield the adversarial pairs; the source is the kind."""
    for line in PAIRS.read_text(encoding="utf-8").splitlines():
        pair = json.loads(line)
        texts = pair["question"], pair["references"], pair["response"]
        yield Labelled(*texts, pair["verdict"], pair["kind"], written=True, group=pair["question"])


def shipped(rows: Sequence[Labelled]) -> Scored:
    """The shipped model's probabilities."""
    judged = judge([row.question for row in rows], [row.references for row in rows], [row.response for row in rows])
    return _offline(judged.probabilities)


def adversarial_table() -> str:
    """Accuracy of the shipped model and of substring matching on adversarial pairs by kind, in Markdown."""
    rows = [*adversarial()]
    kinds, labels = np.array([row.source for row in rows]), np.array([row.verdict for row in rows])
    verdicts, baseline = (scored.scores >= RIGHT for scored in (shipped(rows), substring(rows)))
    title = f"adversarial pairs, model {model_hash()[:MODEL_CHARACTERS]}"
    heads = title, "pairs", "offline judge", "substring", "right answers accepted", "wrong answers refused"
    groups = {kind: kinds == kind for kind in dict.fromkeys(kinds.tolist())} | {"**all**": kinds != ""}
    lines, equal = [], verdicts == labels
    for name, inside in groups.items():
        shares = equal[inside], (baseline == labels)[inside], equal[inside & labels], equal[inside & ~labels]
        lines.append((name, str(inside.sum()), *(f"{share.mean():.3f}" for share in shares)))
    return grid(heads, lines)


def accuracy_table(sets: Sequence[tuple[str, str, Figures]]) -> str:
    """Figures of (data set, judge), in Markdown."""
    heads = "answers", "judge", "n", "accuracy (95 % interval)", "balanced accuracy", "AUC", "calibration error"
    lines = []
    for name, judge_name, one in sets:
        interval = f"{one.accuracy.value:.3f} ({one.accuracy.low:.3f}–{one.accuracy.high:.3f})"
        shares = map(_share, (one.balanced, one.auc, one.calibration))
        lines.append((name, judge_name, f"{one.n:,}", interval, *shares))
    return grid(heads, lines)


def calibration_table(sets: Mapping[str, tuple[Floats, Sequence[Labelled]]]) -> str:
    """How many answers have a probability in each band, its mean, and the share of right ones, in Markdown.

    sets: of each data set, probabilities, shape (n,), and n rows.
    """
    columns = [column for name in sets for column in (f"{name}: n", "mean", "right")]
    lines = []
    for i, (low, high) in enumerate(pairwise((0.0, *BANDS, 1.0))):
        cells = [f"{low:.2f} to {high:.2f}"]
        for probabilities, rows in sets.values():
            inside = np.digitize(probabilities, BANDS) == i
            labels = np.array([row.verdict for row in rows])[inside]
            shares = [_share(float(np.mean(one)) if len(one) else np.nan) for one in (probabilities[inside], labels)]
            cells += [f"{inside.sum():,}", *shares]
        lines.append(cells)
    return grid(("the judge's probability", *columns), lines)


def system_table(answers: Sequence[Labelled], judges: Sequence[Scored]) -> str:
    """Accuracy of each judge on the answers of each system, in Markdown."""
    systems, labels = (np.array([getattr(row, name) for row in answers]) for name in ("source", "verdict"))
    lines = []
    for system in np.unique(systems):
        inside = systems == system
        shares = (_share(_accuracy(scored.scores[inside], labels[inside])) for scored in judges)
        lines.append((system.removeprefix("NQ_").removeprefix("NQ301_"), str(inside.sum()), *shares))
    return grid(("accuracy by system of NQ301", "n", *(scored.judge for scored in judges)), lines)


def _accuracy(scores: Floats, labels: Booleans) -> float:
    has = ~np.isnan(scores)
    return float(((scores >= RIGHT) == labels)[has].mean())


def _share(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.3f}"


def tables() -> str:
    """All tables, in Markdown."""
    trained, answers = training_rows(EVOUNA), [*nq301(FOLDER)]
    nq = [row for row in trained if not row.written]
    entries = [*listed(FOLDER, answers)]
    once = [entry.answer for entry in entries]
    known, [unseen] = judged_held_out(trained, {"NQ301": [*once, *answers]})
    listed_scores, system_scores = np.split(unseen.probabilities, [len(once)])
    beside, same = published(entries), places(entries, answers)
    judges = [_offline(system_scores), substring(answers), *(scored.at(same) for scored in beside)]
    sets = (
        ("EVOUNA-NQ", nq, [_offline(known), substring(nq)]),
        (BY_SYSTEM, answers, judges),
        (ONCE, once, [_offline(listed_scores), substring(once), *beside]),
    )
    lines = [(name, scored.judge, figures(scored, rows)) for name, rows, scores in sets for scored in scores]
    lines.append((ONCE, "a person, against another", between_people(entries)))
    bands = calibration_table({"EVOUNA-NQ": (known, nq), ONCE: (listed_scores, once)})
    return "\n\n".join((accuracy_table(lines), bands, system_table(answers, judges), adversarial_table()))


def _offline(probabilities: Floats) -> Scored:
    return Scored("offline judge", probabilities, graded=True)


def _command() -> None:
    content = tables()
    PAGE.write_text(rewritten(PAGE.read_text(encoding="utf-8"), content, MARK), encoding="utf-8")
    say(content)


def main(arguments: Sequence[str]) -> int:
    """Measure, write the tables into the page and print them; returns the exit status."""
    Parser(prog="python -m benchmarks.judge_accuracy", description=__doc__).parse_args(arguments)
    return exit_status(_command)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
