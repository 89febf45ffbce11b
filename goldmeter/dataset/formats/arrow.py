"""Parquet; Arrow's stream and file format, and the folders that Hugging Face's `datasets` saves."""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from goldmeter.dataset.formats.delimited import checked_header
from goldmeter.dataset.record import NumberedValues, are_texts, as_text, file_name
from goldmeter.errors import DataError

# Bytes of a batch when it is decoded.
LARGEST_BATCH = 1 << 26
# Maximum size of a decoded row group in bytes, and per byte of the file: a small file can expand beyond any memory.
LARGEST_GROUP, MOST_GROUP_EXPANDED = 1 << 30, 1_000


def parquet(path: Path, columns: Collection[str] | None = None) -> NumberedValues:
    """Yield number and values of each row.

    Args:
        path: The file.
        columns: Those that are needed; others may be null. None: all.

    Raises:
        DataError: The file can't be read, or is much larger when it is decoded.
    """
    return batch_rows(path, "Parquet", _parquet_batches(path, columns))


def require_sensible_size(metadata: pq.FileMetaData, path: Path) -> None:
    """Raise DataError for a file that states a size which no data have: it would fill the memory.

    Sizes of single columns are not looked at: PyArrow ends the process when their part of the footer is damaged.
    """
    stored = path.stat().st_size
    require_sensible_rows(metadata.num_rows, path)
    for number, group in enumerate(map(metadata.row_group, range(metadata.num_row_groups)), 1):
        if group.total_byte_size > max(LARGEST_GROUP, MOST_GROUP_EXPANDED * stored):
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


def _parquet_batches(path: Path, columns: Collection[str] | None) -> Iterator[pa.RecordBatch]:
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


FILE_FORMAT = b"ARROW1"
# The end of a stream (Arrow's specification, "IPC Streaming Format"); before 0.15, which lacks the first four bytes of
# each message, the last four alone.
END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"
STATE, SPLITS = "state.json", "dataset_dict.json"


def arrow(path: Path, columns: Collection[str] | None = None) -> NumberedValues:
    """Yield number and values of each row.

    Args:
        path: The file.
        columns: Those that are needed; others may be null. None: all.

    Raises:
        DataError: The file can't be read, or its end is missing.
    """
    return batch_rows(path, "Arrow", _arrow_batches(path, columns))


def saved_files(folder: Path) -> list[Path] | None:
    """Return the Arrow files of a folder that `Dataset.save_to_disk` wrote; None if it is no such folder.

    Raises:
        DataError: The folder holds several splits, or a file that it lists is missing or in another folder.
    """
    if (folder / SPLITS).is_file():
        splits = _part(folder / SPLITS, "splits")
        if len(splits) != 1:
            raise DataError(
                f"{file_name(folder)}: a data set with the splits {', '.join(map(str, splits))}; "
                f"name one in dataset.path, such as {file_name(folder / str(splits[0] if splits else 'test'))}"
            )
        return saved_files(_within(folder, splits[0], SPLITS))
    if not (folder / STATE).is_file():
        return None
    files = [_within(folder, item.get("filename"), STATE) for item in _part(folder / STATE, "_data_files")]
    if not files:
        raise DataError(f"{file_name(folder / STATE)}: it lists no file; the data set is empty")
    for file in files:
        if not file.is_file():
            raise DataError(f"{file_name(file)}: not there, but {STATE} lists it; the data set is incomplete")
    return files


def _within(folder: Path, name: Any, source: str) -> Path:
    """Return the path of something below a folder: DVC watches no other files.

    Raises:
        DataError: It is not below the folder.
    """
    parts = Path(str(name)).parts
    if not parts or ".." in parts or Path(str(name)).is_absolute() or "\0" in str(name):
        raise DataError(f"{file_name(folder / source)}: {str(name)[:60]!r} is no name of something in the folder")
    return folder / str(name)


def _part(path: Path, key: str) -> list[Any]:
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{file_name(path)}: can't be read: {error}") from None
    found = content.get(key) if isinstance(content, dict) else None
    if not isinstance(found, list) or (key != "splits" and not all(isinstance(item, dict) for item in found)):
        raise DataError(f"{file_name(path)}: {key!r} is missing; not a data set that datasets 2 to 5 saved")
    return found


def _arrow_batches(path: Path, columns: Collection[str] | None) -> Iterator[pa.RecordBatch]:
    with pa.OSFile(str(path)) as file:
        names = _reader(file, path, pa.ipc.IpcReadOptions()).schema.names
        checked_header(names, file_name(path))
        wanted = [names.index(name) for name in chosen(names, columns)]
        reader = _reader(file, path, pa.ipc.IpcReadOptions(included_fields=wanted))
        if isinstance(reader, pa.ipc.RecordBatchFileReader):
            batches = map(reader.get_batch, range(reader.num_record_batches))
        else:
            batches = iter(reader)
        for batch in batches:
            yield with_names(batch, names)


def _reader(file: Any, path: Path, options: pa.ipc.IpcReadOptions) -> Any:
    file.seek(0)
    start = file.read(len(FILE_FORMAT))
    if start == FILE_FORMAT:
        file.seek(0)
        return pa.ipc.open_file(file, options=options)
    end = END_OF_STREAM if start.startswith(END_OF_STREAM[:4]) else END_OF_STREAM[4:]
    file.seek(max(file.size() - len(end), 0))
    if file.read() != end:
        raise DataError(f"{file_name(path)}: the end of the Arrow stream is missing; is the file complete?")
    file.seek(0)
    return pa.ipc.open_stream(file, options=options)


# Rows that are Python values at the same time.
ROWS = 1_000
# Limits on a small file that expands beyond any memory: bytes of a decoded batch that is more than ten times as large
# as its file, and rows per byte of the file.
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
    """Decode the bytes of a dictionary entry; bytes that are not UTF-8 stay: the error of their row names them."""
    try:
        return value.decode() if isinstance(value, bytes) else value
    except UnicodeDecodeError:
        return value
