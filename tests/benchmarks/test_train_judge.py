import json

import numpy as np
import pytest

from benchmarks.offline_judge import training
from benchmarks.offline_judge.__main__ import main
from benchmarks.offline_judge.counterfactual import counterfactual_pairs
from benchmarks.offline_judge.labelled import RULES, Labelled, human_labelled, written_pairs
from benchmarks.offline_judge.training import calibration_error, contains, examples, training_rows
from goldmeter.errors import DataError
from goldmeter.models.offline import RIGHT, judge
from goldmeter.models.offline.trees import read
from tests.models.offline import pairs


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "NQ.json"
    path.write_text(json.dumps(pairs.evouna(60)), encoding="utf-8")
    return path


def train(data, output):
    assert main(["--data", str(data), "--output", str(output)]) == 0


def test_training_twice_gives_the_same_bytes_and_a_report(monkeypatch, capsys, data, tmp_path):
    for name in ("ANSWERS", "TRAPS"):
        monkeypatch.setattr(training, name, getattr(training, name)._replace(iterations=20))
    for name in ("one.npz", "two.npz"):
        train(data, tmp_path / name)

    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    assert [len(trees.values) for trees in read(tmp_path / "one.npz")] == [20, 20]
    said = capsys.readouterr().out
    assert "human labels: 120 rows" in said
    assert "    two: " in said
    assert "    rule 7: " in said


def test_rows_without_verdict_answer_or_golden_answer_and_improper_ones_are_left_out(tmp_path):
    items = pairs.evouna(4)
    items[0]["judge_one"], items[1]["answer_two"] = None, None
    items[2]["golden_answer"], items[3]["improper"] = None, True
    path = tmp_path / "NQ.json"
    path.write_text(json.dumps(items), encoding="utf-8")

    assert [(row.question[-1], row.source) for row in human_labelled(path)] == [("0", "two"), ("1", "one")]


def test_golden_answers_are_separated_by_a_slash(tmp_path):
    items = pairs.evouna(1)
    items[0]["golden_answer"] = "Oslo/Christiania"
    path = tmp_path / "NQ.json"
    path.write_text(json.dumps(items), encoding="utf-8")

    assert next(human_labelled(path)).references == ["Oslo", "Christiania"]


def test_rows_about_one_question_are_in_one_fold():
    rows = [Labelled("q", ["a"], "a", True, "x", written=False, group=group) for group in ("Who?", "who", "Who? ")]

    assert len(set(examples(rows).folds)) == 1


def test_nothing_is_learnt_from_verdicts_against_the_rules():
    answers = ("Paris and Rome", "Paris and Rome or Oslo", "It might be Paris and Rome.", "Rome", "Oslo and Lima")
    rows = [Labelled("q", ["Paris and Rome"], answer, True, "one", written=False, group="q") for answer in answers]

    assert examples(rows[:4]).weights.tolist() == [1, 0, 0, 0]
    assert examples([row._replace(written=True) for row in rows]).weights.tolist() == [training.RULE_WEIGHT] * 5


def test_data_that_is_no_list_of_objects_is_refused(tmp_path):
    (tmp_path / "NQ.json").write_text("{}", encoding="utf-8")

    with pytest.raises(DataError, match=r"NQ\.json"):
        [*human_labelled(tmp_path / "NQ.json")]


def test_calibration_error_of_bins():
    probabilities, verdicts = np.repeat([0.2, 0.8], 75), np.tile([True, False, False, False, False], 30)

    assert calibration_error(probabilities, verdicts) == pytest.approx(0.3)
    assert calibration_error(np.array([0.25, 0.5]), np.array([False, True])) == 0.375  # two rows, fewer than bins


def test_the_baseline_finds_a_substring():
    assert contains(Labelled("", ["The Nile"], "It's (the) NILE!", True, "x", written=False, group=""))


def test_the_shipped_model_is_of_this_data(evouna):
    """A tenth of the rows it was trained on: a floor that a model of other features would not reach."""
    rows = [*human_labelled(evouna)][::10]
    judged = judge([r.question for r in rows], [r.references for r in rows], [r.response for r in rows])

    assert np.mean((judged.probabilities >= RIGHT) == [row.verdict for row in rows]) >= 0.9


def test_pairs_worded_alike_are_in_one_fold_and_have_both_verdicts():
    """A fold that had seen a pair's twin would say nothing of pairs to come."""
    rows = [*written_pairs(RULES)]
    folds, verdicts = examples(rows).folds, {}
    by_question = {(row.question, fold) for row, fold in zip(rows, folds, strict=True)}
    for row in rows:
        verdicts.setdefault(row.group, set()).add(row.verdict)

    assert len(by_question) == len({row.question for row in rows})
    assert all(each == {True, False} for each in verdicts.values())


def test_the_written_pairs_are_read():
    assert {row.source for row in written_pairs(RULES)} == {f"rule {n}" for n in range(1, 8)}


def test_the_training_rows_are_human_labels_and_then_pairs(data):
    rows, people = training_rows(data), [*human_labelled(data)]

    assert rows == [*people, *written_pairs(RULES), *counterfactual_pairs(people)]
    assert [row.written for row in rows] == [False] * 120 + [True] * (len(rows) - 120)
