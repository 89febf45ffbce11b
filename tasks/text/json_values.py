"""JSON values of texts: parsed strictly, with numbers as Decimal, from the whole text or from a fenced block."""

import json
import re
from decimal import Decimal, InvalidOperation
from itertools import chain
from typing import Any, NamedTuple

from tasks.text.json_objects import unique_members
from tasks.text.numbers import MAX_DIGITS, MAX_EXPONENT

MAX_DEPTH = 100
FENCE = "```"
BOM = "\ufeff"


class Parsed(NamedTuple):
    """A JSON value, its numbers as Decimal; or the problem why a text is no JSON."""

    value: Any
    problem: str | None = None


def parsed(text: str) -> Parsed:
    """Parse a text; if the whole is no JSON, the last of its fenced blocks that is.

    A byte order mark before the value is no part of it. Repeated keys, NaN and Infinity, nesting deeper than
    MAX_DEPTH and huge numbers are no JSON here.

    >>> parsed('```json\\n{"total": 1.50}\\n```').value
    {'total': Decimal('1.50')}
    """
    whole = _parsed(text)
    if not whole.problem:
        return whole
    blocks, cut, widest = _blocks(text)
    last = _parsed(blocks[-1]) if blocks else whole
    tried = chain(map(_parsed, cut), [last], map(_parsed, [*reversed(blocks[:-1]), *widest]))
    return next((one for one in tried if not one.problem), last)


def _parsed(text: str) -> Parsed:
    try:
        value = _DECODER.decode(text.strip().removeprefix(BOM).strip())
        if text.count("[") + text.count("{") > MAX_DEPTH:
            _check_depth(value, MAX_DEPTH)
    except RecursionError:
        return Parsed(None, _TOO_DEEP)
    except ValueError as error:
        return Parsed(None, f"no JSON: {error}")
    return Parsed(value)


class _Blocks(NamedTuple):
    """What is between fences, without the name of the language.

    closed: in the order of the text. cut: the last one, if it ends with the text. widest: from the first fence anywhere
    to the last one.
    """

    closed: list[str]
    cut: list[str]
    widest: list[str]


def _blocks(text: str) -> _Blocks:
    """Return the fenced blocks of a text.

    A fence is at the start of a line, or behind a closing one; a closing one may end its line. Within a JSON string no
    fence is at either, because a string is on one line.
    """
    found = _Blocks([], [], [])
    opening = _OPENING.search(text)
    while opening:
        closing = _CLOSING.search(text, opening.end())
        block = text[opening.end() : closing.start() if closing else len(text)]
        (found.closed if closing else found.cut).append(_bare(block))
        opening = closing and (_ON_THE_LINE.match(text, closing.end()) or _OPENING.search(text, closing.end()))
    first, last = text.find(FENCE), text.rfind(FENCE)
    if first < last:
        found.widest.append(_bare(text[first + len(FENCE) : last]))
    return found


def _bare(block: str) -> str:
    return _LANGUAGE.sub("", block, count=1)


def _check_depth(value: Any, left: int) -> None:
    if left == 0:
        raise RecursionError
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check_depth(inner, left - 1)


def _integer(text: str) -> Decimal:
    if len(text) > MAX_DIGITS:
        raise ValueError("a number is too large")
    return Decimal(text)


def _number(text: str) -> Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation:  # an exponent that Decimal has no room for
        raise ValueError("a number is too large") from None
    if len(text) > MAX_DIGITS or abs(number.adjusted()) > MAX_EXPONENT:
        raise ValueError("a number is too large")
    return number


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


_TOO_DEEP = f"no JSON: nested deeper than {MAX_DEPTH}"
_OPENING = re.compile(rf"^(?:[^\S\n]|{BOM})*{FENCE}", re.MULTILINE)
_CLOSING = re.compile(rf"^[^\S\n]*{FENCE}|{FENCE}[^\S\n]*$", re.MULTILINE)
_ON_THE_LINE = re.compile(rf"[^\n]*?{FENCE}")
_LANGUAGE = re.compile(r"\s*(?:json\w*)?\s*", re.IGNORECASE)
_DECODER = json.JSONDecoder(
    object_pairs_hook=unique_members, parse_int=_integer, parse_float=_number, parse_constant=_constant
)
