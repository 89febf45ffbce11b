"""Accepted answers that are a quantity: responses with the same one in another writing, or with another one."""

import re
from collections.abc import Iterator, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from goldmeter.models.offline.features import Integers, TextRows
from goldmeter.models.offline.vocabulary import LONGEST
from goldmeter.text.quantities import (
    CONVERTED,
    DATE_FORMS,
    SHARE,
    Asked,
    Found,
    Quantity,
    Tuple,
    Value,
    asked_for,
    close,
    is_part,
)
from goldmeter.text.quantity_reader import MAX_WHOLE, found_whole, values, whole

# Significant digits of a number that may be another one rounded.
_FEWEST_DIGITS = 3
# What the words of `vocabulary` do not read as a number, or only in part. Most texts have nothing of it.
_OTHER_SIGNS = re.compile(
    r"\d(?:\s?[/%^]|:\d|[eE][+-]?\d|\s?[×x*·]\s?10|(?:[kKMB]|\s?(?:bn|mn|tn))\b|\*\*|['’_\u00a0\u2009\u202f]\d|\s?[AaPp]\.?[Mm]\b)"
)
_OTHER_CHARACTERS = re.compile(r"[½¼¾⅐-⅞²³¹⁰-⁹±]|(?<!\d)\.\d")
_OTHER_WORDS = frozenset(
    {"half", "halves", "quarter", "quarters", "third", "thirds", "fourths", "fifths", "sixths", "eighths", "tenths"}
    | {"dozen", "dozens", "point", "past", "cent", "percent", "minus", "negative", "lakh", "crore", "clock"}
)
_WORD = re.compile(r"[a-z]+")
# Blanks of the longest text that may be nothing but a quantity and a few words around it.
_MOST_BLANKS = 8


class Compared(NamedTuple):
    """Rows that a look at quantities changes.

    Attributes:
        rewritten: The rows that state an accepted quantity in another writing.
        rows: These, with the quantity as the accepted answer writes it.
        conflicts: The rows that state another quantity: the response is nothing else, or has the accepted number with
            another unit or bound.
    """

    rewritten: Integers
    rows: TextRows
    conflicts: Integers


class _Accepted(NamedTuple):
    """An accepted answer that is a quantity, and the part of the text that states it."""

    value: Value
    written: str


def compared(
    rows: TextRows, has_number: NDArray[np.bool_], is_right: NDArray[np.bool_], is_exact: NDArray[np.bool_]
) -> Compared:
    """Compare the quantities of n rows, each independently of the others.

    Args:
        rows: The rows.
        has_number: Rows that are looked at: an accepted answer has a number; shape (n,).
        is_right: Verdicts without regard to the quantities; shape (n,). Only right rows are looked at for conflicts.
        is_exact: Rows that hold an accepted answer word by word; shape (n,). They are rewritten only if an accepted
            quantity has a unit or bound.
    """
    texts: dict[int, str] = {}
    conflicts: list[int] = []
    for i, accepted, is_all in _with_quantities(rows, has_number):
        if is_right[i] and not is_all:
            continue
        response = rows.response(i)[:LONGEST]
        if is_right[i]:
            is_like = any(map(_has_unit_or_bound, accepted)) or _may_be_whole(response, accepted)
        else:
            is_like = any(map(_has_more, accepted)) or (not is_exact[i] and _is_other_writing(response, accepted))
        if not is_like:
            continue
        found, asked = values(response), asked_for(rows.question(i))
        text = _in_their_writing(response, found, accepted, asked)
        if text is None:
            if is_right[i] and _is_other(response, found, accepted, asked):
                conflicts.append(i)
        elif text != response and not is_right[i]:
            texts[i] = text
    chosen = TextRows.of([*map(rows.question, texts)], [*map(rows.references_of, texts)], [*texts.values()])
    return Compared(np.array([*texts], np.int64), chosen, np.array(conflicts, np.int64))


def _with_quantities(rows: TextRows, wanted: NDArray[np.bool_]) -> Iterator[tuple[int, list["_Accepted"], bool]]:
    """Yield rows with their accepted answers that are quantities, and whether all are."""
    for i in np.flatnonzero(wanted).tolist():
        listed = [_accepted(text) if len(text) <= MAX_WHOLE else None for text in rows.references_of(i)]
        accepted = [one for one in listed if one is not None]
        if accepted:
            yield i, accepted, len(accepted) == len(listed)


@lru_cache(maxsize=1 << 14)
def _accepted(text: str) -> _Accepted | None:
    found = found_whole(text)
    return None if found is None else _Accepted(found.value, text[found.start : found.stop])


def _is_other_writing(response: str, accepted: Sequence[_Accepted]) -> bool:
    """Return whether a response or an accepted quantity has a writing that the words of `vocabulary` do not cover."""
    return any(
        _OTHER_SIGNS.search(text)
        or _OTHER_CHARACTERS.search(text)
        or not _OTHER_WORDS.isdisjoint(_WORD.findall(text.lower()))
        or (text.isalpha() and text.isupper())  # a Roman numeral
        for text in (response, *(one.written for one in accepted))
    )


def _may_be_whole(response: str, accepted: Sequence[_Accepted]) -> bool:
    """Return whether a response is short, and no accepted quantity as it is written."""
    return response.count(" ") <= _MOST_BLANKS and all(response.strip(" .") != one.written for one in accepted)


def _has_unit_or_bound(accepted: _Accepted) -> bool:
    """Return whether a quantity has a unit or bound that another one may contradict."""
    value = accepted.value
    return isinstance(value, Quantity) and bool(value.unit.dimension or value.bound)


def _has_more(accepted: _Accepted) -> bool:
    """Return whether a quantity is more than a number or date: with a unit, a bound or parts."""
    value = accepted.value
    return (isinstance(value, Tuple) and value.form not in DATE_FORMS) or _has_unit_or_bound(accepted)


def _in_their_writing(response: str, found: Sequence[Found], accepted: Sequence[_Accepted], asked: Asked) -> str | None:
    """Return the response with each accepted quantity as the accepted answer writes it; None if it has none."""
    pieces, last = [], 0
    for one in found:
        same = next((other.written for other in accepted if _is_same(one.value, other.value, asked)), None)
        if same is not None:
            pieces += [response[last : one.start], same]
            last = one.stop
    return "".join([*pieces, response[last:]]) if last else None


def _is_same(value: Value, expected: Value, asked: Asked) -> bool:
    """Return whether both are equal, and have units of one dimension or none; the model judges a missing unit."""
    units = {one.unit.dimension for one in (value, expected) if isinstance(one, Quantity)}
    if len(units) > 1 and SHARE not in units:
        return False
    return close(value, expected, asked=asked) or _is_converted(value, expected)


def _is_converted(value: Value, expected: Value) -> bool:
    """Return whether both are equal but for rounding in the conversion of a unit."""
    if not isinstance(value, Quantity) or not isinstance(expected, Quantity) or value.bound != expected.bound:
        return False
    is_measure = value.unit.dimension == expected.unit.dimension != SHARE
    return is_measure and value.unit.size != expected.unit.size and close(value, expected, CONVERTED)


def _is_other(response: str, found: Sequence[Found], accepted: Sequence[_Accepted], asked: Asked) -> bool:
    """Return whether a response states another quantity than the accepted ones, of which it has none."""
    if any(
        close(one.value, other.value, asked=asked)
        or is_part(one.value, other.value)
        or _is_near(one.value, other.value)
        for one in found
        for other in accepted
    ):
        return False
    if not found:  # COVID-19, 2^10
        return len(response.split()) == 1 and any(map(str.isdecimal, response))
    if len(found) == 1 and whole(response) is not None:
        return True
    return any(_has_other_meaning(one.value, other.value) for one in found for other in accepted)


def _is_near(value: Value, expected: Value) -> bool:
    """Return whether two quantities are equal but for rounding: in the conversion of units, or to 3 digits or more."""
    if not isinstance(value, Quantity) or not isinstance(expected, Quantity) or value.bound != expected.bound:
        return False
    if value.unit.size != expected.unit.size:
        return close(value, expected, CONVERTED)
    exact = [Decimal(one.number.numerator) / one.number.denominator for one in (value, expected)]
    digits = min(len(number.normalize().as_tuple().digits) for number in exact)
    short = Context(prec=max(digits, 1), rounding=ROUND_HALF_UP)
    return digits >= _FEWEST_DIGITS and short.plus(exact[0]) == short.plus(exact[1]) and value.unit == expected.unit


def _has_other_meaning(value: Value, expected: Value) -> bool:
    """Return whether two quantities have the same number, and units or bounds that contradict each other."""
    if not isinstance(value, Quantity) or not isinstance(expected, Quantity) or value.number != expected.number:
        return False
    units, bounds = {value.unit, expected.unit}, {value.bound, expected.bound}
    return (len(units) > 1 and all(unit.dimension for unit in units)) or (len(bounds) > 1 and "" not in bounds)
