"""Parquet files that would fill the memory when they are decoded are refused by the sizes that they state."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tasks.dataset.formats import parquet as module
from tasks.dataset.formats.parquet import parquet
from tasks.errors import DataError


def test_a_column_that_is_far_larger_than_its_bytes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST_CHUNK", 1 << 16)
    table = pa.table({"id": ["a", "b"], "text": ["x" * (1 << 20)] * 2})
    pq.write_table(table, tmp_path / "bomb.parquet", compression="zstd", use_dictionary=False)

    with pytest.raises(DataError, match=r"bomb\.parquet: the column 'text' has 2,097,\d+ bytes and 2 values"):
        [*parquet(tmp_path / "bomb.parquet")]


def test_a_large_column_that_compresses_like_text_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST_CHUNK", 1 << 10)
    texts = [f"answer {number * 7919 % 10007}" for number in range(2_000)]
    pq.write_table(pa.table({"text": texts}), tmp_path / "large.parquet", compression="zstd")

    assert [row["text"] for _, row in parquet(tmp_path / "large.parquet")] == texts


def test_a_list_with_too_many_values_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_NESTED", 10)
    pq.write_table(pa.table({"refs": [["a"] * 11]}), tmp_path / "lists.parquet")
    pq.write_table(pa.table({"refs": [["a"] * 10]}), tmp_path / "few.parquet")

    with pytest.raises(DataError, match=r"lists\.parquet: the column 'refs\..*' has .* and 11 values in one row group"):
        [*parquet(tmp_path / "lists.parquet")]
    assert len([*parquet(tmp_path / "few.parquet")]) == 1
