"""Parquet."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tasks.dataset.formats.delimited import checked_header
from tasks.dataset.record import NumberedValues, as_text, file_name
from tasks.errors import DataError

PARQUET_BATCH = 1_000


def parquet(path: Path) -> NumberedValues:
    row = 0
    try:
        with pq.ParquetFile(path) as file:
            checked_header(file.schema_arrow.names, file_name(path))
            for batch in file.iter_batches(PARQUET_BATCH):
                for row, values in enumerate(batch.to_pylist(), row + 1):  # noqa: B020 (counts on)
                    yield row, {name: as_text(value) for name, value in values.items()}
    except DataError:
        raise
    except (pa.ArrowException, OSError, OverflowError, ValueError) as error:
        problem = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise DataError(f"{file_name(path)}, near row {max(row, 1)}: not readable as Parquet: {problem}") from None
