"""The offline judge beside other judges: the arithmetic, what no model has seen, and the adversarial pairs."""

import csv
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from benchmarks import judge_accuracy, judge_bias
from benchmarks.judge_accuracy import (
    PAGE,
    Scored,
    adversarial,
    adversarial_table,
    between_people,
    calibration_table,
    figures,
    places,
)
from benchmarks.nq301 import BEM, GPT4, HUMAN, Listed, letters
from benchmarks.offline_judge import training
from benchmarks.offline_judge.labelled import Labelled
from goldmeter.models.offline.measured import share_trained_on
from tests.models.offline import pairs

PAIRS = [*adversarial()]


def labelled(verdicts: Sequence[bool], response: str = "Oslo") -> list[Labelled]:
    return [
        Labelled(f"question {i}", ["Oslo"], response, verdict, "x", written=False, group="")
        for i, verdict in enumerate(verdicts)
    ]


def test_every_kind_has_right_and_wrong_pairs_in_like_number() -> None:
    kinds = Counter(pair.source for pair in PAIRS)
    right = Counter(pair.source for pair in PAIRS if pair.verdict)

    assert len(PAIRS) >= 250
    assert len(kinds) == 15
    assert min(kinds.values()) >= 15
    assert all(0.35 <= right[kind] / kinds[kind] <= 0.65 for kind in kinds)


def test_no_pair_stands_twice_or_lacks_a_text() -> None:
    texts = [(pair.question.casefold(), pair.response.casefold()) for pair in PAIRS]

    assert len(set(texts)) == len(texts)
    assert all(pair.question and pair.references and all(pair.references) and pair.response for pair in PAIRS)
    assert {type(pair.verdict) for pair in PAIRS} == {bool}


def test_the_judge_was_trained_on_no_question_of_the_adversarial_pairs() -> None:
    written = {letters(pair["input"]) for pair in pairs.RULES}

    assert not [pair.question for pair in PAIRS if letters(pair.question) in written]
    assert share_trained_on(pair.question for pair in PAIRS) == 0


def test_the_page_shows_what_the_shipped_model_says_of_the_adversarial_pairs() -> None:
    assert adversarial_table() in PAGE.read_text(encoding="utf-8")


def test_figures_of_probabilities_with_a_tie_and_a_missing_one() -> None:
    labels = [True] * 8 + [False] * 8 + [True]
    scores = [0.9] * 6 + [0.4, 0.1] + [0.1] * 6 + [0.4, 0.7] + [np.nan]

    found = figures(Scored("judge", np.array(scores), graded=True), labelled(labels))

    assert found.n == 16
    assert found.accuracy.value == pytest.approx(13 / 16)
    assert found.balanced == pytest.approx((6 / 8 + 7 / 8) / 2)
    assert found.auc == pytest.approx((6 * 8 + (6 + 0.5) + 6 * 0.5) / 64)


def test_calibration_error_is_zero_where_shares_are_as_said_and_the_distance_where_not() -> None:
    labels = [False, False, False, True] * 15

    exact = figures(Scored("judge", np.full(60, 0.25), graded=True), labelled(labels))
    said_half = figures(Scored("judge", np.full(60, 0.5), graded=True), labelled(labels))

    assert exact.calibration == pytest.approx(0)
    assert said_half.calibration == pytest.approx(0.25)


def test_verdicts_have_no_auc_or_calibration_error_and_one_class_no_balanced_accuracy() -> None:
    verdicts = Scored("judge", np.array([1.0] * 12))

    both, one = figures(verdicts, labelled([True] * 9 + [False] * 3)), figures(verdicts, labelled([True] * 12))

    assert both.balanced == 0.5
    assert np.isnan([both.auc, both.calibration, one.balanced]).all()


@given(
    st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 0.2, 0.5, 0.7, 1.0])), min_size=15, max_size=60).filter(
        lambda rows: len({label for label, _ in rows}) == 2
    )
)
def test_balanced_accuracy_and_auc_are_those_of_scikit_learn(rows: list[tuple[bool, float]]) -> None:
    labels, scores = [label for label, _ in rows], np.array([score for _, score in rows])

    found = figures(Scored("judge", scores, graded=True), labelled(labels))

    assert found.balanced == pytest.approx(balanced_accuracy_score(labels, scores >= 0.5))
    assert found.auc == pytest.approx(roc_auc_score(labels, scores))


def test_bands_of_probabilities_include_their_lower_end() -> None:
    table = calibration_table({"x": (np.array([0.5, 0.75, 0.8, 1.0]), labelled([True, False, True, True]))})

    assert table.splitlines()[2:] == [
        "| 0.00 to 0.05 | 0 | – | – |",
        "| 0.05 to 0.20 | 0 | – | – |",
        "| 0.20 to 0.50 | 0 | – | – |",
        "| 0.50 to 0.80 | 2 | 0.625 | 0.500 |",
        "| 0.80 to 0.95 | 1 | 0.800 | 1.000 |",
        "| 0.95 to 1.00 | 1 | 1.000 | 1.000 |",
    ]


def test_people_are_compared_where_both_decided() -> None:
    first, second = [1.0] * 8 + [0.0] * 4 + [1.0], [1.0] * 6 + [0.0] * 6 + [np.nan]
    rows = labelled([True] * 13)

    found = between_people([Listed(*row, 0.5, 1.0) for row in zip(rows, first, second, strict=True)])

    assert found.n == 12
    assert found.accuracy.value == pytest.approx(10 / 12)
    assert found.balanced == pytest.approx((6 / 8 + 1) / 2)


def test_an_answer_of_a_system_is_found_in_the_list_in_other_spelling() -> None:
    one, two = labelled([True, True])
    entries = [Listed(one, 1, 1, 0.9, 1), Listed(two._replace(response="mr. x"), 1, 1, 0.8, 1)]

    assert places(entries, [two._replace(question="Question 1?", response="Mr X"), one]).tolist() == [1, 0]


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """EVOUNA's file, and a folder as NQ301 about 12 of its 60 questions; two systems, of which one is right."""
    items = pairs.evouna(60)
    (tmp_path / "NQ.json").write_text(json.dumps(items), encoding="utf-8")
    rows = [(item["question"].title() + "?", item, name) for item in items[:12] for name in ("one", "two")]
    answers = [(asked, item[f"answer_{name}"], "Yes" if name == "one" else "No") for asked, item, name in rows]
    for file, columns, more in (
        (HUMAN, ["annotator1", "annotator2"], lambda verdict: [verdict, verdict]),
        (BEM, ["BEM probs per gold answer"], lambda verdict: ["[[0.1, 0.9]]" if verdict == "Yes" else "[[0.6, 0.4]]"]),
        (GPT4, ["gpt-4"], lambda verdict: [verdict]),
    ):
        with (tmp_path / file).open("w", encoding="utf-8", newline="") as table:
            writer = csv.writer(table, delimiter="\t")
            writer.writerow(["Question", "Model answer", "Acceptable?", *columns])
            writer.writerows([asked, answer.upper(), verdict, *more(verdict)] for asked, answer, verdict in answers)
    for name in ("one", "two"):
        lines = [
            {"question": asked, "answer": [item["golden_answer"]], "prediction": item[f"answer_{name}"]}
            for asked, item, system in rows
            if system == name
        ]
        (tmp_path / f"NQ_{name}.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    (tmp_path / "judge.md").write_text("before\n<!-- accuracy -->\nold\n<!-- /accuracy -->\nafter\n", encoding="utf-8")
    monkeypatch.setattr(judge_accuracy, "EVOUNA", tmp_path / "NQ.json")
    monkeypatch.setattr(judge_accuracy, "FOLDER", tmp_path)
    monkeypatch.setattr(judge_accuracy, "PAGE", tmp_path / "judge.md")
    for name in ("ANSWERS", "TRAPS"):
        monkeypatch.setattr(training, name, training.ANSWERS._replace(iterations=5))
    return tmp_path


def test_the_program_writes_its_tables_and_judges_nq301_without_its_questions(
    sources: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []

    def counted(train: training.Examples) -> object:
        sizes.append(len(train.verdicts))
        return training.fitted(train)

    monkeypatch.setattr(judge_bias, "fitted", counted)

    assert judge_accuracy.main([]) == 0

    page = (sources / "judge.md").read_text(encoding="utf-8")
    assert sizes == [len(pairs.RULES) + 2 * 60 - 2 * 12]
    assert page.startswith("before\n<!-- accuracy -->\n| answers | judge |")
    assert page.endswith("\n<!-- /accuracy -->\nafter\n")
    assert "| EVOUNA-NQ | offline judge | 120 |" in page
    assert "| NQ301, each answer once | BEM | 24 | 1.000 (" in page
    assert "| NQ301, each system's answers | GPT-4 | 24 | 1.000 (" in page
    assert "| one | 12 |" in page


def test_a_damaged_folder_is_told_and_the_page_stays(sources: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (sources / BEM).write_text("Question\n", encoding="utf-8")
    before = (sources / "judge.md").read_bytes()

    assert judge_accuracy.main([]) == 2
    assert BEM in capsys.readouterr().err
    assert (sources / "judge.md").read_bytes() == before
