"""What is said around a match: hedges, refusal, negation, alternatives, other names."""

import numpy as np
from numpy.typing import NDArray

from tasks.offline import columns
from tasks.offline.compiling import compiled
from tasks.offline.lexicon import (
    AND,
    APOLOGY,
    ASIDE,
    BE,
    BELIEF,
    BRACKET,
    CAPITAL,
    CERTAIN,
    COMMA,
    CONTRAST,
    EITHER,
    END,
    EXCLUSION,
    HEDGE,
    KNOW,
    MODAL,
    NEGATION,
    NUMBER,
    OF,
    ONLY,
    OR,
    SELF,
    SLASH,
    STOP,
)

Ids = NDArray[np.int32]
Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]
Part = tuple[int, int]
"""Where words begin and end."""

MOST = 20.0
"""More hedges, negations or names than this make no difference."""
HEDGED_BEFORE, HEDGED_AFTER = 6, 4
NEGATED_BEFORE, NEGATED_AFTER, FARTHER = 5, 3, 0.15
JOINED = 5
"""Words between a match and the "or" that joins another candidate to it."""


@compiled
def describe(
    flags: Ids,
    text: Integers,
    asked: Booleans,
    own: Booleans,
    span: Part,
    row: Floats,
    clues: Integers,
) -> None:
    """Write the features of the words around the span, which is -1, -1 when nothing matches, and where the clues stand.

    asked, own: shape (n,), whether the question, or the question or a reference, has each word of the text.
    """
    sentence = _sentence(flags, text, span)
    _hedged(flags, text, span, sentence, row, clues)
    _named(flags, text, own, span, sentence, row)
    row[columns.ASKED_HERE] = _asked(flags, text, asked, sentence)
    if span[0] >= 0:
        _negated(flags, text, span, sentence, row, clues)
        _joined(flags, text, own, span, sentence, row, clues)
        _introduced(flags, span, sentence, row)


@compiled
def _sentence(flags: Ids, text: Integers, span: Part) -> Part:
    """The sentence of the span, or the whole text."""
    if span[0] < 0:
        return text[0], text[1]
    first, last = span
    while first > text[0] and not flags[first] & END:
        first -= 1
    while last < text[1] and not flags[last] & END:
        last += 1
    return first, last


@compiled
def _hedged(flags: Ids, text: Integers, span: Part, sentence: Part, row: Floats, clues: Integers) -> None:
    beside = (span[0] - HEDGED_BEFORE, span[1] + HEDGED_AFTER) if span[0] >= 0 else (text[0], text[1])
    for i in range(text[0], text[1]):
        if span[0] <= i < span[1]:
            continue
        if hedges(flags, text, i):
            near = sentence[0] <= i < sentence[1]
            row[columns.HEDGES] += 1
            row[columns.HEDGE_NEAR] += near
            row[columns.HEDGE_BESIDE] += near and beside[0] <= i < beside[1]
            if near or clues[columns.HEDGE_CLUE] < 0:
                clues[columns.HEDGE_CLUE] = i
        if refuses(flags, text, i):
            row[columns.REFUSAL] += 1
            clues[columns.REFUSAL_CLUE] = i
        row[columns.NEGATIONS] += bool(flags[i] & NEGATION)
        row[columns.OR_EITHER] += bool(flags[i] & (OR | EITHER))
    for column in (columns.HEDGES, columns.HEDGE_NEAR, columns.REFUSAL, columns.NEGATIONS, columns.OR_EITHER):
        row[column] = min(row[column], MOST)


@compiled
def hedges(flags: Ids, text: Integers, i: int) -> bool:
    """Whether the word at i says that the writer is not sure."""
    flag = flags[i]
    if flag & BELIEF:
        return bool(i > text[0] and flags[i - 1] & SELF) or bool(i > text[0] + 1 and flags[i - 2] & SELF)
    if flag & MODAL:
        return bool(i + 1 < text[1] and flags[i + 1] & BE)
    return bool(flag & HEDGE) or (bool(flag & NEGATION) and _soon(flags, text, i, CERTAIN, 2))


@compiled
def refuses(flags: Ids, text: Integers, i: int) -> bool:
    """Whether the word at i says that there is no answer."""
    return bool(flags[i] & APOLOGY) or (bool(flags[i] & NEGATION) and _soon(flags, text, i, KNOW, 3))


@compiled
def denies(flags: Ids, text: Integers, i: int) -> bool:
    """Whether the word at i turns what follows into its opposite: "not", but neither "not only" nor "but"."""
    if flags[i] & CONTRAST:
        return bool(not flags[i] & STOP and i + 1 < text[1] and flags[i + 1] & OF)  # rather than, instead of
    return bool(flags[i] & (NEGATION | EXCLUSION)) and not (i + 1 < text[1] and flags[i + 1] & ONLY)


@compiled
def _soon(flags: Ids, text: Integers, i: int, wanted: int, most: int) -> bool:
    """Whether one of the next words of the sentence is of the wanted class."""
    for j in range(i + 1, min(i + 1 + most, text[1])):
        if flags[j] & END:
            return False
        if flags[j] & wanted:
            return True
    return False


@compiled
def _is_name(flags: Ids, i: int) -> bool:
    return bool(flags[i] & NUMBER or (flags[i] & CAPITAL and not flags[i] & STOP))


@compiled
def _named(flags: Ids, text: Integers, own: Booleans, span: Part, sentence: Part, row: Floats) -> None:
    """Names of several words count once."""
    start, begin = text[0], span[0]
    for i in range(start, text[1]):
        if not _is_name(flags, i) or own[i - start]:
            continue
        if i > start and _is_name(flags, i - 1) and not own[i - 1 - start] and not flags[i] & (COMMA | END):
            continue
        row[columns.NAMES] += 1
        row[columns.NAMES_BEFORE] += sentence[0] <= i < begin
        row[columns.NAMES_EARLIER] += i < min(sentence[0], begin)
        row[columns.NUMBERS_BEFORE] += bool(i < begin and flags[i] & NUMBER and flags[begin] & NUMBER)
        row[columns.NAME_FIRST] += i == start
    for column in (columns.NAMES, columns.NAMES_BEFORE, columns.NAMES_EARLIER, columns.NUMBERS_BEFORE):
        row[column] = min(row[column], MOST)


@compiled
def _asked(flags: Ids, text: Integers, asked: Booleans, sentence: Part) -> float:
    """The question's words in the sentence, as a share of those in the sentence that has most; 1 without any."""
    here = most = count = 0
    for i in range(text[0], text[1]):
        if flags[i] & END:
            count = 0
        if asked[i - text[0]] and not flags[i] & STOP:
            count += 1
            most = max(most, count)
            here += sentence[0] <= i < sentence[1]
    return here / most if most > 0 else 1.0


@compiled
def _negated(flags: Ids, text: Integers, span: Part, sentence: Part, row: Floats, clues: Integers) -> None:
    """Negation before the match, unless a "but" comes between, or right after it: "Paris is not"."""
    begin, end = span
    for i in range(max(sentence[0], begin - NEGATED_BEFORE), begin):
        if denies(flags, text, i):
            row[columns.NEGATION_NEAR] = max(row[columns.NEGATION_NEAR], 1 - FARTHER * (begin - 1 - i))
            clues[columns.NEGATION_CLUE] = i
        elif flags[i] & CONTRAST:
            row[columns.NEGATION_NEAR], row[columns.CONTRAST_BEFORE] = 0, 1
    for i in range(end, min(sentence[1], end + NEGATED_AFTER)):
        if flags[i] & (COMMA | CONTRAST | OR):
            break
        if flags[i] & NEGATION:
            row[columns.NEGATION_NEAR] = 1
            clues[columns.NEGATION_CLUE] = i
    for i in range(end, min(text[1], end + 12)):
        row[columns.CONTRAST_AFTER] += bool(flags[i] & CONTRAST)


@compiled
def _joined(
    flags: Ids, text: Integers, own: Booleans, span: Part, sentence: Part, row: Floats, clues: Integers
) -> None:
    """Other candidates beside the match."""
    start = text[0]
    (begin, end), (first, last) = span, sentence
    for i in range(max(first, begin - JOINED), min(last, end + JOINED)):
        if begin <= i < end or not flags[i] & OR:
            continue
        other = (
            _foreign(flags, own, start, max(first, i - 3), i)
            if i < begin
            else _foreign(flags, own, start, i + 1, min(last, i + 4))
        )
        if other >= 0 or _soon_before(flags, first, i, EITHER):
            row[columns.OR_NEAR] += 1
            clues[columns.OTHER_CLUE] = other
    if begin > first and not own[begin - 1 - start]:
        row[columns.OR_NEAR] += bool(flags[begin] & SLASH)
        row[columns.COMMA_NEAR] += bool(flags[begin] & (COMMA | BRACKET)) and _is_name(flags, begin - 1)
    if end < last and not own[end - start]:
        row[columns.OR_NEAR] += bool(flags[end] & SLASH)
        row[columns.COMMA_NEAR] += bool(flags[end] & (COMMA | BRACKET)) and _is_name(flags, end)
    for i, other in ((end, end + 1), (begin - 1, begin - 2)):
        if first <= min(i, other) and max(i, other) < last and flags[i] & AND:
            row[columns.AND_NEAR] += _is_name(flags, other) and not own[other - start]


@compiled
def _foreign(flags: Ids, own: Booleans, start: int, first: int, last: int) -> int:
    """The first word of meaning that is neither the question's nor a reference's, or -1."""
    for i in range(first, last):
        if not own[i - start] and (not flags[i] & (STOP | HEDGE | EITHER) or flags[i] & NUMBER):
            return i
    return -1


@compiled
def _soon_before(flags: Ids, first: int, i: int, wanted: int) -> bool:
    found = False
    for flag in flags[max(first, i - 6) : i]:
        found |= bool(flag & wanted)
    return found


@compiled
def _introduced(flags: Ids, span: Part, sentence: Part, row: Floats) -> None:
    begin = span[0]
    row[columns.SPAN_CAPITAL] = _is_name(flags, begin)
    row[columns.INTRODUCED] = bool(begin > sentence[0] and flags[begin - 1] & BE)
    for i in range(max(sentence[0], begin - 2), begin):
        row[columns.ASIDE_BEFORE] += bool(flags[i] & ASIDE)
