"""Weights of rows: numbers of 0 or more beside the row, in every form of the data; what is none is rejected."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tasks.dataset.table import schema
from tests.dataset.mappings import params_for, parts_of
from tests.test_load import PARIS, TWO, loaded, params

WEIGHTS = ["2", "0", "0.25", "1e3", " 7 ", "-0", "-1", "nan", "inf", "1e999", "1_0", "many", "", None]
READ = [2.0, 0.0, 0.25, 1000.0, 7.0, 0.0]


def row(number: int, **values: Any) -> dict[str, Any]:
    return PARIS | {"id": str(number), "q": f"Capital of {number}?"} | values


def test_weights_stand_beside_the_answers_of_all_candidates() -> None:
    rows, _ = loaded([row(1, b="x", n="0.5"), row(2, b="y", n="3")], candidates=TWO, weight="n")

    assert [(one["id"], one["candidate"], one["weight"]) for one in rows] == [
        ("1", "m", 0.5), ("1", "n", 0.5), ("2", "m", 3.0), ("2", "n", 3.0),
    ]  # fmt: skip


def test_other_data_have_no_such_column() -> None:
    assert "weight" not in schema(params()).names


@pytest.mark.parametrize(
    ("weight", "reason"),
    [
        ("-1", "n: '-1' is no weight; expected a number of 0 or more"),
        ("nan", "n: 'nan' is no weight; expected a number of 0 or more"),
        ("many", "n: 'many' is no weight; expected a number of 0 or more"),
        (["1"], "is no weight; expected a number of 0 or more"),
        (None, "n: no weight; expected a number of 0 or more (dataset.weight)"),
    ],
)
def test_a_record_without_a_usable_weight_is_rejected_and_says_why(weight: Any, reason: str) -> None:
    rows, rejected = loaded([row(1, n=weight), row(2, n="1")], limits={"max_rejected": 1.0}, weight="n")

    assert [one["id"] for one in rows] == ["2"]
    assert reason.replace("'", '"') in rejected[0]["reason"].replace("'", '"')


def test_records_of_one_question_have_one_weight() -> None:
    long = {"column": "system", "response": "a"}
    records = [row(1, system=name, n=weight) for name, weight in (("m", "1"), ("n", "2"))]

    _, [rejected] = loaded(records, candidates=long, limits={"max_rejected": 1.0}, weight="n")

    assert rejected["candidate"] == "n"
    assert "the first record of this id has another input, references or weight" in rejected["reason"]


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".parquet"])
def test_every_format_gives_the_same_numbers(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"data{suffix}"
    records = [{"id": str(i), "q": f"q{i}", "ref": "x", "a": "x", "w": weight} for i, weight in enumerate(WEIGHTS)]
    if suffix == ".jsonl":
        path.write_text("".join(f"{json.dumps(one)}\n" for one in records))
    elif suffix == ".csv":
        lines = [",".join(value or "" for value in one.values()) for one in records]
        path.write_text("\n".join(["id,q,ref,a,w", *lines, ""]))
    else:
        pq.write_table(pa.Table.from_pylist(records), path)
    given = params_for(path, {"part_rows": 4, "max_rejected": 1.0}, weight="w")

    assert [w for part in parts_of(given) for w in part["load"]["weight"].to_pylist()] == READ
    assert len(parts_of(given)) == 4


def test_numbers_of_parquet_are_read_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    weights = [0.1, 2.0, 1e-300, 1e300, -0.0]
    table = {name: [f"{name}{i}" for i in range(5)] for name in ("id", "q", "ref", "a")}
    pq.write_table(pa.table(table | {"w": weights}), path)
    given = params_for(path, weight="w")

    assert [w for part in parts_of(given) for w in part["load"]["weight"].to_pylist()] == [*weights[:4], 0.0]
