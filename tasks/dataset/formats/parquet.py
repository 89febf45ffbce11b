"""Parquet."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tasks.dataset.formats.delimited import checked_header
from tasks.dataset.formats.record_batches import batch_rows
from tasks.dataset.record import NumberedValues, file_name

PARQUET_BATCH = 1_000


def parquet(path: Path) -> NumberedValues:
    """Yield number and values of each row.

    Raises:
        DataError: The file can't be read.
    """
    return batch_rows(path, "Parquet", _batches(path))


def _batches(path: Path) -> Iterator[pa.RecordBatch]:
    with pq.ParquetFile(path) as file:
        checked_header(file.schema_arrow.names, file_name(path))
        yield from file.iter_batches(PARQUET_BATCH)
