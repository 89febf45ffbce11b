"""Word diff of two texts: the words that only one of them has, by a longest common subsequence."""

import unicodedata
from collections.abc import Sequence
from itertools import groupby, takewhile
from typing import NamedTuple

# The time of an alignment grows with the square of the words. Longer middles are marked as changed as a whole.
MAX_WORDS = 4_000
# Scripts without spaces between words: each character is a piece.
UNSPACED = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x0F00, 0x0FFF),  # Tibetan
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0x30FF),  # radicals, Hiragana, Katakana
    (0x31C0, 0x31FF),
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9D),
    (0x1B000, 0x1B16F),
    (0x20000, 0x3FFFF),
)
# Zero-width joiners and variation selectors.
JOINERS = "\u200c\u200d\ufe0e\ufe0f"


class Span(NamedTuple):
    """Consecutive characters of a text; changed: the other text does not have them."""

    text: str
    changed: bool


class WordDiff(NamedTuple):
    """Two texts, each as spans that together are the whole text."""

    before: list[Span]
    after: list[Span]

    @property
    def alike(self) -> bool:
        """Whether the texts share anything. If not, marks would cover both as a whole."""
        return not all(span.changed for span in self.before)


def word_diff(before: str, after: str) -> WordDiff:
    """Compare two texts by words, or by characters where a script has no spaces.

    >>> word_diff("Paris in 1889.", "Paris, in 1887.").after
    [Span(text='Paris', changed=False), Span(text=',', changed=True), Span(text=' in ', changed=False), \
Span(text='1887', changed=True), Span(text='.', changed=False)]
    """
    old, new = pieces(before), pieces(after)
    shared_old, shared_new = _shared(old, new)
    return WordDiff(_spans(old, shared_old), _spans(new, shared_new))


def pieces(text: str) -> list[str]:
    """Split a text into words, single characters of scripts without spaces, white space and signs.

    >>> pieces("It's 東京, ok")
    ['It', "'", 's', ' ', '東', '京', ',', ' ', 'ok']
    """
    split: list[str] = []
    kind = ""
    for character in text:
        new = _kind(character)
        if split and (new == "joined" or (new == kind and new in {"word", "blank"})):
            split[-1] += character
        else:
            split.append(character)
            kind = new
    return split


def _kind(character: str) -> str:
    """Classify a character; "joined" marks and joiners belong to the character before them."""
    category = unicodedata.category(character)
    if category[0] == "M" or character in JOINERS:
        return "joined"
    if character.isspace():
        return "blank"
    if any(first <= ord(character) <= last for first, last in UNSPACED):
        return "unspaced"
    return "word" if category[0] in "LN" or character == "_" else "sign"


def _shared(old: Sequence[str], new: Sequence[str]) -> tuple[list[bool], list[bool]]:
    """Return for each piece of either text whether the other has it; only the middles that differ are aligned."""
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    middles = _aligned(old[start : len(old) - end], new[start : len(new) - end])
    shared_old, shared_new = ([True] * start + middle + [True] * end for middle in middles)
    return shared_old, shared_new


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    """Count the pieces that both texts begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))


def _aligned(old: Sequence[str], new: Sequence[str]) -> tuple[list[bool], list[bool]]:
    from rapidfuzz.distance import Indel

    shared_old, shared_new = [False] * len(old), [False] * len(new)
    if max(len(old), len(new)) > MAX_WORDS:
        return shared_old, shared_new
    for block in Indel.opcodes(old, new):
        if block.tag == "equal" and _has_word(old[block.src_start : block.src_end]):
            shared_old[block.src_start : block.src_end] = [True] * (block.src_end - block.src_start)
            shared_new[block.dest_start : block.dest_end] = [True] * (block.dest_end - block.dest_start)
    return shared_old, shared_new


def _has_word(shared: Sequence[str]) -> bool:
    """Return whether pieces are more than white space and signs, which would only split a mark in two."""
    return any(_kind(piece[0]) in {"word", "unspaced"} for piece in shared)


def _spans(text: Sequence[str], shared: Sequence[bool]) -> list[Span]:
    grouped = groupby(zip(text, shared, strict=True), key=lambda pair: pair[1])
    return [Span("".join(piece for piece, _ in group), not is_shared) for is_shared, group in grouped]
