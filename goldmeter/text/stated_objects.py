"""JSON objects that stand in a text, as models write them: in prose, in fences, or as Python prints them."""

import json
import re
from typing import Any, NamedTuple

from goldmeter.text.json_objects import unique_members

# Objects without an end that are looked into for further ones: each takes the time of the whole text.
MOST_OPEN = 5


class Stated(NamedTuple):
    """The objects of a text.

    objects: outermost ones, in order. broken: texts that begin like an object, and are none. is_cut: one of these does
    not end. is_whole: there is nothing beside one object.
    """

    objects: list[dict[str, Any]]
    broken: list[str]
    is_cut: bool = False
    is_whole: bool = False


def stated_objects(text: str) -> Stated:
    """Return the outermost JSON objects of a text. A name twice, NaN or Infinity make an object a broken one.

    >>> stated_objects("So: {'a': True}. Done.").objects
    [{'a': True}]
    """
    text = text.strip().removeprefix("\ufeff").strip()
    objects, broken, is_open, is_whole = list[dict[str, Any]](), list[str](), 0, False
    place = 0
    while begin := _BEGIN.search(text, place):
        start, end = begin.start(), _end(text, begin.start())
        found = None if end is None else _object(text[start:end])
        if found is None:
            broken.append(text[start:end])
        else:
            objects.append(found)
            is_whole = (start, end) == (0, len(text))
        is_open += end is None
        if is_open == MOST_OPEN:
            break
        place = end or start + 1
    return Stated(objects, broken, is_open > 0, is_whole)


def unquoted(text: str) -> str:
    """Return the text that a JSON string holds, if the whole text is one; else the text."""
    stripped = text.strip()
    if stripped[:1] == stripped[-1:] == '"':
        try:
            return str(json.loads(stripped))
        except ValueError:
            pass
    return text


def _end(text: str, start: int) -> int | None:
    """Return the position behind the brace that closes the one at `start`; None if it stays open."""
    depth = 0
    for token in _TOKEN.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(token[0], 0)
        if depth == 0:
            return token.end()
    return None


def _object(text: str) -> dict[str, Any] | None:
    for written in (text, _PYTHON.sub(_as_json, text)):
        try:
            value = _DECODER.decode(written)
        except (ValueError, RecursionError):
            continue
        return value if isinstance(value, dict) else None
    return None


def _as_json(token: re.Match[str]) -> str:
    """Return what Python prints as JSON has it."""
    if token["word"]:
        return _WORDS[token["word"]]
    if token["single"] is None:
        return token[0]
    return '"' + _ESCAPES.sub(_escaped, token["single"]) + '"'


def _escaped(character: re.Match[str]) -> str:
    return {"\\'": "'", '"': '\\"'}.get(character[0], character[0])


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")


_WORDS = {"True": "true", "False": "false", "None": "null"}
_BEGIN = re.compile(r"""\{(?=\s*[\\"'}\w])""")
_STRINGS = r""""(?:[^"\\]|\\.)*+"|'(?P<single>(?:[^'\\]|\\.)*+)'"""
_TOKEN = re.compile(rf"[{{}}]|{_STRINGS}", re.DOTALL)
_PYTHON = re.compile(rf"{_STRINGS}|\b(?P<word>True|False|None)\b", re.DOTALL)
_ESCAPES = re.compile(r'\\.|"', re.DOTALL)
# Models write line ends into strings.
_DECODER = json.JSONDecoder(object_pairs_hook=unique_members, parse_constant=_refuse, strict=False)
