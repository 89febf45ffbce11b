"""Numbers in figures, read exactly: 1,234.5 is 2469/2."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
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


# Words of one number; a longer run of number words is no number.
MAX_WORDS = 40
_ONES = (  # noqa: SIM905
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_ORDINALS = (  # noqa: SIM905
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()  # noqa: SIM905
SCALES: Mapping[str, int] = {
    "hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12,
    "quadrillion": 10**15, "lakh": 10**5, "crore": 10**7, "dozen": 12,
}  # fmt: skip
_SMALL = {word: n for n, word in enumerate(_ONES)} | {word: 10 * n for n, word in enumerate(_TENS, 2)} | {"fourty": 40}
_LAST = (
    {word: n for n, word in enumerate(_ORDINALS)}
    | {f"{word[:-1]}ieth": 10 * n for n, word in enumerate(_TENS, 2)}
    | {f"{word}th": value for word, value in SCALES.items() if value not in {12, 10**5, 10**7}}
)
# Denominators; "second" is a unit.
_PARTS = {word: n for word, n in _LAST.items() if n > 2} | {"half": 2, "halve": 2, "quarter": 4}  # noqa: PLR2004
_SIGNS = frozenset({"minus", "negative"})
_JOINED = frozenset({"and", "a", "an", "point", "of", *_SIGNS})
_WORDS = frozenset({*_SMALL, *_LAST, *SCALES, *_PARTS, *(f"{word}s" for word in (*SCALES, *_PARTS))})
_WORD = re.compile(r"(?<![^\W_])[A-Za-z]+(?![^\W_])")
_GAP = re.compile(r"\s{1,3}|-")
_AFTER_NAME = re.compile(r"[^\W_]-$")
_CAPITALS = re.compile(r"(?<![^\W_])[IVXLCDM]{2,}(?![^\W_])")
# "one" that counts nothing: no one, the one, one of them.
_PRONOUN = re.compile(r"\b(?:no|any|every|some|each|this|that|the|which|another|other)[\s-]$", re.IGNORECASE)
_NO_COUNT = re.compile(r"\s(?:of|another|who|that|day|can|could|may|might|should|must|would|is|was)\b|['’]s\b")
_ROMAN = re.compile(r"(?<![\w.'’-])(?=[IVX]{2})X{0,3}(?:IX|IV|V?I{0,3})(?![\w'’-])")
_WHOLE_ROMAN = re.compile(r"\W*(?=[IVXLCDM]{2})(M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3}))\W*")
_OF_WORDS = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


class Spelt(NamedTuple):
    """A number in words and its place; `ordinal`: it is one such as third, which may also count nothing."""

    value: Fraction
    start: int
    stop: int
    ordinal: bool = False


def spelt(text: str) -> list[Spelt]:
    """Return the numbers of a text that are written in words or as Roman numerals.

    >>> [str(number.value) for number in spelt("Two and a half million, three quarters, World War II")]
    ['2500000', '3/4', '2']
    """
    if not has_number_word(text):
        return []
    found = [number for run in _runs(text) for number in _numbers(run, text)]
    if whole := _WHOLE_ROMAN.fullmatch(text):
        return [Spelt(_roman(whole[1]), *whole.span(1))]
    found += [Spelt(_roman(match[0]), *match.span()) for match in _ROMAN.finditer(text)]
    return sorted(found, key=lambda number: number.start)


def is_roman(text: str) -> bool:
    """Return whether a text is one Roman numeral of two letters or more."""
    return _WHOLE_ROMAN.fullmatch(text) is not None


def has_number_word(text: str) -> bool:
    """Return whether a text may hold a number in words; cheaper than `spelt`."""
    return not _WORDS.isdisjoint(_WORD.findall(text.lower())) or bool(_CAPITALS.search(text))


class _Word(NamedTuple):
    word: str
    start: int
    stop: int


def _runs(text: str) -> Iterator[list[_Word]]:
    """Yield the sequences of words that may be of one number."""
    run: list[_Word] = []
    for match in _WORD.finditer(text):
        word = match[0].lower()
        if word not in _WORDS and word not in _JOINED:
            continue
        follows = run and _GAP.fullmatch(text, run[-1].stop, match.start())
        if not follows and _AFTER_NAME.search(text, max(0, match.start() - 2), match.start()):
            continue
        if run and not follows:
            yield run
            run = []
        run.append(_Word(word, *match.span()))
    if run:
        yield run


def _numbers(run: Sequence[_Word], text: str) -> Iterator[Spelt]:
    words = [word for word, *_ in run]
    if len(words) > MAX_WORDS or _WORDS.isdisjoint(words):
        return
    i = 0
    while i < len(words):
        value, after = _number(words, i)
        if value is None or (words[i] == "second" and i):  # "one second": a unit
            i += 1
            continue
        start, stop = run[i].start, run[after - 1].stop
        if after - i > 1 or words[i] != "one" or _counts(text, start, stop):
            yield Spelt(value, start, stop, ordinal=words[after - 1] in _LAST and value.denominator == 1)
        i = after


def _counts(text: str, start: int, stop: int) -> bool:
    return not _PRONOUN.search(text, max(0, start - 10), start) and not _NO_COUNT.match(text, stop)


def _number(words: Sequence[str], i: int) -> tuple[Fraction | None, int]:
    """Return the number that begins with word i, and the index after it; None if none does."""
    if words[i] in _SIGNS and i + 1 < len(words):
        value, after = _number(words, i + 1)
        return (None if value is None else -value), after
    value, after = _with_part(words, i)
    if value is None:
        return None, i + 1
    while after < len(words) and (scale := _scale(words, after)):
        value, after = value * scale[0], scale[1]
    return value, after


def _scale(words: Sequence[str], i: int) -> tuple[int, int] | None:
    """Return the scale at word i, "a" or "of a" before it, and the index after it."""
    k = i + (words[i] == "of" and i + 1 < len(words))
    k += words[k] in {"a", "an"} and k + 1 < len(words)
    scale = SCALES.get(words[k].removesuffix("s"))
    return (scale, k + 1) if scale else None


def _with_part(words: Sequence[str], i: int) -> tuple[Fraction | None, int]:
    """Return a cardinal, a fraction, or both: "two", "two thirds", "two and a half", "two point five"."""
    if part := _part(words, i):
        return part
    whole, after = _cardinal(words, i)
    if whole is None:
        return None, i + 1
    value = Fraction(whole)
    if words[after : after + 1] == ["point"]:
        digits: list[str] = []
        while after + 1 + len(digits) < len(words) and _SMALL.get(words[after + 1 + len(digits)], 10) < 10:  # noqa: PLR2004
            digits.append(str(_SMALL[words[after + 1 + len(digits)]]))
        if digits:
            return value + Fraction(int("".join(digits)), 10 ** len(digits)), after + 1 + len(digits)
    if words[after : after + 1] == ["and"] and after + 1 < len(words) and (part := _part(words, after + 1)):
        return value + part[0], part[1]
    return value, after


def _part(words: Sequence[str], i: int) -> tuple[Fraction, int] | None:
    """Return the fraction below or above one that begins with word i: "half", "a third", "three quarters"."""
    if words[i] == "half":
        return Fraction(1, 2), i + 1
    top, after = (1, i + 1) if words[i] in {"a", "an"} else _cardinal(words, i, ordinals=False)
    if top is None or after >= len(words):
        return None
    word = words[after]
    plural = word == "halves" or (word.endswith("s") and word[:-1] in _PARTS)
    below = _PARTS.get("half" if word == "halves" else word[:-1] if plural else word)
    if below is None or (not plural and top != 1):
        return None
    return Fraction(top, below), after + 1


def _cardinal(words: Sequence[str], i: int, *, ordinals: bool = True) -> tuple[int | None, int]:
    """Return the whole number that begins with word i, an ordinal at its end included, and the index after it."""
    total, current, last, k = 0, -1, 0, i
    if words[k] in {"a", "an"} and k + 1 < len(words) and words[k + 1] in SCALES:
        current, k = 1, k + 1
    while k < len(words):
        word = words[k]
        joined = word == "and" and last >= 100 and k + 1 < len(words)  # noqa: PLR2004
        word = words[k + 1] if joined else word
        value = _SMALL.get(word)
        is_last = value is None and ordinals and word in _LAST
        value = _LAST[word] if is_last and _LAST[word] < 100 else value  # noqa: PLR2004
        scale = SCALES.get(word if not is_last else word.removesuffix("th")) or SCALES.get(word.removesuffix("s"))
        if value is not None and (current < 0 or _joins(last, value, current)):
            year = current > 0 and last < 100 and not (last >= 20 and value < 10)  # noqa: PLR2004  # nineteen eighty
            current, last = (100 * current if year else max(current, 0)) + value, value
        elif scale and value is None and (current > 0 or is_last) and not (scale < 1000 <= last):  # noqa: PLR2004
            if scale == 100:  # noqa: PLR2004
                current *= 100
            else:
                total, current = total + max(current, 1) * scale, 0
            last = scale
        else:
            break
        k += 1 + joined
        if is_last:
            break
    return (None, i + 1) if current < 0 else (total + current, k)


def _joins(last: int, value: int, current: int) -> bool:
    """Return whether a word continues a number: forty two, a hundred two, nineteen eighty, twenty ten."""
    if last >= 100:  # noqa: PLR2004
        return True
    if last >= 20:  # noqa: PLR2004
        return value < 10 or current == 20  # noqa: PLR2004
    return last >= 10 and value >= 10 and value % 10 == 0  # noqa: PLR2004


def _roman(letters: str) -> Fraction:
    values = [_OF_WORDS[letter] for letter in letters]
    return Fraction(sum(-a if a < b else a for a, b in pairwise([*values, 0])))
