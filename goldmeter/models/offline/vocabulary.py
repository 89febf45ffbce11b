"""Texts as numbered words, folded to the form that is compared, with the properties of each word."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from goldmeter.models.offline import lexicon

# Characters of a text that are read; the rest is ignored.
LONGEST = 20_000

# Thousands by blanks, as in "33 000", only where no other digit stands beside them.
_BY_BLANKS = r"(?<!\d)(?<!\d[ ,.])[1-9]\d{0,2}(?: \d{3})+(?! ?\d|[,.]\d)"
_NUMBER = rf"(?:(?<![^\s(])[-−])?(?:{_BY_BLANKS}|\d+)(?:,\d{{3}})*(?:\.\d+)?(?:st|nd|rd|th|s)?"
_REST = r"[.!?\n。！？,、/;:()\[\]&%|]"
_ASCII = re.compile(rf"[A-Z]\.(?: ?[A-Z]\.)+|[A-Za-z]+(?:'[A-Za-z]+)*|{_NUMBER}|{_REST}")
_DATE = re.compile(
    r"(?<![\w./-])(?:(?P<y>[12]\d{3})-(?P<m>\d\d)-(?P<d>\d\d)|(\d{1,2})([./-])(\d{1,2})\5([12]\d{3}))(?![\w/-]|\.\d)",
    re.ASCII,
)
_MAY_BE_DATE = re.compile(r"[0-9][-./][0-9]")
_LETTER = r"(?:[^\W\d_]|[\u064b-\u065f\u0900-\u0eff])"
_UNICODE = re.compile(rf"[A-Z]\.(?: ?[A-Z]\.)+|{_LETTER}+(?:'{_LETTER}+)*|{_NUMBER}|{_REST}")
_MONTHS_A_YEAR, _DAYS_A_MONTH = 12, 31
_ACCENTS = re.compile(r"[\u0300-\u036f]+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_QUOTES = str.maketrans("’‘ʼ＇‐‑–—•", "''''----|")
_INFLECTION = re.compile(r"(?<=...)(?:ies|ing|es|ed|s|y|e)\Z", re.DOTALL)
_ROMAN = re.compile(r"(?=[IVXL]{2})(?:X[LX]|L?X{0,3})(?:IX|IV|V?I{0,3})\Z")
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50}


class Words(NamedTuple):
    """Texts as word numbers, and the properties of each distinct word; w words of t types.

    Attributes:
        ids: int32; text i is `ids[offsets[i]:offsets[i + 1]]`.
        offsets: int64.
        raw: The w words as written.
        types: Shape (w,), int32, equal for words that compare equal.
        flags: Shape (w,), int32, classes of the lexicon.
        kinds: Shape (w,), int8, kind of number word.
        values: Shape (w,), value as a number.
        forms: The t compared forms.
    """

    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]
    raw: Sequence[str]
    types: NDArray[np.int32]
    flags: NDArray[np.int32]
    kinds: NDArray[np.int8]
    values: NDArray[np.float64]
    forms: Sequence[str]


def numbered(texts: Iterable[str]) -> tuple[NDArray[np.int64], list[str]]:
    """Return the number of each text, and the distinct texts in the order of their first occurrence."""
    numbers = _Numbers()
    return np.fromiter(map(numbers.__getitem__, texts), np.int64), [*numbers]


class _Numbers(dict[str, int]):
    """Text → its number, in the order of first occurrence."""

    def __missing__(self, text: str) -> int:
        self[text] = number = len(self)
        return number


def read(texts: Iterable[str]) -> Words:
    """Return the words of each text."""
    listed = [*map(split, texts)]
    ids, raw = numbered(chain.from_iterable(listed))
    offsets = np.cumsum([0, *map(len, listed)], dtype=np.int64)
    folds, flags, kinds, values = zip(*map(_word, raw), strict=True) if raw else ((),) * 4
    types, forms = numbered(folds)
    properties = np.array(flags, np.int32), np.array(kinds, np.int8), np.array(values, np.float64)
    return Words(ids.astype(np.int32), offsets, raw, types.astype(np.int32), *properties, forms)


@lru_cache(maxsize=1 << 16)
def _word(word: str) -> tuple[str, int, int, float]:
    """Return form, flags, kind and value of a word."""
    form = fold(word)
    return form, _flags(word, form, _known_words()), *number_word(word, form)


def split(text: str) -> Sequence[str]:
    """Split a text into words, numbers and separating punctuation; initials such as "J. K." are one word.

    >>> split("J. K. Rowling's 1,000th, isn't it?")
    ['J. K.', "Rowling's", '1,000th', ',', "isn't", 'it', '?']
    """
    text = text[:LONGEST].strip()
    if _MAY_BE_DATE.search(text):
        text = _DATE.sub(_in_words, text)
    if not any(map(str.isalnum, text)):
        return [f" {text}"] if text else []  # with a blank: it separates nothing
    if text.isascii():
        return _ASCII.findall(text)
    text = _ACCENTS.sub("", unicodedata.normalize("NFKD", text.translate(_QUOTES)))
    text = unicodedata.normalize("NFKC", text)[: 2 * LONGEST]
    return _UNICODE.findall(_CJK.sub(r" \g<0> ", text))


def _in_words(date: re.Match[str]) -> str:
    """Write a date in figures as "14 July 1789", unless day and month are ambiguous."""
    year, month, day, first, sign, second, last = date.groups()
    if year is None:
        year, day, month = last, first, second
        if sign != ".":
            if int(day) <= _MONTHS_A_YEAR and int(month) <= _MONTHS_A_YEAR:
                return date[0]
            day, month = (day, month) if int(day) > int(month) else (month, day)
    if not (1 <= int(month) <= _MONTHS_A_YEAR and 1 <= int(day) <= _DAYS_A_MONTH):
        return date[0]
    return f"{int(day)} {lexicon.MONTHS[int(month) - 1]} {year}"


def fold(word: str) -> str:
    """Return the form that is compared: without case, dots of initials and the possessive.

    >>> fold("U.S."), fold("Rowling's"), fold("%")
    ('us', 'rowling', 'percent')
    """
    form = word.casefold().replace(".", "").replace(" ", "") if "." in word and len(word) > 1 else word.casefold()
    if form.endswith("'s") and len(form) > 3:  # noqa: PLR2004  # not "it's"-like stubs of one letter
        form = form[:-2]
    return lexicon.SPELLINGS.get(form, form) or word


@lru_cache(maxsize=1 << 16)
def stem(form: str) -> str:
    """Return a form without its inflection, roughly, but at least three characters.

    >>> stem("cities"), stem("glasses"), stem("glass"), stem("bed")
    ('cit', 'glass', 'glass', 'bed')
    """
    return form if form.endswith("ss") else _INFLECTION.sub("", form)


def number_word(word: str, form: str) -> tuple[int, float]:
    """Return the kind and value of a word as a number; the value is NaN if it is none.

    >>> number_word("1,500.5", "15005"), number_word("forty", "forty"), number_word("XIV", "xiv")
    ((1, 1500.5), (3, 40.0), (1, 14.0))
    """
    if word.lstrip("-−")[:1].isdecimal():
        digits = word.rstrip("stndrh").replace(",", "").replace(" ", "").replace("−", "-")
        return (lexicon.DIGITS, float(digits)) if len(digits) < 300 else (lexicon.NO_NUMBER, np.nan)  # noqa: PLR2004  # finite
    if form in lexicon.NUMBER_WORDS:
        return lexicon.NUMBER_WORDS[form]
    if word[0] in "IVXL" and _ROMAN.match(word):
        return lexicon.DIGITS, float(_roman(word))
    return lexicon.NO_NUMBER, np.nan


def _roman(word: str) -> int:
    values = [_ROMAN_VALUES[letter] for letter in word]
    return sum(-a if a < b else a for a, b in zip(values, [*values[1:], 0], strict=True))


def _flags(word: str, form: str, known: frozenset[str]) -> int:
    if word in lexicon.SEPARATORS:
        return lexicon.SEPARATORS[word]
    flags = lexicon.FLAGS.get(form, 0)
    if word == "May":
        flags &= ~lexicon.STOP
    upper = word.isupper() and (len(form) > 1 or form == "a") and word not in {"AN", "THE"}  # "vitamin A"
    letter = len(word) == 1 and word.islower()
    is_known = form in known or form.removesuffix("s") in known
    return (
        flags
        | lexicon.CAPITAL * word[0].isupper()
        | lexicon.UPPER * upper
        | lexicon.KNOWN * is_known
        | lexicon.LETTER * letter
    )


@cache
def _known_words() -> frozenset[str]:
    """Return the words of the language; a known word is not a misspelling of another."""
    from goldmeter.text.wordnet import wordnet

    return frozenset(wordnet().words)
