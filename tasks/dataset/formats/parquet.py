"""Parquet."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tasks.dataset.formats.delimited import checked_header
from tasks.dataset.formats.record_batches import batch_rows
from tasks.dataset.record import NumberedValues, file_name
from tasks.errors import DataError

PARQUET_BATCH = 1_000
# Bytes of a batch when it is decoded.
LARGEST_BATCH = 1 << 26
# Bytes of a row group when it is decoded, and per byte of the file: kilobytes can stand for more than a memory holds.
LARGEST_GROUP, MOST_EXPANDED = 1 << 30, 1_000


def parquet(path: Path) -> NumberedValues:
    """Yield number and values of each row.

    Raises:
        DataError: The file can't be read, or is much larger when it is decoded.
    """
    return batch_rows(path, "Parquet", _batches(path))


def require_sensible_size(metadata: pq.FileMetaData, path: Path) -> None:
    """Raise DataError for a file that states a size which no data have: it would fill the memory.

    Sizes of single columns are not looked at: PyArrow ends the process when their part of the footer is damaged.
    """
    stored = path.stat().st_size
    for number, group in enumerate(map(metadata.row_group, range(metadata.num_row_groups)), 1):
        if group.total_byte_size > max(LARGEST_GROUP, MOST_EXPANDED * stored):
            raise DataError(
                f"{file_name(path)}: row group {number} has {group.total_byte_size:,} bytes when it is decoded, "
                f"of a file of {stored:,} bytes; write the file again without the column that is so large"
            )


def text_columns(schema: pa.Schema) -> list[str]:
    """Return the columns to read as dictionaries: a text that a million rows share is then in memory once."""
    return [field.name for field in schema if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)]


def _batches(path: Path) -> Iterator[pa.RecordBatch]:
    with pq.ParquetFile(path) as file:
        schema, metadata = file.schema_arrow, file.metadata
    checked_header(schema.names, file_name(path))
    require_sensible_size(metadata, path)
    with pq.ParquetFile(path, read_dictionary=text_columns(schema)) as file:
        for number in range(metadata.num_row_groups):
            group = metadata.row_group(number)
            fitting = LARGEST_BATCH * group.num_rows // max(group.total_byte_size, 1)
            yield from file.iter_batches(min(max(fitting, 1), PARQUET_BATCH), [number])
