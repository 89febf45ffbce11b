"""Kernels that compute the features of rows from the words of their texts."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from goldmeter.models.offline import feature_names
from goldmeter.models.offline.feature_names import FEATURES
from goldmeter.models.offline.lexicon import AND, CAPITAL, COMMA, END, KNOWN, LETTER, MONTH, NUMBER, PARTICLE, STOP
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
    synonyms: Synonyms,
) -> tuple[Floats, Integers, Integers]:
    """Return features, best reference and span of each row, as in `features.RowFeatures`.

    rows: shape (n, 2), texts of question and response. The references of row i are `references[firsts[i]:firsts[i +
        1]]`.
    """
    n = len(rows)
    hashes, powers = hashed(codes, letters)
    forms = Forms(hashes, powers, letters[1:] - letters[:-1], stems, codes, letters)
    seen = LastRows(np.full(len(stems), -1), np.full(len(stems), -1), np.full(len(stems), -1), np.full(len(stems), -1))
    features, best_references, spans = np.zeros((n, COUNT)), np.full(n, -1), np.full((n, 2), -1)
    candidate = np.zeros(COUNT)
    for i in range(n):
        question, text = offsets[rows[i, 0] : rows[i, 0] + 2], offsets[rows[i, 1] : rows[i, 1] + 2]
        _mark(types, stems, question, i, seen.question)
        _mark(types, stems, text, i, seen.text)
        for each in types[text[0] : text[1]]:
            seen.words[each] = i
        row, best, found = features[i], -1.0, 0
        for k in range(firsts[i], firsts[i + 1]):
            reference = offsets[references[k] : references[k] + 2]
            _mark(types, stems, reference, i, seen.references)
            candidate[:] = 0
            begin, end = _compare(types, flags, values, forms, text, reference, seen, i, candidate)
            found += candidate[feature_names.EXACT] > 0
            if _fit(candidate) > best:
                best, best_references[i], spans[i, 0], spans[i, 1] = _fit(candidate), k - firsts[i], begin, end
                row[:] = candidate
        _count(types, flags, stems, text, seen, i, row)
        _place(flags, text, spans[i, 0], row)
        row[feature_names.REFERENCES] = min(firsts[i + 1] - firsts[i], 10)
        row[feature_names.REFERENCES_FOUND] = found / max(firsts[i + 1] - firsts[i], 1)
        if best_references[i] >= 0:
            at = references[firsts[i] + best_references[i]]
            reference = offsets[at : at + 2]
            _whole_name(types, flags, stems, text, reference, seen.text, i, row)
            row[feature_names.SYNONYM_RECALL] = synonym_recall(types, flags, stems, synonyms, reference, seen, i)
            compare_trigrams(types, codes, letters, text, reference, row)
            row[feature_names.ACRONYM] = acronym(types, flags, codes, letters, text, reference)
    return features, best_references, spans


@compiled
def _whole_name(
    types: Ids, flags: Ids, stems: Ids, text: Integers, reference: Integers, said: Integers, i: int, row: Floats
) -> None:
    """Write what the text has of the reference's names and numbers, and of the month of a date.

    said: by stem, the last row whose response contains it.
    """
    names = missing = months = months_said = 0
    for j in range(reference[0], reference[1]):
        if _is_word_of_name(flags, j, reference[1] - reference[0]):
            names += 1
            missing += said[stems[types[j]]] != i
        if flags[j] & MONTH and flags[j] & (CAPITAL | NUMBER):
            months += 1
            months_said += said[stems[types[j]]] == i
    row[feature_names.NAME_WORDS] = min(names, 10)
    row[feature_names.MISSING_NAMES] = min(missing, 10) if not row[feature_names.EXACT] else 0
    other = False
    if months > months_said:
        for k in range(text[0], text[1]):
            other |= bool(flags[k] & MONTH) and bool(flags[k] & CAPITAL)
    row[feature_names.MONTH_MISSING] = months > months_said and not other
    row[feature_names.MONTH_CONFLICT] = months > months_said and other


@compiled
def _is_word_of_name(flags: Ids, i: int, size: int) -> bool:
    """Return whether the word at i of a text of some words is no particle, and a number, capital or unknown word."""
    if size > 1 and (flags[i] & PARTICLE or _is_letter(flags, i)):
        return False
    return bool(flags[i] & NUMBER) or (not flags[i] & STOP and bool(flags[i] & CAPITAL or not flags[i] & KNOWN))


@compiled
def _is_letter(flags: Ids, i: int) -> bool:
    """Return whether the word at i is a single lower-case letter, which names nothing by itself."""
    return bool(flags[i] & LETTER) and not flags[i] & NUMBER


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
    text: Integers,
    reference: Integers,
    seen: LastRows,
    i: int,
    row: Floats,
) -> tuple[int, int]:
    """Write how the reference matches the text; return begin and end of the match, or -1 each."""
    begin, end = find(types, forms.hashes, forms.powers, forms.lengths, text, reference, text[0])
    row[feature_names.EXACT] = begin >= 0
    row[feature_names.EQUAL] = begin == text[0] and end == text[1] and begin >= 0
    length, first, last = longest_run(types, forms.stems, text, reference)
    row[feature_names.RUN] = length / max(reference[1] - reference[0], 1)
    soft = _recall(types, flags, forms, text, reference, seen, i, row)
    _numbers(types, flags, values, forms.stems, text, reference, seen, i, row)
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
        return begin, end
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
        return begin, end
    if length > 0:
        return first, last
    return soft, soft + (soft >= 0)


@compiled
def _recall(
    types: Ids, flags: Ids, forms: Forms, text: Integers, reference: Integers, seen: LastRows,
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
        weight = SMALL_WORD if _is_small(flags, j, reference[1] - reference[0]) else 1.0
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
    types: Ids, flags: Ids, stems: Ids, synonyms: Synonyms, reference: Integers, seen: LastRows, i: int
) -> float:
    """Return the share of the reference's words that the text has in another inflection or as a synonym.

    A synonym counts in the form that WordNet gives: whether another inflection is known depends on the other rows.
    """
    total = found = 0.0
    for j in range(reference[0], reference[1]):
        weight = SMALL_WORD if _is_small(flags, j, reference[1] - reference[0]) else 1.0
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
def _is_small(flags: Ids, j: int, size: int) -> bool:
    """Return whether the word at j of a reference names nothing by itself: "of", or "z" in a name of several words."""
    if flags[j] & NUMBER:
        return False
    small = _is_letter(flags, j) or bool(flags[j] & PARTICLE and not flags[j] & CAPITAL)
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
) -> None:
    """Write how the reference's numbers match the text."""
    count = found = others = 0
    gap, years = 1.0, 20.0
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
                gap = min(far, gap)
                if _year(values[j]) and _year(values[k]):
                    years = min(years, abs(values[j] - values[k]))
    row[feature_names.REFERENCE_NUMBERS] = min(count, 5)
    row[feature_names.NUMBER_RECALL] = found / count if count else 1.0
    row[feature_names.NUMBER_CONFLICT] = others > 0
    row[feature_names.NUMBER_GAP] = gap if others > 0 else 1.0 * (found < count)
    row[feature_names.YEAR_GAP] = years if found < count else 0.0


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
