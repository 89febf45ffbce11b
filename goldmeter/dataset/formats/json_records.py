"""JSON lines and JSON: a list of objects, or an object that holds one."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from goldmeter.dataset.formats.delimited import checked_header
from goldmeter.dataset.formats.text_lines import text_lines, whole_text
from goldmeter.dataset.record import Batch, Chunk, NumberedValues, blocks, file_name
from goldmeter.errors import DataError
from goldmeter.text.json_objects import unique_members

# Characters of the keys that an error message suggests as the place of the records.
LONGEST_KEY = 60
PLACES_LISTED = 5
# Levels of an object at which the list of records is looked for.
DEEPEST = 2


def json_lines(path: Path) -> Iterator[Chunk]:
    """Yield what reads the objects, one a line."""
    every = enumerate(text_lines(path), 1)
    lines = ((line, text) for line, text in every if text and (not text.isspace() or text.strip(" \t\r\n")))
    for block in blocks(lines, lambda item: len(item[1])):
        yield partial(_objects, path, block)


def _objects(path: Path, lines: Sequence[tuple[int, str]]) -> Batch:
    rows: list[dict[str, Any]] = []
    error = None
    try:
        rows.extend(_object(path, line, text) for line, text in lines)
    except DataError as problem:
        error = problem
    return Batch([file_name(path)] * len(rows), [line for line, _ in lines[: len(rows)]], rows, error)


def _object(path: Path, line: int, text: str) -> dict[str, Any]:
    try:
        value = decode_whole(text.rstrip(" \t\r\n"), DECODER)
    except json.JSONDecodeError as error:
        raise json_error(error, file_name(path), line) from None
    return value if type(value) is dict else _checked_object(value, path, line)


def json_list(path: Path) -> NumberedValues:
    """Yield line and values of each object of a list, which is the file or the only list of objects in an object.

    Or of each row of a table in pandas' orient "split", as MLflow saves them: {"columns": [...], "data": [[...], ...]}.
    """
    text = whole_text(path)
    line, counted = 1, 0
    try:
        start, header = _list_of_records(text, path)
        for position, value in _elements(text, start):
            line, counted = line + text.count("\n", counted, position), position
            is_row = header and isinstance(value, list) and len(value) == len(header)
            row = dict(zip(header, value, strict=True)) if is_row else value
            yield line, _checked_object(row, path, line)
    except json.JSONDecodeError as error:
        raise json_error(error, file_name(path), error.lineno) from None


def decode_whole(text: str, decoder: json.JSONDecoder) -> Any:
    """Return the only JSON value in a text.

    Raises:
        json.JSONDecodeError: It is none, or more text follows.
    """
    value, end = _decode(text, 0 if text[:1] == "{" else _skip_space(text, 0), decoder)
    if end < len(text):
        _require_end(text, end)
    return value


def _elements(text: str, position: int) -> Iterator[tuple[int, Any]]:
    """Yield the position and value of each element of the JSON list at `position`."""
    is_whole = position == _skip_space(text, 0)
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
    if is_whole:
        _require_end(text, position + 1)


def _list_of_records(text: str, path: Path) -> tuple[int, list[str]]:
    """Return the position of the list of records: the text's start, or in an object the only list of objects.

    Of a table, the position of its rows, and the names of its columns.

    Raises:
        DataError: An object holds no list of objects one or two levels down, or several.
    """
    start = _skip_space(text, 0)
    if text[start : start + 1] != "{":
        return start, []
    value, end = _decode(text, start)
    if _skip_space(text, end) < len(text):
        return start, []  # Several objects: `_elements` explains that one object a line is .jsonl.
    header, data = value.get("columns"), value.get("data")
    if isinstance(data, list) and isinstance(header, list) and header and all(isinstance(name, str) for name in header):
        return _member(text, start, "data"), checked_header(header, f"{file_name(path)}: columns")
    lists = list(_lists_of_objects(value))
    if len(lists) != 1:
        raise DataError(f"{file_name(path)}: an object, expected a list of objects{_places(lists, path)}")
    for key in lists[0]:
        start = _member(text, start, key)
    return start, []


def _lists_of_objects(value: Mapping[str, Any], level: int = 1) -> Iterator[tuple[str, ...]]:
    """Yield the keys that lead to each list of objects, at most two levels down."""
    for key, item in value.items():
        if isinstance(item, list) and item and all(isinstance(element, dict) for element in item):
            yield (key,)
        elif isinstance(item, dict) and level < DEEPEST:
            yield from ((key, *below) for below in _lists_of_objects(item, level + 1))


def _member(text: str, position: int, wanted: str) -> int:
    """Return the position of a member's value in the JSON object that starts at `position`."""
    key = None
    while key != wanted:
        key, end = _decode(text, _skip_space(text, position + 1))
        start = _skip_space(text, _skip_space(text, end) + 1)
        position = _skip_space(text, _decode(text, start)[1])
    return start


def _places(lists: Sequence[tuple[str, ...]], path: Path) -> str:
    """Return a hint at the places where the records may be."""
    short = [keys for keys in lists if sum(map(len, keys)) <= LONGEST_KEY]
    if not short:
        return ""
    names = [".".join(keys) for keys in short[:PLACES_LISTED]] + ["…"] * (len(short) > PLACES_LISTED)
    target = f"{path.stem}-records.json"
    place = "".join(f"[{key!r}]" for key in short[0])
    code = (
        f"import json; json.dump(json.load(open({str(path)!r}, encoding='utf-8')){place}, "
        f"open({target!r}, 'w', encoding='utf-8'))"
    )
    return f"; there are several, {', '.join(names)}; the first as a file, in Python:\n  {code}"


def _decode(text: str, position: int, decoder: json.JSONDecoder | None = None) -> tuple[Any, int]:
    """Return the JSON value that starts at `position`, and its end."""
    try:
        return (decoder or DECODER).raw_decode(text, position)
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


def json_error(error: json.JSONDecodeError, name: str, line: int) -> DataError:
    """Return the error for text of a file that is not JSON."""
    rest = error.doc[error.pos : error.pos + 30]
    found = f"found {rest!r}" if rest else "found the end"
    return DataError(f"{name}, line {line}, column {error.colno}: not JSON: {error.msg}; {found}")


def _checked_object(value: Any, path: Path, line: int) -> dict[str, Any]:
    if not isinstance(value, dict):
        found = {list: "a list", type(None): "null"}.get(type(value), f"the value {str(value)[:40]!r}")
        raise DataError(f'{file_name(path)}, line {line}: expected an object like {{"input": …}}, found {found}')
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number; use null for a missing value")


DECODER = json.JSONDecoder(
    parse_float=str, parse_int=str, parse_constant=_refuse_constant, object_pairs_hook=unique_members
)
WHITE_SPACE = re.compile(r"[ \t\n\r]*")
