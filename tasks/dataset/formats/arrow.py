"""Arrow: stream and file format, and the folders that Hugging Face's `datasets` saves."""

import json
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from tasks.dataset.formats.delimited import checked_header
from tasks.dataset.formats.record_batches import batch_rows, chosen, with_names
from tasks.dataset.record import NumberedValues, file_name
from tasks.errors import DataError

FILE_FORMAT = b"ARROW1"
# The end of a stream (Arrow's specification, "IPC Streaming Format"); before 0.15, the last four bytes alone.
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
    return batch_rows(path, "Arrow", _batches(path, columns))


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


def _batches(path: Path, columns: Collection[str] | None) -> Iterator[pa.RecordBatch]:
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
    if file.read(len(FILE_FORMAT)) == FILE_FORMAT:
        file.seek(0)
        return pa.ipc.open_file(file, options=options)
    file.seek(max(file.size() - len(END_OF_STREAM), 0))
    if not file.read().endswith(END_OF_STREAM[4:]):
        raise DataError(f"{file_name(path)}: the end of the Arrow stream is missing; is the file complete?")
    file.seek(0)
    return pa.ipc.open_stream(file, options=options)
