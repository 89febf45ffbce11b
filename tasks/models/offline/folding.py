"""Kernels that fold plain words to the form that is compared, and give letters and stems of forms."""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tasks.models.offline.lexicon import CAPITAL, UPPER
from tasks.text.kernels import Bytes, Flags, Ids, Integers, compiled

_QUOTE: Final = ord("'")
_CASE: Final = ord("a") - ord("A")
# Letters of Roman numerals.
_NUMERALS = np.isin(np.arange(256), [*b"IVXL"])
_FEWEST_NUMERALS: Final = 2
# Of each byte of UTF-8: the bits that belong to the character, and whether it continues one.
_BYTES = np.arange(256, dtype=np.uint32)
_OWN_BITS = (
    _BYTES
    & np.array([0x7F, 0x3F, 0x1F, 0x0F, 0x07], np.uint32)[
        np.searchsorted([0x80, 0xC0, 0xE0, 0xF0], _BYTES, side="right")
    ]
)
_CONTINUES = _BYTES >> 6 == 0b10  # noqa: PLR2004
# Bits of a character in a byte that continues it.
_PAYLOAD: Final = np.uint32(6)
# Characters of the shortest stem.
_SHORTEST_STEM: Final = 3


class Folded(NamedTuple):
    """Forms of w words, one after another; the form of a word that is not plain is empty.

    Attributes:
        data: The forms' bytes.
        offsets: Shape (w + 1,).
        flags: Shape (w,), CAPITAL and UPPER.
        is_plain: Shape (w,); letters with single quotes inside that are no Roman numeral.
    """

    data: Bytes
    offsets: Integers
    flags: Ids
    is_plain: Flags


@compiled
def folded(data: Bytes, starts: Integers, stops: Integers) -> Folded:
    """Fold words as `vocabulary.fold` does without spellings, and give them the flags that their letters show."""
    n = len(starts)
    forms, offsets = np.empty((stops - starts).sum(), np.uint8), np.zeros(n + 1, np.int64)
    flags, is_plain = np.zeros(n, np.int32), np.zeros(n, np.bool_)
    filled = 0
    for word in range(n):
        begin, end = starts[word], stops[word]
        letters, numerals, upper = True, True, True
        for i in range(begin, end):
            lower = data[i] | _CASE
            is_letter = ord("a") <= lower <= ord("z")
            letters &= is_letter or data[i] == _QUOTE
            numerals &= _NUMERALS[data[i]]
            upper &= not is_letter or data[i] != lower
        if letters and not (numerals and end - begin >= _FEWEST_NUMERALS):
            is_plain[word] = True
            possessive = end - begin > 3 and data[end - 1] | _CASE == ord("s") and data[end - 2] == _QUOTE  # noqa: PLR2004
            for i in range(begin, end - 2 * possessive):
                forms[filled] = data[i] | _CASE  # a quote has that bit
                filled += 1
            length = filled - offsets[word]
            upper &= length > 1 or forms[filled - 1] == ord("a")
            if data[begin] != data[begin] | _CASE:
                flags[word] = CAPITAL
            if upper:
                flags[word] |= UPPER
        offsets[word + 1] = filled
    return Folded(forms[:filled].copy(), offsets, flags, is_plain)


@compiled
def letters(data: Bytes, starts: Integers, stops: Integers) -> tuple[NDArray[np.uint32], Integers]:
    """Return the characters of UTF-8 texts, and the offset of each text's; shape (n + 1,)."""
    codes, offsets = np.empty((stops - starts).sum(), np.uint32), np.zeros(len(starts) + 1, np.int64)
    n = 0
    for text in range(len(starts)):
        for i in range(starts[text], stops[text]):
            if _CONTINUES[data[i]]:
                codes[n - 1] = codes[n - 1] << _PAYLOAD | _OWN_BITS[data[i]]
            else:
                codes[n] = _OWN_BITS[data[i]]
                n += 1
        offsets[text + 1] = n
    return codes[:n].copy(), offsets


@compiled
def stem_stops(data: Bytes, starts: Integers, stops: Integers, lengths: Integers) -> Integers:
    """Return the end of each form's stem: the form without its inflection, roughly.

    lengths: characters of each form, shape (n,).
    """
    ends = stops.copy()
    for form in range(len(starts)):
        if lengths[form] > _SHORTEST_STEM:
            ends[form] -= _ending(data, stops[form], lengths[form] - _SHORTEST_STEM)
    return ends


@compiled
def _ending(data: Bytes, stop: int, longest: int) -> int:
    """Return the letters of the first of the endings ies, ing, es, ed, s, y, e that the form has; 0 for -ss."""
    third, second, last = data[stop - 3], data[stop - 2], data[stop - 1]
    if last == ord("s") and second == ord("s"):
        return 0
    if longest >= 3 and third == ord("i") and _is_pair(second, last):  # noqa: PLR2004
        return 3
    if longest >= 2 and second == ord("e") and (last == ord("s") or last == ord("d")):  # noqa: PLR2004
        return 2
    return int(last == ord("s") or last == ord("y") or last == ord("e"))


@compiled
def _is_pair(second: int, last: int) -> bool:
    """Return whether a word on i ends in -ies or -ing."""
    return bool((second == ord("e") and last == ord("s")) or (second == ord("n") and last == ord("g")))
