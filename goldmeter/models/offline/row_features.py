"""Kernels that compute the features of rows from the words of their texts."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from goldmeter.models.offline import feature_names
from goldmeter.models.offline.claims import affirmed, around, asked, is_letter, whole_name
from goldmeter.models.offline.context import describe
from goldmeter.models.offline.feature_names import CLUES, FEATURES
from goldmeter.models.offline.lexicon import AND, CAPITAL, COMMA, END, NUMBER, PARTICLE, STOP
from goldmeter.models.offline.matching import (
    abbreviated,
    acronym,
    closest,
    compare_trigrams,
    find,
    hashed,
    initials,
    longest_run,
)
from goldmeter.models.offline.quantities import Units, compare_quantities
from goldmeter.models.offline.syntax import listed
from goldmeter.text.kernels import Floats, Ids, Integers, compiled

COUNT = len(FEATURES)
SMALL_WORD = 0.1
"""Weight of a word such as "of" beside one that carries meaning."""
# Words of a reference that are searched for with typing errors.
MOST_WORDS = 24
MOST_SENTENCES = 20
# Position of a match that does not exist: the logarithm of more words than texts have in practice.
NO_POSITION = 9.0


class Forms(NamedTuple):
    """Of each of t types: hash of its letters, power of the base, number of letters, stem, offset of its letters."""

    hashes: NDArray[np.uint64]
    powers: NDArray[np.uint64]
    lengths: Integers
    stems: Ids
    codes: NDArray[np.uint32]
    letters: Integers


class Synonyms(NamedTuple):
    """Synonyms of t forms: form i has `ids[offsets[i]:offsets[i + 1]]`."""

    offsets: Integers
    ids: Ids


class LastRows(NamedTuple):
    """By type, the last row whose response has it; by stem, the last row whose response, question or reference has it.

    Shape (t,) each.
    """

    words: Integers
    text: Integers
    question: Integers
    references: Integers


@compiled
def described(
    types: Ids,
    flags: Ids,
    values: Floats,
    offsets: Integers,
    codes: NDArray[np.uint32],
    letters: Integers,
    stems: Ids,
    rows: Integers,
    references: Integers,
    firsts: Integers,
    marks: Ids,
    known: Units,
    synonyms: Synonyms,
) -> tuple[Floats, Integers, Integers, Integers]:
    """Return features, best reference, span and clues of each row, as in `features.RowFeatures`.

    rows: shape (n, 2), texts of question and response. The references of row i are `references[firsts[i]:firsts[i +
        1]]`.
    """
    n = len(rows)
    hashes, powers = hashed(codes, letters)
    forms = Forms(hashes, powers, letters[1:] - letters[:-1], stems, codes, letters)
    seen = LastRows(np.full(len(stems), -1), np.full(len(stems), -1), np.full(len(stems), -1), np.full(len(stems), -1))
    features, best_references, spans = np.zeros((n, COUNT)), np.full(n, -1), np.full((n, 2), -1)
    clues, candidate = np.full((n, CLUES), -1), np.zeros(COUNT)
    for i in range(n):
        question, text = offsets[rows[i, 0] : rows[i, 0] + 2], offsets[rows[i, 1] : rows[i, 1] + 2]
        _mark(types, stems, question, i, seen.question)
        _mark(types, stems, text, i, seen.text)
        for each in types[text[0] : text[1]]:
            seen.words[each] = i
        row, best, whole = features[i], -1.0, np.zeros(text[1] - text[0], np.bool_)
        found = 0
        for k in range(firsts[i], firsts[i + 1]):
            reference = offsets[references[k] : references[k] + 2]
            _mark(types, stems, reference, i, seen.references)
            candidate[:] = 0
            begin, end, number = _compare(types, flags, values, forms, marks, text, reference, seen, i, candidate)
            found += candidate[feature_names.EXACT] > 0
            if candidate[feature_names.EXACT]:
                whole[begin - text[0] : end - text[0]] = True
            if _fit(candidate) > best:
                clues[i, feature_names.NUMBER_CLUE] = number
                best, best_references[i], spans[i, 0], spans[i, 1] = _fit(candidate), k - firsts[i], begin, end
                row[:] = candidate
        from_question = seen.question[stems[types[text[0] : text[1]]]] == i
        accepted = seen.references[stems[types[text[0] : text[1]]]] == i
        own, span = from_question | accepted, (spans[i, 0], spans[i, 1])
        _count(types, flags, stems, text, seen, i, row)
        _place(flags, text, spans[i, 0], row)
        describe(flags, text, from_question, own, whole, span, row, clues[i])
        listed(flags, values, marks, text, own, span, row)
        row[feature_names.NAME_DENSITY] = row[feature_names.NAMES] / max(text[1] - text[0], 1)
        row[feature_names.REFERENCES] = min(firsts[i + 1] - firsts[i], 10)
        row[feature_names.REFERENCES_FOUND] = found / max(firsts[i + 1] - firsts[i], 1)
        if best_references[i] >= 0:
            at = references[firsts[i] + best_references[i]]
            reference = offsets[at : at + 2]
            affirmed(flags, marks, text, reference, row)
            around(flags, marks, text, own, accepted, reference, span, row)
            asked(types, flags, stems, marks, question, text, reference, span, row)
            whole_name(types, flags, stems, marks, text, reference, seen.text, i, row)
            row[feature_names.SYNONYM_RECALL] = synonym_recall(types, flags, stems, marks, synonyms, reference, seen, i)
            _measured(types, flags, values, offsets, marks, known, text, references[firsts[i] : firsts[i + 1]], at, row)
            compare_trigrams(types, codes, letters, text, reference, row)
            row[feature_names.ACRONYM] = acronym(types, flags, codes, letters, text, reference)
    return features, best_references, spans, clues


@compiled
def _measured(
    types: Ids, flags: Ids, values: Floats, offsets: Integers, marks: Ids, known: Units, text: Integers,
    references: Integers, best: int, row: Floats,
) -> None:  # fmt: skip
    """Write how quantities match: those of the best reference, or of another one if only that has an equal one."""
    compare_quantities(types, flags, values, marks, known, text, offsets[best : best + 2], row)
    other = np.zeros(COUNT)
    for k in range(len(references)):
        if row[feature_names.QUANTITY_EQUAL] or references[k] == best:
            continue
        other[:] = 0
        compare_quantities(types, flags, values, marks, known, text, offsets[references[k] : references[k] + 2], other)
        if other[feature_names.QUANTITY_EQUAL]:
            for column in (
                feature_names.QUANTITY_EQUAL,
                feature_names.QUANTITY_UNEQUAL,
                feature_names.UNIT_CONFLICT,
                feature_names.UNIT_MISSING,
            ):
                row[column] = other[column]


@compiled
def _mark(types: Ids, stems: Ids, text: Integers, i: int, seen: Integers) -> None:
    for each in types[text[0] : text[1]]:
        seen[stems[each]] = i


@compiled
def _fit(row: Floats) -> float:
    """Return the criterion by which the best reference is selected."""
    fit: float = (
        4 * row[feature_names.EXACT]
        + 2 * row[feature_names.EQUAL]
        + 2 * row[feature_names.INITIALS]
        + row[feature_names.SOFT_RECALL]
        + 0.5 * row[feature_names.RUN]
        + 0.01 * min(row[feature_names.REFERENCE_WORDS], 10)
    )
    return fit


@compiled
def _compare(
    types: Ids,
    flags: Ids,
    values: Floats,
    forms: Forms,
    marks: Ids,
    text: Integers,
    reference: Integers,
    seen: LastRows,
    i: int,
    row: Floats,
) -> tuple[int, int, int]:
    """Write how the reference matches the text; return begin and end of the match and another number, or -1 each."""
    begin, end = find(types, forms.hashes, forms.powers, forms.lengths, text, reference, text[0])
    row[feature_names.EXACT] = begin >= 0
    row[feature_names.EQUAL] = begin == text[0] and end == text[1] and begin >= 0
    length, first, last = longest_run(types, forms.stems, text, reference)
    row[feature_names.RUN] = length / max(reference[1] - reference[0], 1)
    soft = _recall(types, flags, forms, marks, text, reference, seen, i, row)
    number = _numbers(types, flags, values, forms.stems, text, reference, seen, i, row)
    if begin >= 0:
        row[feature_names.RUN] = 1
        row[feature_names.RECALL] = row[feature_names.SOFT_RECALL] = row[feature_names.NEW_RECALL] = 1
        row[feature_names.FIRST_WORD] = row[feature_names.LAST_WORD] = row[feature_names.NUMBER_RECALL] = row[
            feature_names.PARTS
        ] = 1
        row[feature_names.NUMBER_CONFLICT] = row[feature_names.NUMBER_GAP] = row[feature_names.YEAR_GAP] = 0
        row[feature_names.MISSPELT] = row[feature_names.OTHER_WORD] = 0
        at = end
        while at >= 0 and row[feature_names.OCCURRENCES] < 5:  # noqa: PLR2004
            row[feature_names.OCCURRENCES] += 1
            at = find(types, forms.hashes, forms.powers, forms.lengths, text, reference, at)[1]
        return begin, end, -1
    begin, end = initials(types, flags, forms.codes, forms.letters, text, reference)
    short = begin < 0
    if short:
        begin, end = abbreviated(types, flags, forms.stems, forms.codes, forms.letters, text, reference)
    if begin >= 0:
        row[feature_names.ABBREVIATED if short else feature_names.INITIALS] = 1
        row[feature_names.SOFT_RECALL] = row[feature_names.NEW_RECALL] = 1
        row[feature_names.FIRST_WORD] = row[feature_names.LAST_WORD] = 1
        for each in types[begin:end]:
            seen.references[forms.stems[each]] = i
        return begin, end, number
    if length > 0:
        return first, last, number
    return soft, soft + (soft >= 0), number


@compiled
def _recall(
    types: Ids, flags: Ids, forms: Forms, marks: Ids, text: Integers, reference: Integers, seen: LastRows,
    i: int, row: Floats,
) -> int:  # fmt: skip
    """Write the shares of the reference's words that the text has; return the position of a misspelt one, or -1."""
    total = found = soft = new = new_found = 0.0
    first, last, place, joined = -1.0, -1.0, -1, False
    parts, part, parts_found = 0, -1.0, 0.0
    for j in range(reference[0], reference[1]):
        if j > reference[0] and flags[j] & (AND | COMMA):
            row[feature_names.REFERENCE_LIST] += 1
            parts, parts_found, part = parts + (part >= 0), parts_found + max(part, 0.0), -1.0
        joined |= bool(flags[j] & AND)
        known = forms.stems[types[j]]
        weight = SMALL_WORD if _is_small(flags, marks, j, reference[1] - reference[0]) else 1.0
        level = 1.0 if seen.text[known] == i else 0.0
        total, found, near = total + weight, found + weight * level, level
        if level == 0 and weight == 1 and j - reference[0] < MOST_WORDS and not flags[j] & NUMBER:
            near, other, at = closest(types, flags, forms.codes, forms.letters, text, j)
            row[feature_names.MISSPELT] += near > 0.8  # noqa: PLR2004
            row[feature_names.OTHER_WORD] += other
            if at >= 0 and place < 0:
                place = at
        soft += weight * near
        if seen.question[known] != i:
            new, new_found = new + weight, new_found + weight * near
        if weight == 1:
            first, last, part = near if first < 0 else first, near, max(part, near)
    row[feature_names.PARTS] = (parts_found + max(part, 0.0)) / (parts + 1) if joined and part >= 0 else 1.0
    row[feature_names.RECALL] = found / max(total, SMALL_WORD)
    row[feature_names.SOFT_RECALL] = soft / max(total, SMALL_WORD)
    row[feature_names.NEW_RECALL] = new_found / new if new >= 1 else row[feature_names.SOFT_RECALL]
    row[feature_names.FIRST_WORD], row[feature_names.LAST_WORD] = max(first, 0.0), max(last, 0.0)
    row[feature_names.REFERENCE_WORDS] = min(reference[1] - reference[0], 50)
    row[feature_names.NEW_WORDS] = min(new, 20.0)
    row[feature_names.REFERENCE_IN_QUESTION] = 1 - new / max(total, SMALL_WORD)
    return place


@compiled
def synonym_recall(
    types: Ids, flags: Ids, stems: Ids, marks: Ids, synonyms: Synonyms, reference: Integers, seen: LastRows, i: int
) -> float:
    """Return the share of the reference's words that the text has in another inflection or as a synonym.

    A synonym counts in the form that WordNet gives: whether another inflection is known depends on the other rows.
    """
    total = found = 0.0
    for j in range(reference[0], reference[1]):
        weight = SMALL_WORD if _is_small(flags, marks, j, reference[1] - reference[0]) else 1.0
        total += weight
        if seen.text[stems[types[j]]] == i:
            found += weight
        elif types[j] + 1 < len(synonyms.offsets):
            for k in range(synonyms.offsets[types[j]], synonyms.offsets[types[j] + 1]):
                if seen.words[synonyms.ids[k]] == i:
                    found += weight
                    break
    return found / max(total, SMALL_WORD)


@compiled
def _is_small(flags: Ids, marks: Ids, j: int, size: int) -> bool:
    """Return whether the word at j of a reference names nothing by itself: "of", or "z" in a name of several words."""
    if flags[j] & NUMBER:
        return False
    small = is_letter(flags, marks, j) or bool(marks[j] & PARTICLE and not flags[j] & CAPITAL)
    return bool(flags[j] & STOP) or (size > 1 and small)


@compiled
def _numbers(
    types: Ids,
    flags: Ids,
    values: Floats,
    stems: Ids,
    text: Integers,
    reference: Integers,
    seen: LastRows,
    i: int,
    row: Floats,
) -> int:
    """Write how the reference's numbers match the text; return the position of the closest other number, or -1."""
    count = found = others = 0
    gap, years, closest_number = 1.0, 20.0, -1
    for j in range(reference[0], reference[1]):
        if not flags[j] & NUMBER:
            continue
        count += 1
        if seen.text[stems[types[j]]] == i:
            found += 1
            continue
        for k in range(text[0], text[1]):
            known = stems[types[k]]
            if flags[k] & NUMBER and seen.question[known] != i and seen.references[known] != i:
                others += 1
                size = max(abs(values[j]), abs(values[k]))
                far = abs(values[j] - values[k]) / size if size > 0 else 0.0
                if far < gap or closest_number < 0:
                    gap, closest_number = min(far, gap), k
                if _year(values[j]) and _year(values[k]):
                    years = min(years, abs(values[j] - values[k]))
    row[feature_names.REFERENCE_NUMBERS] = min(count, 5)
    row[feature_names.NUMBER_RECALL] = found / count if count else 1.0
    row[feature_names.NUMBER_CONFLICT] = others > 0
    row[feature_names.NUMBER_GAP] = gap if others > 0 else 1.0 * (found < count)
    row[feature_names.YEAR_GAP] = years if found < count else 0.0
    return closest_number


@compiled
def _year(value: float) -> bool:
    return 1000 <= value <= 2100 and value == np.floor(value)  # noqa: PLR2004


@compiled
def _count(types: Ids, flags: Ids, stems: Ids, text: Integers, seen: LastRows, i: int, row: Floats) -> None:
    """Write how much of the text belongs to the question, to the references, or to neither."""
    words = copied = fitting = extra = numbers = 0
    for j in range(text[0], text[1]):
        known = stems[types[j]]
        if flags[j] & STOP and not flags[j] & NUMBER:
            continue
        words += 1
        fits, asked = seen.references[known] == i, seen.question[known] == i
        fitting += fits
        copied += asked and not fits
        extra += not fits and not asked
        numbers += bool(not fits and not asked and flags[j] & NUMBER)
    row[feature_names.PRECISION] = fitting / max(fitting + extra, 1)
    row[feature_names.EXTRA_WORDS], row[feature_names.OTHER_NUMBERS] = np.log1p(extra), np.log1p(numbers)
    row[feature_names.RESPONSE_WORDS] = np.log1p(text[1] - text[0])
    row[feature_names.COPIED] = copied / max(words, 1)


@compiled
def _place(flags: Ids, text: Integers, begin: int, row: Floats) -> None:
    """Write the position of the match in the text."""
    row[feature_names.POSITION], row[feature_names.SENTENCE] = NO_POSITION, MOST_SENTENCES
    if begin >= 0:
        ends = 0
        for flag in flags[text[0] + 1 : begin + 1]:
            ends += bool(flag & END)
        row[feature_names.POSITION], row[feature_names.SENTENCE] = np.log1p(begin - text[0]), min(ends, MOST_SENTENCES)
