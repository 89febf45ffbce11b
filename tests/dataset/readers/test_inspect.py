"""Inspect's logs; logs/make_inspect.py wrote them with inspect_ai 0.3.285."""

import gzip
import json
import re
import zipfile
from pathlib import Path

import pytest

from goldmeter.dataset.readers import inspect
from goldmeter.dataset.sources import records
from goldmeter.errors import DataError

LOGS = Path(__file__).parent / "logs"
JSON = json.loads(gzip.decompress((LOGS / "inspect.json.gz").read_bytes()))


def read(path):
    return [record.values for record in records(path, None, "inspect")]


def written(folder, log):
    path = folder / "log.json"
    path.write_text(json.dumps(log))
    return path


def test_tokens_of_a_model_that_grades_are_not_those_of_the_answer(tmp_path):
    [first, *others] = JSON["samples"]
    usage = {"mockllm/model": {"total_tokens": 7}, "openai/grader": {"total_tokens": 900}}
    graded, broken = first | {"model_usage": usage}, first | {"model_usage": {}, "output": None, "working_time": -1}

    of_both = [read(written(tmp_path, changed(samples=[one, *others])))[0] for one in (graded, broken)]

    assert of_both[0]["tokens"] == "7"
    assert not {"tokens", "latency"} & of_both[1].keys()


def changed(**changes):
    return JSON | changes


def test_a_sample_is_one_record():
    assert read(LOGS / "inspect.json.gz")[0] == {
        "id": "sums/q0",
        "input": "What is 0 + 0?",
        "references": ["0"],
        "response": "The answer is 0",
        "candidate": "mockllm/model",
        "error": None,
        "latency": "0.007",
        "tokens": "20",
        "score_match": "1",
        "score_includes": "1",
        "metadata.topic": "sums",
        "metadata.task": "sums",
        "metadata.sample": "q0",
    }


def test_a_sample_with_an_error_has_a_null_response():
    failed = read(LOGS / "inspect.json.gz")[2]

    assert (failed["id"], failed["response"]) == ("sums/q2", None)
    assert failed["error"] == "ValueError('server went away')"
    assert failed["references"] == ["4"]


def test_a_sample_with_an_error_has_no_scores(tmp_path):
    sample = JSON["samples"][0] | {"error": {"message": "boom"}, "scores": {"match": {"value": "I"}}}

    assert read(written(tmp_path, changed(samples=[sample])))[0]["score_match"] is None


def test_each_epoch_is_a_draw():
    rows = [(row["id"], row["draw"], row["response"]) for row in read(LOGS / "inspect.eval")]

    assert rows == [
        ("sums/q0", "1", "The answer is 0"),
        ("sums/q1", "1", "The answer is 2"),
        ("sums/q2", "1", None),
        ("sums/q0", "2", "The answer is 4"),
        ("sums/q1", "2", "The answer is 6"),
        ("sums/q2", "2", "The answer is 8"),
    ]


def test_long_texts_are_put_back_where_they_belong():
    asked = {row["id"]: row["input"] for row in read(LOGS / "inspect.eval")}

    assert asked["sums/q1"].endswith("messages. What is 1 + 1?")
    assert len(asked["sums/q1"]) > 200


def test_attachments_are_resolved(tmp_path):
    sample = JSON["samples"][0] | {"input": "attachment://abc0", "attachments": {"abc0": "a long text"}}

    assert read(written(tmp_path, changed(samples=[sample])))[0]["input"] == "a long text"


@pytest.mark.parametrize(
    "change", [{"output": {"choices": [{}], "completion": "see attachment://abc0"}}, {"target": "attachment://abc0"}]
)
def test_a_text_that_the_log_lacks_is_no_answer(tmp_path, change):
    row = read(written(tmp_path, changed(samples=[JSON["samples"][0] | change])))[0]

    assert (row["response"], row["error"]) == (None, "its attachment is missing from the log")


@pytest.mark.parametrize(
    ("value", "score"),
    [("C", "1"), ("I", "0"), ("P", "0.5"), ("N", "0"), (0.25, "0.25"), (True, "1"), ("no idea", None), (None, None),
     ("Yes", "1"), ("No", "0"), ("True", "1"), ("FALSE", "0"), ("c", None)],
)  # fmt: skip
def test_grades_are_numbers(tmp_path, value, score):
    sample = JSON["samples"][0] | {"scores": {"judge": {"value": value}}}

    assert read(written(tmp_path, changed(samples=[sample])))[0]["score_judge"] == score


def test_a_sample_without_a_score_is_nan_in_the_log(tmp_path):
    sample = JSON["samples"][0] | {"scores": {"judge": {"value": float("nan")}, "both": {"value": {"a": 1, "b": "C"}}}}
    row = read(written(tmp_path, changed(samples=[sample])))[0]

    assert (row["score_judge"], row["score_both_a"], row["score_both_b"]) == (None, "1", "1")


def test_messages_with_roles_are_one_text(tmp_path):
    asked = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Why?"}]},
    ]
    sample = JSON["samples"][0] | {"input": asked, "target": ["a", "b"]}
    row = read(written(tmp_path, changed(samples=[sample])))[0]

    assert row["input"] == "system: Be brief.\n\nuser: Why?"
    assert row["references"] == ["a", "b"]


@pytest.mark.parametrize("lost", [{0}, {1, 2}, {0, 1, 2}])
def test_samples_that_the_header_expects_have_a_null_response(tmp_path, lost):
    samples = [sample for number, sample in enumerate(JSON["samples"]) if number not in lost]
    rows = read(written(tmp_path, changed(samples=samples, status="started", results=None)))

    assert sorted(row["id"] for row in rows) == ["sums/q0", "sums/q1", "sums/q2"]
    assert {row["id"] for row in rows if row["error"] == "missing from the log"} == {f"sums/q{n}" for n in lost}


def test_a_crashed_run_without_header_is_read_from_its_journal(tmp_path):
    members = zipfile.ZipFile(LOGS / "inspect.eval").namelist()
    path = without(
        tmp_path, {"header.json", "summaries.json", "reductions.json", members[-1], "samples/q1_epoch_2.json"}
    )
    rows = {(row["id"], row["draw"]): row for row in read(path)}

    assert len(rows) == 6
    assert rows["sums/q1", "2"]["error"] == "missing from the log"
    assert rows["sums/q1", "2"]["input"] == rows["sums/q1", "1"]["input"]


def without(folder, names):
    """A copy of the .eval log without some members, as `zipfile` without Zstandard can write it: stored."""
    path = folder / "log.eval"
    with zipfile.ZipFile(LOGS / "inspect.eval") as source, zipfile.ZipFile(path, "w") as target:
        for info in source.infolist():
            if info.filename not in names:
                target.writestr(info.filename, inspect.member(source, info, "log"))
    return path


def test_a_log_with_more_samples_than_its_results_are_of_is_refused(tmp_path):
    path = written(tmp_path, changed(results={"total_samples": 1}))

    with pytest.raises(DataError, match=r"\d samples, but its header says 1; they are not of one run"):
        read(path)


def test_a_log_that_says_how_many_samples_but_not_which_is_refused(tmp_path):
    dataset = JSON["eval"]["dataset"] | {"sample_ids": None}
    path = written(tmp_path, changed(samples=JSON["samples"][:2], eval=JSON["eval"] | {"dataset": dataset}))

    with pytest.raises(DataError, match="2 samples, but its header says 3, and not which are missing"):
        read(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 3}, "written by inspect_ai in version '3' of its format, which can't be read; known: 2"),
        ({"eval": {}}, "'dataset' is missing; the log is incomplete or of a version that is not known"),
        ({"samples": {}}, "'samples' is an object, not a list"),
        ({"samples": [1]}, "sample 1: expected an object"),
    ],
)
def test_what_can_not_be_read_is_named(tmp_path, changes, message):
    with pytest.raises(DataError, match=r"log\.json") as caught:
        read(written(tmp_path, changed(**changes)))
    assert message in str(caught.value)


@pytest.mark.parametrize("epochs", [10**40, 9_000_000])
def test_a_header_with_absurd_counts_is_refused(tmp_path, epochs):
    config = JSON["eval"]["config"] | {"epochs": epochs}

    with pytest.raises(DataError, match="10,000,000"):
        read(written(tmp_path, changed(eval=JSON["eval"] | {"config": config})))


@pytest.mark.parametrize("depth", [300, 450, 900, 100_000])
def test_a_value_that_is_nested_deep_is_read_or_refused(tmp_path, depth):
    path = written(tmp_path, changed(samples=[JSON["samples"][0] | {"input": "HERE"}]))
    path.write_text(path.read_text().replace('"HERE"', '{"content": [' * depth + '"x"' + "]}" * depth))

    try:
        assert read(path)[0]["input"] == "x"
    except DataError as error:
        assert "nested too deep" in str(error)  # noqa: PT017 (either outcome is right)


def test_a_member_that_would_fill_the_memory_is_refused(monkeypatch):
    monkeypatch.setattr(inspect, "LARGEST_MEMBER", 1_000)

    with pytest.raises(DataError, match=r"inspect\.eval, .*: [0-9,]+ bytes; at most 1,000 are read"):
        read(LOGS / "inspect.eval")


def test_a_member_that_holds_more_than_it_says_is_refused(tmp_path):
    content = bytearray((LOGS / "inspect.eval").read_bytes())
    # The sizes in the central directory, 24 bytes behind its signature (APPNOTE.TXT, 4.3.12).
    for place in (match.start() for match in re.finditer(b"PK\x01\x02", bytes(content))):
        content[place + 24 : place + 28] = (10).to_bytes(4, "little")
    (tmp_path / "log.eval").write_bytes(content)

    with pytest.raises(DataError, match="can't be decompressed"):
        read(tmp_path / "log.eval")


def test_a_member_is_decompressed_in_blocks(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "log.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", " " * 50_000)
    content = bytearray((tmp_path / "log.eval").read_bytes())
    place = content.index(b"PK\x01\x02")
    content[place + 24 : place + 28] = (10).to_bytes(4, "little")
    (tmp_path / "log.eval").write_bytes(content)
    asked = []
    read_one = zipfile.ZipExtFile.read
    monkeypatch.setattr(zipfile.ZipExtFile, "read", lambda self, n=-1: asked.append(n) or read_one(self, n))

    with zipfile.ZipFile(tmp_path / "log.eval") as archive, pytest.raises(DataError, match="can't be decompressed"):
        inspect.member(archive, archive.infolist()[0], "log")

    assert set(asked) == {inspect.BLOCK}


def test_a_header_alone_is_no_log(tmp_path):
    dataset = JSON["eval"]["dataset"] | {"sample_ids": []}
    log = changed(eval=JSON["eval"] | {"dataset": dataset})
    del log["samples"]

    with pytest.raises(DataError, match="no samples in it"):
        read(written(tmp_path, log))
