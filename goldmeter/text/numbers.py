"""Numbers in figures, read exactly: 1,234.5 is 2469/2."""

import re
import unicodedata
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Literal, NamedTuple

# Longer numbers and larger exponents are not read: exact arithmetic on them takes long.
MAX_DIGITS, MAX_EXPONENT = 1000, 1000
# How far before a sign the bracket is looked for.
MAX_BRACKETED = 500
CURRENCIES = "$€£¥₹₩"


class Number(NamedTuple):
    """A number and its place in the text."""

    value: Fraction
    start: int
    stop: int


def in_figures(text: str, *, decimal: Literal[".", ","] = ".", thousands: bool = True) -> list[Number]:
    """Return the numbers of a text that are written in figures, with their signs, exponents and currency signs before.

    Args:
        text: The text.
        decimal: Decimal separator.
        thousands: Groups of digits may be separated by the other of comma and point, by ' or _ or a narrow space.

    >>> [str(number.value) for number in in_figures("In 2 of 3 years $-1,234.50, that is 1½ or 1e-1")]
    ['2', '3', '-2469/2', '3/2', '1/10']
    """
    written, text = text, as_ascii(text)
    numbers: list[Number] = []
    for match in _pattern(decimal, thousands).finditer(text):
        if match["raised"]:  # cm^2; and 2^10 is not 2
            if numbers and not text[numbers[-1].stop : match.start()].strip():
                numbers.pop()
            continue
        plain = match[0].isdecimal() and len(match[0]) <= MAX_DIGITS  # most are
        value = Fraction(int(match[0])) if plain else _value(match.groupdict())
        start, stop = match.span()
        if value is not None and match["apart_sign"] and not _is_sign(written, start):
            value, start = abs(value), match.end("apart_sign")
        if value is not None:
            numbers.append(Number(value, start, stop))
    return numbers


def as_ascii(text: str) -> str:
    """Return the text with signs, separators and percent signs of other scripts as those of ASCII, place by place."""
    return text.translate(_AS_ASCII)


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


def _value(part: Mapping[str, str | None]) -> Fraction | None:
    """Return the number that the named groups of a match state; None if it has a denominator of 0 or is too long."""
    value = _magnitude(part)
    exponent = _exponent(part)
    if value is None or exponent is None:
        return None
    if exponent:
        value *= Fraction(10) ** exponent
    return -value if "-" in {part["sign"], part["apart_sign"], part["minus"]} else value


def _magnitude(part: Mapping[str, str | None]) -> Fraction | None:
    """Return the number without sign and exponent."""
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
def _pattern(decimal: Literal[".", ","], thousands: bool) -> re.Pattern[str]:  # noqa: FBT001 (for the cache)
    point, comma = (r"\.", ",") if decimal == "." else (",", r"\.")
    apart = rf"[{comma}'’_\u00a0\u2009\u202f]"
    grouped = rf"\d{{1,3}}(?P<apart>{apart})(?:\d{{2,3}}(?P=apart))*\d{{3}}(?!\d)|" if thousands else ""
    by_blanks = r"(?<!\d )[1-9]\d{0,2}(?: \d{3})+(?! ?\d|[,.]\d)|" if thousands else ""
    raised = r"(?:\s?(?:\^|\*\*)\s?\{?[+-]?\d+\}?|[⁺⁻]?[⁰¹²³⁴-⁹]+)"
    vulgar = rf"(?P<with_vulgar>\d{{1,9}})?\s?(?P<vulgar>[{_VULGAR}])"
    fraction = (
        rf"(?<!\d/)(?:(?P<mixed>\d{{1,3}})\s)?(?P<numerator>\d{{1,99}})\s?/\s?(?P<denominator>\d{{1,99}})"
        rf"(?![\d/]|{point}\d)"
    )
    exponent = rf"(?:[eE](?P<exponent>[+-]?\d+)|\s?[×x*·⋅]\s?10(?P<times>{raised}))?"
    sign = (
        rf"(?:(?P<sign>(?<![)\]}}])(?<!\d[%°'’\"”{CURRENCIES}])(?<!\d\s[%€])[-+])"
        rf"|(?:(?<=[{_BEFORE_SIGN}])|(?<=[{_BEFORE_SIGN}][{_SPACE}]))(?P<apart_sign>[-+])[{_SPACE}])?"
    )
    return re.compile(
        rf"(?=[-+^_*{CURRENCIES}\d{point}{_VULGAR}])(?:(?P<raised>{_EXPONENT})|"
        rf"(?<![\d_{_LETTERS}])(?<!\d{point}){sign}(?:[{CURRENCIES}]\s?(?P<minus>(?<!\d\s€)-)?)?"
        rf"(?:10(?P<power>{raised})|{fraction}|{vulgar}|(?P<whole>{by_blanks}{grouped}\d+)(?:{point}(?P<decimals>\d+))?"
        rf"|{point}(?P<bare>\d+)){exponent})"
    )


_AS_ASCII = str.maketrans("\u2212\u2013\uff0d\uff0e\uff0c\uff05\u2044\u066b\u066c", "---.,%/.,")
_RAISED = str.maketrans("⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "+-0123456789")
# Letters with case: Latin, Greek, Cyrillic. A digit after one, as in H2O, begins no number.
_LETTERS = "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0370-\u03ff\u0400-\u052f"
_VULGAR = "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
# Characters after which a sign and a space may belong to the number; elsewhere it is a dash.
_BEFORE_SIGN = r"=(\[{:,;"
# Brackets that are open, without a word in them.
_OPEN_BRACKET = re.compile(r"[(\[{](?:[^()\[\]{}\w]|\d)*$")
_SPACE = r" \u00a0\u2009\u202f"
# Exponents and indices, as in cm^2, s^{-1}, x**2 and log_{10}; the asterisks of **42** are none.
_RAISED_NUMBER = r"\s?(?:\{(?=[^{}]{0,99}\d)[^{}]{0,99}\}|\((?=[^()]{0,99}\d)[^()]{0,99}\)|[-+]?\d+(?:[./]\d+)*)"
_EXPONENT = rf"\^{_RAISED_NUMBER}|(?:(?<=[\d)])|(?<=\b[a-zA-Z]))\*\*(?!\s){_RAISED_NUMBER}|_\{{[^{{}}]{{0,99}}\}}"
