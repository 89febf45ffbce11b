"""Promptfoo's output; logs/make_promptfoo.py wrote one with promptfoo 0.120.0."""

import json
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace

import pytest

from goldmeter.dataset.readers import detect
from goldmeter.dataset.sources import records
from goldmeter.errors import DataError

LOG = Path(__file__).parent / "logs/promptfoo.json"
OUTPUT = json.loads(LOG.read_text())


def read(path):
    return [record.values for record in records(path, None, "promptfoo")]


def written(folder, edit):
    output = deepcopy(OUTPUT)
    edit(output["results"])
    (folder / "output.json").write_text(json.dumps(output))
    return folder / "output.json"


def of(rows, test, prompt):
    return next(row for row in rows if (row["id"], row["candidate"]) == (test, f"tiny, prompt {prompt}"))


def test_a_test_of_a_prompt_is_one_record():
    assert of(read(LOG), "0", 1) == {
        "id": "0",
        "input": "What is 2 + 2?",
        "references": ["4"],
        "response": "4, of course",
        "candidate": "tiny, prompt 1",
        "error": None,
        "latency": "0.026",
        "cost": "0",
        "score_success": "1",
        "score_score": "1",
        "score_has": "1",
        "metadata.topic": "maths",
        "metadata.prompt": "Question: {{question}}",
    }


def test_an_answer_from_the_cache_says_nothing_of_time_and_cost(tmp_path):
    def cached(results):
        for result in results["results"]:
            result["response"] = {"output": "4", "cached": True, "tokenUsage": {"total": 12, "cached": 12}}

    first = of(read(written(tmp_path, cached)), "0", 1)

    assert first["tokens"] == "12"
    assert not {"latency", "cost"} & first.keys()


def test_an_error_of_the_provider_is_a_null_response():
    failed = of(read(LOG), "1", 2)

    assert (failed["response"], failed["error"]) == (None, "Error: server went away")
    assert failed["references"] == ["paris"]


def test_an_error_has_no_scores_although_promptfoo_writes_0():
    failed = of(read(LOG), "1", 2)

    assert {key: value for key, value in failed.items() if key.startswith("score_")} == {
        "score_success": None,
        "score_score": None,
    }


def test_a_failed_assertion_is_no_error(tmp_path):
    def fail(results):
        results["results"][0] |= {"error": "Expected output to contain", "failureReason": 1, "success": False}

    row = read(written(tmp_path, fail))[0]

    assert (row["error"], row["score_success"]) == (None, "0")
    assert row["response"] is not None


def test_one_prompt_leaves_the_provider_as_the_candidate(tmp_path):
    def keep_one(results):
        results["results"] = [result for result in results["results"] if result["promptIdx"] == 0]
        results["stats"] |= {"successes": 1, "failures": 0, "errors": 1}

    assert {row["candidate"] for row in read(written(tmp_path, keep_one))} == {"tiny"}


def test_a_test_that_is_repeated_has_draws(tmp_path):
    def repeat(results):
        results["results"] += [result | {"testIdx": result["testIdx"] + 2} for result in results["results"]]

    rows = read(written(tmp_path, repeat))

    assert {(row["id"], row["draw"]) for row in rows} == {("0", "1"), ("0", "2"), ("1", "1"), ("1", "2")}


def test_several_variables_are_named(tmp_path):
    path = written(tmp_path, lambda results: results["results"][1]["vars"].update({"lang": "en", "n": 1}))

    assert "question: " in read(path)[1]["input"]
    assert "\nlang: en\nn: " in read(path)[1]["input"]


def test_an_output_that_is_an_object_is_json(tmp_path):
    path = written(tmp_path, lambda results: results["results"][0]["response"].update({"output": {"a": "é"}}))

    assert read(path)[0]["response"] == '{"a": "é"}'


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda results: results["results"].pop(), "3 results, but its statistics count 4; the log is incomplete"),
        (lambda results: results.update(version=4), "by promptfoo in version '4' of its format, which can't be read"),
        (lambda results: results["results"].append(1), "result 5: expected an object"),
        (lambda results: results["results"][0].pop("testCase"), "result 1: 'testCase' is missing"),
        (lambda results: results.pop("stats"), "'stats' is missing"),
    ],
)
def test_what_can_not_be_read_is_named(tmp_path, edit, message):
    with pytest.raises(DataError, match=message):
        read(written(tmp_path, edit))


def test_json_lines_are_read_as_the_whole_output(tmp_path):
    lines = [{key: value for key, value in one.items() if key != "vars"} for one in OUTPUT["results"]["results"]]
    (tmp_path / "output.jsonl").write_text("".join(json.dumps({"evalId": "e", **one}) + "\n" for one in lines))

    assert detect(tmp_path / "output.jsonl") == "promptfoo"
    assert read(tmp_path / "output.jsonl") == read(LOG)


def test_an_output_that_needs_more_than_the_free_memory_is_refused_with_the_way(monkeypatch):
    monkeypatch.setattr("psutil.virtual_memory", lambda: SimpleNamespace(available=1_000))

    with pytest.raises(DataError, match=r"of memory, and 0\.0 GB are free; split it, or convert it to \.jsonl"):
        read(LOG)
