"""Instance-level records of Every Eval Ever, by its schema 0.3.0."""

import json

import pytest

from goldmeter.dataset.readers import detect
from goldmeter.dataset.sources import records
from goldmeter.errors import DataError

SAMPLE = {
    "schema_version": "0.3.0",
    "evaluation_id": "e",
    "model_id": "org/tiny",
    "evaluation_name": "sums",
    "sample_id": "1",
    "interaction_type": "single_turn",
    "input": {"raw": "1 + 1?", "reference": ["2"]},
    "output": {"raw": ["It is 2."]},
    "answer_attribution": [],
    "evaluation": {"score": 1.0, "is_correct": True},
    "metadata": {"subject": "maths"},
}


@pytest.fixture
def read(tmp_path):
    def read(*samples, total=None):
        (tmp_path / "u_samples.jsonl").write_text("".join(json.dumps(SAMPLE | sample) + "\n" for sample in samples))
        if total is not None:
            (tmp_path / "u.json").write_text(json.dumps({"detailed_evaluation_results": {"total_rows": total}}))
        return [record.values for record in records(tmp_path / "u_samples.jsonl", None, "every_eval_ever")]

    return read


def test_a_line_is_one_record(read):
    assert read({}) == [
        {
            "id": "sums/1",
            "input": "1 + 1?",
            "references": ["2"],
            "response": "It is 2.",
            "candidate": "org/tiny",
            "error": None,
            "score_score": "1.0",
            "score_is_correct": "1",
            "metadata.subject": "maths",
            "metadata.task": "sums",
            "metadata.sample": "1",
        }
    ]


def test_several_responses_are_draws(read):
    rows = read({"output": {"raw": ["2", "3"]}})

    assert [(row["draw"], row["response"]) for row in rows] == [("1", "2"), ("2", "3")]


@pytest.mark.parametrize(
    ("sample", "error"),
    [({"error": "timeout"}, "timeout"), ({"output": None}, "no output"), ({"output": {"raw": []}}, "no output")],
)
def test_a_sample_without_an_answer_has_a_null_response(read, sample, error):
    assert [(row["response"], row["error"]) for row in read(sample)] == [(None, error)]


def test_the_last_message_of_the_assistant_is_the_response(read):
    said = [
        {"role": "user", "content": "1 + 1?"},
        {"role": "assistant", "content": "2"},
        {"role": "tool", "content": "x"},
    ]

    assert read({"output": None, "messages": said})[0]["response"] == "2"


def test_the_lines_are_counted(read):
    assert len(read({}, {"sample_id": "2"}, total=2)) == 2
    with pytest.raises(DataError, match="1 lines, but total_rows is 2; the file is incomplete"):
        read({}, total=2)


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        ({"schema_version": "1.0.0"}, "line 1: schema version '1.0.0' can't be read; known: 0.3"),
        ({"input": None}, "line 1: 'input' is null, not an object"),
    ],
)
def test_what_can_not_be_read_is_named(read, sample, message):
    with pytest.raises(DataError, match=message):
        read(sample)


def test_a_file_is_recognised(tmp_path):
    (tmp_path / "x").write_text(json.dumps(SAMPLE))

    assert detect(tmp_path / "x") == "every_eval_ever"
