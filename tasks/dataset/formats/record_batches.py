"""Rows of Arrow record batches, as Arrow and Parquet files have them."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tasks.dataset.record import NumberedValues, are_texts, as_text, file_name
from tasks.errors import DataError

# Rows that are Python values at the same time.
ROWS = 1_000
# Kilobytes can stand for more than a memory holds: bytes of a decoded batch whose file has less than a tenth of them,
# and rows per byte of a file.
LARGEST_DECODED, MOST_EXPANDED, MOST_ROWS_PER_BYTE = 1 << 29, 10, 10_000


def batch_rows(path: Path, kind: str, batches: Iterable[pa.RecordBatch]) -> NumberedValues:
    """Yield number and values of each row.

    Args:
        path: The file, for messages.
        kind: Name of its format, for messages.
        batches: Its rows; the file may be opened when the first are asked for.

    Raises:
        DataError: The file can't be read, or is much larger when it is decoded.
    """
    row = 0
    try:
        for batch in _small(batches, path):
            names, columns = batch.schema.names, [_values(column) for column in batch.columns]
            others = [name for name, column in zip(names, columns, strict=True) if not are_texts(column)]
            for values in zip(*columns, strict=True) if columns else [()] * batch.num_rows:
                row += 1
                found = dict(zip(names, values, strict=True))
                yield row, found | {name: as_text(found[name]) for name in others} if others else found
    except DataError:
        raise
    except (pa.ArrowException, OSError, OverflowError, ValueError, KeyError) as error:
        problem = (str(error).splitlines() or [type(error).__name__])[0][:200]
        if isinstance(error, KeyError) and not isinstance(error, pa.ArrowException):  # how time zones are looked up
            problem = f"unknown time zone {problem}; write the column in UTC or as text"
        raise DataError(f"{file_name(path)}, near row {max(row, 1)}: not readable as {kind}: {problem}") from None


def chosen(names: Sequence[str], columns: Collection[str] | None) -> list[str]:
    """Return the names of the columns to read; columns: those that are needed, None for all."""
    return [name for name in names if columns is None or name in columns]


def with_names(batch: pa.RecordBatch, names: Sequence[str]) -> pa.RecordBatch:
    """Return a batch of some columns with all columns of its file; those that were not read are null."""
    read = dict(zip(batch.schema.names, batch.columns, strict=True))
    missing = pa.nulls(batch.num_rows)
    return pa.RecordBatch.from_arrays([read.get(name, missing) for name in names], names=[*names])


def require_sensible_rows(rows: int, path: Path) -> None:
    """Raise DataError for a number of rows that no file of this size has."""
    stored = path.stat().st_size
    if rows > MOST_ROWS_PER_BYTE * stored:
        raise DataError(f"{file_name(path)}: {rows:,} rows in a file of {stored:,} bytes; write the file again")


def _small(batches: Iterable[pa.RecordBatch], path: Path) -> Iterator[pa.RecordBatch]:
    """Yield batches of ROWS at most, each of which is sound."""
    most = max(LARGEST_DECODED, MOST_EXPANDED * path.stat().st_size)
    for batch in batches:
        require_sensible_rows(batch.num_rows, path)
        if batch.nbytes > most:
            raise DataError(
                f"{file_name(path)}: {batch.num_rows:,} rows have {batch.nbytes:,} bytes when they are decoded; "
                f"at most {most:,} are read at once; write the file again in smaller batches"
            )
        batch.validate(full=True)  # damaged offsets would end the process
        yield from (batch.slice(first, ROWS) for first in range(0, batch.num_rows, ROWS))


def _values(column: pa.Array) -> list[Any]:
    """Return the values of a column; those that share a value of a dictionary share one object."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        used = column.indices.dictionary_encode()
        values = [*map(_text, column.dictionary.take(used.dictionary).to_pylist())]
        return [None if number is None else values[number] for number in used.indices.to_pylist()]
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        items, counts = iter(_values(column.flatten())), pc.list_value_length(column).to_pylist()
        return [None if count is None else [*islice(items, count)] for count in counts]
    if pa.types.is_struct(kind) and len({field.name for field in kind}) == kind.num_fields > 0:
        rows = zip(*map(_values, column.flatten()), strict=True)
        names = [field.name for field in kind]
        is_there = column.is_valid().to_pylist()
        return [
            dict(zip(names, row, strict=True)) if there else None for there, row in zip(is_there, rows, strict=True)
        ]
    return column.to_pylist()  # type: ignore[no-any-return]


def _text(value: Any) -> Any:
    """Return bytes as the text that many rows share; what is no text is left to its row, which an error names."""
    try:
        return value.decode() if isinstance(value, bytes) else value
    except UnicodeDecodeError:
        return value
