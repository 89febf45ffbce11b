"""Folders of MT-bench, typed from what FastChat's code writes: questions, answers, grades and pairs."""

import json
from pathlib import Path
from typing import Any

import pytest

from goldmeter.dataset.readers import detect
from goldmeter.dataset.sources import records
from goldmeter.errors import DataError
from tests.dataset.readers.proposed import proposed


def question(number: int, *turns: str) -> dict[str, Any]:
    return {"question_id": number, "category": "writing", "turns": list(turns) or [f"Write {number}.", "Shorter."]}


def answer(number: int, model: str, *turns: str) -> dict[str, Any]:
    return {"question_id": number, "answer_id": "x", "model_id": model, "choices": [{"index": 0, "turns": turns}]}


def grade(number: int, model: str, score: Any, turn: int = 1, judge: str = "gpt-4") -> dict[str, Any]:
    return {"question_id": number, "model": model, "judge": [judge, "single-v1"], "score": score, "turn": turn}


def pair(number: int, first: str, second: str, *winners: Any, turn: int = 1) -> dict[str, Any]:
    return {"question_id": number, "model_1": first, "model_2": second, "g1_winner": winners[0],
            "g2_winner": winners[-1], "judge": ["gpt-4", "pair-v2"], "turn": turn}  # fmt: skip


def files(*rows: dict[str, Any]) -> dict[str, str]:
    """The texts of a folder's files."""
    names = {"turns": "question.jsonl", "choices": "model_answer/a.jsonl", "judge": "model_judgment/gpt-4.jsonl"}
    of = [next(name for key, name in names.items() if key in row) for row in rows]
    return {name: "".join(json.dumps(row) + "\n" for row, one in zip(rows, of, strict=True) if one == name)
            for name in dict.fromkeys(of)}  # fmt: skip


def write(folder: Path, *rows: dict[str, Any]) -> Path:
    for name, text in files(*rows).items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder


def rows_of(folder: Path) -> list[dict[str, Any]]:
    return [record.values for record in records(folder, "**/*", "mt_bench")]


def test_each_turn_is_a_record_with_the_grades_of_the_judge(tmp_path):
    write(
        tmp_path,
        *(question(n) for n in range(2)),
        *(answer(n, "small", f"Long {n}", f"Short {n}") for n in range(2)),
        *(grade(n, "small", score, turn) for n, turn, score in [(0, 1, 8), (0, 2, 7.5), (1, 1, -1), (1, 2, 1)]),
    )

    options, rows = proposed(tmp_path)

    assert options["format"] == "mt_bench"
    assert [(row["id"], row["group"], row["response"], row["score_rating_gpt_4"]) for row in rows] == [
        ("0/1", "0", "Long 0", 8.0),
        ("0/2", "0", "Short 0", 7.5),
        ("1/1", "1", "Long 1", None),
        ("1/2", "1", "Short 1", 1.0),
    ]
    assert rows[1]["input"] == "user: Write 0.\n\nuser: Shorter."


@pytest.mark.parametrize(
    ("winners", "points"),
    [
        (["model_1", "model_1"], ("1.0", "0.0")),
        (["model_2", "model_2"], ("0.0", "1.0")),
        (["model_1", "model_2"], ("0.5", "0.5")),
        (["tie", "model_1"], ("0.5", "0.5")),
        (["tie", "tie"], ("0.5", "0.5")),
        (["error", "model_1"], (None, None)),
        ([None, 1], (None, None)),
    ],
)
def test_an_answer_wins_if_it_wins_in_both_orders(tmp_path, winners, points):
    answers = [answer(0, model, "x") for model in ("small", "large")]
    write(tmp_path, question(0, "Why?"), *answers, pair(0, "small", "large", *winners))

    assert tuple(row["score_win_gpt-4"] for row in rows_of(tmp_path)) == points


def test_the_points_of_an_answer_are_the_mean_over_its_opponents(tmp_path):
    answers = [answer(0, model, "x") for model in "abc"]
    pairs = [pair(0, "a", "b", "model_1"), pair(0, "c", "a", "model_1"), pair(0, "b", "c", "tie")]
    write(tmp_path, question(0, "Why?"), *answers, *pairs)

    assert [(row["candidate"], row["score_win_gpt-4"]) for row in rows_of(tmp_path)] == [
        ("a", "0.5"),
        ("b", "0.25"),
        ("c", "0.75"),
    ]


def test_an_answer_that_failed_or_is_missing_is_unmeasured(tmp_path):
    write(tmp_path, question(0), question(1), answer(0, "small", "x", "$ERROR$"), grade(0, "small", 3))

    assert [(row["id"], row["response"], row["error"]) for row in rows_of(tmp_path)] == [
        ("0/1", "x", None),
        ("0/2", None, "no output"),
        ("1/1", None, "missing from the log"),
        ("1/2", None, "missing from the log"),
    ]


def test_judgments_without_their_answers_are_refused_with_the_way(tmp_path):
    write(tmp_path, grade(0, "small", 3))

    assert detect(tmp_path) == "mt_bench"
    with pytest.raises(DataError, match=r"no answers; name the folder that has question\.jsonl, model_answer and"):
        rows_of(tmp_path)


def test_a_judgment_of_an_answer_that_is_not_there_is_refused(tmp_path):
    write(tmp_path, question(0), answer(0, "small", "x"), grade(0, "large", 3))

    with pytest.raises(DataError, match=r"question 0 of large was judged, but is not in model_answer"):
        rows_of(tmp_path)


def test_answers_of_reference_answer_are_references(tmp_path):
    write(tmp_path, question(0, "2+2?"), answer(0, "small", "5"), grade(0, "small", 1))
    (tmp_path / "reference_answer").mkdir()
    (tmp_path / "reference_answer/gpt-4.jsonl").write_text(json.dumps(answer(0, "gpt-4", "4")))

    assert [(row["candidate"], row["references"]) for row in rows_of(tmp_path)] == [("small", ["4"])]
