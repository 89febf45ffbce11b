"""Weights of rows, and what answers took: numbers of 0 or more, in every form of the data; others are rejected."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from goldmeter.dataset.settings import CandidateMapping
from goldmeter.dataset.table import schema
from tests.dataset.mappings import params_for, parts_of, write_records
from tests.test_load import PARIS, TWO, loaded, params

AMOUNTS = ["2", "0", "0.25", "1e3", " 7 ", "-0", "-1", "nan", "inf", "1e999", "1_0", "many", "", None]
READ = [2.0, 0.0, 0.25, 1000.0, 7.0, 0.0]
LONG = {"column": "system", "response": "a"}


def row(number: int, **values: Any) -> dict[str, Any]:
    return PARIS | {"id": str(number), "q": f"Capital of {number}?"} | values


def read(records: list[dict[str, Any]], **mapping: Any) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    return loaded(records, limits={"max_rejected": 1.0}, **mapping)


def test_weights_stand_beside_the_answers_of_all_candidates() -> None:
    rows, _ = loaded([row(1, b="x", n="0.5"), row(2, b="y", n="3")], candidates=TWO, weight="n")

    assert [(one["id"], one["candidate"], one["weight"]) for one in rows] == [
        ("1", "m", 0.5), ("1", "n", 0.5), ("2", "m", 3.0), ("2", "n", 3.0),
    ]  # fmt: skip


def test_each_candidate_has_its_own_columns_and_several_are_added_up() -> None:
    two = {"m": {"response": "a", "latency": "s", "tokens": ["in", "out"]}, "n": {"response": "b", "cost": "usd"}}

    rows, _ = read([row(1, b="x", s="0.5", **{"in": "30", "out": "4"}, usd="1e-5")], candidates=two)

    assert [[one[name] for name in ("latency", "tokens", "cost")] for one in rows] == [
        [0.5, 34.0, None],
        [None, None, 1e-5],
    ]


def test_long_records_state_what_their_answer_took() -> None:
    rows, _ = read(
        [row(1, system=name, s=s) for name, s in (("m", "1"), ("n", "2.5"))], candidates=LONG | {"latency": "s"}
    )

    assert [(one["candidate"], one["latency"]) for one in rows] == [("m", 1.0), ("n", 2.5)]


def test_a_sum_without_one_of_its_numbers_is_missing() -> None:
    rows, _ = read([row(1, i="3", o=None)], candidates={"m": {"response": "a", "tokens": ["i", "o"]}})

    assert rows[0]["tokens"] is None


def test_answers_of_a_list_have_one_number_each() -> None:
    mapping = {"candidates": {"m": {"response": "a", "latency": "s"}}, "lists": "draws"}

    rows, rejected = read([row(1, a=["x", "y"], s=["1", "2"]), row(2, a=["x", "y"], s="3")], **mapping)

    assert [one["latency"] for one in rows] == [1.0, 2.0]
    assert "s: one value for 2 answers of a list" in rejected[0]["reason"]


def test_records_of_one_question_have_one_weight() -> None:
    records = [row(1, system=name, n=weight) for name, weight in (("m", "1"), ("n", "2"))]

    _, [rejected] = read(records, candidates=LONG, weight="n")

    assert rejected["candidate"] == "n"
    assert "the first record of this id has another input, references or weight" in rejected["reason"]


def test_other_data_have_no_such_columns() -> None:
    assert not {"weight", "latency", "tokens", "cost"} & {*schema(params()).names}
    assert CandidateMapping(response="a", latency=None).resources == {}


WEIGHT = {"weight": "s"}
LATENCY = {"candidates": {"m": {"response": "a", "latency": ["s", "t"]}}}


@pytest.mark.parametrize(("mapping", "kind"), [(WEIGHT, "weight"), (LATENCY, "latency")])
@pytest.mark.parametrize("value", ["-1", "nan", "inf", "2 s", ["1"]])
def test_a_number_that_is_no_amount_rejects_and_says_why(mapping: dict[str, Any], kind: str, value: Any) -> None:
    rows, [rejected] = read([row(1, s=value, t="1"), row(2, s="1", t="1")], **mapping)

    assert [one["id"] for one in rows] == ["2"]
    assert rejected["reason"] == f"s: {value!r} is no {kind}; expected a number of 0 or more"


@pytest.mark.parametrize(
    ("mapping", "value", "reason"),
    [
        (WEIGHT, None, "s: no weight; expected a number of 0 or more (dataset.weight)"),
        (LATENCY, "1.7e308", "s + t: the sum is too large"),
    ],
)
def test_a_weight_is_needed_and_a_sum_is_finite(mapping: dict[str, Any], value: str | None, reason: str) -> None:
    _, rejected = read([row(1, s=value, t="1.7e308"), row(2, s="1", t="1")], **mapping)

    assert [one["reason"] for one in rejected] == [reason]


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".parquet"])
def test_every_format_gives_the_same_numbers(tmp_path: Path, suffix: str) -> None:
    records = [
        {"id": str(i), "q": f"q{i}", "ref": "x", "a": "x", "s": value, "t": "1"} for i, value in enumerate(AMOUNTS)
    ]
    path = write_records(tmp_path / f"data{suffix}", records)
    candidates = {"m": {"response": "a", "latency": "s"}, "n": {"response": "a", "latency": ["s", "t"], "cost": "t"}}
    limits = {"part_rows": 4, "max_rejected": 1.0}
    weighted = parts_of(params_for(path, limits, weight="s"))
    timed = pa.concat_tables([part["load"] for part in parts_of(params_for(path, limits, candidates=candidates))])

    assert [weight for part in weighted for weight in part["load"]["weight"].to_pylist()] == READ
    assert len(weighted) == 4
    assert timed.filter(pc.equal(timed["candidate"], "m"))["latency"].to_pylist()[:7] == [*READ, None]


def test_numbers_of_parquet_are_read_as_they_are(tmp_path: Path) -> None:
    weights = [0.1, 2.0, 1e-300, 1e300, -0.0]
    table = {name: [f"{name}{i}" for i in range(5)] for name in ("id", "q", "ref", "a")}
    pq.write_table(pa.table(table | {"w": weights}), tmp_path / "data.parquet")
    given = params_for(tmp_path / "data.parquet", weight="w")

    assert [w for part in parts_of(given) for w in part["load"]["weight"].to_pylist()] == [*weights[:4], 0.0]
