"""LangSmith: experiments as `to_pandas` of langsmith 0.15 names their columns, runs by its schema; typed."""

import csv
import io
import json

import pytest

from goldmeter.dataset.readers import detect
from goldmeter.dataset.sources import records
from goldmeter.errors import DataError
from tests.dataset.readers.proposed import proposed

EXPERIMENT = [
    {"inputs.question": "Capital of France?", "outputs.answer": "Paris", "error": "", "reference.answer": "Paris",
     "feedback.correct": "True", "feedback.tone": "kind", "execution_time": "1.25", "example_id": "e1", "id": "r1"},
    {"inputs.question": "Capital of Peru?", "outputs.answer": "", "error": "TimeoutError()", "reference.answer": "Lima",
     "feedback.correct": "", "feedback.tone": "", "execution_time": "40", "example_id": "e2", "id": "r2"},
]  # fmt: skip
DOWNLOAD = [
    {"id": "r1", "inputs": '{"question": "Capital of France?"}', "outputs": '{"answer": "Paris"}',
     "reference_outputs": '{"answer": "Paris"}', "example_id": "e1", "feedback": '{"correct": 1}'},
    {"id": "r2", "inputs": '{"question": "Capital of Peru?"}', "outputs": "", "reference_outputs": '{"answer": "Lima"}',
     "example_id": "e2", "feedback": ""},
]  # fmt: skip


def run(key, answer, **more):
    return {
        "id": key,
        "run_type": "chain",
        "inputs": {"question": "Capital of France?"},
        "outputs": None if answer is None else {"answer": answer},
        "parent_run_id": None,
        "reference_example_id": "e1",
        "feedback_stats": {"correct": {"n": 2, "avg": 0.5}},
        **more,
    }


def csv_of(rows):
    text = io.StringIO()
    writer = csv.DictWriter(text, [*rows[0]])
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


@pytest.mark.parametrize("rows", [EXPERIMENT, DOWNLOAD])
def test_an_experiment_is_loaded_with_its_cells_unpacked(tmp_path, rows):
    (tmp_path / "experiment.csv").write_text(csv_of(rows))

    options, loaded = proposed(tmp_path / "experiment.csv")

    assert options["format"] == "langsmith"
    assert [(row["id"], row["input"], row["response"], row["references"]) for row in loaded] == [
        ("e1", "Capital of France?", "Paris", ["Paris"]),
        ("e2", "Capital of Peru?", None, ["Lima"]),
    ]
    assert [row["score_correct"] for row in loaded] == [1.0, None]
    assert "label" not in options["candidates"]


def test_an_answer_that_is_json_stays_as_it_was_written(tmp_path):
    rows = [{**DOWNLOAD[0], "outputs": '{"answer": "{\\"a\\": 1.50}"}'}]
    (tmp_path / "a.csv").write_text(csv_of(rows))

    assert [record.values["response"] for record in records(tmp_path / "a.csv", None, "langsmith")] == ['{"a": 1.50}']


@pytest.mark.parametrize("lines", [False, True])
def test_runs_are_read_without_the_runs_that_they_call(tmp_path, lines):
    runs = [run("a", "Paris", session_id="s"), run("b", "Paris", parent_run_id="a"), run("c", None, error="rate limit")]
    path = tmp_path / f"runs.json{'l' if lines else ''}"
    path.write_text("\n".join(map(json.dumps, runs)) if lines else json.dumps(runs))

    assert detect(path) == "langsmith"
    found = [record.values for record in records(path, None, "langsmith")]
    assert [(row["candidate"], row["response"], row["error"]) for row in found] == [
        ("s", "Paris", None),
        ("runs", None, "rate limit"),
    ]
    assert found[0]["score_correct"] == "0.5"


def test_repetitions_of_an_example_are_draws(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps([run("a", "Paris"), run("b", "Lyon")]))

    found = [record.values for record in records(tmp_path / "a.json", None, "langsmith")]
    assert [(row["id"], row["draw"]) for row in found] == [("e1", "1"), ("e1", "2")]


def test_a_row_without_inputs_is_named(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps([run("a", "Paris", inputs={})]))

    with pytest.raises(DataError, match=r"a\.json, row 1: no inputs; is it an export of LangSmith"):
        list(records(tmp_path / "a.json", None, "langsmith"))
