"""SQuAD 1.1 and 2.0, as its data sets and its evaluation script write them."""

import json

import pytest

from goldmeter.dataset.readers import detect
from goldmeter.dataset.sources import records
from goldmeter.errors import DataError


def question(key, *answers, **more):
    return {"id": key, "question": f"{key}?", "answers": [{"text": a, "answer_start": 0} for a in answers], **more}


PARAGRAPHS = [
    {"context": "About a.", "qas": [question("a", "one", "one", "1")]},
    {"context": "About b.", "qas": [question("b", is_impossible=True)]},
]
DATA = {"version": "v2.0", "data": [{"title": "Letters", "paragraphs": PARAGRAPHS}]}


@pytest.fixture
def read(tmp_path):
    def read(**files):
        for name, value in files.items():
            (tmp_path / f"{name}.json").write_text(json.dumps(value))
        return [record.values for record in records(tmp_path, "*.json", "squad")]

    return read


def test_a_question_and_its_prediction_are_one_record(read):
    assert read(dev=DATA, tiny={"a": "one", "b": ""}) == [
        {
            "id": "a",
            "input": "a?",
            "references": ["one", "1"],
            "response": "one",
            "candidate": "tiny",
            "error": None,
            "group": "Letters",
            "contexts": ["About a."],
            "metadata.title": "Letters",
            "metadata.is_impossible": None,
        },
        {
            "id": "b",
            "input": "b?",
            "references": [],
            "response": "",
            "candidate": "tiny",
            "error": None,
            "group": "Letters",
            "contexts": ["About b."],
            "metadata.title": "Letters",
            "metadata.is_impossible": "true",
        },
    ]


def test_each_file_of_predictions_is_a_candidate(read):
    rows = read(dev=DATA, large={"a": "x", "b": "y"}, small={"a": "z"})

    assert [(row["candidate"], row["id"], row["response"], row["error"]) for row in rows] == [
        ("large", "a", "x", None),
        ("large", "b", "y", None),
        ("small", "a", "z", None),
        ("small", "b", None, "missing from the log"),
    ]


def test_without_predictions_the_responses_are_null(read):
    assert {(row["response"], row["error"]) for row in read(dev=DATA)} == {(None, "no file of predictions")}


@pytest.mark.parametrize("value", [0.97, 1, True, [{"text": "A"}], {"text": "A"}])
def test_a_file_of_other_things_about_the_questions_is_no_candidate(read, value):
    with pytest.raises(DataError, match=r"na_prob\.json: the answer to 'a' is no text; leave a file"):
        read(dev=DATA, na_prob={"a": value}, tiny={"a": "one"})


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"dev": DATA, "tiny": {"z": "x"}}, "1 of 1 answers are to no question of the data set, the first to 'z'"),
        ({"dev": DATA, "train": DATA}, "2 files of questions"),
        ({"tiny": {"a": "x"}}, "0 files of questions"),
        ({"dev": {"data": [{"title": "x"}]}}, "article 1: 'paragraphs' is missing"),
        ({"dev": {"data": [1]}}, "article 1: expected objects"),
        ({"dev": {"data": [{"paragraphs": [{"qas": [{"id": "a"}]}]}]}}, "question 'a': 'answers' is missing"),
    ],
)
def test_what_can_not_be_read_is_named(read, files, message):
    with pytest.raises(DataError, match=message):
        read(**files)


def test_the_questions_are_recognised(tmp_path):
    (tmp_path / "x").write_text(json.dumps(DATA))

    assert detect(tmp_path / "x") == "squad"
