"""Contracts are checked part by part and added up; what breaks is named."""

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from great_expectations import expectations as gxe
from great_expectations.expectations.row_conditions import Column
from hypothesis import given, settings
from hypothesis import strategies as st

from goldmeter.errors import ContractError
from goldmeter.pipeline.keys import KeyHashes
from goldmeter.pipeline.tables import Parts, write_part
from goldmeter.pipeline.validation import (
    Check,
    add_up,
    check,
    check_same_keys,
    check_unique,
    key_hashes,
    report,
    require,
)

ROWS = pd.DataFrame({"id": ["a", "b", "c"], "candidate": ["x", "x", "x"], "bleu": [0.2, 1.5, None]})
WITHIN = gxe.ExpectColumnValuesToBeBetween(column="bleu", min_value=0, max_value=1)


def test_a_score_out_of_bounds_is_counted_and_its_row_named() -> None:
    [found] = check(ROWS, [WITHIN])

    assert (found.checked, found.failed, found.first) == (3, 1, ("b/x",))


def test_a_condition_is_part_of_what_is_shown() -> None:
    rule = gxe.ExpectColumnValuesToBeInSet(column="id", value_set=["a"], row_condition=Column("bleu") < 1)

    [found] = check(ROWS, [rule])

    assert found.failed == 0
    assert found.columns == "id, value_set a where bleu < 1"


def test_results_of_parts_are_added_up_and_the_first_rows_kept() -> None:
    parts = [check(ROWS, [WITHIN]), check(ROWS.assign(id=["d", "e", "f"]), [WITHIN])]

    [total] = add_up(parts)

    assert (total.checked, total.failed, total.first) == (6, 2, ("b/x", "e/x"))


def test_parts_are_added_up_though_an_expectation_raised_in_one_of_them() -> None:
    """Great Expectations puts what raised first, whatever its place."""
    rules = [gxe.ExpectColumnValuesToNotBeNull(column="id"), WITHIN]

    totals = add_up([check(ROWS, rules), check(ROWS.assign(bleu=["a", "b", "c"]), rules)])

    assert {each.columns.split(",")[0]: each.failed for each in totals} == {"id": 0, "bleu": 2}


def parts_of(folder: Path, *tables: pa.Table) -> Parts:
    folder.mkdir(parents=True, exist_ok=True)
    for number, table in enumerate(tables):
        write_part(table, folder, number)
    return Parts(folder)


def keys_of(*rows: tuple[str | None, str | None]) -> pa.Table:
    return pa.table(
        {name: pa.array([row[i] for row in rows], pa.string()) for i, name in enumerate(["id", "candidate"])}
    )


def unique(parts: Parts, rules: list[Any], repeated: KeyHashes | None = None) -> list[Check]:
    """The checks of uniqueness, as the runner makes them."""
    hashes = [KeyHashes() for _ in rules]
    for part in parts:
        for total, more in zip(hashes, key_hashes(part, rules), strict=True):
            total.add(more)
    return check_unique(parts, parts.rows, rules, [(repeated or each).repeated() for each in hashes])


ONCE = gxe.ExpectCompoundColumnsToBeUnique(column_list=["id", "candidate"])


def test_a_key_that_stands_twice_is_found_across_parts(tmp_path: Path) -> None:
    parts = parts_of(tmp_path, keys_of(("a", "x"), ("b", "x")), keys_of(("a", "y"), ("a", "x"), ("c", "x")))

    [found] = unique(parts, [ONCE])

    assert (found.checked, found.failed, found.first) == (5, 2, ("a/x", "a/x"))


def test_a_row_without_a_key_column_is_named_by_its_number(tmp_path: Path) -> None:
    tables = [
        pa.table({"key": pa.array([key * 32 for key in keys], pa.binary(32))}) for keys in ((b"a", b"b"), (b"b",))
    ]

    [found] = unique(parts_of(tmp_path, *tables), [gxe.ExpectColumnValuesToBeUnique(column="key")])

    assert (found.checked, found.failed, found.first) == (3, 2, ("row 1", "row 2"))


def test_keys_that_only_share_a_hash_are_unique(tmp_path: Path) -> None:
    table = keys_of(("a", "x"), ("b", "x"))
    collided = KeyHashes()
    for _ in range(2):
        collided.add(key_hashes(table, [ONCE])[0])

    [found] = unique(parts_of(tmp_path, table), [ONCE], collided)

    assert (found.checked, found.failed) == (2, 0)


def test_a_key_column_that_is_not_there_fails_the_check(tmp_path: Path) -> None:
    [found] = unique(parts_of(tmp_path, keys_of(("a", "x")).select(["id"])), [ONCE])

    assert found.failed == 1
    assert "candidate" in found.first[0]


FEW = st.sampled_from(["a", "b", "ab", "", None])


@settings(max_examples=10)
@given(st.lists(st.lists(st.tuples(FEW, FEW), max_size=4), min_size=1, max_size=3))
def test_unique_by_hashes_is_unique_by_great_expectations(
    tmp_path_factory: pytest.TempPathFactory, parts: list[list[tuple[str | None, str | None]]]
) -> None:
    tables = [keys_of(*rows) for rows in parts]
    rules = [ONCE, gxe.ExpectColumnValuesToBeUnique(column="id")]

    found = unique(parts_of(tmp_path_factory.mktemp("keys"), *tables), rules)

    assert found == [one for rule in rules for one in check(pa.concat_tables(tables).to_pandas(), [rule])]


def test_a_part_has_the_keys_of_its_input(tmp_path: Path) -> None:
    table = keys_of(("a", "x"), ("b", None))

    found = check_same_keys(table, parts_of(tmp_path / "load", table), 0)

    assert (found.columns, found.checked, found.failed, found.first) == ("id candidate, table load", 2, 0, ())


@pytest.mark.parametrize(
    ("rows", "failed", "first"),
    [
        ([("b", "x"), ("a", "x")], 2, "row 0: b/x, in data/load: a/x"),
        ([("a", "x"), ("b", None)], 1, "row 1: b, in data/load: b/x"),
        ([("a", "x")], 1, "row 1: none, in data/load: b/x"),
        ([("a", "x"), ("b", "x"), ("c", "x")], 1, "row 2: c/x, in data/load: none"),
    ],
)
def test_other_keys_than_those_of_the_input_are_named(
    tmp_path: Path, rows: list[tuple[str, str | None]], failed: int, first: str
) -> None:
    source = parts_of(tmp_path / "load", keys_of(("z", "x")), keys_of(("a", "x"), ("b", "x")))

    found = check_same_keys(keys_of(*rows), source, 1)

    assert (found.failed, found.first) == (failed, (f"part-00001, {first}",))


def test_a_part_more_than_the_input_has_is_found(tmp_path: Path) -> None:
    found = check_same_keys(keys_of(("a", "x")), parts_of(tmp_path / "load", keys_of(("a", "x"))), 1)

    assert found.first == ("part-00001, row 0: a/x, in data/load: none",)


def test_a_column_that_is_not_there_fails_the_check() -> None:
    [found] = check(ROWS, [gxe.ExpectColumnValuesToNotBeNull(column="gleu")])

    assert found.failed == 1
    assert "gleu" in found.first[0]


def test_a_broken_contract_stops_with_expectation_column_count_and_rows() -> None:
    checks = check(ROWS, [WITHIN])

    with pytest.raises(
        ContractError, match=r"(?s)lexical.*not written.*to_be_between\(bleu, .*1 of 3 rows, first: b/x"
    ):
        require("lexical", checks, {"rows": 3})


def test_the_notes_of_an_expectation_are_the_advice() -> None:
    rule = gxe.ExpectColumnValuesToBeBetween(column="bleu", max_value=1, notes="Look at the tokenizer.")

    with pytest.raises(ContractError, match=r"first: b/x\n    Look at the tokenizer\."):
        require("lexical", check(ROWS, [rule]), {})


def test_a_kept_contract_says_nothing() -> None:
    require("lexical", [Check(expectation="e", columns="c", checked=3, failed=0)], {"rows": 3})


def test_the_report_holds_every_check() -> None:
    found = report(check(ROWS, [WITHIN]), {"rows": 3}, {"code": "c0de"})

    assert found["success"] is False
    assert found["counts"] == {"rows": 3}
    assert found["made"] == {"code": "c0de"}
    assert found["checks"][0]["first"] == ["b/x"]
