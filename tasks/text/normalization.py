"""Texts made comparable: Unicode form, case, punctuation and white space that do not change an answer."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache, partial
from itertools import chain, pairwise
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from tasks.text.tokenizers import Tokenizer
from tasks.text.tokens import chunked, tokens
from tasks.text.utf8 import distinct, utf8

Form = Literal["NFKC", "NFC", "none"]
ARTICLES = frozenset({"a", "an", "the"})


def normalize(
    text: str,
    *,
    unicode: Form = "NFKC",
    case: bool = True,
    punctuation: bool = True,
    articles: bool = False,
) -> str:
    """The text in its comparable form; normalising that once more changes nothing.

    case: fold it. punctuation: delete Unicode categories P and S, except a sign before a number
    and . : / between digits. articles: drop a, an, the. White space is collapsed whatever the options.

    >>> normalize("  It's  $1,000.50!"), normalize("-5 at 12:30")
    ('its 1000.50', '-5 at 12:30')
    """
    once = partial(_once, unicode=unicode, case=case, punctuation=punctuation, articles=articles)
    # Folding can undo NFKC, and deleting can bring a mark to a new letter: repeat until nothing changes.
    while (changed := once(text)) != text:
        text = changed
    return text


def normalized_column(texts: pa.Array, **options: Any) -> pa.Array:
    """Each text as `normalize` with these options gives it; each distinct chunk between blanks is normalised once."""
    words = Tokenizer(lambda text: normalize(text, **options).split(), cut="blanks")
    each, which = distinct(texts)
    ids, vocabulary = tokens(chunked(*utf8(each), words.cut), words, lowercase=False)
    lists = pa.ListArray.from_arrays(
        pa.array(ids.offsets, pa.int32()), pa.array(vocabulary, pa.string()).take(pa.array(ids.ids))
    )
    forms = pc.binary_join(lists, " ").take(pa.array(which))
    return pc.if_else(texts.is_null(), pa.scalar(None, pa.string()), forms)


def _once(text: str, *, unicode: Form, case: bool, punctuation: bool, articles: bool) -> str:
    if punctuation and not text.isascii():
        text = text.translate(_spacing_accents())
    if case:
        text = text.casefold()
    if unicode != "none":
        text = unicodedata.normalize(unicode, text)
    if punctuation:
        text = _ASCII_DELETED.sub("", text) if text.isascii() else _deleted().sub("", text.translate(_VARIANTS))
    words = text.split()
    if articles:
        words = [word for word in words if word.lower() not in ARTICLES]
    return " ".join(words)


# Dashes that stand for a sign, slashes (NFKC makes one of ½) and the Arabic decimal separator.
_VARIANTS = str.maketrans("‐‒–−⁄∕٫", "----//.")


@cache
def _spacing_accents() -> dict[int, None]:
    """Accents that stand alone, such as ´: NFKC would turn them into a space and a mark without a letter."""
    return {ord(c): None for c in _characters("PS") if unicodedata.normalize("NFKC", c).startswith(" ")}


@cache
def _deleted() -> re.Pattern[str]:
    """What goes: punctuation and symbols, each with the marks and joiners that belong to it (emoji have some)."""
    symbol = _character_class(_characters("PS"))  # first, by itself: so the search skips what is none
    currency = _character_class(c for c in _characters("S") if unicodedata.category(c) == "Sc")
    marks = _character_class(c for c in _characters("MC") if unicodedata.category(c) not in {"Cc", "Co", "Cn", "Cs"})
    return _deletion(symbol, currency, marks)


def _deletion(symbol: str, currency: str, marks: str = "") -> re.Pattern[str]:
    """Symbols, but for . : / between digits and signs before a number; with the marks that follow."""
    in_number, sign = r"(?<=[.:/])(?:(?<!\d.)|(?!\d))", rf"(?<=[+\-±])(?!{currency}?\d)"
    return re.compile(rf"{symbol}(?:(?<![.:/+\-±])|{in_number}|{sign})" + (f"{marks}*" if marks else ""))


# `_deleted` of ASCII, several times as fast: the search for one of few characters.
_ASCII_DELETED = _deletion(r"[!-/:-@\[-`{-~]", r"\$")


def _characters(major: str) -> Iterator[str]:
    """Characters of the major categories P, S, M or C (format); planes 2 to 13 have none of them."""
    codes = chain(range(0x20000), range(0xE0000, 0xE0200))
    return (chr(code) for code in codes if unicodedata.category(chr(code))[0] in major)


def _character_class(characters: Iterable[str]) -> str:
    codes = sorted(map(ord, characters))
    starts = [codes[0], *(right for left, right in pairwise(codes) if right > left + 1)]
    ends = [*(left for left, right in pairwise(codes) if right > left + 1), codes[-1]]
    ranges = (f"{re.escape(chr(start))}-{re.escape(chr(end))}" for start, end in zip(starts, ends, strict=True))
    return "[" + "".join(ranges) + "]"
