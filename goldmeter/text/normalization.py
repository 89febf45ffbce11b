"""Normalisation of texts: Unicode form, case, punctuation and white space that do not change an answer."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache, partial
from itertools import chain, pairwise
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from goldmeter.text.columns import distinct, utf8
from goldmeter.text.tokenizers import Tokenizer
from goldmeter.text.tokens import chunked, tokens

Form = Literal["NFKC", "NFC", "none"]
ARTICLES = frozenset({"a", "an", "the"})


def normalize(
    text: str, *, unicode: Form = "NFKC", case: bool = True, punctuation: bool = True, articles: bool = False
) -> str:
    """Return the normalised text; normalising it again changes nothing.

    Args:
        text: The text.
        unicode: Unicode normal form.
        case: Fold case.
        punctuation: Delete Unicode categories P and S, except a sign before a number and . : / between digits.
        articles: Delete a, an, the. White space is collapsed whatever the options.

    >>> normalize("  It's  $1,000.50!"), normalize("-5 at 12:30")
    ('its 1000.50', '-5 at 12:30')
    """
    once = partial(_once, unicode=unicode, case=case, punctuation=punctuation, articles=articles)
    # Case folding can undo NFKC, and deletion can attach a mark to another letter: repeat until nothing changes.
    while (changed := once(text)) != text:
        text = changed
    return text


def normalized_column(
    texts: pa.Array, *, unicode: Form = "NFKC", case: bool = True, punctuation: bool = True, articles: bool = False
) -> pa.Array:
    """Normalise each text with these options of `normalize`; each distinct chunk between blanks is normalised once."""
    form = partial(normalize, unicode=unicode, case=case, punctuation=punctuation, articles=articles)
    words = Tokenizer(
        lambda text: form(text).split(),
        cut="blanks",
        rule="normal" if punctuation else "chunk",
        lowers=case,
        keeps_articles=not articles,
    )
    distinct_texts, which = distinct(texts)
    ids, vocabulary = tokens(chunked(*utf8(distinct_texts), words.cut), words, lowercase=False)
    lists = pa.ListArray.from_arrays(
        pa.array(ids.offsets, pa.int32()), pa.array(vocabulary.strings, pa.string()).take(pa.array(ids.ids))
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


# Dashes used as a minus sign, slashes (NFKC turns ½ into 1⁄2) and the Arabic decimal separator.
_VARIANTS = str.maketrans("‐‒–−⁄∕٫", "----//.")


@cache
def _spacing_accents() -> dict[int, None]:
    """Return the accents that stand alone, such as ´, which NFKC would turn into a space and a lone mark."""
    return {ord(c): None for c in _characters("PS") if unicodedata.normalize("NFKC", c).startswith(" ")}


@cache
def _deleted() -> re.Pattern[str]:
    """Return the pattern of deleted punctuation and symbols, with their marks and joiners (emoji have some)."""
    symbol = _character_class(_characters("PS"))  # first in the pattern, so that the search skips other characters
    currency = _character_class(c for c in _characters("S") if unicodedata.category(c) == "Sc")
    marks = _character_class(c for c in _characters("MC") if unicodedata.category(c) not in {"Cc", "Co", "Cn", "Cs"})
    return _deletion(symbol, currency, marks)


def _deletion(symbol: str, currency: str, marks: str = "") -> re.Pattern[str]:
    """Return the pattern of symbols and their marks, except . : / between digits and signs before a number."""
    in_number, sign = r"(?<=[.:/])(?:(?<!\d.)|(?!\d))", rf"(?<=[+\-±])(?!{currency}?\d)"
    return re.compile(rf"{symbol}(?:(?<![.:/+\-±])|{in_number}|{sign})" + (f"{marks}*" if marks else ""))


# `_deleted` for ASCII text, several times as fast.
_ASCII_DELETED = _deletion(r"[!-/:-@\[-`{-~]", r"\$")


def _characters(major: str) -> Iterator[str]:
    """Yield the characters of the major categories P, S, M or C (format); planes 2 to 13 contain none of them."""
    codes = chain(range(0x20000), range(0xE0000, 0xE0200))
    return (chr(code) for code in codes if unicodedata.category(chr(code))[0] in major)


def _character_class(characters: Iterable[str]) -> str:
    codes = sorted(map(ord, characters))
    starts = [codes[0], *(right for left, right in pairwise(codes) if right > left + 1)]
    ends = [*(left for left, right in pairwise(codes) if right > left + 1), codes[-1]]
    ranges = (f"{re.escape(chr(start))}-{re.escape(chr(end))}" for start, end in zip(starts, ends, strict=True))
    return "[" + "".join(ranges) + "]"
