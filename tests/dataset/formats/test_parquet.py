"""Parquet files that would fill the memory when they are decoded are refused by the sizes that they state."""

import resource
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.dataset.formats import arrow as module
from goldmeter.dataset.formats.arrow import parquet
from goldmeter.errors import DataError


def test_a_file_that_is_far_larger_than_its_bytes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST_GROUP", 1 << 16)
    table = pa.table({"id": ["a", "b"], "text": ["x" * (1 << 20)] * 2})
    pq.write_table(table, tmp_path / "bomb.parquet", compression="zstd", use_dictionary=False)

    with pytest.raises(DataError, match=r"bomb\.parquet: row group 1 has 2,097,\d+ bytes when"):
        [*parquet(tmp_path / "bomb.parquet")]


def test_a_large_column_that_compresses_like_text_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST_GROUP", 1 << 10)
    texts = [f"answer {number * 7919 % 10007}" for number in range(2_000)]
    pq.write_table(pa.table({"text": texts}), tmp_path / "large.parquet", compression="zstd")

    assert [row["text"] for _, row in parquet(tmp_path / "large.parquet")] == texts


def test_a_column_that_is_not_mapped_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    strange = pa.array([0, 1], pa.timestamp("us", tz="Mars/Phobos"))
    pq.write_table(pa.table({"strange": strange, "id": ["a", "b"], "s": [{"x": "1"}, None]}), path)

    rows = [*parquet(path, frozenset({"id", "s"}))]

    expected = [{"strange": None, "id": "a", "s": {"x": "1"}}, {"strange": None, "id": "b", "s": None}]
    assert rows == [(1, expected[0]), (2, expected[1])]
    assert [*rows[0][1]] == ["strange", "id", "s"]


@pytest.mark.parametrize("zone", ["Mars/Phobos", "+99:99", "../../etc/passwd"])
def test_a_time_zone_that_nobody_knows_is_named(tmp_path: Path, zone: str) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"when": pa.array([0], pa.timestamp("us", tz=zone))}), path)

    with pytest.raises(DataError, match=r"a\.parquet, near row 1: not readable as Parquet: unknown time zone .*in UTC"):
        [*parquet(path)]


def _shared(values: int, text: str | bytes) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array([0] * values, pa.int32()), [text])


def _lists(items: pa.Array, of: int) -> pa.ListArray:
    return pa.ListArray.from_arrays(pa.array(range(0, len(items) + 1, of), pa.int32()), items)


LONG = "x" * 1_000_000
TEXTS = _shared(5_000, LONG)


@pytest.mark.parametrize(
    "column",
    [
        _lists(TEXTS, 50),
        _lists(_lists(TEXTS, 1), 50),
        pa.StructArray.from_arrays([_lists(TEXTS, 50)], names=["a"]),
        _shared(5_000, LONG.encode()),
    ],
    ids=["lists", "lists of lists", "structs", "bytes"],
)
def test_texts_inside_of_values_are_in_memory_once(tmp_path: Path, column: pa.Array) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": column}), path, compression="zstd", store_schema=False)

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rows = [row["a"] for _, row in parquet(path)]

    assert len(rows) == len(column)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000  # kB, instead of 5 GB


def test_more_rows_than_a_file_of_its_size_has_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_ROWS_PER_BYTE", 10)
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": pa.nulls(100_000)}), path)

    with pytest.raises(DataError, match=r"a\.parquet: 100,000 rows in a file of [\d,]+ bytes"):
        [*parquet(path)]


def test_a_batch_that_is_far_larger_than_the_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST_DECODED", 1 << 20)
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": [[None] * 1_000_000] * 3}, pa.schema({"a": pa.list_(pa.int8())})), path)

    with pytest.raises(
        DataError, match=r"a\.parquet: 3 rows have [\d,]+ bytes when they are decoded; at most 1,048,576"
    ):
        [*parquet(path)]


def _of(depth: int) -> st.SearchStrategy[Any]:
    texts = st.none() | st.text("ab", max_size=2)
    return texts if depth == 0 else st.none() | st.lists(_of(depth - 1), max_size=2)


@given(st.integers(0, 3).flatmap(lambda depth: st.tuples(st.just(depth), st.lists(_of(depth), min_size=1, max_size=6))))
def test_nested_values_come_back(drawn: tuple[int, list[Any]]) -> None:
    depth, values = drawn
    kind = pa.string()
    for _ in range(depth):
        kind = pa.list_(kind)
    column = pa.array(values, kind)
    with TemporaryDirectory() as folder:
        path = Path(folder, "a.parquet")
        structs = pa.StructArray.from_arrays([column], names=["x"], mask=pa.array([value == [] for value in values]))
        pq.write_table(pa.table({"a": column, "s": structs}), path, row_group_size=2)

        rows = [row for _, row in parquet(path)]

    assert [row["a"] for row in rows] == values
    assert [row["s"] for row in rows] == [None if value == [] else {"x": value} for value in values]
