"""JSON values of texts: parsed strictly, with numbers as Decimal, from the whole text or from its last fenced block."""

import json
import re
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from tasks.text.numbers import MAX_DIGITS, MAX_EXPONENT

MAX_DEPTH = 100
FENCE = "```"


class Parsed(NamedTuple):
    """A JSON value, its numbers as Decimal; or the problem why a text is no JSON."""

    value: Any
    problem: str | None = None


def parsed(text: str) -> Parsed:
    """Parse a text, or its last fenced block if the whole is no JSON.

    Repeated keys, NaN and Infinity, nesting deeper than MAX_DEPTH and huge numbers are no JSON here.

    >>> parsed('```json\\n{"total": 1.50}\\n```').value
    {'total': Decimal('1.50')}
    """
    block = _last_block(text)
    whole = _parsed(text)
    return whole if block is None or whole.problem is None else _parsed(block)


def _parsed(text: str) -> Parsed:
    try:
        value = _DECODER.decode(text.strip())
        if text.count("[") + text.count("{") > MAX_DEPTH:
            _check_depth(value, MAX_DEPTH)
    except RecursionError:
        return Parsed(None, _TOO_DEEP)
    except ValueError as error:
        return Parsed(None, f"no JSON: {error}")
    return Parsed(value)


def _last_block(text: str) -> str | None:
    """Return what is between the last two fences that belong together, without the name of its language."""
    parts = text.split(FENCE)
    blocks = parts[1 : len(parts) - 1 : 2]
    return _LANGUAGE.sub("", blocks[-1], count=1) if blocks else None


def _check_depth(value: Any, left: int) -> None:
    if left == 0:
        raise RecursionError
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check_depth(inner, left - 1)


def _number(text: str) -> Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation:  # an exponent that Decimal has no room for
        raise ValueError("a number is too large") from None
    if len(text) > MAX_DIGITS or abs(number.adjusted()) > MAX_EXPONENT:
        raise ValueError("a number is too large")
    return number


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in members if names.count(name) > 1)
        raise ValueError(f"key {repeated!r} is repeated")
    return members


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


_TOO_DEEP = f"no JSON: nested deeper than {MAX_DEPTH}"
_LANGUAGE = re.compile(r"\s*(?:json\w*)?\s*", re.IGNORECASE)
_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_int=_number, parse_float=_number, parse_constant=_constant)
