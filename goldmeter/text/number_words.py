"""Numbers in words (English) and in Roman numerals: "two and a half million", "three quarters", XIV."""

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

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
_LETTERS = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


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
    values = [_LETTERS[letter] for letter in letters]
    return Fraction(sum(-a if a < b else a for a, b in pairwise([*values, 0])))
