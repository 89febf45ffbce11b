"""Exports of Label Studio, typed from its documentation and its converter: JSON, JSON_MIN and CSV."""

import json

import pytest

from goldmeter.dataset.readers import detect
from goldmeter.dataset.sources import records
from goldmeter.errors import DataError
from tests.dataset.readers.proposed import proposed


def chosen(word, name="ok"):
    return {"from_name": name, "to_name": "t", "type": "choices", "value": {"choices": [word]}}


def rated(number, name="stars"):
    return {"from_name": name, "to_name": "t", "type": "rating", "value": {"rating": number}}


def annotation(who, *results, cancelled=False):
    return {"id": 1, "completed_by": who, "was_cancelled": cancelled, "result": list(results)}


def task(number, answer, *annotations, predictions=(), **data):
    data = {"question": f"Capital {number}?", "reference": "Paris", "model_answer": answer, **data}
    return {"id": number, "data": data, "annotations": list(annotations), "predictions": list(predictions)}


@pytest.fixture
def write(tmp_path):
    def write(*tasks):
        (tmp_path / "export.json").write_text(json.dumps(tasks))
        return tmp_path / "export.json"

    return write


def test_the_majority_of_the_annotators_is_the_label(write):
    people = [{"id": 1, "email": "ann@x"}, {"id": 2, "email": "bo@x"}, 3]
    votes = [("Correct", "Correct", "Wrong"), ("Wrong", "Wrong", "Correct")]
    tasks = [
        task(n, "Paris", *(annotation(who, chosen(vote)) for who, vote in zip(people, row, strict=True)))
        for n, row in enumerate(votes)
    ]

    options, rows = proposed(write(*tasks, task(2, None)))

    assert options["format"] == "label_studio"
    assert options["candidates"]["label"]["columns"] == ["human_ok by ann@x", "human_ok by bo@x", "human_ok by 3"]
    assert [(row["input"], row["references"], row["response"]) for row in rows] == [
        ("Capital 0?", ["Paris"], "Paris"),
        ("Capital 1?", ["Paris"], "Paris"),
        ("Capital 2?", ["Paris"], None),
    ]
    assert [row["label"] for row in rows] == [True, False, None]


def test_a_cancelled_annotation_and_a_mark_on_a_part_say_nothing(write):
    mark = {**chosen("Wrong"), "value": {"choices": ["Wrong"], "start": 0, "end": 3}}
    path = write(task(0, "Paris", annotation(1, chosen("Wrong"), cancelled=True), annotation(2, mark, rated(4))))

    (row,) = [record.values for record in records(path, None, "label_studio")]
    assert {name: value for name, value in row.items() if name.startswith("human")} == {"human_stars by 2": "4"}


def test_grades_are_labels_with_a_limit_to_check(write):
    path = write(*(task(n, "Paris", annotation(1, rated(n % 5 + 1))) for n in range(10)))

    options, rows = proposed(path)
    assert options["candidates"]["label"] == {"column": "human_stars by 1", "at_least": 4}
    assert sum(row["label"] for row in rows) == 4


def test_a_prediction_is_a_score_and_no_label(write):
    path = write(*(task(n, "Paris", predictions=[{"model_version": "m", "result": [rated(n)]}]) for n in range(3)))

    options, rows = proposed(path)
    assert "label" not in options["candidates"]
    assert [row["score_stars"] for row in rows] == [0.0, 1.0, 2.0]


def row(number, who, **cells):
    """A row of JSON_MIN."""
    data = {"question": f"Capital {number}?", "reference": "Paris", "model_answer": "Paris", "id": number}
    about = {
        "annotation_id": f"{number}{who}",
        "annotator": who,
        "lead_time": 1.5,
        "created_at": "x",
        "updated_at": "x",
    }
    return {**data, **about, **cells}


def as_csv(rows):
    cells = [[one if isinstance(one, str) else json.dumps(one) for one in row.values()] for row in rows]
    quoted = [",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in [[*rows[0]], *cells]]
    return "\n".join(quoted) + "\n"


@pytest.fixture(params=["json", "csv"])
def write_rows(request, tmp_path):
    def write_rows(*rows):
        path = tmp_path / f"export.{request.param}"
        path.write_text(json.dumps(rows) if request.param == "json" else as_csv(rows))
        return path

    return write_rows


def test_rows_of_annotations_are_one_record_a_task(write_rows):
    votes = [("Correct", "Correct", "Wrong"), ("Wrong", "Wrong", "Wrong")]
    path = write_rows(*(
        row(n, f"{who}@x", ok=vote, stars=[{"rating": 4}], tone=["kind"])
        for n, all_votes in enumerate(votes) for who, vote in zip("abc", all_votes, strict=True)
    ))  # fmt: skip

    options, rows = proposed(path)
    assert options["format"] == "label_studio"
    assert options["candidates"]["label"]["columns"] == ["human_ok by a@x", "human_ok by b@x", "human_ok by c@x"]
    assert options["scores"]["stars"]["columns"] == ["human_stars by a@x", "human_stars by b@x", "human_stars by c@x"]
    assert [(row["id"], row["response"], row["label"]) for row in rows] == [("0", "Paris", True), ("1", "Paris", False)]


def test_a_verdict_that_all_annotations_of_each_task_share_may_be_of_the_data(write_rows):
    path = write_rows(*(row(n, who, correct=word) for n, word in enumerate(["yes", "no"]) for who in "ab"))

    options, rows = proposed(path)
    assert options["candidates"]["label"]["by"]
    assert len(rows) == 2


def test_data_without_a_known_name_are_refused_with_a_way(write):
    path = write({"id": 1, "data": {"left": "a", "right": "b"}, "annotations": []})

    assert detect(path) == "label_studio"
    with pytest.raises(DataError, match=r"task 1: which of left, right is the question, .* --input COLUMN --candidate"):
        list(records(path, None, "label_studio"))
