"""Exports of Langfuse 3's tables: JSON and JSONL, scores as columns with lists of values."""

import csv
import io
import json

import pytest

from goldmeter.dataset.readers import detect
from goldmeter.dataset.sources import records
from goldmeter.errors import DataError
from tests.dataset.readers.proposed import proposed

TRACE = {
    "id": "t1",
    "timestamp": "2026-11-01T00:00:00Z",
    "name": "support",
    "userId": None,
    "sessionId": "s1",
    "release": None,
    "version": "2",
    "environment": "production",
    "tags": ["a"],
    "input": "Why?",
    "output": "Because.",
    "metadata": {"topic": "causes"},
    "latency": 0.5,
    "totalCost": 0.0031,
    "helpful": [1, 0],
    "tone": None,
}


def score(trace, name, value, source="ANNOTATION", who="Ann", **more):
    """A row of the table of scores."""
    kept = {"observationId": None, "dataType": "NUMERIC", "stringValue": None, "authorUserName": who}
    return {"id": "s", "traceId": trace, "source": source, "name": name, "value": value, **kept, **more}


@pytest.fixture
def read(tmp_path):
    def read(*rows, name="export.json"):
        lines = name.endswith("l")
        text = "\n".join(map(json.dumps, rows)) if lines else json.dumps(rows)
        (tmp_path / name).write_text(text)
        return [record.values for record in records(tmp_path / name, None, "langfuse")]

    return read


@pytest.mark.parametrize("name", ["export.json", "export.jsonl"])
def test_a_trace_is_one_record(read, name):
    assert read(TRACE, name=name) == [
        {
            "id": "t1",
            "input": "Why?",
            "references": [],
            "response": "Because.",
            "candidate": "support",
            "error": None,
            "group": "s1",
            "latency": "0.5",
            "cost": "0.0031",
            "score_helpful": "0.5",
            "metadata.topic": "causes",
            "metadata.name": "support",
            "metadata.release": None,
            "metadata.version": "2",
            "metadata.environment": "production",
            "metadata.userId": None,
        }
    ]


def test_an_observation_is_of_a_model(read):
    messages = [{"role": "user", "content": "Why?"}]
    observation = {"id": "o", "traceId": "t", "startTime": "x", "model": "tiny", "input": {"messages": messages}}
    row = read(observation | {"output": {"role": "assistant", "content": "Because."}})[0]

    assert (row["candidate"], row["input"], row["response"]) == ("tiny", "Why?", "Because.")


def observation(key, model, **more):
    return {"id": key, "traceId": "t", "startTime": "x", "name": "answer", "model": model, "input": "Why?"} | more


@pytest.mark.parametrize("name", ["export.json", "export.jsonl"])
def test_an_observation_that_failed_is_of_the_model_of_the_others(read, name):
    rows = read(
        observation("1", None, level="ERROR"),
        observation("2", "tiny", output="x"),
        observation("3", "other", output="x", name="rewrite"),
        name=name,
    )

    assert [(row["id"], row["candidate"], row["response"]) for row in rows] == [
        ("1", "tiny", None),
        ("2", "tiny", "x"),
        ("3", "other", "x"),
    ]


def test_an_observation_that_failed_of_one_of_several_models_is_refused(read):
    rows = [observation("1", None), observation("2", "tiny"), observation("3", "large")]

    with pytest.raises(DataError, match="line 1: of which model\\? Observations named 'answer' are of large, tiny"):
        read(*rows)


@pytest.mark.parametrize(
    ("change", "error"),
    [({"output": None}, "no output"), ({"traceId": "t", "level": "ERROR", "statusMessage": "timeout"}, "timeout")],
)
def test_an_output_that_is_missing_is_a_null_response(read, change, error):
    assert [(row["response"], row["error"]) for row in read(TRACE | change)] == [(None, error)]


def test_other_values_are_json(read):
    assert read(TRACE | {"input": {"question": "é?"}})[0]["input"] == '{"question": "é?"}'


def test_words_are_no_scores(read):
    assert read(TRACE | {"tone": ["kind"]})[0]["score_tone"] is None


@pytest.mark.parametrize("text", [json.dumps([TRACE]), json.dumps(TRACE)])
def test_an_export_is_recognised(tmp_path, text):
    (tmp_path / "x").write_text(text)

    assert detect(tmp_path / "x") == "langfuse"


def csv_of(rows):
    text = io.StringIO()
    writer = csv.DictWriter(text, [*rows[0]])
    writer.writeheader()
    writer.writerows(
        {key: json.dumps(value) if isinstance(value, list | dict) else value for key, value in row.items()}
        for row in rows
    )
    return text.getvalue()


def test_cells_of_csv_are_unpacked(tmp_path):
    asked = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}]
    (tmp_path / "traces.csv").write_text(csv_of([{**TRACE, "input": asked, "output": {"answer": "Because."}}]))

    (row,) = [record.values for record in records(tmp_path / "traces.csv", None, "langfuse")]
    assert detect(tmp_path / "traces.csv") == "langfuse"
    assert (row["input"], row["response"]) == ("system: Be brief.\n\nuser: Why?", '{"answer": "Because."}')
    assert (row["score_helpful"], row["metadata.topic"]) == ("0.5", "causes")


def test_of_the_table_of_scores_annotations_are_peoples_and_the_others_are_not(tmp_path):
    traces = [{**TRACE, "id": f"t{n}", "input": f"Why {n}?", "right": [1, n % 2]} for n in range(4)]
    given = [
        one
        for n in range(4)
        for one in (score(f"t{n}", "right", n % 2), score(f"t{n}", "right", 1, source="EVAL", who=None))
    ]
    (tmp_path / "traces.csv").write_text(csv_of(traces))
    (tmp_path / "scores.csv").write_text(csv_of(given))

    options, rows = proposed(tmp_path)

    assert options["candidates"]["label"] == "human_right by Ann"
    assert [row["label"] for row in rows] == [False, True, False, True]
    assert [row["score_right"] for row in rows] == [1.0, 1.0, 1.0, 1.0]


def test_scores_alone_are_refused_with_what_to_export(tmp_path):
    (tmp_path / "scores.json").write_text(json.dumps([score("t1", "right", 1)]))

    with pytest.raises(DataError, match="scores alone; export the traces or observations to the same folder"):
        list(records(tmp_path / "scores.json", None, "langfuse"))
