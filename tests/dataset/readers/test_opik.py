"""Experiments that `opik export` of opik 2.2.122 writes."""

import json

import pytest

from goldmeter.dataset.readers import detect
from goldmeter.dataset.sources import records
from goldmeter.errors import DataError


def item(entry, output, **more):
    data = {"input": f"{entry}?", "expected_output": "x", "topic": "letters"}
    scores = [{"name": "hit", "value": 1.0}, {"name": "tone", "value": 0.5}]
    return {
        "dataset_item_id": entry,
        "dataset_item_data": data,
        "evaluation_task_output": output,
        "feedback_scores": scores,
    } | more


def experiment(*items, **more):
    return {"experiment": {"name": "run 1", "dataset_name": "d", **more}, "items": list(items)}


@pytest.fixture
def read(tmp_path):
    def read(value):
        (tmp_path / "e.json").write_text(json.dumps(value))
        return [record.values for record in records(tmp_path / "e.json", None, "opik")]

    return read


def test_an_item_is_one_record(read):
    assert read(experiment(item("a", {"output": "x", "reference": "x"}))) == [
        {
            "id": "a",
            "input": "a?",
            "references": ["x"],
            "response": "x",
            "candidate": "run 1",
            "error": None,
            "score_hit": "1.0",
            "score_tone": "0.5",
            "metadata.topic": "letters",
        }
    ]


def test_trials_of_one_entry_are_draws(read):
    rows = read(experiment(item("a", "x"), item("b", "y"), item("a", "z")))

    assert [(row["id"], row.get("draw")) for row in rows] == [("a", "1"), ("b", "1"), ("a", "2")]


@pytest.mark.parametrize("output", [None, {}, {"a": "x", "b": "y"}])
def test_an_item_without_a_known_output_has_a_null_response(read, output):
    assert [(row["response"], row["error"]) for row in read(experiment(item("a", output)))] == [(None, "no output")]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            experiment(item("a", "x"), trace_count=2),
            "1 items, but the experiment has 2 traces; export it again with a larg",
        ),
        (experiment({}), "item 1: expected an object with dataset_item_id"),
        (experiment(item([], "x")), "item 1: expected an object with dataset_item_id"),
        ({"experiment": {}}, "'items' is missing"),
    ],
)
def test_what_can_not_be_read_is_named(read, value, message):
    with pytest.raises(DataError, match=message):
        read(value)


def test_a_file_is_recognised(tmp_path):
    (tmp_path / "x").write_text(json.dumps(experiment()))

    assert detect(tmp_path / "x") == "opik"
