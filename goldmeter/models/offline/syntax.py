"""Features of a match's role: in its sentence, and among the segments of a response, as the entries of a list."""

from goldmeter.models.offline import feature_names
from goldmeter.models.offline.lexicon import (
    AND,
    ASIDE,
    BAR,
    BE,
    BRACKET,
    CAPITAL,
    CLAUSE,
    COMMA,
    CONTRAST,
    EITHER,
    END,
    EXCLUSION,
    HEDGE,
    LINE,
    MODAL,
    NEGATION,
    NUMBER,
    OF,
    ONLY,
    OR,
    RELATIVE,
    SLASH,
    STOP,
    VERB,
)
from goldmeter.text.kernels import Flags, Floats, Ids, Integers, compiled

# Begin and end of a range of words.
Part = tuple[int, int]

# Signs between clauses.
BREAK = END | COMMA | CLAUSE | BRACKET
NEGATED_BEFORE, NEGATED_AFTER, FARTHER = 5, 3, 0.15
JOINED = 5
"""Words between a match and the "or" that joins another candidate to it."""
MOST_CLAUSES = 5
PHRASE = 8
"""Words of what follows a form of "be", or of what takes a negation up."""


@compiled
def negated(flags: Ids, text: Integers, own: Flags, span: Part, sentence: Part, row: Floats, clues: Integers) -> None:
    """Write negation before the match, unless another candidate or "but" comes between, or right after it."""
    (begin, end), start, since = span, text[0], -1
    for i in range(max(sentence[0], begin - NEGATED_BEFORE), begin):
        spent = since >= 0 and bool(flags[i] & BREAK) and _foreign(flags, own, start, since + 1, i) >= 0
        if denies(flags, text, i):
            row[feature_names.NEGATION_NEAR] = max(row[feature_names.NEGATION_NEAR], 1 - FARTHER * (begin - 1 - i))
            clues[feature_names.NEGATION_CLUE] = since = i
        elif spent or flags[i] & CONTRAST:
            row[feature_names.NEGATION_NEAR], row[feature_names.CONTRAST_BEFORE], since = 0, 1, -1
    if since >= 0 and flags[begin] & BREAK and _foreign(flags, own, start, since + 1, begin) >= 0:
        row[feature_names.NEGATION_NEAR], row[feature_names.CONTRAST_BEFORE] = 0, 1
    for i in range(end, min(sentence[1], end + NEGATED_AFTER)):
        if flags[i] & (COMMA | CONTRAST | OR):
            break
        if flags[i] & NEGATION:
            row[feature_names.NEGATION_NEAR] = 1
            clues[feature_names.NEGATION_CLUE] = i
    for i in range(end, min(text[1], end + 12)):
        row[feature_names.CONTRAST_AFTER] += bool(flags[i] & CONTRAST)
        if row[feature_names.NEGATION_NEAR] > 0 and flags[i] & (BREAK | CONTRAST):
            row[feature_names.CORRECTED] = max(
                row[feature_names.CORRECTED], _foreign(flags, own, start, i, min(text[1], i + PHRASE)) >= 0
            )


@compiled
def joined(
    flags: Ids,
    text: Integers,
    own: Flags,
    whole: Flags,
    span: Part,
    sentence: Part,
    row: Floats,
    clues: Integers,
) -> None:
    """Write other candidates beside the match."""
    start = text[0]
    (begin, end), (first, last) = span, sentence
    for i in range(max(first, begin - JOINED), min(text[1], end + JOINED)):
        if i >= last and not flags[i] & END:  # only an "or" that opens the next sentence
            continue
        if begin <= i < end or not flags[i] & OR or _apart(flags, span, i):
            continue
        if _another(whole, start, span, sentence, i):
            continue
        other = (
            _foreign(flags, own, start, max(first, i - 3), i)
            if i < begin
            else _foreign(flags, own, start, i + 1, min(text[1], i + 4))
        )
        if other >= 0 or _soon_before(flags, first, i, EITHER):
            row[feature_names.OR_NEAR] += 1
            clues[feature_names.OTHER_CLUE] = other
    if begin > first and not own[begin - 1 - start]:
        row[feature_names.OR_NEAR] += bool(flags[begin] & SLASH)
        row[feature_names.COMMA_NEAR] += bool(flags[begin] & (COMMA | BRACKET)) and is_name(flags, begin - 1)
    if end < last and not own[end - start]:
        row[feature_names.OR_NEAR] += bool(flags[end] & SLASH)
        row[feature_names.COMMA_NEAR] += bool(flags[end] & (COMMA | BRACKET)) and is_name(flags, end)
    for i, other in ((end, end + 1), (begin - 1, begin - 2)):
        if first <= min(i, other) and max(i, other) < last and flags[i] & AND:
            row[feature_names.AND_NEAR] += is_name(flags, other) and not own[other - start]


@compiled
def introduced(flags: Ids, text: Integers, own: Flags, span: Part, sentence: Part, clause: Part, row: Floats) -> None:
    """Write whether the match is the sentence's statement, or is mentioned beside another candidate."""
    begin, (first, _), start = span[0], sentence, text[0]
    row[feature_names.SPAN_CAPITAL] = is_name(flags, begin)
    row[feature_names.INTRODUCED] = bool(begin > first and flags[begin - 1] & BE)
    for i in range(max(first, begin - 2), begin):
        row[feature_names.ASIDE_BEFORE] += bool(flags[i] & ASIDE)
    for i in range(clause[0], begin):
        row[feature_names.ASIDE_CLAUSE] = max(row[feature_names.ASIDE_CLAUSE], bool(flags[i] & ASIDE))
    other = False
    for i in range(first, begin):
        row[feature_names.CLAUSES] += i > first and bool(flags[i] & (BREAK | CONTRAST | RELATIVE))
        row[feature_names.SUBORDINATE] += other and bool(flags[i] & RELATIVE)
        row[feature_names.ANSWERED_BEFORE] += bool(flags[i] & BE) and _complete(flags, own, start, i + 1, begin)
        other |= not own[i - start] and not flags[i] & STOP
    for column in (feature_names.CLAUSES, feature_names.SUBORDINATE, feature_names.ANSWERED_BEFORE):
        row[column] = min(row[column], MOST_CLAUSES)


@compiled
def _complete(flags: Ids, own: Flags, start: int, first: int, begin: int) -> bool:
    """Return whether the phrase at `first` names another candidate and ends before the match."""
    other = False
    for i in range(first, min(begin, first + PHRASE)):
        if flags[i] & NEGATION:
            return False
        if i > first and flags[i] & (BREAK | CONTRAST | RELATIVE | AND):
            return other
        other |= not own[i - start] and (not flags[i] & STOP or bool(flags[i] & NUMBER))
    return other and (begin > first + PHRASE or bool(flags[begin] & BREAK))


@compiled
def denies(flags: Ids, text: Integers, i: int) -> bool:
    """Return whether the word at i negates what follows: "not", but neither "not only" nor "but"."""
    if flags[i] & CONTRAST:
        return bool(not flags[i] & STOP and i + 1 < text[1] and flags[i + 1] & OF)  # rather than, instead of
    return bool(flags[i] & (NEGATION | EXCLUSION)) and not (i + 1 < text[1] and flags[i + 1] & ONLY)


@compiled
def is_name(flags: Ids, i: int) -> bool:
    """Return whether the word at i is a number, or written like a name."""
    return bool(flags[i] & NUMBER or (flags[i] & CAPITAL and not flags[i] & STOP))


@compiled
def soon(flags: Ids, text: Integers, i: int, wanted: int, most: int) -> bool:
    """Return whether one of the next words of the sentence is of the wanted class."""
    for j in range(i + 1, min(i + 1 + most, text[1])):
        if flags[j] & END:
            return False
        if flags[j] & wanted:
            return True
    return False


@compiled
def _apart(flags: Ids, span: Part, i: int) -> bool:
    """Return whether the "or" at i joins something else than the match ("Paris, by day or night")."""
    small = 0
    for k in range(i + 1, span[0]) if i < span[0] else range(span[1], i):
        small += bool(flags[k] & STOP and not flags[k] & (NUMBER | BE))
    return small > (i < span[0])


@compiled
def _another(whole: Flags, start: int, span: Part, sentence: Part, i: int) -> bool:
    """Return whether the "or" at i joins another accepted answer to the match, which is no alternative."""
    first, last = (i + 1, min(sentence[1], i + JOINED + 2)) if i >= span[1] else (max(sentence[0], i - JOINED), i)
    found = False
    for k in range(first, last):
        found |= whole[k - start] and not span[0] <= k < span[1]
    return found


@compiled
def _foreign(flags: Ids, own: Flags, start: int, first: int, last: int) -> int:
    """Return the first content word that belongs to neither the question nor a reference, or -1."""
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


SIGNS = END | COMMA | SLASH | CLAUSE | BRACKET
# Words of the longest segment that may be a candidate; most that are counted.
SHORT, MOST = 6, 20
# Largest number that may be that of an entry in a list.
LARGEST_NUMBER = 30


@compiled
def listed(flags: Ids, values: Floats, marks: Ids, text: Integers, own: Flags, span: Part, row: Floats) -> None:
    """Write the lines and segments of a text, and those that name another candidate.

    A segment ends at punctuation, a line break, "and" and "or". It names another candidate if it is short and has no
    verb, and no content word of it belongs to the question or a reference.
    """
    start, first, line = text[0], text[0], 0
    lines, segments, others, before, after = 0, 0, 0, 0, 0
    match_line = -1
    for i in range(text[0], text[1] + 1):
        ends = i == text[1] or (i > text[0] and bool(flags[i] & (SIGNS | AND | OR) or marks[i] & (LINE | BAR)))
        if ends and i > first:
            if not _is_numbering(flags, values, marks, text, first, i):
                segments += 1
                if first < span[1] and span[0] < i and span[0] >= 0:
                    row[feature_names.MATCH_ALONE] = _content(flags, own, start, first, i, foreign=True) == 0
                    match_line = line
                elif _is_candidate(flags, marks, own, start, first, i):
                    others += 1
                    before += i <= span[0]
                    after += span[0] >= 0 and first >= span[1]
            first = i
        if i < text[1]:
            lines += bool(marks[i] & LINE)
            line = lines
            if i == first and flags[i] & (AND | OR):
                first = i + 1
    row[feature_names.LINES], row[feature_names.SEGMENTS] = min(lines, MOST), min(segments, MOST)
    row[feature_names.SHORT_OTHERS] = min(others, MOST)
    row[feature_names.SHORT_BEFORE], row[feature_names.SHORT_AFTER] = min(before, MOST), min(after, MOST)
    row[feature_names.SHORT_SHARE] = others / max(segments, 1)
    row[feature_names.LAST_LINE] = match_line == lines


@compiled
def _is_candidate(flags: Ids, marks: Ids, own: Flags, start: int, first: int, last: int) -> bool:
    if last - first > SHORT:
        return False
    for i in range(first, last):
        if flags[i] & (BE | MODAL) or marks[i] & VERB:
            return False
    content = _content(flags, own, start, first, last, foreign=False)
    return content > 0 and _content(flags, own, start, first, last, foreign=True) == content


@compiled
def _content(flags: Ids, own: Flags, start: int, first: int, last: int, foreign: bool) -> int:  # noqa: FBT001
    """Return the content words from first to last; of these, those that are nobody's."""
    count = 0
    for i in range(first, last):
        if not flags[i] & STOP or flags[i] & NUMBER:
            count += not (foreign and own[i - start])
    return count


@compiled
def _is_numbering(flags: Ids, values: Floats, marks: Ids, text: Integers, first: int, last: int) -> bool:
    """Return whether the words are "1." or "2)" at the begin of a line, which only number an entry."""
    opens = first == text[0] or bool(marks[first] & LINE)
    alone = last == first + 1 and last < text[1] and bool(flags[last] & (END | BRACKET)) and not marks[last] & LINE
    return opens and alone and bool(flags[first] & NUMBER) and values[first] <= LARGEST_NUMBER
