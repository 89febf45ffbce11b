"""Words in order, without punctuation and articles; those of one number are joined."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from goldmeter.models.offline.lexicon import (
    AND,
    ARTICLE,
    BRACKET,
    CLAUSE,
    COMMA,
    DIGITS,
    END,
    HUNDRED,
    NO_NUMBER,
    NUMBER,
    ONES,
    SCALE,
    SLASH,
    TENS,
    UPPER,
)
from goldmeter.models.offline.vocabulary import Words
from goldmeter.text.kernels import Floats, Ids, Integers, compiled

SEPARATOR = END | COMMA | SLASH | CLAUSE | BRACKET


class Stream(NamedTuple):
    """Words of all texts in sequence; text i has those from `offsets[i]` to `offsets[i + 1]`.

    Attributes:
        types: int32; numbers of equal value have the same type.
        flags: int32, classes of the word and of the punctuation before it.
        values: float64, NaN if the word is not a number.
        sources: int32, index of its first word as read.
        ends: int32, index after its last word as read.
        offsets: int64.
    """

    types: Ids
    flags: Ids
    values: Floats
    sources: Ids
    ends: Ids
    offsets: Integers


def stream(words: Words) -> Stream:
    """Return the words of the texts; types of numbers follow those of other words, ascending by value."""
    types, flags, values, sources, ends, offsets = merged(
        words.ids, words.offsets, words.types, words.flags, words.kinds, words.values
    )
    numbers = ~np.isnan(values)
    _, which = np.unique(values[numbers], return_inverse=True)
    types[numbers] = len(words.forms) + which
    return Stream(types, flags, values, sources, ends, offsets)


@compiled
def merged(
    ids: Ids, offsets: Integers, types: Ids, flags: Ids, kinds: NDArray[np.int8], values: Floats
) -> tuple[Ids, Ids, Floats, Ids, Ids, Integers]:
    """Return types, flags, values, sources and ends of the remaining words, and the offset of each text."""
    out_types, out_flags = np.empty(len(ids), np.int32), np.empty(len(ids), np.int32)
    out_values, out_sources = np.empty(len(ids)), np.empty(len(ids), np.int32)
    out_ends, out_offsets = np.empty(len(ids), np.int32), np.zeros(len(offsets), np.int64)
    n = 0
    for text in range(len(offsets) - 1):
        start, end = offsets[text], offsets[text + 1]
        for drops_articles in (True, False):
            i, before = start, END
            while i < end:
                word = ids[i]
                flag = flags[word]
                if flag & SEPARATOR:
                    before |= flag
                    i += 1
                    continue
                if drops_articles and flag & ARTICLE and (not flag & UPPER or before & END):
                    i += 1
                    continue
                out_types[n], out_flags[n], out_values[n], out_sources[n] = types[word], flag | before, np.nan, i
                if kinds[word] == NO_NUMBER:
                    i += 1
                else:
                    out_values[n], i = _number(ids, flags, kinds, values, i, end)
                    out_flags[n] |= NUMBER
                out_ends[n] = i
                n += 1
                before = 0
            if n > out_offsets[text]:
                break
        out_offsets[text + 1] = n
    return (
        out_types[:n].copy(),
        out_flags[:n].copy(),
        out_values[:n].copy(),
        out_sources[:n].copy(),
        out_ends[:n].copy(),
        out_offsets,
    )


@compiled
def _number(ids: Ids, flags: Ids, kinds: NDArray[np.int8], values: Floats, i: int, end: int) -> tuple[float, int]:
    """Return the value of the number that begins at word i, and the index after it."""
    last, total, current = kinds[ids[i]], 0.0, values[ids[i]]
    i += 1
    while i < end:
        word = ids[i]
        if flags[word] & AND and last in (HUNDRED, SCALE) and i + 1 < end and kinds[ids[i + 1]] in (ONES, TENS):
            i += 1
            word = ids[i]
        kind, value = kinds[word], values[word]
        if kind in (HUNDRED, SCALE) and last != DIGITS and kind == HUNDRED and current >= 100:  # noqa: PLR2004
            break
        if kind in (HUNDRED, SCALE):
            current *= value
        elif (kind == ONES and last == TENS and value < 10) or (kind in (ONES, TENS) and last == HUNDRED):  # noqa: PLR2004
            current += value
        elif kind in (ONES, TENS) and last == SCALE:
            total, current = total + current, value
        elif (kind == TENS and 10 <= current <= 20 and last != DIGITS) or (  # noqa: PLR2004  # nineteen eighty
            kind == ONES and last == TENS and current == 20  # noqa: PLR2004  # twenty ten
        ):
            current = 100 * current + value
        else:
            break
        last = kind
        i += 1
    return total + current, i
