"""Words in order, without punctuation and articles; those of one number are joined, phrases and signs are marked."""

from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

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
    FLAGS,
    HUNDRED,
    LETTER,
    NO_NUMBER,
    NUMBER,
    OF_LAST_WORD,
    ONES,
    PHRASES,
    POSSESSIVE,
    SCALE,
    SIGN,
    SLASH,
    TENS,
    UPPER,
)
from goldmeter.models.offline.texts import Texts, table_of
from goldmeter.models.offline.vocabulary import Words
from goldmeter.text.kernels import Floats, Ids, Integers, compiled

if TYPE_CHECKING:
    from goldmeter.text.kernels.numbering import Table


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
        signs: int32, marks of the signs before the word.
    """

    types: Ids
    flags: Ids
    values: Floats
    sources: Ids
    ends: Ids
    offsets: Integers
    signs: Ids


def stream(words: Words) -> Stream:
    """Return the words of the texts; types of numbers follow those of other words, ascending by value."""
    types, flags, values, sources, ends, offsets, signs = merged(
        words.ids, words.offsets, words.types, words.flags, words.kinds, words.values
    )
    numbers = ~np.isnan(values)
    _, which = np.unique(values[numbers], return_inverse=True)
    types[numbers] = len(words.forms) + which
    return Stream(types, flags, values, sources, ends, offsets, signs)


@compiled
def merged(
    ids: Ids, offsets: Integers, types: Ids, flags: Ids, kinds: NDArray[np.int8], values: Floats
) -> tuple[Ids, Ids, Floats, Ids, Ids, Integers, Ids]:
    """Return types, flags, values, sources and ends of the remaining words, the offset of each text, and signs."""
    out_types, out_flags = np.empty(len(ids), np.int32), np.empty(len(ids), np.int32)
    out_values, out_sources = np.empty(len(ids)), np.empty(len(ids), np.int32)
    out_ends, out_signs = np.empty(len(ids), np.int32), np.zeros(len(ids), np.int32)
    out_offsets = np.zeros(len(offsets), np.int64)
    n = 0
    for text in range(len(offsets) - 1):
        start, end = offsets[text], offsets[text + 1]
        for drops_articles in (True, False):
            i, before, sign = start, END, 0
            while i < end:
                word = ids[i]
                flag = flags[word]
                is_sign = kinds[word] == SIGN
                if flag & SEPARATOR or is_sign:
                    before |= flag
                    sign |= int(values[word]) if is_sign else 0
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
                out_ends[n], out_signs[n] = i, sign
                n += 1
                before = sign = 0
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
        out_signs[:n].copy(),
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


_QUOTE, _SMALL_S = ord("'"), ord("s")


class Phrases(NamedTuple):
    """p phrases of v distinct words, in the order of their first words.

    Attributes:
        words: Numbers of all phrases' words, one phrase after another.
        offsets: Shape (p + 1,).
        classes: Shape (p,), int32.
        firsts: Shape (v + 1,); the phrases that begin with word i are `firsts[i]` to `firsts[i + 1]`.
    """

    words: Ids
    offsets: Integers
    classes: Ids
    firsts: Integers


def cues(words: "Words", streamed: "Stream") -> Ids:
    """Return the classes of `phrases` of each word of the stream; shape (n,), int32."""
    ids = words.ids[streamed.sources]
    table, phrases = _lexicon()
    numbers = words.forms.found_in(table)[words.types[ids]] if len(ids) else np.zeros(0, np.int32)
    marks = streamed.signs.copy()
    mark(numbers, streamed.offsets, phrases, OF_LAST_WORD, marks)
    own = _of_spelling(words.raw)
    marks |= own[ids]
    return marks


def _of_spelling(raw: Texts) -> Ids:
    """Return POSSESSIVE and LETTER of each word as written."""
    sizes = raw.stops - raw.starts
    marks = np.zeros(len(raw), np.int32)
    if not len(raw.data):
        return marks
    last, before = raw.data[np.maximum(raw.stops - 1, 0)], raw.data[np.maximum(raw.stops - 2, 0)]
    marks[(sizes > 3) & (last == _SMALL_S) & (before == _QUOTE)] = POSSESSIVE  # noqa: PLR2004  # as `vocabulary.fold`
    first = raw.data[np.minimum(raw.starts, len(raw.data) - 1)]
    marks[(sizes == 1) & (first >= ord("a")) & (first <= ord("z"))] |= LETTER
    for word in np.flatnonzero((sizes > 1) & (sizes <= 4) & (first >= 0x80)).tolist():  # noqa: PLR2004
        text = raw[word]
        marks[word] |= LETTER * (len(text) == 1 and text.islower())
    return marks


@cache
def _lexicon() -> tuple["Table", Phrases]:
    """Return a table of the phrases' words, and the phrases by the numbers of these words."""
    from goldmeter.models.offline.vocabulary import fold, split  # imports this package's lexicon

    classes: dict[tuple[str, ...], int] = {}
    for number, listed in PHRASES.items():
        for text in listed.split(";"):
            forms = [fold(word) for word in split(text)]
            kept = tuple(form for form in forms if not FLAGS.get(form, 0) & ARTICLE) or tuple(forms)
            if kept:
                classes[kept] = classes.get(kept, 0) | number
    forms = sorted({form for phrase in classes for form in phrase})
    numbers = {form: i for i, form in enumerate(forms)}
    phrases = sorted((numbers[phrase[0]], phrase) for phrase in classes)
    firsts = np.searchsorted([first for first, _ in phrases], np.arange(len(forms) + 1))
    words = [numbers[form] for _, phrase in phrases for form in phrase]
    offsets = [*accumulate((len(phrase) for _, phrase in phrases), initial=0)]
    return table_of(forms), Phrases(
        np.array(words, np.int32),
        np.array(offsets, np.int64),
        np.array([classes[phrase] for _, phrase in phrases], np.int32),
        firsts.astype(np.int64),
    )


@compiled
def mark(numbers: Ids, offsets: Integers, phrases: Phrases, of_last: int, marks: Ids) -> None:
    """Add the class of every phrase to its first word, classes of `of_last` to its last one.

    numbers: of each word of the texts, the number of its form among the phrases' words, or -1.
    """
    words, starts, classes, firsts = phrases
    for text in range(len(offsets) - 1):
        for i in range(offsets[text], offsets[text + 1]):
            if numbers[i] < 0:
                continue
            for phrase in range(firsts[numbers[i]], firsts[numbers[i] + 1]):
                size = starts[phrase + 1] - starts[phrase]
                if i + size > offsets[text + 1]:
                    continue
                k = 1
                while k < size and numbers[i + k] == words[starts[phrase] + k]:
                    k += 1
                if k == size:
                    marks[i] |= classes[phrase] & ~of_last
                    marks[i + size - 1] |= classes[phrase] & of_last
