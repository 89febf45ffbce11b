"""Kernels that compute the features of rows from the words of their texts."""

import numpy as np
from numpy.typing import NDArray

from goldmeter.models.offline import feature_names as f
from goldmeter.models.offline.lexicon import CAPITAL, KNOWN, LETTER, NUMBER, PARTICLE, STOP
from goldmeter.models.offline.matching import Corpus, closest, find, initials, trigram_recall
from goldmeter.text.kernels import Floats, Integers, compiled

COUNT = len(f.FEATURES)
SMALL_WORD = 0.1
"""Weight of a word such as "of" beside one that carries meaning."""
# Words of a reference that are searched for with typing errors.
MOST_WORDS = 24
# Position of a match that does not exist: the logarithm of more words than texts have in practice.
NO_POSITION = 9.0
# Rows of the table of what was seen last: in the response, the question and the references.
_TEXT, _QUESTION, _REFERENCES = range(3)


@compiled
def described(
    words: Corpus, offsets: Integers, rows: Integers, references: Integers, firsts: Integers
) -> tuple[Floats, Integers, NDArray[np.int64]]:
    """Return features, best reference and span of each row, as in `features.RowFeatures`.

    Args:
        words: The words of all texts.
        offsets: Text i has the words from `offsets[i]` to `offsets[i + 1]`.
        rows: Texts of question and response, shape (n, 2).
        references: Texts of the references, row after row.
        firsts: Row i has the references from `firsts[i]` to `firsts[i + 1]`.
    """
    n = len(rows)
    seen = np.full((3, words.stems.max() + 1 if len(words.stems) else 0), -1)
    features, best_references, spans = np.zeros((n, COUNT)), np.full(n, -1), np.full((n, 2), -1)
    candidate = np.zeros(COUNT)
    for i in range(n):
        question, text = offsets[rows[i, 0] : rows[i, 0] + 2], offsets[rows[i, 1] : rows[i, 1] + 2]
        _mark(words, question, i, seen[_QUESTION])
        _mark(words, text, i, seen[_TEXT])
        row, best, found, count = features[i], -1.0, 0, firsts[i + 1] - firsts[i]
        for k in range(count):
            at = references[firsts[i] + k]
            reference = offsets[at : at + 2]
            _mark(words, reference, i, seen[_REFERENCES])
            candidate[:] = 0
            begin, end = _compare(words, text, reference, seen, i, candidate)
            found += candidate[f.EXACT] > 0
            fit = 4 * candidate[f.EXACT] + 2 * (candidate[f.EQUAL] + candidate[f.INITIALS])
            fit += candidate[f.SOFT_RECALL] + 0.01 * min(candidate[f.REFERENCE_WORDS], 10)
            if fit > best:
                best, best_references[i], spans[i, 0], spans[i, 1] = fit, k, begin, end
                row[:] = candidate
        _count(words, text, seen, i, row)
        row[f.POSITION] = np.log1p(spans[i, 0] - text[0]) if spans[i, 0] >= 0 else NO_POSITION
        row[f.REFERENCES], row[f.REFERENCES_FOUND] = min(count, 10), found / max(count, 1)
        if count:
            at = references[firsts[i] + best_references[i]]
            row[f.TRIGRAM_RECALL] = trigram_recall(words, text, offsets[at : at + 2])
    return features, best_references, spans


@compiled
def _mark(words: Corpus, text: Integers, i: int, seen: Integers) -> None:
    for stem in words.stems[text[0] : text[1]]:
        seen[stem] = i


@compiled
def _compare(
    words: Corpus, text: Integers, reference: Integers, seen: Integers, i: int, row: Floats
) -> tuple[int, int]:
    """Write how the reference matches the text; return begin and end of the match, or -1 each."""
    misspelt = _recall(words, text, reference, seen, i, row)
    _numbers(words, text, reference, seen, i, row)
    begin, end = find(words, text, reference)
    if begin >= 0:
        row[f.EXACT], row[f.EQUAL] = 1, begin == text[0] and end == text[1]
        row[f.RECALL] = row[f.SOFT_RECALL] = row[f.NEW_RECALL] = row[f.NUMBER_RECALL] = 1
        row[f.NUMBER_CONFLICT] = row[f.NUMBER_GAP] = row[f.MISSPELT] = row[f.OTHER_WORD] = row[f.MISSING_NAMES] = 0
        return begin, end
    begin, end = initials(words, text, reference)
    if begin >= 0:
        row[f.INITIALS] = row[f.SOFT_RECALL] = row[f.NEW_RECALL] = 1
        _mark(words, np.array([begin, end]), i, seen[_REFERENCES])
        return begin, end
    for begin in range(text[0], text[1]):
        if seen[_REFERENCES, words.stems[begin]] == i and not words.flags[begin] & STOP:
            end = begin + 1
            while end < text[1] and seen[_REFERENCES, words.stems[end]] == i:
                end += 1
            return begin, end
    return misspelt, misspelt + (misspelt >= 0)


@compiled
def _recall(words: Corpus, text: Integers, reference: Integers, seen: Integers, i: int, row: Floats) -> int:
    """Write which words of the reference the text has; return the position of a misspelt one, or -1."""
    total = found = soft = new = new_found = 0.0
    names = missing = 0
    place, size = -1, reference[1] - reference[0]
    for j in range(reference[0], reference[1]):
        flags, stem = words.flags[j], words.stems[j]
        weight = SMALL_WORD if _is_small(flags, size) else 1.0
        level = near = 1.0 if seen[_TEXT, stem] == i else 0.0
        if level == 0 and weight == 1 and j - reference[0] < MOST_WORDS and not flags & NUMBER:
            near, other, at = closest(words, text, j)
            row[f.MISSPELT] += near > 0.8  # noqa: PLR2004
            row[f.OTHER_WORD] += other
            place = at if place < 0 else place
        total, found, soft = total + weight, found + weight * level, soft + weight * near
        if seen[_QUESTION, stem] != i:
            new, new_found = new + weight, new_found + weight * near
        if _names(flags, size):
            names, missing = names + 1, missing + (level == 0)
    row[f.RECALL], row[f.SOFT_RECALL] = found / max(total, SMALL_WORD), soft / max(total, SMALL_WORD)
    row[f.NEW_RECALL] = new_found / new if new >= 1 else row[f.SOFT_RECALL]
    row[f.REFERENCE_WORDS], row[f.NEW_WORDS] = min(size, 50), min(new, 20.0)
    row[f.NAME_WORDS], row[f.MISSING_NAMES] = min(names, 10), min(missing, 10)
    return place


@compiled
def _is_letter(flags: int) -> bool:
    """Return whether a word is a single lower-case letter, which names nothing by itself."""
    return bool(flags & LETTER) and not flags & NUMBER


@compiled
def _is_small(flags: int, size: int) -> bool:
    """Return whether a word of a reference names nothing by itself: "of", or "z" in a name of several words."""
    small = _is_letter(flags) or bool(flags & PARTICLE and not flags & CAPITAL)
    return not flags & NUMBER and (bool(flags & STOP) or (size > 1 and small))


@compiled
def _names(flags: int, size: int) -> bool:
    """Return whether a word of a reference is no particle, and a number, capital or unknown word."""
    if size > 1 and (flags & PARTICLE or _is_letter(flags)):
        return False
    return bool(flags & NUMBER) or (not flags & STOP and bool(flags & CAPITAL or not flags & KNOWN))


@compiled
def _numbers(words: Corpus, text: Integers, reference: Integers, seen: Integers, i: int, row: Floats) -> None:
    """Write how the reference's numbers match the text."""
    count = found = others = 0
    gap = 1.0
    for j in range(reference[0], reference[1]):
        if not words.flags[j] & NUMBER:
            continue
        count += 1
        if seen[_TEXT, words.stems[j]] == i:
            found += 1
            continue
        for k in range(text[0], text[1]):
            stem = words.stems[k]
            if words.flags[k] & NUMBER and seen[_QUESTION, stem] != i and seen[_REFERENCES, stem] != i:
                others += 1
                size = max(abs(words.values[j]), abs(words.values[k]))
                gap = min(abs(words.values[j] - words.values[k]) / size if size > 0 else 0.0, gap)
    row[f.REFERENCE_NUMBERS], row[f.NUMBER_CONFLICT] = min(count, 5), others > 0
    row[f.NUMBER_RECALL] = found / count if count else 1.0
    row[f.NUMBER_GAP] = gap if others > 0 else 1.0 * (found < count)


@compiled
def _count(words: Corpus, text: Integers, seen: Integers, i: int, row: Floats) -> None:
    """Write how much of the text belongs to the question, to the references, or to neither."""
    fitting = extra = numbers = 0
    for j in range(text[0], text[1]):
        stem = words.stems[j]
        if words.flags[j] & STOP and not words.flags[j] & NUMBER:
            continue
        fits = seen[_REFERENCES, stem] == i
        is_extra = not fits and seen[_QUESTION, stem] != i
        fitting, extra = fitting + fits, extra + is_extra
        numbers += is_extra and bool(words.flags[j] & NUMBER)
    row[f.PRECISION] = fitting / max(fitting + extra, 1)
    row[f.EXTRA_WORDS], row[f.OTHER_NUMBERS] = np.log1p(extra), np.log1p(numbers)
    row[f.RESPONSE_WORDS] = np.log1p(text[1] - text[0])
