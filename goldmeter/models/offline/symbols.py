"""Responses that differ from every reference by a symbol or by the order of their parts: C++ for C#, x>y for x<y."""

import re
import unicodedata
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from goldmeter.text.quantity_reader import found_whole

# Characters of the longest response that is compared: symbols decide in short ones.
LONGEST = 80
_DASHES = str.maketrans("‐‑‒–—−⁻⁺’‘", "-------+''")
_BOLD = re.compile(r"(\*\*|__|[*_`])(\S(?:.*?\S)?)\1")
_CURRENCIES = frozenset("$€£¥₹")
# Symbols that count wherever they are, and those that count only beside a letter or digit.
_FREE, _GLUED = r"[=<>≤≥≠±×÷→←%$€£¥₹√∞∧∨¬∪∩]|!(?==)", r"[+#*^]|(?<![^\W_])-|-(?![^\W_])|!(?=[^\W_])"
_PART = re.compile(rf"(?P<word>[^\W_]+)|(?P<free>{_FREE})|(?P<glued>{_GLUED})")
# What a text without another value has not, apart from figures and words that relate two others; most have none of it.
_SYMBOL = re.compile(r"[^\s\w.,;:?'\"()/&_\u2018-\u201d–-]|(?<![^\W_])[-−](?=[^\W_])|-(?![^\W_-])|!\S")
_DIGIT, _CODE = re.compile(r"\d"), re.compile(r"[^\W\d_]\d")
_RELATION = re.compile(
    r"\b(?:to|from|over|beats?|than|by|into|before|after|for|of|in|v|vs|versus|against|defeat\w*|eats?|chases?|causes?)\b",
)


class _Part(NamedTuple):
    """A word or a symbol of a text."""

    text: str
    is_word: bool


def is_another(references: Sequence[str], response: str, *, is_exact: bool = False) -> bool:
    """Return whether a short response has the words of a reference with other symbols, or in another order.

    is_exact: The response is known to hold the words of a reference in their order.

    >>> [is_another([one], other) for one, other in (("C#", "C++"), ("O+", "It is O−."), ("x<y", "y<x"), ("C#", "c#!"))]
    [True, True, True, False]
    """
    if len(response) > LONGEST or not (
        _SYMBOL.search(response)
        or any(map(_SYMBOL.search, references))
        or _CODE.search(response)
        or (not is_exact and (_RELATION.search(response) or _DIGIT.search(response)))
    ):
        return False
    said, accepted = _parts(response), [_parts(reference) for reference in references if len(reference) <= LONGEST]
    if any(_places(said, one) for one in accepted):
        return False
    return any(
        _differs(said, one, response) and found_whole(reference) is None
        for one, reference in zip(accepted, references, strict=False)
    )


def _folded(text: str) -> str:
    return _BOLD.sub(r"\2", unicodedata.normalize("NFKC", text.translate(_DASHES)).casefold().strip())


def _parts(text: str) -> list[_Part]:
    folded, parts = _folded(text), []
    for match in _PART.finditer(folded):
        start, stop = match.span()
        beside = folded[max(0, start - 1) : start] + folded[stop : stop + 1]
        if match["glued"] is None or any(map(_joins, beside)):
            parts.append(_Part(match[0], match["word"] is not None))
    return parts or [_Part(folded, is_word=False)]


def _joins(character: str) -> bool:
    """Return whether a symbol beside a character belongs to it: a letter, a digit or another symbol."""
    return character.isalnum() or character in "+#-"


def _places(said: Sequence[_Part], reference: Sequence[_Part]) -> bool:
    """Return whether a response holds a reference without other symbols beside it."""
    size = len(reference)
    for i in range(len(said) - size + 1):
        if said[i : i + size] == reference:
            before, after = said[max(0, i - 1) : i], said[i + size : i + size + 1]
            if not _changes(before, "=#+" if reference[0].text[:1].isdigit() else "=") and not _changes(after, "="):
                return True
    return False


def _changes(beside: Sequence[_Part], harmless: str) -> bool:
    """Return whether what stands beside a value is a symbol that changes it."""
    return any(not part.is_word and part.text not in harmless and part.text not in _CURRENCIES for part in beside)


def _differs(said: Sequence[_Part], reference: Sequence[_Part], response: str) -> bool:
    words, others = ([part.text for part in one if part.is_word] for one in (reference, said))
    if not words:
        return not others
    if any(others[i : i + len(words)] == words for i in range(len(others) - len(words) + 1)):
        symbols = {part.text for part in reference if not part.is_word} ^ {
            part.text for part in said if not part.is_word
        }
        return bool(symbols - _CURRENCIES) or len(symbols) > 1 or _order(reference) != _order(said)
    if sorted(words) == sorted(others):
        return _is_swapped(words, others, reference, response)
    codes = {word for word in words if _is_code(word)}
    return bool(codes) and not codes & {*others} and any(map(_is_code, others))


def _order(parts: Sequence[_Part]) -> list[str]:
    return [part.text for part in parts if not part.is_word and part.text not in _CURRENCIES]


def _is_swapped(words: Sequence[str], others: Sequence[str], reference: Sequence[_Part], response: str) -> bool:
    """Return whether the same words stand in another order around a word or symbol that relates them."""
    moved = any(one != other and len(one) == 4 and one.isdecimal() for one, other in zip(words, others, strict=True))  # noqa: PLR2004
    related = len(reference) > len(words) or _RELATION.search(" ".join(words)) is not None
    figures = all(word.isdecimal() for word in words)
    return not moved and "," not in response and (related or figures) and any(a != b for a, b in pairwise(words))


def _is_code(word: str) -> bool:
    """Return whether a word mixes letters and digits and is no ordinal: H2O, 12b."""
    has = {character.isdecimal() for character in word}
    return len(has) > 1 and re.fullmatch(r"\d+(?:st|nd|rd|th|s|k|m|bn|km|kg|mm|cm|ft|am|pm)", word) is None
