"""What Great Expectations is given of a table: the columns that a contract names, without their texts at first."""

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from great_expectations import expectations as gxe
from great_expectations.expectations.row_conditions import Column
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.pipeline.validation import check, check_rows, frame_of, narrow


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


HEX, GIVEN = "^[0-9a-f]{2}$", Column("a").is_not_null()
TEXTS = st.sampled_from([None, "", "ab", "1f", "1f\n", "AB", "日本語", "e\u0301", "😀", "x" * 9])
LISTS = st.none() | st.lists(TEXTS, max_size=2)
TABLES = st.lists(st.tuples(TEXTS, TEXTS, TEXTS, LISTS, st.none() | st.floats()), max_size=5)
RULES: list[Any] = [
    gxe.ExpectColumnValuesToNotBeNull(column="a"),
    gxe.ExpectColumnValueLengthsToBeBetween(column="a", min_value=1, max_value=3),
    gxe.ExpectColumnValueLengthsToBeBetween(column="b", max_value=2, strict_max=True, notes="Shorten it."),
    gxe.ExpectColumnValueLengthsToBeBetween(column="b", min_value=1, mostly=0.5, row_condition=GIVEN),
    gxe.ExpectColumnValuesToBeNull(column="b", row_condition=Column("a").is_null()),
    gxe.ExpectColumnValuesToNotBeNull(column="references", row_condition=Column("b").is_not_null()),
    gxe.ExpectColumnValuesToMatchRegex(column="c", regex=HEX),
    gxe.ExpectColumnValuesToMatchRegex(column="c", regex=HEX, mostly=0.6, row_condition=GIVEN),
    gxe.ExpectColumnValuesToMatchRegex(column="c", regex=r"^\w+$"),
    gxe.ExpectColumnValuesToNotBeNull(column="c"),
    gxe.ExpectColumnValuesToBeInSet(column="a", value_set=["ab", "1f", ""]),
    gxe.ExpectColumnValuesToNotBeNull(column="score"),
    gxe.ExpectColumnValuesToBeBetween(column="score", min_value=0, max_value=1),
    gxe.ExpectColumnPairValuesToBeEqual(column_A="a", column_B="b"),
    gxe.ExpectColumnValuesToNotBeNull(column="nowhere"),
]  # fmt: skip


def table_of(rows: list[tuple[Any, ...]]) -> pa.Table:
    types = {**dict.fromkeys("abc", pa.string()), "references": pa.list_(pa.string()), "score": pa.float64()}
    columns = {name: pa.array([row[i] for row in rows], type_) for i, (name, type_) in enumerate(types.items())}
    return pa.table({"id": pa.array([f"q{i}" for i in range(len(rows))], pa.string()), **columns})


@given(TABLES, st.lists(st.sampled_from(RULES), min_size=1, max_size=6, unique_by=id))
def test_the_results_are_those_of_the_whole_texts(rows: list[tuple[Any, ...]], rules: list[Any]) -> None:
    table = table_of(rows)

    assert check_rows(table, rules) == check(frame_of(table, rules), rules)


def test_texts_are_looked_at_only_if_something_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    frames = []
    monkeypatch.setattr(
        "goldmeter.pipeline.validation.frame_of", lambda *given: frames.append(given) or frame_of(*given)
    )
    table = table_of([("ab", "cd", "0f", ["x"], 0.5), ("abc", None, "1f", None, None)])

    good, bad = (check_rows(table, rules) for rules in (RULES[:2], RULES[:3]))

    assert len(frames) == 1
    assert [each.failed for each in good] == [0, 0]
    assert [each.first for each in bad] == [(), (), ("q0",)]


def test_a_narrow_frame_holds_numbers_for_texts() -> None:
    table = table_of([("ab", "日本語", "0f", ["x"], 0.5), (None, None, "no", None, None)])

    frame = narrow(table, [RULES[0], RULES[2], RULES[6], RULES[5]]).frame

    columns = {"a": [1.0, np.nan], "b": [3.0, np.nan], "c": [1.0, 0.0], "references": [1.0, np.nan]}
    pd.testing.assert_frame_equal(frame, pd.DataFrame(columns), check_dtype=False)


@pytest.mark.parametrize("regex", ["^[0-9a-f]{64}$", "^[a-z][0-9]{2}$"])
def test_a_simple_regular_expression_is_matched_by_arrow(regex: str) -> None:
    rule = gxe.ExpectColumnValuesToMatchRegex(column="a", regex=regex)

    assert narrow(table_of([]), [rule]).frame["a"].dtype == np.float64


@pytest.mark.parametrize("regex", [r"\w", "[^a]", "a", "^a|b$", "^[ä]$", "^.$", "(?i)^[a]$", "^[a-z]+$"])
def test_another_regular_expression_is_matched_by_python(regex: str) -> None:
    rule = gxe.ExpectColumnValuesToMatchRegex(column="a", regex=regex)

    assert narrow(table_of([]), [rule]).expectations == [rule]
