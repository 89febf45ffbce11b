"""References that are an index, a letter or the text of one of the options that a column lists."""

import re
from collections.abc import Iterable
from string import ascii_uppercase
from typing import TypeAlias

from goldmeter.dataset.printed_lists import printed_list
from goldmeter.dataset.record import Value
from goldmeter.dataset.texts import UnusableValueError, texts

# What the first index is; None: the references are letters or texts, and digits are a text.
First: TypeAlias = int | None
_INDEX, _LETTER = re.compile(r"\d{1,2}(?:\.0)?"), re.compile(r"\(?([A-Za-z])[).:]?")


def option(value: Value, options: Value, first: First, column: str, max_chars: int) -> list[str]:
    """The letter and the text of the option that a reference means; the letter alone if the text is another's letter.

    Raises:
        UnusableValueError: It means none of them.

    >>> option("1", ["Rome", "Paris"], 0, "answer", 99), option("b", ["Rome", "Paris"], None, "answer", 99)
    (['B', 'Paris'], ['B', 'Paris'])
    """
    listed = options_of(options)
    given = value[0] if isinstance(value, list) and len(value) == 1 else value
    if given is None or (isinstance(given, str) and not given.strip()):
        return []
    place = place_of(given, listed, first)
    if place is None:
        how = "" if first is None else f", counted from {first} (dataset.choices_from)"
        raise UnusableValueError(f"{column}: {str(given)[:80]!r} is none of the {len(listed)} choices{how}")
    text = texts(listed[place], column, max_chars)
    is_letter = any(one.strip().upper() in {*ascii_uppercase[: len(listed)]} for one in text)
    return [ascii_uppercase[place], *([] if is_letter else text)]


def options_of(value: Value) -> list[str]:
    """The texts of a list, {text: list} or list of {text: …}, also as a text prints it; empty for anything else."""
    found = printed_list(value) if isinstance(value, str) else value
    listed = found.get("text") if isinstance(found, dict) else found
    items = listed if isinstance(listed, list) else []
    texts = [item.get("text") if isinstance(item, dict) else item for item in items]
    return [one for one in texts if isinstance(one, str)] if None not in texts else []


def place_of(value: Value, options: list[str], first: First) -> int | None:
    """The number of the option that is meant, from 0; None if there is no such one."""
    text = value.strip() if isinstance(value, str) else ""
    if first is not None and _INDEX.fullmatch(text):
        place = int(float(text)) - first
    elif text in (stripped := [one.strip() for one in options]):
        place = stripped.index(text)
    else:
        letter = _LETTER.fullmatch(text)
        place = ascii_uppercase.index(letter[1].upper()) if letter else -1
    return place if 0 <= place < min(len(options), len(ascii_uppercase)) else None


def first_index(references: Iterable[Value], choices: Iterable[Value]) -> tuple[First, str] | None:
    """What the first index is, and what shows it; None if the references are no options.

    >>> first_index(["1", "2"], [["Rome", "Paris"]] * 2), first_index(["2", "3"], [["a", "b", "c", "d"]] * 2)
    ((1, 'one is as large as the number of choices'), (0, ''))
    """
    pairs = [(one.strip(), options_of(listed)) for one, listed in zip(references, choices, strict=True)
             if isinstance(one, str) and one.strip()]  # fmt: skip

    def is_most(first: First) -> bool:
        return sum(place_of(*pair, first) is not None for pair in pairs) >= 0.95 * len(pairs)

    digits = [(int(float(text)), len(listed)) for text, listed in pairs if _INDEX.fullmatch(text)]
    if not pairs or is_most(None):
        return (None, "each is a letter or the text of a choice") if pairs else None
    if not digits:
        return None
    if any(number == 0 for number, _ in digits):
        return (0, "one is 0") if is_most(0) else None
    if any(number == length for number, length in digits):
        return (1, "one is as large as the number of choices") if is_most(1) else None
    return (0, "") if is_most(0) else None
