"""Lists of strings in a text, as JSON, Python or numpy print them."""

import ast
import re
from contextlib import suppress

import orjson

from goldmeter.dataset.formats.json_records import DECODER
from goldmeter.dataset.paths import quoted
from goldmeter.dataset.record import TEXT_OR_NULL, Value
from goldmeter.dataset.texts import UnusableValueError

# A list of strings as Python and numpy print it, with its nulls and what numpy cut out, and its strings.
_STRING = r"""'(?:[^'\\\n]|\\.)*+'|"(?:[^"\\\n]|\\.)*+["]"""
_ITEM = rf"(?:{_STRING}|None|null|\.\.\.)"
_PRINTED_LIST = re.compile(rf"\[\s*+(?:{_ITEM}(?:\s*+,\s*+|\s++|(?=\s*+\])))*+\s*+\]")
_STRINGS = re.compile(_STRING)


def printed_list(text: str) -> Value:
    r"""Read a list of strings as Python, JSON or numpy print it, without its nulls; None for any other text.

    Raises:
        UnusableValueError: numpy left out a part of it.

    >>> printed_list("['a', 'b']"), printed_list("['a' 'b']"), printed_list("[sic]"), printed_list("['a'] or b")
    (['a', 'b'], ['a', 'b'], None, None)
    """
    bare = text.strip()
    if not bare.startswith("["):
        return None
    with suppress(ValueError):
        found = orjson.loads(bare)
        if set(map(type, found)) <= TEXT_OR_NULL and (not found or str in map(type, found)):
            return found  # type: ignore[no-any-return]  # texts and nulls, as was just seen
    return _python_list(bare) if _PRINTED_LIST.fullmatch(bare) else None


def _python_list(bare: str) -> Value:
    strings = _STRINGS.findall(bare)
    others = _STRINGS.sub("", bare)
    if not strings and others.strip("[] "):
        return None
    if "..." in others:
        raise UnusableValueError(f"{quoted(bare)}: a list of which a part was cut out when it was printed")
    with suppress(ValueError, RecursionError):  # of JSON, whose escapes are others than those of Python
        return list(DECODER.decode(bare))
    try:
        return [ast.literal_eval(string) for string in strings]
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
