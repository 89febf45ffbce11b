"""JSON lines and JSON: a list of objects, or an object that holds one."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

from tasks.dataset.formats.text_lines import text_lines
from tasks.dataset.record import NumberedValues, Value, as_text, file_name
from tasks.errors import DataError

# Characters of a key that an error message suggests as the place of the records.
LONGEST_KEY = 60


def json_lines(path: Path) -> NumberedValues:
    for line, whole in enumerate(text_lines(path), 1):
        text = whole.rstrip(" \t\r\n")
        if not text:
            continue
        try:
            value = decode_whole(text, DECODER)
        except json.JSONDecodeError as error:
            raise json_error(error, file_name(path), line) from None
        yield line, _checked_object(value, path, line)


def json_list(path: Path) -> NumberedValues:
    text = "".join(text_lines(path))
    line, counted = 1, 0
    try:
        _refuse_object(text, path)
        for position, value in _elements(text):
            line, counted = line + text.count("\n", counted, position), position
            yield line, _checked_object(value, path, line)
    except json.JSONDecodeError as error:
        raise json_error(error, file_name(path), error.lineno) from None


def decode_whole(text: str, decoder: json.JSONDecoder) -> Any:
    """Return the only JSON value in a text.

    Raises:
        json.JSONDecodeError: It is none, or more text follows.
    """
    value, end = _decode(text, _skip_space(text, 0), decoder)
    _require_end(text, end)
    return value


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
    raise DataError(f"{file_name(path)}: an object, expected a list of objects{hint}")


def _extraction_hint(path: Path, key: str) -> str:
    target = f"{path.stem}-records.json"
    code = (
        f"import json; json.dump(json.load(open({str(path)!r}, encoding='utf-8'))[{key!r}], "
        f"open({target!r}, 'w', encoding='utf-8'))"
    )
    return f"; the records seem to be under {key!r}; as a list, in Python:\n  {code}"


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


def _checked_object(value: Any, path: Path, line: int) -> dict[str, Value]:
    if not isinstance(value, dict):
        found = {list: "a list", type(None): "null"}.get(type(value), f"the value {str(value)[:40]!r}")
        raise DataError(f'{file_name(path)}, line {line}: expected an object like {{"input": …}}, found {found}')
    return value


def unique_members(pairs: Sequence[tuple[str, Any]]) -> dict[str, Value]:
    """Return the members of a JSON object as text.

    Raises:
        ValueError: A key appears twice.
    """
    values = {key: as_text(value) for key, value in pairs}
    if len(values) < len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for key in values if keys.count(key) > 1)
        raise ValueError(f"the key {repeated[:60]!r} appears twice in one object")
    return values


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number; use null for a missing value")


DECODER = json.JSONDecoder(
    parse_float=str, parse_int=str, parse_constant=_refuse_constant, object_pairs_hook=unique_members
)
WHITE_SPACE = re.compile(r"[ \t\n\r]*")
