"""Contracts are checked part by part and added up; what breaks is named."""

import json

import pandas as pd
import pyarrow as pa
import pytest
from great_expectations import expectations as gxe
from great_expectations.expectations.row_conditions import Column

from tasks.errors import ContractError
from tasks.pipeline.contract import Contract
from tasks.pipeline.validation import Check, add_up, check, check_totals, frame_of, require, to_json

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


def test_a_frame_holds_the_keys_and_what_is_asked_about_and_no_more() -> None:
    columns = {"references": [["x"], None, []], "more": [1, 2, 3], "text": ["x", "y", None], "bleu": [0.5, 0.1, None]}
    table = pa.table({"id": ["a", "b", "c"], **columns})
    rule = gxe.ExpectColumnValuesToNotBeNull(
        column="references", row_condition=(Column("bleu") < 1) & Column("text").is_not_null()
    )

    frame = frame_of(table, [rule])

    assert list(frame) == ["id", "references", "text", "bleu"]
    assert [each.first for each in check(frame, [rule])] == [("b",)]


def test_a_frame_names_the_columns_of_every_kind_of_expectation() -> None:
    table = pa.table({"a": [1], "b": [2], "c": [3], "d": [4]})
    rules = [
        gxe.ExpectColumnPairValuesToBeEqual(column_A="d", column_B="b"),
        gxe.ExpectCompoundColumnsToBeUnique(column_list=["a", "b"]),
    ]

    assert list(frame_of(table, rules)) == ["a", "b", "d"]


def test_a_key_that_stands_twice_is_found_across_parts() -> None:
    keys = pd.DataFrame({"id": ["a", "b", "a"], "candidate": ["x", "x", "x"]})
    contract = Contract(keys=[gxe.ExpectCompoundColumnsToBeUnique(column_list=["id", "candidate"])])

    [found] = check_totals(contract, keys, {"rows": 3})

    assert found.failed == 2
    assert found.first == ("a/x", "a/x")


def test_lost_rows_are_found_by_the_counts() -> None:
    contract = Contract(counts=[gxe.ExpectColumnPairValuesToBeEqual(column_A="rows", column_B="rows_load")])

    [found] = check_totals(contract, pd.DataFrame(), {"rows": 9, "rows_load": 10})

    assert found.failed == 1


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
    report = json.loads(to_json(check(ROWS, [WITHIN]), {"rows": 3}, {"code": "c0de"}))

    assert report["success"] is False
    assert report["counts"] == {"rows": 3}
    assert report["made"] == {"code": "c0de"}
    assert report["checks"][0]["first"] == ["b/x"]
