"""Rows of Arrow record batches, as Arrow and Parquet files have them."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa

from tasks.dataset.record import NumberedValues, as_text, file_name
from tasks.errors import DataError


def batch_rows(path: Path, kind: str, batches: Iterable[pa.RecordBatch]) -> NumberedValues:
    """Yield number and values of each row.

    Args:
        path: The file, for messages.
        kind: Name of its format, for messages.
        batches: Its rows; the file may be opened when the first are asked for.

    Raises:
        DataError: The file can't be read.
    """
    row = 0
    try:
        for batch in batches:
            batch.validate(full=True)  # damaged offsets would end the process
            columns = [_values(column) for column in batch.columns]
            for values in zip(*columns, strict=True) if columns else [()] * batch.num_rows:
                row += 1
                yield row, {name: as_text(value) for name, value in zip(batch.schema.names, values, strict=True)}
    except DataError:
        raise
    except (pa.ArrowException, OSError, OverflowError, ValueError) as error:
        problem = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise DataError(f"{file_name(path)}, near row {max(row, 1)}: not readable as {kind}: {problem}") from None


def _values(column: pa.Array) -> list[Any]:
    """Return the values of a column; rows that share a value of a dictionary share one object."""
    if not pa.types.is_dictionary(column.type):
        return column.to_pylist()  # type: ignore[no-any-return]
    used = column.indices.dictionary_encode()
    values = column.dictionary.take(used.dictionary).to_pylist()
    return [None if number is None else values[number] for number in used.indices.to_pylist()]
