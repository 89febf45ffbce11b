"""The head of a file, by which the tool that wrote it is recognised."""

import re
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

from tasks.dataset.formats.text_lines import BOM, head
from tasks.dataset.readers.log import DECODER, as_texts

# Bytes of a file that are looked at.
HEAD_BYTES = 1 << 16
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+|"')
CLOSING = {"{": "}", "[": "]"}


class Head(NamedTuple):
    """What the first bytes of a file hold.

    Attributes:
        file: The file's name.
        value: Its JSON value as far as it goes, or its first line's; None if it is no JSON.
        members: Names in a zip file.
    """

    file: str
    value: Any
    members: tuple[str, ...] = ()


def head_of(path: Path) -> Head | None:
    """Return the head of a file; None if it can't be read."""
    try:
        if zipfile.is_zipfile(path) and path.suffix.lower() != ".zip":
            with zipfile.ZipFile(path) as archive:
                return Head(path.name, None, tuple(archive.namelist()))
    except (OSError, ValueError, zipfile.BadZipFile):
        return None
    text = head(path, HEAD_BYTES).removeprefix(BOM).decode(errors="replace")
    return Head(path.name, begun_json(text))


def begun_json(text: str) -> Any:
    """Return the first JSON value of a text that may be cut off anywhere, without what is incomplete; numbers as text.

    >>> begun_json('{"a": [1, {"b": 2, "c')
    {'a': ['1', {'b': '2'}]}
    """
    end, closing = _last_complete(text)
    try:
        return as_texts(DECODER.raw_decode(text[:end].strip() + closing)[0])
    except (ValueError, RecursionError):
        return None


def _last_complete(text: str) -> tuple[int, str]:
    """Return the end of the last complete value in a JSON text, and the brackets open there, closed."""
    stack: list[str] = []
    best, in_key, previous = (0, ""), False, ""
    for match in TOKEN.finditer(text):
        sign = match[0]
        # A lone quote begins a text that is cut off.
        if sign == '"':
            return best
        if sign in "{[":
            stack.append(sign)
            in_key = sign == "{"
            best = (match.end(), _closed(stack))
        elif sign in "}]":
            if not stack or CLOSING[stack.pop()] != sign:
                return best
            in_key = False
            best = (match.end(), _closed(stack))
            if not stack:
                return best
        elif sign == ",":
            in_key = bool(stack) and stack[-1] == "{"
        elif sign == ":":
            in_key = False
        elif not in_key and previous and previous in ":[,":
            best = (match.end(), _closed(stack))
        previous = sign
    return best


def _closed(stack: list[str]) -> str:
    return "".join(CLOSING[bracket] for bracket in reversed(stack))
