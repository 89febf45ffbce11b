"""What a response claims: yes or no, corrections, alternatives of the question, and the words beside the match."""

import numpy as np

from goldmeter.models.offline import feature_names
from goldmeter.models.offline.lexicon import (
    ANSWER,
    CAPITAL,
    COMMA,
    CONFUSED,
    CONTRAST,
    DENIES,
    DOUBTFUL,
    END,
    EXCLUDES,
    EXCLUSION,
    HEARSAY,
    IS_IT,
    KNOWN,
    LETTER,
    LISTING,
    MANY,
    MONTH,
    NEGATION,
    NO,
    NUMBER,
    OR,
    ORDER,
    PARTICLE,
    POSSESSIVE,
    REFUSES,
    ROLE,
    STOP,
    STRESS,
    SURE,
    TAKES_BACK,
    WHEN,
    WHERE,
    WHO,
    YES,
)
from goldmeter.models.offline.syntax import BREAK, Part, is_name
from goldmeter.text.kernels import Flags, Floats, Ids, Integers, compiled

# Words of a question on either side of "or" that may name an alternative.
ALTERNATIVE = 5
# Words at the begin of a text that may say yes or no; around a match; after "the answer is".
OPENING, NEAR, SOON = 5, 5, 4
MOST = 20.0
# Position of a match that does not exist.
NOWHERE = 9.0
# Features that count words, and the classes of these words: in the whole response, before the match in its sentence,
# and within a few words before it.
_ANYWHERE = np.array([
    (feature_names.HEARSAY, HEARSAY), (feature_names.DOUBTFUL, DOUBTFUL), (feature_names.SURE, SURE),
    (feature_names.REFUSES, REFUSES), (feature_names.ORDERS, ORDER), (feature_names.LISTING, LISTING),
])  # fmt: skip
_IN_SENTENCE = np.array([(feature_names.HEARSAY_BEFORE, HEARSAY), (feature_names.LISTING_NEAR, LISTING)])
_BEFORE = np.array([
    (feature_names.EXCLUDED, EXCLUDES), (feature_names.DENIED_BEFORE, DENIES),
    (feature_names.CONFUSED_BEFORE, CONFUSED), (feature_names.ROLE_BEFORE, ROLE),
])  # fmt: skip
# Kinds of question.
OTHER_QUESTION, IS_QUESTION, WHO_QUESTION, WHERE_QUESTION, WHEN_QUESTION, MANY_QUESTION = range(6)


@compiled
def polarity(flags: Ids, marks: Ids, text: Integers) -> int:
    """Return 1 for a text that affirms by its first words, -1 for one that denies, 0 for neither."""
    for i in range(text[0], min(text[1], text[0] + OPENING)):
        if i > text[0] and flags[i] & END:
            break
        if marks[i] & STRESS:
            continue
        if marks[i] & NO or flags[i] & NEGATION:
            return -1
        if marks[i] & YES:
            return _continued(flags, text, i)
    return 0


@compiled
def _continued(flags: Ids, text: Integers, i: int) -> int:
    """Return -1 for "it is not", 1 for "it is"."""
    for k in range(i + 1, min(text[1], i + 4)):
        if flags[k] & BREAK:
            break
        if flags[k] & NEGATION:
            return -1
    return 1


@compiled
def affirmed(flags: Ids, marks: Ids, text: Integers, reference: Integers, row: Floats) -> None:
    """Write whether reference and response say yes or no."""
    wanted = polarity(flags, marks, reference) if reference[1] - reference[0] == 1 else 0
    said = polarity(flags, marks, text)
    yes = no = denied = 0
    for i in range(text[0], text[1]):
        yes += bool(marks[i] & YES and not marks[i] & STRESS)
        no += bool(marks[i] & NO and not marks[i] & STRESS)
        denied += bool(flags[i] & NEGATION and not marks[i] & STRESS)
    row[feature_names.WANTED] = wanted
    row[feature_names.POLARITY] = wanted * said
    row[feature_names.POLARITY_LOOSE] = wanted * (-1 if denied > 0 else 1)
    row[feature_names.YES_AND_NO] = min(yes, no) > 0


@compiled
def around(
    flags: Ids, marks: Ids, text: Integers, own: Flags, accepted: Flags,
    reference: Integers, span: Part, row: Floats,
) -> None:  # fmt: skip
    """Write the cues before and after the match, and what they introduce."""
    sentence = max(span[0], text[0])
    while sentence > text[0] and not flags[sentence] & END:
        sentence -= 1
    last, last_cue = -1, -1
    for i in range(text[0], text[1]):
        if accepted[i - text[0]] and (not flags[i] & STOP or flags[i] & NUMBER):
            last = i
        if not span[0] <= i < span[1]:
            _cued(flags, marks, i, sentence, span, row)
            if marks[i] & TAKES_BACK:
                last_cue = i
            if marks[i] & ANSWER:
                _stated(flags, own, accepted, text, i, row)
    if last_cue >= 0:
        row[feature_names.CUE_MATCH] = last > last_cue
        row[feature_names.CUE_OTHER] = _named_from(flags, own, text[0], last_cue + 1, text[1]) > 0
    row[feature_names.REFUSES_FIRST] = _opens(flags, marks, text, REFUSES)
    row[feature_names.LAST_POSITION] = np.log1p(text[1] - 1 - last) if last >= 0 else NOWHERE
    if span[0] >= 0:
        _beside(flags, marks, text, own, reference, span, row)


@compiled
def _cued(flags: Ids, marks: Ids, i: int, sentence: int, span: Part, row: Floats) -> None:
    """Count a word outside the match in the features of its classes."""
    begin, end = span
    _counted(_ANYWHERE, marks[i], row)
    if sentence <= i < begin:
        _counted(_IN_SENTENCE, marks[i], row)
    if max(sentence, begin - NEAR) <= i < begin:
        _counted(_BEFORE, marks[i], row)
        row[feature_names.EXCLUDED] += bool(flags[i] & EXCLUSION)
    if 0 <= end <= i < end + NEAR:
        row[feature_names.ROLE_AFTER] += bool(marks[i] & ROLE)
        row[feature_names.DENIED_AFTER] += bool(marks[i] & DENIES) or (
            i < end + 2 and bool(marks[i] & NO) and not marks[i] & (YES | STRESS)
        )
    if marks[i] & TAKES_BACK:
        row[feature_names.CUE_BEFORE if i < begin else feature_names.CUE_AFTER] += 1


@compiled
def _counted(columns: Integers, mark: int, row: Floats) -> None:
    """Count a word in each column whose class it has; columns: shape (c, 2), column and class."""
    for k in range(len(columns)):
        if mark & columns[k, 1]:
            row[columns[k, 0]] = min(row[columns[k, 0]] + 1, MOST)


@compiled
def _opens(flags: Ids, marks: Ids, text: Integers, wanted: int) -> bool:
    for i in range(text[0], min(text[1], text[0] + 2 * OPENING)):
        if marks[i] & wanted:
            return True
        if i > text[0] and flags[i] & END:
            return False
    return False


@compiled
def _stated(flags: Ids, own: Flags, accepted: Flags, text: Integers, i: int, row: Floats) -> None:
    """Write whether the first content word after "the answer is" belongs to a reference, or to nobody."""
    for k in range(i + 1, min(text[1], i + 1 + SOON)):
        if flags[k] & NEGATION:
            return
        if flags[k] & STOP and not flags[k] & NUMBER:
            continue
        if accepted[k - text[0]]:
            row[feature_names.STATED_MATCH] = 1
            row[feature_names.STATED_LAST] = 1
        elif not own[k - text[0]]:
            row[feature_names.STATED_OTHER] = 1
            row[feature_names.STATED_LAST] = -1
        return


@compiled
def _named_from(flags: Ids, own: Flags, start: int, first: int, last: int) -> int:
    count = 0
    for i in range(first, last):
        count += is_name(flags, i) and not own[i - start]
    return count


@compiled
def _beside(flags: Ids, marks: Ids, text: Integers, own: Flags, reference: Integers, span: Part, row: Floats) -> None:
    """Write the names and numbers that continue the match, and those near and after it."""
    start, (begin, end) = text[0], span
    if begin > start and not flags[begin] & BREAK:
        row[feature_names.NAME_JOINS_BEFORE] = is_name(flags, begin - 1) and not own[begin - 1 - start]
    if end < text[1] and not flags[end] & BREAK:
        row[feature_names.NAME_JOINS_AFTER] = is_name(flags, end) and not own[end - start]
    row[feature_names.POSSESSED] = bool(
        marks[end - 1] & POSSESSIVE and not marks[reference[1] - 1] & POSSESSIVE and end < text[1]
    )
    sentence = end
    while sentence < text[1] and not flags[sentence] & END:
        sentence += 1
    row[feature_names.NAMES_AFTER] = min(_named_from(flags, own, start, end, sentence), MOST)
    row[feature_names.NAMES_LATER] = min(_named_from(flags, own, start, sentence, text[1]), MOST)
    for i in range(max(start, begin - NEAR), min(text[1], end + NEAR)):
        if flags[i] & NUMBER and not own[i - start]:
            row[feature_names.NUMBERS_NEAR] += 1
        if i >= end and i > begin and flags[i] & END:
            break


@compiled
def whole_name(
    types: Ids, flags: Ids, stems: Ids, marks: Ids, text: Integers, reference: Integers,
    said: Integers, i: int, row: Floats,
) -> None:  # fmt: skip
    """Write what the text has of the reference's names and numbers, and of the month of a date.

    said: by stem, the last row whose response contains it.
    """
    names = missing = months = months_said = 0
    for j in range(reference[0], reference[1]):
        if is_word_of_name(flags, marks, j, reference[1] - reference[0]):
            names += 1
            missing += said[stems[types[j]]] != i
        if marks[j] & MONTH and flags[j] & (CAPITAL | NUMBER):
            months += 1
            months_said += said[stems[types[j]]] == i
    row[feature_names.NAME_WORDS] = min(names, 10)
    row[feature_names.MISSING_NAMES] = min(missing, 10) if not row[feature_names.EXACT] else 0
    other = False
    if months > months_said:
        for k in range(text[0], text[1]):
            other |= bool(marks[k] & MONTH) and bool(flags[k] & CAPITAL)
    row[feature_names.MONTH_MISSING] = months > months_said and not other
    row[feature_names.MONTH_CONFLICT] = months > months_said and other


@compiled
def is_word_of_name(flags: Ids, marks: Ids, i: int, size: int) -> bool:
    """Return whether the word at i of a text of some words is no particle, and a number, capital or unknown word."""
    if size > 1 and (marks[i] & PARTICLE or is_letter(flags, marks, i)):
        return False
    return bool(flags[i] & NUMBER) or (not flags[i] & STOP and bool(flags[i] & CAPITAL or not flags[i] & KNOWN))


@compiled
def is_letter(flags: Ids, marks: Ids, i: int) -> bool:
    """Return whether the word at i is a single lower-case letter, which names nothing by itself."""
    return bool(marks[i] & LETTER) and not flags[i] & NUMBER


@compiled
def asked(
    types: Ids, flags: Ids, stems: Ids, marks: Ids, question: Integers, text: Integers, reference: Integers,
    span: Part, row: Floats,
) -> None:  # fmt: skip
    """Write the kind of question, and what the response says of the alternatives that it names."""
    row[feature_names.QUESTION] = _kind(marks, question)
    for j in range(question[0] + 1, question[1]):
        if flags[j] & OR:
            left = _side(types, flags, stems, question, reference, j - 1, -1)
            right = _side(types, flags, stems, question, reference, j + 1, 1)
            if (left >= 0) != (right >= 0):
                row[feature_names.ASKED_OR] = 1
                other = _first(types, stems, question, text, j - 1 if right >= 0 else j + 1)
                if other < 0 and right < 0:
                    other = _first(types, stems, question, text, question[1] - 1)
                row[feature_names.ASKED_OR_SAID] = other >= 0
                row[feature_names.ASKED_OR_FIRST] = other >= 0 and (span[0] < 0 or other < span[0])
                row[feature_names.ASKED_OR_ALONE] = other >= 0 and span[0] < 0
                if other >= 0 and span[0] >= 0:
                    row[feature_names.ASKED_OR_DENIED] = _denied(flags, marks, min(other, span[0]), max(other, span[0]))


@compiled
def _kind(marks: Ids, question: Integers) -> int:
    if question[1] > question[0] and marks[question[0]] & IS_IT:
        return IS_QUESTION
    for i in range(question[0], question[1]):
        for mark, kind in ((MANY, MANY_QUESTION), (WHEN, WHEN_QUESTION), (WHO, WHO_QUESTION), (WHERE, WHERE_QUESTION)):
            if marks[i] & mark:
                return kind
    return OTHER_QUESTION


@compiled
def _denied(flags: Ids, marks: Ids, first: int, last: int) -> bool:
    """Return whether a negation, "than" or "rather" stands between two words."""
    denied = False
    for i in range(first + 1, last + 1):
        denied |= bool(flags[i] & (NEGATION | CONTRAST) or marks[i] & (EXCLUDES | CONFUSED))
    return denied


@compiled
def _side(types: Ids, flags: Ids, stems: Ids, question: Integers, reference: Integers, i: int, step: int) -> int:
    """Return where a word of the reference stands beside the "or", or -1."""
    for _ in range(ALTERNATIVE):
        if i < question[0] or i >= question[1] or (step > 0 and flags[i] & (END | COMMA)):
            return -1
        for j in range(reference[0], reference[1]):
            if stems[types[i]] == stems[types[j]] and (not flags[i] & STOP or flags[i] & NUMBER):
                return i
        if step < 0 and flags[i] & (END | COMMA):
            return -1
        i += step
    return -1


@compiled
def _first(types: Ids, stems: Ids, question: Integers, text: Integers, j: int) -> int:
    """Return where the text has the question's word at j, or -1."""
    if question[0] <= j < question[1]:
        for i in range(text[0], text[1]):
            if stems[types[i]] == stems[types[j]]:
                return i
    return -1
