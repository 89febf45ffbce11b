"""Records of Argilla, typed from `Record.to_dict` of argilla 2.8."""

import json

import pytest

from goldmeter.dataset.sources import records
from goldmeter.errors import DataError
from tests.dataset.readers.proposed import proposed


def record(number, answer, responses=None, suggestions=None, **more):
    return {
        "id": f"r{number}",
        "fields": {"prompt": f"Capital {number}?", "response": answer},
        "metadata": {"model": "small", "reference": "Paris"},
        "suggestions": suggestions or {},
        "responses": responses or {},
        "vectors": {},
        "status": "completed",
        "_server_id": None,
        **more,
    }


def said(*values):
    return {"quality": [{"value": value, "user_id": f"u{n}"} for n, value in enumerate(values)]}


def test_each_user_is_a_rater_and_a_suggestion_is_a_score(tmp_path):
    suggested = {"quality": {"value": "bad", "score": 0.9, "agent": "human-like-model"}}
    path = tmp_path / "records.json"
    path.write_text(json.dumps([
        record(0, "Paris", said("good", "good"), suggested),
        record(1, "Lyon", said("bad", "bad"), suggested),
        record(2, None, said("bad")),
    ]))  # fmt: skip

    options, rows = proposed(path)

    assert options["format"] == "argilla"
    assert options["candidates"]["label"]["columns"] == ["human_quality by u0", "human_quality by u1"]
    assert [(row["id"], row["candidate"], row["input"], row["references"]) for row in rows] == [
        ("r0", "small", "Capital 0?", ["Paris"]),
        ("r1", "small", "Capital 1?", ["Paris"]),
        ("r2", "small", "Capital 2?", ["Paris"]),
    ]
    assert [row["label"] for row in rows] == [True, False, None]


def test_a_discarded_response_does_not_count(tmp_path):
    given = said("good", "bad")
    given["quality"][1]["status"] = "discarded"
    (tmp_path / "a.json").write_text(json.dumps([record(0, "Paris", given)]))

    (row,) = [one.values for one in records(tmp_path / "a.json", None, "argilla")]
    assert [name for name in row if name.startswith("human")] == ["human_quality by u0"]


def test_a_record_without_fields_is_named(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps([record(0, "Paris"), record(1, "a", fields=None)]))

    with pytest.raises(DataError, match=r"a\.json, record 1: 'fields' is null, not an object"):
        list(records(tmp_path / "a.json", None, "argilla"))
