"""Numbers, tuples of numbers and dates in a text, read exactly: 1,234.5 is 2469/2."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from fractions import Fraction
from functools import lru_cache
from typing import Literal, NamedTuple

# Longer numbers and larger exponents are not read: exact arithmetic on them takes long.
MAX_DIGITS, MAX_EXPONENT = 1000, 1000
# How far before a sign the bracket is looked for.
MAX_BRACKETED = 500
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


class Tuple(NamedTuple):
    """Numbers in brackets: (2, 4) is not [2, 4]."""

    brackets: str
    numbers: tuple[Fraction, ...]


Value = Fraction | Tuple | date


class Found(NamedTuple):
    """A value and its place in the text."""

    value: Value
    start: int
    stop: int


class Reading(NamedTuple):
    """How numbers are read.

    Attributes:
        decimal: Decimal separator.
        thousands: Groups of digits may be separated by the other of comma and point, by ' or _ or a narrow space.
        scientific: 1.5e3, 1.5 × 10^3 and 10^3 are numbers.
        fractions: 3/4, 1 1/2 and ½ are numbers.
        percent: 5 % is 1/20, or 5.
        units: Units after a number, with the factor of each; other units are no part of the number.
        dates: Dates are values; order of day and month in 3/4/2025.
    """

    decimal: Literal[".", ","] = "."
    thousands: bool = True
    scientific: bool = True
    fractions: bool = True
    percent: Literal["hundredth", "ignore"] = "hundredth"
    units: tuple[tuple[str, Fraction], ...] = ()
    dates: Literal["dmy", "mdy"] | None = None


class Tolerance(NamedTuple):
    """Largest difference of close numbers: the larger of `absolute`, and `relative` times the expected number."""

    relative: Fraction = Fraction(0)
    absolute: Fraction = Fraction(0)


def values(text: str, reading: Reading = Reading()) -> list[Found]:  # noqa: B008 (immutable)
    """Return the values of a text, in its order.

    >>> [str(found.value) for found in values("In 2 of 3 years $-1,234.50, that is 5%")]
    ['2', '3', '-2469/2', '1/20']
    """
    written, text = text, text.translate(_AS_ASCII)
    dates = [*_dates(text, reading.dates)] if reading.dates else []
    for found in dates:
        text = f"{text[: found.start]}{' ' * (found.stop - found.start)}{text[found.stop :]}"
    numbers = _with_tuples(text, _numbers(text, reading, written))
    return sorted([*dates, *numbers], key=lambda found: found.start) if dates else numbers


def close(value: Value, expected: Value, tolerance: Tolerance) -> bool:
    """Return whether a value is the expected one, or a number that differs from it by at most the tolerance.

    >>> close(Fraction(11, 10), Fraction(1), Tolerance(relative=Fraction("0.1")))
    True
    """
    if value == expected:
        return True
    if isinstance(value, Fraction) and isinstance(expected, Fraction):
        limit = max(tolerance.absolute, tolerance.relative * abs(expected)) if any(tolerance) else 0
        return abs(value - expected) <= limit
    if isinstance(value, Tuple) and isinstance(expected, Tuple):
        same_form = (value.brackets, len(value.numbers)) == (expected.brackets, len(expected.numbers))
        pairs = zip(value.numbers, expected.numbers, strict=False)
        return same_form and all(close(one, other, tolerance) for one, other in pairs)
    return False


def _numbers(text: str, reading: Reading, written: str) -> list[tuple[Fraction, int, int]]:
    """Return the numbers with their places; written: the text with its dashes as they are."""
    factors = dict(reading.units)
    numbers: list[tuple[Fraction, int, int]] = []
    for match in _pattern(reading).finditer(text):
        if match["raised"]:  # cm^2; and 2^10 is not 2
            if numbers and not text[numbers[-1][2] : match.start()].strip():
                numbers.pop()
            continue
        plain = match[0].isdecimal() and len(match[0]) <= MAX_DIGITS  # most are
        value = Fraction(int(match[0])) if plain else _value(match.groupdict(), reading.percent, factors)
        start, stop = match.span()
        if value is not None and match["apart_sign"] and not _is_sign(written, start):
            value, start = abs(value), match.end("apart_sign")
        if value is not None:
            numbers.append((value, start, stop))
    return numbers


def _is_sign(text: str, place: int) -> bool:
    """Whether a dash that stands apart from the number behind it is its sign.

    After a comma or semicolon it is one in brackets without words, behind another number (1, - 2), and without a space
    before it. An en dash is one in such brackets, and behind = and an opening bracket.
    """
    before = text[max(0, place - MAX_BRACKETED) : place].rstrip()
    if before.endswith(tuple("=([{")) or _OPEN_BRACKET.search(before):
        return True
    if text[place] == "\u2013":
        return False
    return not text[place - 1].isspace() or before.endswith(":") or before[:-1].rstrip()[-1:].isdigit()


def _value(part: Mapping[str, str | None], percent: str, factors: Mapping[str, Fraction]) -> Fraction | None:
    """Return the number that the named groups of a match state; None if it has a denominator of 0 or is too long."""
    value = _magnitude(part)
    exponent = _exponent(part)
    if value is None or exponent is None:
        return None
    if exponent:
        value *= Fraction(10) ** exponent
    if part["percent"] and percent == "hundredth":
        value /= 100
    if unit := part["unit"]:
        value *= factors[unit]
    return -value if "-" in {part["sign"], part["apart_sign"], part["minus"]} else value


def _magnitude(part: Mapping[str, str | None]) -> Fraction | None:
    """Return the number without sign, exponent, percent and unit."""
    if part["power"]:
        return Fraction(1)
    if (denominator := part["denominator"]) is not None:
        terms = _whole(part["mixed"]), _whole(part["numerator"]), _whole(denominator)
        return terms[0] + terms[1] / terms[2] if terms[2] else None
    if character := part["vulgar"]:
        of_one = Fraction(unicodedata.numeric(character)).limit_denominator(1000)
        return _whole(part["with_vulgar"]) + of_one
    decimals = part["decimals"] or part["bare"] or ""
    digits = "".join(filter(str.isdigit, part["whole"] or "")) + decimals
    return Fraction(int(digits), 10 ** len(decimals)) if len(digits) <= MAX_DIGITS else None


def _whole(digits: str | None) -> Fraction:
    return Fraction(int(digits or 0))


def _exponent(part: Mapping[str, str | None]) -> int | None:
    text = (part["exponent"] or part["times"] or part["power"] or "0").translate(_RAISED)
    exponent = int(text.strip("^*{} ")) if len(text) <= MAX_DIGITS else MAX_EXPONENT + 1
    return exponent if abs(exponent) <= MAX_EXPONENT else None


@lru_cache
def _pattern(reading: Reading) -> re.Pattern[str]:
    point, comma = (r"\.", ",") if reading.decimal == "." else (",", r"\.")
    apart = rf"[{comma}'’_\u00a0\u2009\u202f]"
    grouped = rf"\d{{1,3}}(?P<apart>{apart})(?:\d{{2,3}}(?P=apart))*\d{{3}}(?!\d)|" if reading.thousands else ""
    raised = r"(?:\s?(?:\^|\*\*)\s?\{?[+-]?\d+\}?|[⁺⁻]?[⁰¹²³⁴-⁹]+)"
    power = rf"10(?P<power>{raised})|" if reading.scientific else "(?P<power>(?!))|"
    vulgar = rf"(?P<with_vulgar>\d{{1,9}})?\s?(?P<vulgar>[{_VULGAR}])|" if reading.fractions else "(?P<vulgar>(?!))|"
    fraction = (
        rf"(?<!\d/)(?:(?P<mixed>\d{{1,3}})\s)?(?P<numerator>\d{{1,99}})\s?/\s?(?P<denominator>\d{{1,99}})(?![\d/]|{point}\d)|"
        if reading.fractions
        else "(?P<denominator>(?!))|"
    )
    times = rf"\s?[×x*·⋅]\s?10(?P<times>{raised})"
    exponent = rf"(?:[eE](?P<exponent>[+-]?\d+)|{times})?" if reading.scientific else "(?P<exponent>(?P<times>(?!)))?"
    names = "|".join(re.escape(unit) for unit, _ in sorted(reading.units, key=lambda unit: -len(unit[0])))
    unit = rf"\s?(?P<unit>{names})(?![^\W\d_])" if names else "(?P<unit>(?!))"
    sign = (
        rf"(?:(?P<sign>(?<![)\]}}])(?<!\d[%°'’\"”{_CURRENCIES}])(?<!\d\s[%€])[-+])"
        rf"|(?:(?<=[{_BEFORE_SIGN}])|(?<=[{_BEFORE_SIGN}][{_SPACE}]))(?P<apart_sign>[-+])[{_SPACE}])?"
    )
    return re.compile(
        rf"(?=[-+^_*{_CURRENCIES}\d{point}{_VULGAR}])(?:(?P<raised>{_EXPONENT})|"
        rf"(?<![\d_{_LETTERS}])(?<!\d{point}){sign}(?:[{_CURRENCIES}]\s?(?P<minus>(?<!\d\s€)-)?)?"
        rf"(?:{power}{fraction}{vulgar}(?P<whole>{grouped}\d+)(?:{point}(?P<decimals>\d+))?|{point}(?P<bare>\d+))"
        rf"{exponent}(?:(?P<percent>\s?%|\sper\s?cent\b)|{unit})?)"
    )


def _with_tuples(text: str, numbers: Sequence[tuple[Fraction, int, int]]) -> list[Found]:
    """Return the numbers; those in brackets, separated by commas or semicolons only, are one tuple."""
    found: list[Found] = []
    first = 0
    while first < len(numbers):
        last = _last_of_tuple(text, numbers, first)
        start, stop = numbers[first][1], numbers[last][2]
        if last == first:
            found.append(Found(*numbers[first]))
        else:
            while text[start] not in "([":
                start -= 1
            while text[stop - 1] not in ")]":
                stop += 1
            brackets = text[start] + text[stop - 1]
            found.append(Found(Tuple(brackets, tuple(number for number, *_ in numbers[first : last + 1])), start, stop))
        first = last + 1
    return found


def _last_of_tuple(text: str, numbers: Sequence[tuple[Fraction, int, int]], first: int) -> int:
    """Return the last number of the tuple that begins with `first`; itself if none does."""
    before = numbers[first][1] - 1
    while before >= 0 and text[before].isspace():
        before -= 1
    if before < 0 or text[before] not in "([":
        return first
    last = first
    while last + 1 < len(numbers) and text[numbers[last][2] : numbers[last + 1][1]].strip() in {",", ";"}:
        last += 1
    return last if _CLOSING.match(text, numbers[last][2]) else first


def _dates(text: str, order: Literal["dmy", "mdy"]) -> Iterator[Found]:
    for match in _DATE.finditer(text):
        parts = {name: value for name, value in match.groupdict().items() if value}
        kind = str(match.lastgroup)[-1]
        day, month, year = (parts[f"{name}{kind}"] for name in ("day", "month", "year"))
        if kind == "4" and order == "mdy":
            day, month = month, day
        number = MONTHS.index(month[:3].lower()) + 1 if month.isalpha() else int(month)
        with suppress(ValueError):  # no such day
            yield Found(date(int(year), number, int(day)), *match.span())


_AS_ASCII = str.maketrans("\u2212\u2013\uff0d\uff0e\uff0c\uff05\u2044\u066b\u066c", "---.,%/.,")
_RAISED = str.maketrans("⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "+-0123456789")
# Letters with case: Latin, Greek, Cyrillic. A digit after one, as in H2O, begins no number.
_LETTERS = "A-Za-z\u00c0-\u024f\u0370-\u03ff\u0400-\u052f"
_VULGAR = "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
# Characters after which a sign and a space may belong to the number; elsewhere it is a dash.
_BEFORE_SIGN = r"=(\[{:,;"
# Brackets that are open, without a word in them.
_OPEN_BRACKET = re.compile(r"[(\[{](?:[^()\[\]{}\w]|\d)*$")
_SPACE = r" \u00a0\u2009\u202f"
_CURRENCIES = "$€£¥₹₩"
_CLOSING = re.compile(r"\s*[)\]]")
# Exponents and indices, as in cm^2, s^{-1}, x**2 and log_{10}; the asterisks of **42** are none.
_RAISED_NUMBER = r"\s?(?:\{(?=[^{}]{0,99}\d)[^{}]{0,99}\}|\((?=[^()]{0,99}\d)[^()]{0,99}\)|[-+]?\d+(?:[./]\d+)*)"
_EXPONENT = rf"\^{_RAISED_NUMBER}|(?:(?<=[\d)])|(?<=\b[a-zA-Z]))\*\*(?!\s){_RAISED_NUMBER}|_\{{[^{{}}]{{0,99}}\}}"
_MONTH = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?)"
)
_TIME = r"(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
_DATE = re.compile(
    r"(?<!\d)(?:(?P<year1>\d{4})(?P<apart1>[-/])(?P<month1>\d{1,2})(?P=apart1)(?P<day1>\d{1,2})"
    rf"{_TIME}(?P<kind1>)"
    rf"|(?<![^\W\d_])(?P<month2>{_MONTH})\.?\s(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?,?\s(?P<year2>\d{{4}})(?P<kind2>)"
    rf"|(?P<day3>\d{{1,2}})(?:st|nd|rd|th)?\s(?:of\s)?(?P<month3>{_MONTH})\.?,?\s(?P<year3>\d{{4}})(?P<kind3>)"
    r"|(?P<day4>\d{1,2})(?P<apart>[/.])(?P<month4>\d{1,2})(?P=apart)(?P<year4>\d{4})(?P<kind4>))(?!\d)",
    re.IGNORECASE,
)
