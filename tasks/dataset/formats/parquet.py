"""Parquet."""

from collections.abc import Collection, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tasks.dataset.formats.delimited import checked_header
from tasks.dataset.formats.record_batches import ROWS, batch_rows, chosen, require_sensible_rows, with_names
from tasks.dataset.record import NumberedValues, file_name
from tasks.errors import DataError

# Bytes of a batch when it is decoded.
LARGEST_BATCH = 1 << 26
# Bytes of a row group when it is decoded, and per byte of the file: kilobytes can stand for more than a memory holds.
LARGEST_GROUP, MOST_EXPANDED = 1 << 30, 1_000


def parquet(path: Path, columns: Collection[str] | None = None) -> NumberedValues:
    """Yield number and values of each row.

    Args:
        path: The file.
        columns: Those that are needed; others may be null. None: all.

    Raises:
        DataError: The file can't be read, or is much larger when it is decoded.
    """
    return batch_rows(path, "Parquet", _batches(path, columns))


def require_sensible_size(metadata: pq.FileMetaData, path: Path) -> None:
    """Raise DataError for a file that states a size which no data have: it would fill the memory.

    Sizes of single columns are not looked at: PyArrow ends the process when their part of the footer is damaged.
    """
    stored = path.stat().st_size
    require_sensible_rows(metadata.num_rows, path)
    for number, group in enumerate(map(metadata.row_group, range(metadata.num_row_groups)), 1):
        if group.total_byte_size > max(LARGEST_GROUP, MOST_EXPANDED * stored):
            raise DataError(
                f"{file_name(path)}: row group {number} has {group.total_byte_size:,} bytes when it is decoded, "
                f"of a file of {stored:,} bytes; write the file again without the column that is so large"
            )


def text_columns(schema: pq.ParquetSchema) -> list[int]:
    """Return the columns, inner ones too, to read as dictionaries: a text that many rows share is in memory once."""
    columns = [(number, schema.column(number)) for number in range(len(schema))]
    return [
        number
        for number, column in columns
        if column.physical_type == "BYTE_ARRAY" and column.logical_type.type != "DECIMAL"
    ]


def _batches(path: Path, columns: Collection[str] | None) -> Iterator[pa.RecordBatch]:
    with pq.ParquetFile(path) as file:
        names, texts, metadata = file.schema_arrow.names, text_columns(file.schema), file.metadata
    checked_header(names, file_name(path))
    require_sensible_size(metadata, path)
    wanted = chosen(names, columns)
    with pq.ParquetFile(path, read_dictionary=texts) as file:
        for number in range(metadata.num_row_groups):
            group = metadata.row_group(number)
            fitting = LARGEST_BATCH * group.num_rows // max(group.total_byte_size, 1)
            for batch in file.iter_batches(min(max(fitting, 1), ROWS), [number], wanted):
                yield with_names(batch, names)
