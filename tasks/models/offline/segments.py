"""Segments of a response, as the entries of a list: how many are candidates other than the match."""

from tasks.models.offline import feature_names
from tasks.models.offline.lexicon import AND, BE, BRACKET, CLAUSE, COMMA, END, MODAL, NUMBER, OR, SLASH, STOP
from tasks.models.offline.phrases import BAR, LINE, VERB
from tasks.models.offline.syntax import Part
from tasks.text.kernels import Flags, Floats, Ids, Integers, compiled

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
