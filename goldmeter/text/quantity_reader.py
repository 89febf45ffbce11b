"""Quantities of a text, each read whole or not at all: 5 thousand is not 5, and 12:00 holds no 0."""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from goldmeter.text.dates import moments
from goldmeter.text.numbers import CURRENCIES, MAX_DIGITS, SCALES, as_ascii, has_number_word, in_figures, spelt
from goldmeter.text.quantities import (
    DECADE,
    NO_UNIT,
    SHARE,
    Bound,
    Found,
    Quantity,
    Reading,
    Tuple,
    Unit,
    Value,
    unit,
    unit_at,
)

# Characters before a number in which its bound or currency is looked for.
MAX_BEFORE, LONGEST_CURRENCY = 32, 6
DEFAULT = Reading()
ONE = Fraction(1)


def values(text: str, reading: Reading = DEFAULT) -> list[Found]:
    """Return the quantities of a text, in its order.

    >>> [found.value.number for found in values("At least 5 thousand of them, that is 5%")]
    [Fraction(5000, 1), Fraction(1, 20)]
    """
    if text.isdecimal() and len(text) <= MAX_DIGITS:  # most references that are a number
        return [Found(Quantity(Fraction(int(text))), 0, len(text))]
    plain = as_ascii(text)
    fixed = [*_moments(plain, reading)]
    free = _blanked(text, fixed)
    fixed += _versions(free, reading)
    free = _blanked(free, fixed)
    figures = in_figures(free, decimal=reading.decimal, thousands=reading.thousands)
    atoms = [_Atom(number.value, number.start, number.stop) for number in figures]
    atoms += [_Atom(number.value, number.start, number.stop, in_words=True) for number in spelt(free)]
    elements = [*map(_Element, fixed), *_complete(plain, sorted(atoms, key=lambda atom: atom.start), reading)]
    return _with_brackets(plain, [*_joined(text, plain, sorted(elements, key=lambda element: element.found.start))])


def stated(text: str, reading: Reading = DEFAULT) -> list[Found]:
    """Return the quantities of a text; those in words only if none has figures.

    >>> [str(found.value.number) for found in stated("2 of the three")], len(stated("two or three"))
    (['2'], 2)
    """
    found = values(text, reading)
    return [one for one in found if not one.in_words] or found


def whole(text: str, reading: Reading = DEFAULT) -> Value | None:
    """Return the quantity that is all of a text, as `found_whole` does."""
    found = found_whole(text, reading)
    return None if found is None else found.value


def found_whole(text: str, reading: Reading = DEFAULT) -> Found | None:
    """Return the quantity that a text states beside punctuation and at most two words; None if it states another thing.

    >>> [found_whole(text) is not None for text in ("about 206 bones.", "Apollo 11", "2 of 3")]
    [True, False, False]
    """
    if len(text) > MAX_WHOLE or not (_HAS_DIGIT.search(text) or has_number_word(text)):
        return None
    found = values(text, reading)
    if len(found) != 1:
        return None
    start, stop = found[0].start, found[0].stop
    is_alone = _BEFORE_WHOLE.fullmatch(text[:start]) and _AFTER_WHOLE.fullmatch(text[stop:])
    return found[0] if is_alone else None


class _Atom(NamedTuple):
    """A bare number."""

    value: Fraction
    start: int
    stop: int
    in_words: bool = False


class _Element(NamedTuple):
    """A value, and the magnitude word that its number was multiplied by."""

    found: Found
    scale: Fraction = ONE


def _moments(text: str, reading: Reading) -> Iterator[Found]:
    for moment in moments(text, reading.dates):
        parts = moment.value
        value = parts if isinstance(parts, date) else _tuple(moment.kind, parts)
        yield Found(value, moment.start, moment.stop)


def _versions(text: str, reading: Reading) -> list[Found]:
    """Return version numbers, addresses and sizes: 3.5.2, 4x6; not 1.234.567 where the point separates thousands."""
    found = [Found(_tuple("×", map(int, match[0].split("x"))), *match.span()) for match in _SIZE.finditer(text)]
    versions = _VERSION.finditer(as_ascii(text))
    return found + [
        Found(_tuple(".", map(int, match[0].split("."))), *match.span())
        for match in versions
        if reading.decimal == "." or not _THOUSANDS.fullmatch(match[0])
    ]


def _tuple(form: str, numbers: Iterable[int]) -> Tuple:
    return Tuple(form, tuple(Quantity(Fraction(number)) for number in numbers))


def _blanked(text: str, found: Sequence[Found]) -> str:
    """Return the text with blanks in place of the values."""
    pieces, last = [], 0
    for one in sorted(found, key=lambda one: one.start):
        pieces += [text[last : one.start], " " * (one.stop - one.start)]
        last = one.stop
    return "".join([*pieces, text[last:]]) if found else text


def _complete(text: str, atoms: Sequence[_Atom], reading: Reading) -> Iterator[_Element]:
    """Yield the atoms with their magnitude, unit, currency and bound."""
    end = 0
    for atom in atoms:
        if atom.start < end:
            continue
        number, start, stop, in_words = atom
        scale, stop = _scale(text, atom)
        number, stop = number if scale is ONE else number * scale, _ORDINAL.match(text, stop).end()  # type: ignore[union-attr]  # may be empty
        unit_written = NO_UNIT
        if factor := _factor(text, stop, reading):
            number, stop = number * factor[0], factor[1]
        else:
            number, unit_written, stop = _with_unit(text, number, (start, stop), reading)
        if money := _CURRENCY.search(text, max(end, start - LONGEST_CURRENCY), _first_digit(text, start)):
            start = min(start, money.start())
            unit_written = unit_written if unit_written.dimension else unit(money["sign"] or money["code"]) or NO_UNIT
        bound, start, stop = _bound(text, start, stop)
        yield _Element(Found(Quantity(number, unit_written, bound), start, stop, in_words), scale)
        end = stop


def _first_digit(text: str, start: int) -> int:
    while start < len(text) and not text[start].isalnum():
        start += 1
    return start


def _scale(text: str, atom: _Atom) -> tuple[Fraction, int]:
    """Return the product of the magnitude words behind a number, and the place after them."""
    scale, stop = ONE, atom.stop
    if atom.in_words:
        return scale, stop
    if letter := _LETTER_SCALE.match(text, stop):
        name, money = letter[1] or letter[2], text[max(0, atom.start - 1) : atom.start + 2]
        if name in {"k", "K", "M", "bn", "mn", "tn"} or any(sign in money for sign in CURRENCIES):
            return Fraction(_LETTERS[name.lower()]), letter.end()
    while match := _MAGNITUDE.match(text, stop):
        scale, stop = scale * SCALES[match[1].lower()], match.end()
    return scale, stop


def _factor(text: str, stop: int, reading: Reading) -> tuple[Fraction, int] | None:
    """Return the factor of a unit of the options behind a number, and the place after it."""
    if not reading.units:
        return None
    match = _pattern_of(tuple(name for name, _ in reading.units)).match(text, stop)
    return (dict(reading.units)[match[1]], match.end()) if match else None


@lru_cache
def _pattern_of(names: tuple[str, ...]) -> re.Pattern[str]:
    listed = "|".join(re.escape(name) for name in sorted(names, key=lambda name: -len(name)))
    return re.compile(rf"\s?({listed})(?![^\W\d_])")


def _with_unit(
    text: str, number: Fraction, place: tuple[int, int], reading: Reading
) -> tuple[Fraction, Unit, int]:  # fmt: skip
    """Return the number with its unit, and the place after both."""
    start, stop = place
    if (decade := _DECADE.match(text, stop)) and number % 10 == 0:
        is_year = number >= 1000 or _THE.search(text, max(0, start - 4), start)  # noqa: PLR2004
        if is_year:
            return number, Unit(DECADE, Fraction(1)), decade.end()
    if feet := _FEET.match(text, stop):
        return number + Fraction(feet[1]) / 12, unit("foot") or NO_UNIT, feet.end()
    written = unit_at(text, stop)
    if written is None:
        return number, NO_UNIT, stop
    if written.unit.dimension != SHARE:
        return number, *written
    if reading.percent == "ignore":
        return number, NO_UNIT, written.stop
    return number * written.unit.size, written.unit, written.stop


def _bound(text: str, start: int, stop: int) -> tuple[Bound, int, int]:
    """Return the bound that stands beside a number, and the place of both."""
    if after := _BOUND_AFTER.match(text, stop):
        return ("≥" if after["least"] else "≤"), start, after.end()
    is_likely = text[max(0, start - MAX_BEFORE) : start].rstrip().lower().endswith(_BOUND_ENDS)
    if not is_likely or not (before := _BOUND_BEFORE.search(text, max(0, start - MAX_BEFORE), start)):
        return "", start, stop
    if before["sign"] and _TAG.search(text, max(0, start - MAX_BEFORE), before.end()):
        return "", start, stop
    kinds: tuple[Bound, ...] = ("≥", "≤", ">", "<")
    kind = next(kind for kind, name in zip(kinds, ("least", "most", "more", "less"), strict=True) if before[name])
    return kind, before.start(), stop


def _joined(text: str, plain: str, elements: Sequence[_Element]) -> Iterator[Found]:
    """Yield the values; those that a sign joins, as in 3-2, 1:3, 5 ± 1, 6 feet 2 inches, are one."""
    i = 0
    while i < len(elements):
        run, signs = [elements[i]], []
        while i + len(run) < len(elements):
            following = elements[i + len(run)]
            sign = _sign_between(text, plain, run[-1].found, following.found)
            if not sign:
                break
            run.append(following)
            signs.append(sign)
        i += len(run)
        first, last = run[0].found, run[-1].found
        if len(run) == 1:
            if not _IN_NAME.search(plain, max(0, first.start - 2), first.start):
                yield first
        else:
            in_words = all(element.found.in_words for element in run)
            yield Found(_compound(run, signs), first.start, last.stop, in_words)


def _sign_between(text: str, plain: str, one: Found, other: Found) -> str:
    """Return the sign that joins two values; "" for none."""
    between, written = plain[one.stop : other.start], text[one.stop : other.start]
    if len(between) > MAX_BEFORE:
        return ""
    if _GLUED.fullmatch(between) and not (between == "+" and plain[other.start] == "-"):
        return between
    word = " ".join(between.lower().split())
    both = isinstance(one.value, Quantity) and isinstance(other.value, Quantity)
    below_zero = isinstance(other.value, Quantity) and other.value.number < 0
    sign = ""
    if word in {"±", "+-", "+/-", "plus or minus"} or (below_zero and word in {"+", "+/"}):
        sign = "±"
    elif (
        written.strip() in {"–", "—"}
        or (both and word == "to")
        or (word == "and" and _BETWEEN.search(plain, max(0, one.start - MAX_BEFORE), one.start))
    ):
        sign = "-"
    elif both and word in {"and", "", ","}:
        sign = "and" if _continues(one.value, other, word) else ""
    elif both and word == "past":
        sign = "past"
    return sign


def _continues(one: Value, other: Found, word: str) -> bool:
    """Return whether two quantities are one: 6 feet 2 inches, 5 and a half."""
    following = other.value
    if not isinstance(one, Quantity) or not isinstance(following, Quantity):
        return False
    if word == "and" and other.in_words and not one.unit.dimension and one.number.denominator == 1:
        return 0 < following.number < 1
    same = one.unit.dimension == following.unit.dimension and one.unit.dimension in {"m", "kg", "s"}
    return same and 0 < following.size < one.unit.size


def _compound(run: Sequence[_Element], signs: Sequence[str]) -> Value:
    """Return the one value of several that signs join."""
    parts = [element.found.value for element in run]
    if {*signs} == {"and"}:
        total, *others = (part for part in parts if isinstance(part, Quantity))
        more = sum((part.size / (total.unit.size if total.unit.dimension else 1) for part in others), Fraction(0))
        return total._replace(number=total.number + more, unit=total.unit if total.unit.dimension else others[-1].unit)
    if signs == ["past"] and isinstance(parts[0], Quantity) and isinstance(parts[1], Quantity):
        minutes = parts[0].number * (60 if parts[0].number < 1 else 1)
        return Tuple(":", (Quantity(parts[1].number), Quantity(minutes)))
    if len(parts) == 2 and {*signs} <= {"-", "±"}:  # noqa: PLR2004
        last = parts[1]
        if signs == ["±"] and isinstance(last, Quantity):
            last = last._replace(number=abs(last.number))
        parts = [_like(run[0], run[1]), _in_century(parts[0], last)]
    return Tuple(signs[0] if len({*signs}) == 1 else "".join(signs), tuple(parts))


def _in_century(first: Value, last: Value) -> Value:
    """Return the end of a range of years in full: 1979–80."""
    if not isinstance(first, Quantity) or not isinstance(last, Quantity) or first.unit.dimension or last.unit.dimension:
        return last
    year, end = first.number, last.number
    is_short = 1000 <= year <= 2100 and year % 100 < end < 100 and year.denominator == end.denominator == 1  # noqa: PLR2004
    return last._replace(number=year - year % 100 + end) if is_short else last


def _like(one: _Element, other: _Element) -> Value:
    """Return a value with the magnitude and unit of the other, if it has none: 5 to 10 million, 5–10 %."""
    value, model = one.found.value, other.found.value
    if not isinstance(value, Quantity) or not isinstance(model, Quantity) or value.unit.dimension:
        return value
    share = model.unit.size if model.unit.dimension == SHARE else 1
    return value._replace(number=value.number * (other.scale if one.scale == 1 else 1) * share, unit=model.unit)


def _with_brackets(text: str, found: Sequence[Found]) -> list[Found]:
    """Return the values; those in brackets, separated by commas or semicolons only, are one tuple."""
    values_left: list[Found] = []
    first = 0
    while first < len(found):
        last, start, stop = _bracketed(text, found, first)
        parts = [part for one in found[first : last + 1] for part in _listed(one.value)]
        if start < found[first].start and len(parts) > 1:
            in_words = all(one.in_words for one in found[first : last + 1])
            values_left.append(Found(Tuple(text[start] + text[stop - 1], tuple(parts)), start, stop, in_words))
        else:
            last = first
            values_left.append(found[first])
        first = last + 1
    return values_left


def _listed(value: Value) -> tuple[Value, ...]:
    return value.parts if isinstance(value, Tuple) and value.form == "," else (value,)


def _bracketed(text: str, found: Sequence[Found], first: int) -> tuple[int, int, int]:
    """Return the last value in the brackets around `first`, and their places; itself and its own if there are none."""
    last, start = first, found[first].start
    opening = len(text[:start].rstrip()) - 1 if text[start - 1 : start].isspace() else start - 1
    if opening < 0 or text[opening] not in "([":
        return first, start, start
    while last + 1 < len(found) and text[found[last].stop : found[last + 1].start].strip() in {",", ";"}:
        last += 1
    closing = _CLOSING.match(text, found[last].stop)
    return (last, opening, closing.end()) if closing else (first, start, start)


# Characters of the longest text that may be nothing but a quantity.
MAX_WHOLE = 120
_HAS_DIGIT = re.compile(r"[\d\u00bc-\u00be\u2150-\u215e]")
_VERSION = re.compile(r"(?<![\w.])\d{1,99}(?:\.\d{1,99}){2,}(?!\w|\.\d)")
_SIZE = re.compile(r"(?<![\w.,])\d{1,99}(?:x\d{1,99})+(?![\w^⁺⁻⁰¹²³⁴-⁹]|[.,]\d|\*\*)")
_THOUSANDS = re.compile(r"\d{1,3}(?:\.\d{3})+")
_MAGNITUDE = re.compile(rf"[\s-]?({'|'.join(SCALES)})s?(?![^\W_])", re.IGNORECASE)
_LETTERS = {"k": 10**3, "m": 10**6, "mn": 10**6, "b": 10**9, "bn": 10**9, "t": 10**12, "tn": 10**12}
_LETTER_SCALE = re.compile(r"(?:(?<=\d)([kKmMbBT])|\s?(bn|mn|tn))(?![^\W_])")
_ORDINAL = re.compile(r"(?:(?<=\d)(?:st|nd|rd|th)(?![^\W_]))?")
_DECADE = re.compile(r"['’]?s(?![^\W_])")
_THE = re.compile(r"(?:\bthe\s|['’])$", re.IGNORECASE)
_FEET = re.compile(r"\s?['′]\s?(\d{1,2}(?:\.\d{1,9})?)\s?(?:[\"″]|''|in\b)")
_CURRENCY = re.compile(rf"(?:(?:US)?(?P<sign>[{CURRENCIES}])|\b(?P<code>USD|EUR|GBP|JPY|INR))\s?[-+]?$")
_BOUND_AFTER = re.compile(
    r"(?P<least>\+(?!\s?[\w(+/-])|\s(?:or|and)\s(?:more|above|over|higher|greater|up|older|longer)\b|\sat least\b)"
    r"|\s(?:or|and)\s(?:less|fewer|below|under|lower|younger|shorter)\b|\sat most\b",
    re.IGNORECASE,
)
_BOUND_ENDS = (*"<>=≤≥⩽⩾", "than", "least", "most", "up to", "over", "above", "under", "below", "exceed", "exceeds")
_BOUND_ENDS += ("exceeding", "minimum", "maximum", "minimum of", "maximum of")
_BOUND_BEFORE = re.compile(
    r"(?:(?P<least>≥|⩾|(?<![<>=!-])>=|\b(?:at least|(?:no|not) (?:less|fewer) than|(?:a )?minimum(?: of)?))"
    r"|(?P<most>≤|⩽|(?<![<>=!-])<=|\b(?:at most|up to|(?:no|not) (?:more|greater|higher) than|(?:a )?maximum(?: of)?))"
    r"|(?P<more>(?P<sign>(?<![<>=\n-])>)"
    r"|\b(?<!\d )(?:(?:more|greater|higher|larger|longer|older) than|over|above|exceed(?:s|ing)?))"
    r"|(?P<less>(?<![<>=-])<|\b(?<!\d )(?:(?:less|fewer|lower|smaller|shorter|younger) than|under|below)))\s?$",
    re.IGNORECASE,
)
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,30}>\s?$")
_GLUED = re.compile(r"[-,:/.+*×x·]")
_BETWEEN = re.compile(r"\bbetween\s$", re.IGNORECASE)
_IN_NAME = re.compile(r"[^\W\d_]-$")
_CLOSING = re.compile(r"\s*[)\]]")
_HEDGED = (
    "about|approximately|approx|around|roughly|circa|ca|c|nearly|almost|exactly|only|just|in|on|at|by|the|an?"
    "|from|between|it|its|it['’]s|that|this|there|they|he|she|is|are|was|were|final|answer|result|total|value|so"
)
_BEFORE_WHOLE = re.compile(rf"[\W_]*(?:(?:{_HEDGED})\b[\W_]*){{0,4}}", re.IGNORECASE)
_AFTER_WHOLE = re.compile(r"[\W_]*(?:[a-z]{2,}[\W_]*){0,2}")
