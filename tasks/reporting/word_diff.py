"""Two texts side by side: the words that only one of them has, by a longest common subsequence."""

import unicodedata
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

WORDS = 4_000
"""Words of a text that are aligned one by one; the time grows with the square, and longer middles are marked whole."""
APART = (
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
"""Scripts that put no spaces between words: every character is a piece."""
JOINERS = "\u200c\u200d\ufe0e\ufe0f"


class Run(NamedTuple):
    """Consecutive text; changed: the other text lacks it."""

    text: str
    changed: bool


class Sides(NamedTuple):
    """Both texts whole, cut into runs."""

    before: list[Run]
    after: list[Run]

    @property
    def alike(self) -> bool:
        """Whether anything is the same, so that marks tell more than the texts do."""
        return not all(run.changed for run in self.before)


def word_diff(before: str, after: str) -> Sides:
    """What the two texts do not share: words, or characters where a script has no spaces.

    >>> word_diff("Paris in 1889.", "Paris, in 1887.").after
    [Run(text='Paris', changed=False), Run(text=',', changed=True), Run(text=' in ', changed=False), \
Run(text='1887', changed=True), Run(text='.', changed=False)]
    """
    there, here = pieces(before), pieces(after)
    kept_there, kept_here = _shared(there, here)
    return Sides(_runs(there, kept_there), _runs(here, kept_here))


def pieces(text: str) -> list[str]:
    """Words, single characters of scripts without spaces, blanks and signs; together they are the text.

    >>> pieces("It's 東京, ok")
    ['It', "'", 's', ' ', '東', '京', ',', ' ', 'ok']
    """
    found: list[str] = []
    kind = ""
    for sign in text:
        new = _kind(sign)
        if found and (new == "joined" or (new == kind and new in {"word", "blank"})):
            found[-1] += sign
        else:
            found.append(sign)
            kind = new
    return found


def _kind(sign: str) -> str:
    """What a character does: marks and joiners belong to what stands before them."""
    category = unicodedata.category(sign)
    if category[0] == "M" or sign in JOINERS:
        return "joined"
    if sign.isspace():
        return "blank"
    if any(first <= ord(sign) <= last for first, last in APART):
        return "alone"
    return "word" if category[0] in "LN" or sign == "_" else "sign"


def _shared(there: Sequence[str], here: Sequence[str]) -> tuple[list[bool], list[bool]]:
    """Which pieces of either are in the other, by a longest common subsequence between a common start and end."""
    start = _common(there, here)
    end = _common(there[start:][::-1], here[start:][::-1])
    middles = [side[start : len(side) - end] for side in (there, here)]
    kept = _aligned(*middles)
    kept_there, kept_here = ([True] * start + each + [True] * end for each in kept)
    return kept_there, kept_here


def _common(there: Sequence[str], here: Sequence[str]) -> int:
    pairs = zip(there, here, strict=False)
    return next((number for number, (one, other) in enumerate(pairs) if one != other), min(len(there), len(here)))


def _aligned(there: Sequence[str], here: Sequence[str]) -> tuple[list[bool], list[bool]]:
    from rapidfuzz.distance import Indel

    kept_there, kept_here = [False] * len(there), [False] * len(here)
    if max(len(there), len(here)) > WORDS:
        return kept_there, kept_here
    numbers: dict[str, int] = {}
    coded = [[numbers.setdefault(piece, len(numbers)) for piece in side] for side in (there, here)]
    for block in Indel.opcodes(*coded):
        if block.tag == "equal" and _matters(there[block.src_start : block.src_end]):
            kept_there[block.src_start : block.src_end] = [True] * (block.src_end - block.src_start)
            kept_here[block.dest_start : block.dest_end] = [True] * (block.dest_end - block.dest_start)
    return kept_there, kept_here


def _matters(shared: Sequence[str]) -> bool:
    """Whether what is shared between two changes is more than blanks and signs, which would only tear marks apart."""
    return any(_kind(piece[0]) in {"word", "alone"} for piece in shared)


def _runs(side: Sequence[str], kept: Sequence[bool]) -> list[Run]:
    return [*_joined(zip(side, kept, strict=True))]


def _joined(marked: Iterator[tuple[str, bool]]) -> Iterator[Run]:
    for kept, group in groupby(marked, key=lambda pair: pair[1]):
        yield Run("".join(piece for piece, _ in group), not kept)
