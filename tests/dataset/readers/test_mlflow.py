"""MLflow: logs/mlflow_traces.* were written by mlflow-skinny 3.17.2 (logs/make_mlflow.py); tables are typed."""

import json
from pathlib import Path

import pytest

from goldmeter.dataset.readers import detect
from goldmeter.dataset.sources import records
from goldmeter.errors import DataError
from tests.dataset.readers.proposed import proposed

LOGS = Path(__file__).parent / "logs"
COLUMNS = [
    "inputs",
    "ground_truth",
    "outputs",
    "latency",
    "token_count",
    "similar/v1/score",
    "similar/v1/justification",
]
ROWS = [
    ["What is 2+2?", "4", "It is 4", 1.2, 30, 5.0, "equal"],
    ["What is 2+3?", "5", None, 1.0, 3, None, "Failed to score model on payload. Error: 429"],
]


def table(columns=COLUMNS, rows=ROWS):
    return {"columns": columns, "data": rows}


def csv_of(columns, rows):
    return "\n".join(",".join("" if cell is None else f'"{cell}"' for cell in row) for row in [columns, *rows]) + "\n"


@pytest.fixture(params=["json", "csv"])
def table_file(request, tmp_path):
    text = json.dumps(table()) if request.param == "json" else csv_of(COLUMNS, ROWS)
    path = tmp_path / f"eval_results_table.{request.param}"
    path.write_text(text)
    return path


def test_an_evaluation_table_is_loaded_with_its_scores(table_file):
    options, rows = proposed(table_file)

    assert options["format"] == "mlflow"
    assert [(row["input"], row["references"], row["response"], row["score_similar"]) for row in rows] == [
        ("What is 2+2?", ["4"], "It is 4", 5.0),
        ("What is 2+3?", ["5"], None, None),
    ]
    assert [(row["latency"], row["tokens"]) for row in rows] == [(1.2, 30.0), (None, None)]
    assert not options["slices"]


@pytest.mark.parametrize("name", ["mlflow_traces.jsonl", "mlflow_traces.csv"])
def test_of_a_trace_what_people_said_is_the_label_and_all_else_a_score(name):
    options, rows = proposed(LOGS / name)

    assert detect(LOGS / name) == "mlflow"
    assert [(row["input"], row["references"], row["response"], row["candidate"]) for row in rows] == [
        ("Capital of France?", ["Paris"], "Paris", "m-1"),
        ("The French capital?", ["Paris"], "Lyon", "m-1"),
        ("Capital city of France?", ["Paris"], None, "m-1"),
    ]
    assert options["candidates"]["label"] == {"columns": ["human_correct by ann", "human_correct by bo"]}
    assert [row["label"] for row in rows] == [True, False, None]
    assert [row["score_length"] for row in rows] == [5.0, 4.0, None]
    assert rows[0]["latency"] == 1.5


def test_a_superseded_assessment_does_not_count(tmp_path):
    trace = json.loads((LOGS / "mlflow_traces.jsonl").read_text().splitlines()[0])
    for one in trace["info"]["assessments"]:
        one["valid"] = one["assessment_name"] != "length"
    (tmp_path / "a.jsonl").write_text(json.dumps(trace) + "\n")

    (row,) = [record.values for record in records(tmp_path / "a.jsonl", None, "mlflow")]
    assert "score_length" not in row
    assert row["score_human_like"] == "1"


def test_two_tables_of_one_data_set_pair_by_question(tmp_path):
    for name, rows in {"old": ROWS, "new": ROWS[::-1]}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(table(rows=rows)))

    found = [record.values for record in records(tmp_path, "*", "mlflow")]
    assert {row["candidate"] for row in found} == {"old", "new"}
    assert len({row["id"] for row in found}) == 2


def test_a_question_that_stands_twice_has_draws(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(table(rows=[ROWS[0], ROWS[0]])))

    assert [record.values["draw"] for record in records(tmp_path / "a.json", None, "mlflow")] == ["1", "2"]


def test_a_table_without_answers_is_refused_with_its_columns(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(table(["inputs", "generated", "x/v1/score"], [["a", "b", 1]])))

    with pytest.raises(
        DataError, match="row 1: no column of answers; rename one to outputs; there are inputs, generated"
    ):
        list(records(tmp_path / "a.json", None, "mlflow"))


def test_a_half_written_table_is_refused(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(table())[:-20])

    assert detect(tmp_path / "a.json") == "mlflow"
    with pytest.raises(DataError, match=r"a\.json, line 1, column \d+: not JSON"):
        list(records(tmp_path / "a.json", None, "mlflow"))
