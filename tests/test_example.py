"""The bundled example keeps the promises that the README makes of it."""

import json
from pathlib import Path

import pytest

ROWS = [json.loads(line) for line in Path("data/examples/qa.jsonl").read_text(encoding="utf-8").splitlines()]
ANSWERS = [(row[name], row[f"{name}_correct"]) for row in ROWS for name in ("aurora", "borealis")]


def test_questions_are_many_and_no_two_are_the_same() -> None:
    questions = {row["question"].casefold() for row in ROWS}

    assert len(questions) == len(ROWS) >= 240
    assert len({row["id"] for row in ROWS}) == len(ROWS)


def test_it_spans_topics_languages_and_scripts() -> None:
    assert len({row["topic"] for row in ROWS}) >= 5
    assert {row["language"] for row in ROWS} >= {"en", "ru", "ja", "zh", "ar", "de", "es"}


def test_every_answer_has_a_label_but_the_missing_ones() -> None:
    assert all((label is None) == (answer is None) for answer, label in ANSWERS)
    assert sum(answer is None for answer, _ in ANSWERS) == 2


def test_empty_answers_are_there_and_wrong() -> None:
    labels = [label for answer, label in ANSWERS if answer is not None and not answer.strip()]

    assert labels == [False] * 6


@pytest.mark.parametrize(("name", "low", "high"), [("aurora", 0.7, 0.9), ("borealis", 0.8, 0.95)])
def test_candidates_are_right_as_often_as_real_systems(name: str, low: float, high: float) -> None:
    labels = [row[f"{name}_correct"] for row in ROWS if row[f"{name}_correct"] is not None]

    assert low < sum(labels) / len(labels) < high


def test_every_row_has_references_and_belongs_to_a_thread() -> None:
    threads = [row["thread"] for row in ROWS]

    assert all(reference.strip() for row in ROWS for reference in row["references"])
    assert all(row["references"] for row in ROWS)
    assert min(map(threads.count, threads)) >= 2
