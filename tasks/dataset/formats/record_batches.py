"""Rows of Arrow record batches, as Arrow and Parquet files have them."""

from collections.abc import Iterable
from pathlib import Path

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
            for values in batch.to_pylist():
                row += 1
                yield row, {name: as_text(value) for name, value in values.items()}
    except DataError:
        raise
    except (pa.ArrowException, OSError, OverflowError, ValueError) as error:
        problem = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise DataError(f"{file_name(path)}, near row {max(row, 1)}: not readable as {kind}: {problem}") from None
