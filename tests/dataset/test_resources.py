"""What answers took, in seconds, tokens and US dollars: numbers of 0 or more, of each answer; others are rejected."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tasks.dataset.settings import CandidateMapping
from tasks.dataset.table import schema
from tests.dataset.mappings import params_for, parts_of
from tests.test_load import PARIS, loaded, params

SECONDS = ["2", "0", "0.25", "1e3", " 7 ", "-0", "-1", "nan", "inf", "1e999", "1_0", "many", "", None]
READ = [2.0, 0.0, 0.25, 1000.0, 7.0, 0.0, None]


def row(number: int, **values: Any) -> dict[str, Any]:
    return PARIS | {"id": str(number), "q": f"Capital of {number}?"} | values


def took(records: list[dict[str, Any]], **mapping: Any) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    return loaded(records, limits={"max_rejected": 1.0}, **mapping)


def test_each_candidate_has_its_own_columns_and_several_are_added_up() -> None:
    two = {"m": {"response": "a", "latency": "s", "tokens": ["in", "out"]}, "n": {"response": "b", "cost": "usd"}}

    rows, _ = took([row(1, b="x", s="0.5", **{"in": "30", "out": "4"}, usd="1e-5")], candidates=two)

    assert [[one[name] for name in ("latency", "tokens", "cost")] for one in rows] == [
        [0.5, 34.0, None],
        [None, None, 1e-5],
    ]


def test_long_records_state_what_their_answer_took() -> None:
    long = {"column": "system", "response": "a", "latency": "s"}

    rows, _ = took([row(1, system=name, s=s) for name, s in (("m", "1"), ("n", "2.5"))], candidates=long)

    assert [(one["candidate"], one["latency"]) for one in rows] == [("m", 1.0), ("n", 2.5)]


def test_a_sum_without_one_of_its_numbers_is_missing() -> None:
    rows, _ = took([row(1, i="3", o=None)], candidates={"m": {"response": "a", "tokens": ["i", "o"]}})

    assert rows[0]["tokens"] is None


def test_answers_of_a_list_have_one_number_each() -> None:
    mapping = {"candidates": {"m": {"response": "a", "latency": "s"}}, "lists": "draws"}

    rows, rejected = took([row(1, a=["x", "y"], s=["1", "2"]), row(2, a=["x", "y"], s="3")], **mapping)

    assert [one["latency"] for one in rows] == [1.0, 2.0]
    assert "s: one value for 2 answers of a list" in rejected[0]["reason"]


def test_other_data_have_no_such_columns() -> None:
    assert not {"latency", "tokens", "cost"} & {*schema(params()).names}
    assert CandidateMapping(response="a", latency=None).resources == {}


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("-1", "s: '-1' is no latency; expected a number of 0 or more"),
        ("nan", "s: 'nan' is no latency; expected a number of 0 or more"),
        ("inf", "s: 'inf' is no latency; expected a number of 0 or more"),
        ("2 s", "s: '2 s' is no latency; expected a number of 0 or more"),
        (["1"], "is no latency; expected a number of 0 or more"),
        ("1.7e308", "s + t: the sum is too large"),
    ],
)
def test_an_answer_with_an_unusable_number_is_rejected_and_says_why(value: Any, reason: str) -> None:
    candidates = {"m": {"response": "a", "latency": ["s", "t"]}}

    rows, rejected = took([row(1, s=value, t="1.7e308"), row(2, s="1", t="1")], candidates=candidates)

    assert [one["id"] for one in rows] == ["2"]
    assert reason.replace("'", '"') in rejected[0]["reason"].replace("'", '"')


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".parquet"])
def test_every_format_gives_the_same_numbers(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"data{suffix}"
    records = [
        {"id": str(i), "q": f"q{i}", "ref": "x", "a": "x", "s": value, "t": "1"} for i, value in enumerate(SECONDS)
    ]
    if suffix == ".jsonl":
        path.write_text("".join(f"{json.dumps(one)}\n" for one in records))
    elif suffix == ".csv":
        lines = [",".join(value or "" for value in one.values()) for one in records]
        path.write_text("\n".join(["id,q,ref,a,s,t", *lines, ""]))
    else:
        pq.write_table(pa.Table.from_pylist(records), path)
    candidates = {"m": {"response": "a", "latency": "s"}, "n": {"response": "a", "latency": ["s", "t"], "cost": "t"}}
    given = params_for(path, {"part_rows": 4, "max_rejected": 1.0}, candidates=candidates)

    read = [one["latency"] for part in parts_of(given) for one in part["load"].to_pylist() if one["candidate"] == "m"]
    assert read[:7] == READ
