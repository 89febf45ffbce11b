"""DeepEval's test runs; logs/make_deepeval.py wrote one with deepeval 4.3.1."""

import json
from pathlib import Path

import pytest

from goldmeter.dataset.sources import records
from goldmeter.errors import DataError

LOG = Path(__file__).parent / "logs/deepeval.json"
RUN = json.loads(LOG.read_text())


def read(path):
    return [record.values for record in records(path, None, "deepeval")]


def written(folder, run):
    path = folder / "run.json"
    path.write_text(json.dumps(run))
    return path


def test_a_test_case_is_one_record():
    assert read(LOG)[0] == {
        "id": "first",
        "input": "What is 1 + 1?",
        "references": ["2"],
        "response": "2",
        "candidate": "tiny",
        "error": None,
        "contexts": ["Sums."],
        "score_Exact": "1.0",
        "metadata.topic": "maths",
    }


def test_a_metric_that_failed_has_a_null_score_and_leaves_the_answer():
    third = read(LOG)[2]

    assert (third["id"], third["response"], third["score_Exact"]) == ("third", "6", None)


def test_the_latest_run_is_wrapped(tmp_path):
    assert read(written(tmp_path, {"testRunData": RUN})) == read(LOG)


def test_without_a_model_the_file_names_the_candidate(tmp_path):
    assert {row["candidate"] for row in read(written(tmp_path, RUN | {"hyperparameters": None}))} == {"run"}


def test_a_test_case_without_output_has_a_null_response(tmp_path):
    case = {key: value for key, value in RUN["testCases"][0].items() if key != "actualOutput"}
    row = read(written(tmp_path, RUN | {"testCases": [case] * 3}))[0]

    assert (row["response"], row["error"]) == (None, "no actual output")


def test_the_last_turn_of_a_conversation_is_the_response(tmp_path):
    turns = [("user", "Hello"), ("assistant", "Hi"), ("user", "1 + 1?"), ("assistant", "2"), ("user", "Thanks")]
    case = {"name": "talk", "turns": [{"role": role, "content": text} for role, text in turns], "expectedOutcome": "2"}
    row = read(written(tmp_path, RUN | {"conversationalTestCases": [case]}))[-1]

    assert row["input"] == "user: Hello\n\nassistant: Hi\n\nuser: 1 + 1?"
    assert (row["response"], row["references"]) == ("2", ["2"])


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (RUN | {"testCases": RUN["testCases"][:2]}, "2 test cases, but it says 3"),
        ({"testCases": {}}, "'testCases' is an object, not a list"),
        ({"testCases": [1]}, "test case 1: expected an object"),
        ({"testCases": [{}]}, "test case 1: 'name' is missing"),
        ({"runs": []}, "'testCases' is missing; the log is incomplete or of a version that is not known"),
    ],
)
def test_what_can_not_be_read_is_named(tmp_path, run, message):
    with pytest.raises(DataError, match=message):
        read(written(tmp_path, run))
