"""The user's files, read record by record: JSON lines, JSON, CSV, TSV and Parquet.

Every value is text as it stands in the file, null, a list or an object: nothing is guessed, so 007 stays "007",
1.50 stays "1.50", true is "true" and NA is a word. An empty CSV cell is null. NUL characters are kept.
"""

import csv
import json
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from tasks.errors import DataError

Value: TypeAlias = "str | list[Value] | dict[str, Value] | None"
Rows: TypeAlias = Iterator[tuple[int, dict[str, Value]]]

LONGEST_CELL = 100_000_000
"""Characters; a CSV cell beyond is taken for a quote that was never closed."""
PARQUET_BATCH = 1_000
LONGEST_KEY = 60
"""Of a list of records, that a message shows."""
SHOWN = 10
BOM = b"\xef\xbb\xbf"


class Record(NamedTuple):
    """One record and its place: the line it starts on, counted from 1; in a Parquet file, the row."""

    file: str
    line: int
    values: dict[str, Value]


@dataclass(frozen=True)
class Records:
    """The records of some files, in order; can be iterated again and again, one record in memory at a time.

    A .json file is the exception: its text is held whole. Raises DataError for anything that can't be read.
    """

    files: tuple[Path, ...]

    def __iter__(self) -> Iterator[Record]:
        for path in self.files:
            yield from _read(path)


def records(path: str | Path, pattern: str | None = None) -> Records:
    """The records of a file, or of the files of a folder that match a glob pattern, sorted; hidden files never match.

    Raises DataError when there is no such file, or its format is unknown.
    """
    if "://" in str(path):
        raise DataError(f"{path}: fetch it first, by dvc import-url {path}, and name the local file in dataset.path")
    files = _files(Path(path), pattern)
    for each in files:
        if each.suffix.lower() not in FORMATS:
            raise DataError(f"{_name(each)}: unknown format {each.suffix!r}; allowed: {', '.join(FORMATS)}")
    return Records(tuple(files))


def as_text(value: Any) -> Value:
    """A value of a JSON or Parquet file with its numbers, booleans, dates and bytes as text; NaN is null."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        return [as_text(each) for each in value]
    if isinstance(value, dict):
        return {key: as_text(each) for key, each in value.items()}
    if isinstance(value, bool):
        return "true" if value else "false"
    return _other_text(value)


def _other_text(value: Any) -> str | None:
    if isinstance(value, float) and math.isnan(value):
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
        beside = [_name(each) for each in path.parent.iterdir()] if path.parent.is_dir() else []
        near = get_close_matches(_name(path), beside, n=3)
        raise DataError(f"{_name(path)}: no such file or folder; see dataset.path{_meant(near)}")
    return [path]


def _matching(folder: Path, pattern: str | None) -> list[Path]:
    if not pattern:
        raise DataError(f"{_name(folder)}: a folder; say which of its files in dataset.pattern, such as *.jsonl")
    try:
        files = sorted(path for path in folder.glob(pattern) if path.is_file() and path.name[0] != ".")
    except (NotImplementedError, ValueError) as error:
        raise DataError(f"dataset.pattern: {pattern!r} can't be used: {error}") from None
    if not files:
        there = sorted(_name(path.relative_to(folder)) for path in folder.iterdir())
        more = [f"and {len(there) - SHOWN} more"] if len(there) > SHOWN else []
        shown = f"it holds {', '.join(there[:SHOWN] + more)}" if there else "it is empty"
        raise DataError(f"{_name(folder)}: no file matches dataset.pattern {pattern!r}; {shown}")
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


def _json_lines(path: Path) -> Rows:
    for line, whole in enumerate(_lines(path), 1):
        text = whole.rstrip(" \t\r\n")
        if not text:
            continue
        try:
            value, end = _decode(text, _skip(text, 0))
            _end(text, end)
        except json.JSONDecodeError as error:
            raise _not_json(error, path, line) from None
        yield line, _object(value, path, line)


def _json_list(path: Path) -> Rows:
    text = "".join(_lines(path))
    line, counted = 1, 0
    try:
        _require_list(text, path)
        for place, value in _elements(text):
            line, counted = line + text.count("\n", counted, place), place
            yield line, _object(value, path, line)
    except json.JSONDecodeError as error:
        raise _not_json(error, path, error.lineno) from None


def _elements(text: str) -> Iterator[tuple[int, Any]]:
    """The elements of a JSON list and their places, one at a time."""
    place = _skip(text, 0)
    if place == len(text):
        return
    place = _after(text, place, "[", "expected a list of objects (one object a line is .jsonl)")
    more = text[place : place + 1] != "]"
    while more:
        value, end = _decode(text, place)
        yield place, value
        place = _skip(text, end)
        more = text[place : place + 1] != "]"
        if more:
            place = _after(text, place, ",", "expected ',' or ']'")
    _end(text, place + 1)


def _require_list(text: str, path: Path) -> None:
    """Raise DataError when the text is one object, and say where in it records seem to be."""
    start = _skip(text, 0)
    if text[start : start + 1] != "{":
        return
    value, end = _decode(text, start)
    if _skip(text, end) < len(text):
        return  # several: one object a line
    lists = [key for key, each in value.items() if isinstance(each, list) and each and isinstance(each[0], dict)]
    lists = [key for key in lists if len(key) <= LONGEST_KEY]
    raise DataError(f"{_name(path)}: an object, expected a list of objects{_below(path, lists[0]) if lists else ''}")


def _below(path: Path, key: str) -> str:
    target = f"{path.stem}-records.json"
    code = (
        f"import json; json.dump(json.load(open({str(path)!r}, encoding='utf-8'))[{key!r}], "
        f"open({target!r}, 'w', encoding='utf-8'))"
    )
    return f"; the records seem to be under {key!r}; as a list, in Python:\n  {code}"


def _decode(text: str, place: int) -> tuple[Any, int]:
    """The JSON value that starts at `place`, and where it ends."""
    try:
        return DECODER.raw_decode(text, place)
    except json.JSONDecodeError:
        raise
    except RecursionError:
        raise json.JSONDecodeError("nested too deep", text, place) from None
    except ValueError as error:
        raise json.JSONDecodeError(str(error), text, place) from None


def _skip(text: str, place: int) -> int:
    """The place of the next character that is no white space."""
    space = WHITE_SPACE.match(text, place)
    return space.end() if space else place


def _after(text: str, place: int, expected: str, problem: str) -> int:
    if text[place : place + 1] != expected:
        raise json.JSONDecodeError(problem, text, place)
    return _skip(text, place + 1)


def _end(text: str, place: int) -> None:
    place = _skip(text, place)
    if place < len(text):
        raise json.JSONDecodeError("more text after the end", text, place)


def _not_json(error: json.JSONDecodeError, path: Path, line: int) -> DataError:
    near = error.doc[error.pos : error.pos + 30]
    found = f"found {near!r}" if near else "found the end"
    return DataError(f"{_name(path)}, line {line}, column {error.colno}: not JSON: {error.msg}; {found}")


def _object(value: Any, path: Path, line: int) -> dict[str, Value]:
    if not isinstance(value, dict):
        found = {list: "a list", type(None): "null"}.get(type(value), f"the value {str(value)[:40]!r}")
        raise DataError(f'{_name(path)}, line {line}: expected an object like {{"input": …}}, found {found}')
    return value


def _members(pairs: Sequence[tuple[str, Any]]) -> dict[str, Value]:
    values = {key: as_text(value) for key, value in pairs}
    if len(values) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in values if keys.count(key) > 1)
        raise ValueError(f"the key {twice[:60]!r} stands twice in one object")
    return values


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number; use null for what is missing")


def _table(path: Path, delimiter: str) -> Rows:
    csv.field_size_limit(LONGEST_CELL)
    reader = csv.reader(_broken_at_cr(_lines(path)), delimiter=delimiter, strict=True)
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


def _broken_at_cr(lines: Iterator[str]) -> Iterator[str]:
    """The lines, broken also where a CR stands alone (as csv wants it)."""
    for line in lines:
        yield from filter(None, LONE_CR.split(line)) if "\r" in line else (line,)


def _checked_header(names: Sequence[str], where: str) -> list[str]:
    for number, name in enumerate(names, 1):
        if not name.strip():
            raise DataError(f"{where}: column {number} of the header has no name; pandas writes such an index column")
        if names.index(name) + 1 < number:
            first = names.index(name) + 1
            raise DataError(f"{where}: the column name {name[:60]!r} stands twice, in columns {first} and {number}")
    return list(names)


def _parquet(path: Path) -> Rows:
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
    """The lines of a UTF-8 file with their ends; a byte order mark is left out."""
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
                    f"{_as_utf8(path, is_utf16=utf16)}"
                ) from None


def _as_utf8(path: Path, *, is_utf16: bool) -> str:
    """How to save the file as UTF-8."""
    guess, encoding = ("it looks like UTF-16", "utf-16") if is_utf16 else ("if it is a Western Windows file", "cp1252")
    target = f"{path.stem}-utf8{path.suffix}"
    decoded = f"Path({str(path)!r}).read_bytes().decode({encoding!r})"
    code = f"from pathlib import Path; Path({target!r}).write_bytes({decoded}.encode())"
    return f"save the file as UTF-8; {guess}, in Python:\n  {code}"


def _name(path: Path) -> str:
    """The path as it was given, with / between its parts; bytes that are no text are escaped."""
    return os.fsencode(path.as_posix()).decode(errors="backslashreplace")


def _meant(near: Sequence[str]) -> str:
    return f"; did you mean {' or '.join(near)}?" if near else ""


DECODER = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=_no_constant, object_pairs_hook=_members)
WHITE_SPACE = re.compile(r"[ \t\n\r]*")
LONE_CR = re.compile(r"(?<=\r)(?!\n)")
FORMATS: Mapping[str, Callable[[Path], Rows]] = {
    ".jsonl": _json_lines,
    ".json": _json_list,
    ".csv": partial(_table, delimiter=","),
    ".tsv": partial(_table, delimiter="\t"),
    ".parquet": _parquet,
}
