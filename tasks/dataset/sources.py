"""Read the user's files record by record: JSON lines, JSON, CSV, TSV and Parquet."""

import csv
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isnan
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from tasks.errors import DataError, did_you_mean

Value: TypeAlias = "str | list[Value] | dict[str, Value] | None"
# Line (in Parquet: row) number and values of each record.
NumberedValues: TypeAlias = Iterator[tuple[int, dict[str, Value]]]

# Characters. A longer CSV cell is a quote that was never closed.
LONGEST_CELL = 100_000_000
PARQUET_BATCH = 1_000
# Characters of a key that an error message suggests as the place of the records.
LONGEST_KEY = 60
# Files that an error message lists.
FILES_LISTED = 10
BOM = b"\xef\xbb\xbf"


class Record(NamedTuple):
    """One record of a file.

    Every value is text as written in the file, null, a list or an object. Types are never guessed: 007 stays "007",
    1.50 stays "1.50", true becomes "true" and NA is a word. An empty CSV cell is null. NUL characters stay.

    Attributes:
        file: The path as the user wrote it.
        line: Number of the line on which the record starts, from 1; in a Parquet file, number of the row.
        values: Column → value.
    """

    file: str
    line: int
    values: dict[str, Value]


@dataclass(frozen=True)
class Records:
    """The records of some files, in order; can be iterated repeatedly.

    One record is in memory at a time, except that a .json file is read whole.

    Raises:
        DataError: On iteration, for anything that can't be read, with file and line.
    """

    files: tuple[Path, ...]

    def __iter__(self) -> Iterator[Record]:
        for path in self.files:
            yield from _read(path)


def records(path: str | Path, pattern: str | None = None) -> Records:
    """Find the records of a file, or of the files in a folder that match a glob pattern, sorted by path.

    Hidden files never match.

    Raises:
        DataError: There is no such file, or its format is unknown.
    """
    if "://" in str(path):
        raise DataError(f"{path}: fetch it first, by dvc import-url {path}, and name the local file in dataset.path")
    files = _files(Path(path), pattern)
    for file in files:
        if file.suffix.lower() not in FORMATS:
            raise DataError(f"{_name(file)}: unknown format {file.suffix!r}; allowed: {', '.join(FORMATS)}")
    return Records(tuple(files))


def as_text(value: Any) -> Value:
    """Convert numbers, booleans, dates and bytes of a JSON or Parquet value to text; NaN becomes null."""
    if isinstance(value, list | tuple):
        return [as_text(item) for item in value]
    if isinstance(value, dict):
        return {key: as_text(item) for key, item in value.items()}
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None or (isinstance(value, float) and isnan(value)):
        return None
    if isinstance(value, bytes):
        return value.decode()
    return str(value.isoformat() if hasattr(value, "isoformat") else value)


def _files(path: Path, pattern: str | None) -> list[Path]:
    if path.is_dir():
        return _matching(path, pattern)
    if path.exists() and not path.is_file():
        raise DataError(f"{_name(path)}: neither a file nor a folder")
    if not path.exists():
        siblings = [_name(sibling) for sibling in path.parent.iterdir()] if path.parent.is_dir() else []
        suggestion = did_you_mean(_name(path), siblings)
        raise DataError(f"{_name(path)}: no such file or folder; see dataset.path{suggestion}")
    return [path]


def _matching(folder: Path, pattern: str | None) -> list[Path]:
    if not pattern:
        raise DataError(f"{_name(folder)}: a folder; say which of its files in dataset.pattern, such as *.jsonl")
    try:
        files = sorted(path for path in folder.glob(pattern) if path.is_file() and path.name[0] != ".")
    except (NotImplementedError, ValueError) as error:
        raise DataError(f"dataset.pattern: {pattern!r} can't be used: {error}") from None
    if not files:
        names = sorted(_name(path.relative_to(folder)) for path in folder.iterdir())
        more = [f"and {len(names) - FILES_LISTED} more"] if len(names) > FILES_LISTED else []
        content = f"it holds {', '.join(names[:FILES_LISTED] + more)}" if names else "it is empty"
        raise DataError(f"{_name(folder)}: no file matches dataset.pattern {pattern!r}; {content}")
    return files


def _read(path: Path) -> Iterator[Record]:
    name, line = _name(path), None
    try:
        for line, values in FORMATS[path.suffix.lower()](path):
            yield Record(name, line, values)
    except OSError as error:
        raise DataError(f"{name}: can't be read: {error.strerror or error}") from None
    if line is None:
        raise DataError(f"{name}: empty, no record in it")


def _json_lines(path: Path) -> NumberedValues:
    for line, whole in enumerate(_lines(path), 1):
        text = whole.rstrip(" \t\r\n")
        if not text:
            continue
        try:
            value, end = _decode(text, _skip_space(text, 0))
            _require_end(text, end)
        except json.JSONDecodeError as error:
            raise _json_error(error, path, line) from None
        yield line, _checked_object(value, path, line)


def _json_list(path: Path) -> NumberedValues:
    text = "".join(_lines(path))
    line, counted = 1, 0
    try:
        _refuse_object(text, path)
        for position, value in _elements(text):
            line, counted = line + text.count("\n", counted, position), position
            yield line, _checked_object(value, path, line)
    except json.JSONDecodeError as error:
        raise _json_error(error, path, error.lineno) from None


def _elements(text: str) -> Iterator[tuple[int, Any]]:
    """Yield the position and value of each element of a JSON list."""
    position = _skip_space(text, 0)
    if position == len(text):
        return
    position = _skip_sign(text, position, "[", "expected a list of objects (one object a line is .jsonl)")
    more = text[position : position + 1] != "]"
    while more:
        value, end = _decode(text, position)
        yield position, value
        position = _skip_space(text, end)
        more = text[position : position + 1] != "]"
        if more:
            position = _skip_sign(text, position, ",", "expected ',' or ']'")
    _require_end(text, position + 1)


def _refuse_object(text: str, path: Path) -> None:
    """Raise DataError if the text is one object; the message suggests which of its keys holds the records."""
    start = _skip_space(text, 0)
    if text[start : start + 1] != "{":
        return
    value, end = _decode(text, start)
    if _skip_space(text, end) < len(text):
        return  # Several objects: `_elements` explains that one object a line is .jsonl.
    lists = [key for key, item in value.items() if isinstance(item, list) and item and isinstance(item[0], dict)]
    lists = [key for key in lists if len(key) <= LONGEST_KEY]
    hint = _extraction_hint(path, lists[0]) if lists else ""
    raise DataError(f"{_name(path)}: an object, expected a list of objects{hint}")


def _extraction_hint(path: Path, key: str) -> str:
    target = f"{path.stem}-records.json"
    code = (
        f"import json; json.dump(json.load(open({str(path)!r}, encoding='utf-8'))[{key!r}], "
        f"open({target!r}, 'w', encoding='utf-8'))"
    )
    return f"; the records seem to be under {key!r}; as a list, in Python:\n  {code}"


def _decode(text: str, position: int) -> tuple[Any, int]:
    """Return the JSON value that starts at `position`, and its end."""
    try:
        return DECODER.raw_decode(text, position)
    except json.JSONDecodeError:
        raise
    except (RecursionError, ValueError) as error:
        problem = "nested too deep" if isinstance(error, RecursionError) else str(error)
        raise json.JSONDecodeError(problem, text, position) from None


def _skip_space(text: str, position: int) -> int:
    space = WHITE_SPACE.match(text, position)
    return space.end() if space else position


def _skip_sign(text: str, position: int, sign: str, problem: str) -> int:
    if text[position : position + 1] != sign:
        raise json.JSONDecodeError(problem, text, position)
    return _skip_space(text, position + 1)


def _require_end(text: str, position: int) -> None:
    position = _skip_space(text, position)
    if position < len(text):
        raise json.JSONDecodeError("more text after the end", text, position)


def _json_error(error: json.JSONDecodeError, path: Path, line: int) -> DataError:
    rest = error.doc[error.pos : error.pos + 30]
    found = f"found {rest!r}" if rest else "found the end"
    return DataError(f"{_name(path)}, line {line}, column {error.colno}: not JSON: {error.msg}; {found}")


def _checked_object(value: Any, path: Path, line: int) -> dict[str, Value]:
    if not isinstance(value, dict):
        found = {list: "a list", type(None): "null"}.get(type(value), f"the value {str(value)[:40]!r}")
        raise DataError(f'{_name(path)}, line {line}: expected an object like {{"input": …}}, found {found}')
    return value


def _unique_members(pairs: Sequence[tuple[str, Any]]) -> dict[str, Value]:
    values = {key: as_text(value) for key, value in pairs}
    if len(values) < len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for key in values if keys.count(key) > 1)
        raise ValueError(f"the key {repeated[:60]!r} appears twice in one object")
    return values


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number; use null for a missing value")


def _delimited(path: Path, delimiter: str) -> NumberedValues:
    csv.field_size_limit(LONGEST_CELL)
    reader = csv.reader(_split_at_cr(_lines(path)), delimiter=delimiter, strict=True)
    header: list[str] = []
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise DataError(
                f"{_name(path)}, line {line}: the record that starts here: {error}; see its quotes"
            ) from None
        if cells is None:
            return
        if not cells:
            continue
        if not header:
            header = _checked_header(cells, f"{_name(path)}, line {line}")
        elif len(cells) != len(header):
            raise DataError(
                f"{_name(path)}, line {line}: expected {len(header)} fields, found {len(cells)}; see its quotes"
            )
        else:
            yield line, {name: cell or None for name, cell in zip(header, cells, strict=True)}


def _split_at_cr(lines: Iterator[str]) -> Iterator[str]:
    """Split lines also after a CR without LF, as csv.reader requires."""
    for line in lines:
        yield from filter(None, LONE_CR.split(line)) if "\r" in line else (line,)


def _checked_header(names: Sequence[str], where: str) -> list[str]:
    for number, name in enumerate(names, 1):
        if not name.strip():
            raise DataError(f"{where}: column {number} of the header has no name; pandas writes such an index column")
        if names.index(name) + 1 < number:
            first = names.index(name) + 1
            raise DataError(f"{where}: the column name {name[:60]!r} appears twice, in columns {first} and {number}")
    return list(names)


def _parquet(path: Path) -> NumberedValues:
    row = 0
    try:
        with pq.ParquetFile(path) as file:
            _checked_header(file.schema_arrow.names, _name(path))
            for batch in file.iter_batches(PARQUET_BATCH):
                for row, values in enumerate(batch.to_pylist(), row + 1):  # noqa: B020 (counts on)
                    yield row, {name: as_text(value) for name, value in values.items()}
    except DataError:
        raise
    except (pa.ArrowException, OSError, OverflowError, ValueError) as error:
        problem = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise DataError(f"{_name(path)}, near row {max(row, 1)}: not readable as Parquet: {problem}") from None


def _lines(path: Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 file with their line ends, without a byte order mark."""
    read = 0
    with path.open("rb") as file:
        for line, raw in enumerate(file, 1):
            read += len(raw)
            try:
                yield (raw.removeprefix(BOM) if line == 1 else raw).decode()
            except UnicodeDecodeError as error:
                byte, offset = error.object[error.start], read - len(error.object) + error.start
                utf16 = line == 1 and raw[:2] in (b"\xff\xfe", b"\xfe\xff")
                raise DataError(
                    f"{_name(path)}, line {line}: byte 0x{byte:02x} at byte offset {offset} is not UTF-8; "
                    f"{_conversion_hint(path, is_utf16=utf16)}"
                ) from None


def _conversion_hint(path: Path, *, is_utf16: bool) -> str:
    guess, encoding = ("it looks like UTF-16", "utf-16") if is_utf16 else ("if it is a Western Windows file", "cp1252")
    target = f"{path.stem}-utf8{path.suffix}"
    decoded = f"Path({str(path)!r}).read_bytes().decode({encoding!r})"
    code = f"from pathlib import Path; Path({target!r}).write_bytes({decoded}.encode())"
    return f"save the file as UTF-8; {guess}, in Python:\n  {code}"


def _name(path: Path) -> str:
    """Return the path with / between its parts and bytes that are not UTF-8 escaped."""
    return os.fsencode(path.as_posix()).decode(errors="backslashreplace")


DECODER = json.JSONDecoder(
    parse_float=str, parse_int=str, parse_constant=_refuse_constant, object_pairs_hook=_unique_members
)
WHITE_SPACE = re.compile(r"[ \t\n\r]*")
LONE_CR = re.compile(r"(?<=\r)(?!\n)")
FORMATS: Mapping[str, Callable[[Path], NumberedValues]] = {
    ".jsonl": _json_lines,
    ".json": _json_list,
    ".csv": partial(_delimited, delimiter=","),
    ".tsv": partial(_delimited, delimiter="\t"),
    ".parquet": _parquet,
}
