"""Kernel of the translation edit rate: word edits and shifts of phrases.

Source: Snover et al. 2006, "A Study of Translation Edit Rate with Targeted Human Annotation"; the limits and the order
of candidates are those of Tercom as sacrebleu 2.6 `metrics/lib_ter.py` has them, whose numbers these are.
"""

import math
from typing import NamedTuple

import numpy as np

from goldmeter.text.kernels import Bytes, Ids, Integers, compiled

_SHIFT_SIZE, _SHIFT_DISTANCE, _CANDIDATES = 10, 50, 1000
_BEAM = 25
_FAR = 10**9
_SAME, _OTHER, _DROP, _ADD = np.uint8(1), np.uint8(2), np.uint8(3), np.uint8(4)


class _Table(NamedTuple):
    """Edit distances of the first i words of a text and the first j of a reference, for j near the diagonal.

    Attributes:
        costs: Shape (words + 1, width); row i holds j from firsts[i] to ends[i] - 1.
        steps: The last step to each cell.
        firsts: Shape (words + 1,).
        ends: Shape (words + 1,).
    """

    costs: Integers
    steps: Bytes
    firsts: Integers
    ends: Integers


class _Alignment(NamedTuple):
    """What the cheapest edits do to each word.

    Attributes:
        places: The place in the text of each word of the reference, -1 before its first word.
        text_errors: Number of words of the text before each place that are edited; one entry more than words.
        reference_errors: The same of the reference.
    """

    places: Integers
    text_errors: Integers
    reference_errors: Integers


class _Shift(NamedTuple):
    """A phrase to move: how many edits it saves, and from where to where."""

    gain: int
    length: int
    start: int
    target: int


@compiled
def translation_edits(ids: Ids, texts: Integers, references: Integers, rows: Integers) -> Integers:
    """Return the edits and shifts that turn text `rows[j]` into reference j; shape (m,).

    Text i is `ids[texts[i]:texts[i + 1]]`, reference j `ids[references[j]:references[j + 1]]`.
    """
    edits = np.empty(len(rows), np.int64)
    for j in range(len(rows)):
        text, reference = ids[texts[rows[j]] : texts[rows[j] + 1]], ids[references[j] : references[j + 1]]
        if len(text) == 0 or len(reference) == 0:
            edits[j] = max(len(text), len(reference))
        else:
            edits[j] = _edits(text.copy(), reference)
    return edits


@compiled
def _edits(words: Ids, reference: Ids) -> int:
    """Return the edits, one for each shift included; `words` are shifted as long as that saves edits."""
    table = _table(len(words), len(reference))
    before, row = np.empty(table.costs.shape[1], np.int64), np.empty(table.costs.shape[1], np.int64)
    moved = np.empty(len(words), np.int32)
    distance = _fill(table, words, reference)
    shifts = tried = np.int64(0)
    while distance > 0:
        best, tried = _best_shift(table, words, reference, distance, tried, moved, before, row)
        if tried >= _CANDIDATES or best.gain <= 0:
            break
        _move(words, best.start, best.length, best.target, moved)
        words[:] = moved
        shifts += 1
        distance = _fill(table, words, reference)
    return int(shifts + distance)


@compiled
def _table(words: int, reference: int) -> _Table:
    """Return an empty table whose rows lie around the diagonal."""
    ratio = reference / words
    beam = math.ceil(ratio / 2 + _BEAM) if ratio / 2 > _BEAM else _BEAM
    firsts, ends = np.zeros(words + 1, np.int64), np.empty(words + 1, np.int64)
    for i in range(1, words + 1):
        middle = math.floor(i * ratio)
        firsts[i] = max(0, middle - beam)
        ends[i] = min(reference + 1, middle + beam)
    ends[0] = ends[words] = reference + 1
    width = 1
    for i in range(1, words + 1):
        width = max(width, ends[i] - firsts[i])
    shape = (words + 1, width)
    return _Table(np.empty(shape, np.int64), np.zeros(shape, np.uint8), firsts, ends)


@compiled
def _fill(table: _Table, words: Ids, reference: Ids) -> int:
    """Compute the table of the words; return their distance from the reference."""
    for i in range(1, len(words) + 1):
        first, end = table.firsts[i], table.ends[i]
        above_first, above_end = table.firsts[i - 1], table.ends[i - 1]
        for j in range(first, end):
            cost, step = _FAR, np.uint8(0)
            if j > 0 and above_first <= j - 1 < above_end:
                diagonal = j - 1 if i == 1 else table.costs[i - 1, j - 1 - above_first]
                same = words[i - 1] == reference[j - 1]
                cost, step = (diagonal, _SAME) if same else (diagonal + 1, _OTHER)
            if above_first <= j < above_end:
                above = j if i == 1 else table.costs[i - 1, j - above_first]
                if above + 1 < cost:
                    cost, step = above + 1, _DROP
            if j > first and table.costs[i, j - 1 - first] + 1 < cost:
                cost, step = table.costs[i, j - 1 - first] + 1, _ADD
            table.costs[i, j - first], table.steps[i, j - first] = cost, step
    return int(table.costs[len(words), len(reference) - table.firsts[len(words)]])


@compiled
def _distance(table: _Table, words: Ids, reference: Ids, same: int, before: Integers, row: Integers) -> int:
    """Return the distance of words of which the first `same` are those of the table."""
    for j in range(table.firsts[same], table.ends[same] if same > 0 else 0):
        before[j - table.firsts[same]] = table.costs[same, j - table.firsts[same]]
    for i in range(same + 1, len(words) + 1):
        first, end = table.firsts[i], table.ends[i]
        above_first, above_end = table.firsts[i - 1], table.ends[i - 1]
        word = words[i - 1]
        left = _FAR
        for j in range(first, end):
            cost = left + 1
            if j > 0 and above_first <= j - 1 < above_end:
                diagonal = j - 1 if i == 1 else before[j - 1 - above_first]
                cost = min(cost, diagonal + (word != reference[j - 1]))
            if above_first <= j < above_end:
                cost = min(cost, (j if i == 1 else before[j - above_first]) + 1)
            row[j - first] = left = cost
        before, row = row, before
    return int(before[len(reference) - table.firsts[len(words)]])


@compiled
def _align(table: _Table, words: int, reference: int) -> _Alignment:
    """Go back through the table."""
    places = np.empty(reference, np.int64)
    text_errors, reference_errors = np.zeros(words + 1, np.int64), np.zeros(reference + 1, np.int64)
    i, j = words, reference
    while i > 0 or j > 0:
        step = _ADD if i == 0 else table.steps[i, j - table.firsts[i]]
        if step == _ADD:
            j -= 1
            places[j], reference_errors[j + 1] = i - 1, 1
        elif step == _DROP:
            i -= 1
            text_errors[i + 1] = 1
        else:
            i, j = i - 1, j - 1
            places[j] = i
            text_errors[i + 1] = reference_errors[j + 1] = step == _OTHER
    return _Alignment(places, np.cumsum(text_errors), np.cumsum(reference_errors))


@compiled
def _best_shift(
    table: _Table,
    words: Ids,
    reference: Ids,
    distance: int,
    tried: np.int64,
    moved: Ids,
    before: Integers,
    row: Integers,
) -> tuple[_Shift, np.int64]:
    """Return the shift that saves most, of equal ones the longest, then the earliest, and how many were tried so far.

    A phrase of the text is moved to where the reference has it, if words of both are edited there.
    """
    aligned = _align(table, len(words), len(reference))
    best = _Shift(-_FAR, 0, 0, 0)
    for start in range(len(words)):
        for place in range(max(0, start - _SHIFT_DISTANCE), min(len(reference), start + _SHIFT_DISTANCE + 1)):
            longest = min(_SHIFT_SIZE, len(words) - start, len(reference) - place)
            length = 0
            while length < longest and words[start + length] == reference[place + length]:
                length += 1
                if not _is_movable(aligned, start, place, length):
                    continue
                last = -1
                for offset in range(-1, length):
                    target = 0 if place + offset < 0 else aligned.places[place + offset] + 1
                    if target == last:
                        continue
                    last = target
                    _move(words, start, length, target, moved)
                    gain = distance - _distance(table, moved, reference, min(start, target), before, row)
                    tried += 1
                    if (gain, length, -start, -target) > (best.gain, best.length, -best.start, -best.target):
                        best = _Shift(gain, length, start, target)
                if tried >= _CANDIDATES:
                    return best, tried
    return best, tried


@compiled
def _is_movable(aligned: _Alignment, start: int, place: int, length: int) -> bool:
    """Return whether both phrases have edited words, and the text's does not begin inside its own place."""
    if aligned.text_errors[start + length] == aligned.text_errors[start]:
        return False
    if aligned.reference_errors[place + length] == aligned.reference_errors[place]:
        return False
    return not start <= aligned.places[place] < start + length


@compiled
def _move(words: Ids, start: int, length: int, target: int, moved: Ids) -> None:
    """Write the words into `moved`, with the phrase moved before the word at `target`."""
    stop = start + length
    if target < start:
        moved[:target] = words[:target]
        moved[target : target + length] = words[start:stop]
        moved[target + length : stop] = words[target:start]
        moved[stop:] = words[stop:]
    else:
        end = target if target > stop else min(target + length, len(words))
        moved[:start] = words[:start]
        moved[start : end - length] = words[stop:end]
        moved[end - length : end] = words[start:stop]
        moved[end:] = words[end:]
