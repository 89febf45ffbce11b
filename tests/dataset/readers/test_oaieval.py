"""Event logs of oaieval: logs/oaieval.jsonl was written by the recorder of evals 3.0.1 (logs/make_oaieval.py)."""

import json
from pathlib import Path

import pytest

from goldmeter.dataset.readers import detect
from goldmeter.dataset.sources import records
from goldmeter.errors import DataError
from tests.dataset.readers.proposed import proposed

LOG = Path(__file__).parent / "logs/oaieval.jsonl"
LINES = [json.loads(line) for line in LOG.read_text().splitlines()]


@pytest.fixture
def read(tmp_path):
    def read(*logs):
        for number, lines in enumerate(logs):
            (tmp_path / f"{number}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        return [record.values for record in records(tmp_path, "*", "oaieval")]

    return read


def event(sample, kind, **data):
    return {"run_id": "r", "event_id": 0, "sample_id": sample, "type": kind, "data": data}


def graded(*events, models=("small", "grader"), **arguments):
    config = {"eval_spec": {"cls": "evals.elsuite.modelgraded.classify:ModelBasedClassify", "args": arguments}}
    spec = {"completion_fns": [*models], "eval_name": "tone.dev.v0", "run_config": config}
    return [{"spec": spec}, *events, {"final_report": {}}]


def test_the_log_is_loaded_with_its_scores_and_no_labels():
    options, rows = proposed(LOG)

    assert detect(LOG) == "oaieval"
    assert [(row["id"], row["candidate"], row["response"], row["references"]) for row in rows] == [
        ("capitals.dev.0", "small-model", "Paris.", ["Paris"]),
        ("capitals.dev.1", "small-model", "Cusco", ["Lima"]),
        ("capitals.dev.3", "small-model", None, []),
        ("capitals.dev.2", "small-model", None, []),
    ]
    assert [row["score_match"] for row in rows] == [1.0, 0.0, None, None]
    assert "label" not in options["candidates"]


def test_a_failed_sample_and_one_that_is_missing_say_why():
    rows = [record.values for record in records(LOG, None, "oaieval")]

    assert [row["error"] for row in rows] == [None, None, "no reply after 40 s", "missing from the log"]


def test_what_a_grader_says_is_no_answer_and_its_choice_is_a_score_of_its_name(tmp_path):
    events = [
        event(f"tone.dev.{number}", kind, **data)
        for number, choice in enumerate(["Yes", "No"])
        for kind, data in [
            ("sampling", {"prompt": "Be kind.", "sampled": ["Dear friend"]}),
            ("sampling", {"prompt": "Is it kind?", "sampled": [choice]}),
            ("metrics", {"choice": choice}),
        ]
    ]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in graded(*events)))

    options, rows = proposed(tmp_path / "a.jsonl")

    assert [(row["candidate"], row["response"]) for row in rows] == [("small", "Dear friend")] * 2
    assert [row["score_choice"] for row in rows] == [1.0, 0.0]
    assert options["candidates"]["label"]["by"] == "choice"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (LINES[:-1], "the run did not end, and which samples it lacks is not known"),
        (LINES[1:], "no line with spec, which names the model"),
        ([*LINES, *LINES], "line 10: another run begins"),
        (graded(multicomp_n=2), "multicomp_n: a verdict on several completions together"),
        (graded(models=()), "completion_fns names no model"),
        ([LINES[0], {"type": "match"}], "line 2: 'sample_id' is missing"),
    ],
)
def test_what_can_not_be_read_is_named(read, lines, message):
    with pytest.raises(DataError, match=message):
        read(lines)


def test_two_runs_of_one_model_are_refused_with_both_files(read):
    with pytest.raises(DataError, match=r"1\.jsonl: capitals\.dev\.fuzzy-v0 of small-model is also in .*0\.jsonl"):
        read(LINES, LINES)


def test_a_run_of_a_part_of_the_samples_lacks_none(read):
    spec = json.loads(json.dumps(LINES[0]))
    spec["spec"]["run_config"]["max_samples"] = 3

    assert len(read([spec, *LINES[1:]])) == 3
