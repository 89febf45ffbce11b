"""Features of the words around a match: hedges, refusals, other names, words of the question."""

from goldmeter.models.offline import feature_names
from goldmeter.models.offline.lexicon import (
    APOLOGY,
    BE,
    BELIEF,
    CERTAIN,
    CHOICE,
    COMMA,
    CONTRAST,
    DOUBT,
    EITHER,
    END,
    HEDGE,
    KNOW,
    MODAL,
    NEGATION,
    NUMBER,
    OF,
    OR,
    RELATIVE,
    SELF,
    STOP,
)
from goldmeter.models.offline.syntax import BREAK, Part, introduced, is_name, joined, negated, soon
from goldmeter.text.kernels import Flags, Floats, Ids, Integers, compiled

# Counts of hedges, negations and names are capped here.
MOST = 20.0
HEDGED_BEFORE, HEDGED_AFTER = 6, 4


@compiled
def describe(
    flags: Ids,
    text: Integers,
    asked: Flags,
    own: Flags,
    whole: Flags,
    span: Part,
    row: Floats,
    clues: Integers,
) -> None:
    """Write features of the words around the span (-1, -1 without a match), and the positions of the clues.

    asked, own: shape (n,), whether the question, or the question or a reference, contains each word of the text.
    whole: shape (n,), whether it belongs to a whole reference.
    """
    sentence = _around(flags, text, span, END, 0)
    clause = _around(flags, text, span, BREAK, CONTRAST | RELATIVE)
    _hedged(flags, text, span, sentence, clause, row, clues)
    _named(flags, text, own, span, sentence, row)
    row[feature_names.ASKED_HERE] = _asked(flags, text, asked, sentence, END, 0)
    row[feature_names.ASKED_CLAUSE] = _asked(flags, text, asked, clause, BREAK, CONTRAST | RELATIVE)
    if span[0] >= 0:
        negated(flags, text, own, span, sentence, row, clues)
        joined(flags, text, own, whole, span, sentence, row, clues)
        introduced(flags, text, own, span, sentence, clause, row)


@compiled
def _around(flags: Ids, text: Integers, span: Part, signs: int, words: int) -> Part:
    """Return the words around the span up to a sign or a word of the classes; the whole text without a span."""
    if span[0] < 0:
        return text[0], text[1]
    first, last = span
    while first > text[0] and not flags[first] & (signs | words):
        first -= 1
    while last < text[1] and not flags[last] & (signs | words):
        last += 1
    return first, last


@compiled
def _hedged(flags: Ids, text: Integers, span: Part, sentence: Part, clause: Part, row: Floats, clues: Integers) -> None:
    beside = (span[0] - HEDGED_BEFORE, span[1] + HEDGED_AFTER) if span[0] >= 0 else (text[0], text[1])
    for i in range(text[0], text[1]):
        if span[0] <= i < span[1]:
            continue
        doubted = doubts(flags, text, i)
        if doubted or hedges(flags, text, i):
            near = sentence[0] <= i < sentence[1]
            row[feature_names.HEDGES] += 1
            row[feature_names.DOUBTS] += doubted
            row[feature_names.HEDGE_NEAR] += near
            row[feature_names.HEDGE_BESIDE] += near and beside[0] <= i < beside[1]
            row[feature_names.HEDGE_CLAUSE] += clause[0] <= i < clause[1]
            if near or clues[feature_names.HEDGE_CLUE] < 0:
                clues[feature_names.HEDGE_CLUE] = i
        if refuses(flags, text, i):
            row[feature_names.REFUSAL] += 1
            clues[feature_names.REFUSAL_CLUE] = i
        row[feature_names.NEGATIONS] += bool(flags[i] & NEGATION)
        row[feature_names.OR_EITHER] += bool(flags[i] & (OR | EITHER))
        row[feature_names.ONE_OF] = max(row[feature_names.ONE_OF], _one_of(flags, text, i))
    for column in (
        feature_names.HEDGES,
        feature_names.HEDGE_NEAR,
        feature_names.REFUSAL,
        feature_names.NEGATIONS,
        feature_names.OR_EITHER,
    ):
        row[column] = min(row[column], MOST)


@compiled
def _one_of(flags: Ids, text: Integers, i: int) -> bool:
    """Return whether "one of these", "one of them" or "one of two" begins at word i."""
    return bool(
        i + 2 < text[1]
        and flags[i] & CHOICE
        and flags[i + 1] & OF
        and flags[i + 2] & (CHOICE | NUMBER)
        and not (flags[i + 1] | flags[i + 2]) & BREAK
    )


@compiled
def hedges(flags: Ids, text: Integers, i: int) -> bool:
    """Return whether the word at i expresses uncertainty."""
    if flags[i] & MODAL:
        return soon(flags, text, i, BE, 2)
    return bool(flags[i] & HEDGE)


@compiled
def doubts(flags: Ids, text: Integers, i: int) -> bool:
    """Return whether the word at i expresses the writer's own doubt."""
    if flags[i] & (BELIEF | DOUBT):
        belief = bool(flags[i] & BELIEF)
        for k in range(max(text[0], i - (3 if belief else 5)), i if belief else min(text[1], i + 5)):
            if flags[k] & SELF:
                return True
    return bool(flags[i] & NEGATION) and soon(flags, text, i, CERTAIN, 4)


@compiled
def refuses(flags: Ids, text: Integers, i: int) -> bool:
    """Return whether the word at i states that there is no answer."""
    return bool(flags[i] & APOLOGY) or (bool(flags[i] & NEGATION) and soon(flags, text, i, KNOW, 3))


@compiled
def _named(flags: Ids, text: Integers, own: Flags, span: Part, sentence: Part, row: Floats) -> None:
    """Count other names; a name of several words counts once."""
    start, begin = text[0], span[0]
    for i in range(start, text[1]):
        if not is_name(flags, i) or own[i - start]:
            continue
        if i > start and is_name(flags, i - 1) and not own[i - 1 - start] and not flags[i] & (COMMA | END):
            continue
        row[feature_names.NAMES] += 1
        row[feature_names.NAMES_BEFORE] += sentence[0] <= i < begin
        row[feature_names.NAMES_EARLIER] += i < min(sentence[0], begin)
        row[feature_names.NUMBERS_BEFORE] += bool(i < begin and flags[i] & NUMBER and flags[begin] & NUMBER)
        row[feature_names.NAME_FIRST] += i == start
    for column in (
        feature_names.NAMES,
        feature_names.NAMES_BEFORE,
        feature_names.NAMES_EARLIER,
        feature_names.NUMBERS_BEFORE,
    ):
        row[column] = min(row[column], MOST)


@compiled
def _asked(flags: Ids, text: Integers, asked: Flags, part: Part, signs: int, words: int) -> float:
    """Return the question's words in the part, as a share of those in the part that has most; 1 without any."""
    here = most = count = 0
    for i in range(text[0], text[1]):
        if flags[i] & (signs | words):
            count = 0
        if asked[i - text[0]] and not flags[i] & STOP:
            count += 1
            most = max(most, count)
            here += part[0] <= i < part[1]
    return min(here / most, 1.0) if most > 0 else 1.0
