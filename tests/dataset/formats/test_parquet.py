"""Parquet files that would fill the memory when they are decoded are refused by the sizes that they state."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tasks.dataset.formats import parquet as module
from tasks.dataset.formats.parquet import parquet
from tasks.errors import DataError


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
