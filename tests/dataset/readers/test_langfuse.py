"""Exports of Langfuse 3's tables: JSON and JSONL, scores as columns with lists of values."""

import json

import pytest

from goldmeter.dataset.readers import detect
from goldmeter.dataset.sources import records
from goldmeter.errors import DataError

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
