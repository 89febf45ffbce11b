"""Details of LightEval, typed from its dataclasses of 0.13: doc, model_response and metric of each sample."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from goldmeter.dataset.readers import detect
from goldmeter.dataset.sources import records
from goldmeter.errors import DataError
from tests.dataset.readers.proposed import proposed

DATE = "2026-11-01T10-00-00.123456"


def sample(number, texts=(), logprobs=(), metric=1.0):
    doc = {"query": f"Capital {number}?", "choices": [" Lima", " Cusco"], "gold_index": [0], "id": str(number),
           "task_name": "geo|0"}  # fmt: skip
    answered = {"text": list(texts), "text_post_processed": None, "logprobs": list(logprobs), "input": "…"}
    return {"doc": doc, "model_response": answered, "metric": {"em": metric}}


def write(folder, rows, model="lab/small", date=DATE, task="geo|0"):
    path = folder / "details" / model / date / f"details_{task}_{date}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


ROWS = [sample(0, ["Lima"]), sample(1, logprobs=[-2.0, -0.5], metric=0.0), sample(2, metric=0.0)]


def test_a_text_is_the_answer_or_else_the_most_probable_choice(tmp_path):
    write(tmp_path, ROWS)

    options, rows = proposed(tmp_path)

    assert options["format"] == "lighteval"
    assert [(row["id"], row["candidate"], row["response"], row["references"]) for row in rows] == [
        ("geo|0/0", "lab/small", "Lima", ["Lima"]),
        ("geo|0/1", "lab/small", "Cusco", ["Lima"]),
        ("geo|0/2", "lab/small", None, ["Lima"]),
    ]
    assert [row["score_em"] for row in rows] == [1.0, 0.0, None]


def test_several_answers_are_draws_without_a_score(tmp_path):
    path = write(tmp_path, [sample(0, ["Lima", "Cusco"])])

    found = [record.values for record in records(path, None, "lighteval")]
    assert [(row["response"], row["draw"]) for row in found] == [("Lima", "1"), ("Cusco", "2")]
    assert "score_em" not in found[0]


def test_two_models_pair_by_sample_and_results_are_passed_over(tmp_path):
    write(tmp_path, ROWS)
    write(tmp_path, ROWS, model="lab/large")
    (tmp_path / "results.json").write_text('{"results": {}, "versions": {}}')

    found = [record.values for record in records(tmp_path, "**/*", "lighteval")]
    assert detect(tmp_path) == "lighteval"
    assert {row["candidate"] for row in found} == {"lab/small", "lab/large"}
    assert len(found) == 6
    assert len({row["id"] for row in found}) == 3


def test_two_runs_of_one_model_are_refused_with_both_files(tmp_path):
    write(tmp_path, ROWS)
    write(tmp_path, ROWS, date="2026-11-02T10-00-00.5")

    with pytest.raises(DataError, match=r"details_geo\|0 of lab/small is also in .*parquet; choose one run"):
        list(records(tmp_path, "**/*", "lighteval"))


def test_a_cut_file_is_refused(tmp_path):
    path = write(tmp_path, ROWS)
    path.write_bytes(path.read_bytes()[:-40])

    assert detect(path) is None
    with pytest.raises(DataError, match=r"no details_\*\.parquet"):
        list(records(path, None, "lighteval"))
