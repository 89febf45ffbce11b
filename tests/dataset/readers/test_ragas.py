"""Result tables of Ragas 0.4 and 0.1, typed from `EvaluationResult.to_pandas`: sample columns, then metrics."""

import json

import pandas as pd
import pytest

from goldmeter.dataset.proposal.given import Chosen
from goldmeter.dataset.proposal.inputs import propose_for
from goldmeter.dataset.readers import detect
from goldmeter.dataset.sources import records
from tests.dataset.readers.proposed import proposed

ROWS = [
    {"user_input": "How long is the warranty?", "retrieved_contexts": ["Warranty: 1 year", "It's free"],
     "response": "One year.", "reference": "1 year", "faithfulness": 1.0, "context_recall": 1.0, "my_rubric": 4},
    {"user_input": "What does shipping cost?", "retrieved_contexts": ["Free from $40, else $4.50"],
     "response": "$4.50", "reference": "$4.50", "faithfulness": None, "context_recall": 0.0, "my_rubric": 2},
]  # fmt: skip
OLD = {"user_input": "question", "retrieved_contexts": "contexts", "response": "answer", "reference": "ground_truth"}


def write(folder, suffix, rows=ROWS, name="results"):
    table, path = pd.DataFrame(rows), folder / f"{name}{suffix}"
    if suffix == ".csv":
        table.to_csv(path, index=False)
    elif suffix == ".parquet":
        table.to_parquet(path)
    else:
        table.to_json(path, orient="records", lines=suffix == ".jsonl")
    return path


@pytest.mark.parametrize("suffix", [".csv", ".json", ".jsonl", ".parquet"])
@pytest.mark.parametrize("names", [{}, OLD])
def test_contexts_are_kept_and_a_score_of_two_values_is_no_slice(tmp_path, suffix, names):
    path = write(tmp_path, suffix, [{names.get(key, key): value for key, value in row.items()} for row in ROWS])

    options, rows = proposed(path)

    assert options["format"] == "ragas"
    assert [(row["input"], row["response"], row["references"], row["contexts"]) for row in rows] == [
        ("How long is the warranty?", "One year.", ["1 year"], ["Warranty: 1 year", "It's free"]),
        ("What does shipping cost?", "$4.50", ["$4.50"], ["Free from $40, else $4.50"]),
    ]
    assert [row["score_faithfulness"] for row in rows] == [1.0, None]
    assert set(options["scores"]) == {"faithfulness", "context_recall", "my_rubric"}
    assert not options["slices"]


def test_a_conversation_is_read_with_its_roles(tmp_path):
    said = [
        {"content": "Hi", "type": "human"},
        {"content": "Hello", "type": "ai"},
        {"content": "Why?", "type": "human"},
    ]

    (row, _) = records(write(tmp_path, ".json", [{**ROWS[0], "user_input": said}, ROWS[1]]), None, "ragas")
    assert row.values["input"] == "human: Hi\n\nai: Hello\n\nhuman: Why?"


def test_two_tables_in_a_folder_are_two_systems_that_pair(tmp_path):
    write(tmp_path, ".csv", name="old")
    write(tmp_path, ".csv", ROWS[::-1], name="new")

    found = [record.values for record in records(tmp_path, "*", "ragas")]
    assert detect(tmp_path) == "ragas"
    assert sorted((row["candidate"], row["input"][:3]) for row in found) == [
        ("new", "How"), ("new", "Wha"), ("old", "How"), ("old", "Wha"),
    ]  # fmt: skip
    assert len({row["id"] for row in found}) == 2


def test_samples_without_a_metric_are_no_result_of_ragas(tmp_path):
    rows = [{key: row[key] for key in ("user_input", "response", "reference")} for row in ROWS]

    assert detect(write(tmp_path, ".csv", rows)) is None


def test_columns_that_the_user_names_are_those_of_the_table(tmp_path):
    path = write(tmp_path, ".csv", [{**row, "checked": verdict} for row, verdict in zip(ROWS, "yn", strict=True)])

    options = propose_for([str(path)], None, Chosen(candidates=["mine=response"], labels=["mine=checked"])).options
    assert options["format"] is None
    assert options["candidates"]["mine"]["label"] == {"column": "checked", "right": ["y"], "wrong": ["n"]}


def test_a_row_without_an_answer_is_unmeasured(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{**ROWS[0], "response": None}]))

    (row,) = [record.values for record in records(path, None, "ragas")]
    assert (row["response"], row["error"], row["score_faithfulness"]) == (None, "no output", None)
