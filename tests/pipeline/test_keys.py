"""Hashes of keys: equal for equal keys and different for different ones; keys compared row by row."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.pipeline.keys import KeyHashes, hashes_of, key_differences

TEXTS = st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(["", "\0", "a", "a\0", "b", "ab", "ba"])
ROWS = st.lists(st.tuples(TEXTS, TEXTS), max_size=8)


def table_of(rows: list[tuple[Any, Any]]) -> pa.Table:
    return pa.table(
        {name: pa.array([row[i] for row in rows], pa.string()) for i, name in enumerate(["id", "candidate"])}
    )


def hashed(table: pa.Table) -> list[int]:
    return list(hashes_of(table, ["id", "candidate"]).tolist())


@given(ROWS)
def test_hashes_are_equal_where_keys_are(rows: list[tuple[str, str]]) -> None:
    found = hashed(table_of(rows))

    assert [a == b for a in found for b in found] == [a == b for a in rows for b in rows]


@given(ROWS, st.integers(0, 8))
def test_hashes_depend_neither_on_chunks_nor_on_slices(rows: list[tuple[str, str]], cut: int) -> None:
    whole = table_of(rows)
    chunked = pa.concat_tables([whole.slice(0, cut), whole.slice(cut)])

    found = hashed(chunked)

    assert found == hashed(whole)
    assert hashed(whole.slice(cut)) == found[cut:]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([b"a", b"b", b"a"], pa.binary(1)),
        pa.array([b"a", b"b", b"a"]),
        pa.array(["a", "b", "a"], pa.large_string()),
        pa.array([1, 2, 1]),
        pa.array([0.5, None, 0.5]),
        pa.array(["a", None, "a"]).dictionary_encode(),
    ],
)
def test_keys_of_any_type_are_hashed(column: pa.Array) -> None:
    first, other, again = hashes_of(pa.table({"key": column}), ["key"])

    assert first == again != other


def test_what_lies_beneath_a_null_is_not_hashed() -> None:
    nulls = pa.Array.from_buffers(
        pa.string(), 2, [pa.py_buffer(b"\0"), pa.py_buffer(np.array([0, 1, 2], np.int32)), pa.py_buffer(b"xy")]
    )

    first, other = hashes_of(pa.table({"id": nulls}), ["id"])

    assert first == other


def test_repeated_hashes_are_found_in_all_parts() -> None:
    hashes = KeyHashes()
    for part in ([5, 2, 2**64 - 1], [], [2, 7, 2], [2**64 - 1]):
        hashes.add(np.array(part, np.uint64))

    assert hashes.repeated().tolist() == [2, 2**64 - 1]
    assert KeyHashes().repeated().tolist() == []


NULLABLE = st.lists(st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from(["x", None])), max_size=5)


@given(NULLABLE, NULLABLE)
def test_keys_differ_where_their_values_do(here: list[tuple[Any, Any]], there: list[tuple[Any, Any]]) -> None:
    length = max(len(here), len(there))
    padded = [[*rows, *["end"] * (length - len(rows))] for rows in (here, there)]
    expected = [row for row, (one, other) in enumerate(zip(*padded, strict=True)) if one != other]

    found = key_differences(table_of(here), table_of(there), ["id", "candidate"])

    assert (found.rows, found.first) == (len(expected), expected[0] if expected else None)


def test_a_column_that_is_not_there_differs() -> None:
    both = table_of([("a", "x"), ("b", "x")])

    found = key_differences(both.select(["id"]), both, ["id", "candidate"])

    assert found == (2, 0, "a", "a/x")


def test_types_of_equal_keys_may_differ() -> None:
    both = table_of([("a", "x")])

    assert (
        key_differences(both.cast(pa.schema({"id": pa.large_string(), "candidate": pa.string()})), both, ["id"]).rows
        == 0
    )
