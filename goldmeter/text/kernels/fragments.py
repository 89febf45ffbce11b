"""Kernels of summaries: fragments that are copied from a source, and the union of common subsequences of sentences."""

import numpy as np

from goldmeter.text.kernels import Flags, Ids, Integers, Words, compiled
from goldmeter.text.kernels.sequences import positions

_WORD = 64
_ONE = np.uint64(1)


@compiled
def fragment_sums(ids: Ids, texts: Integers, sources: Integers, vocabulary: int) -> Integers:
    """Return the sums of the lengths, and of their squares, of the fragments of text i that source i contains.

    Shape (n, 2). Text i is `ids[texts[i]:texts[i + 1]]`, source i `ids[sources[i]:sources[i + 1]]`; ids are from 0 to
    vocabulary - 1.

    From each word on the longest fragment is taken; the search in the source goes on behind each one found.
    Source: Grusky et al. 2018, figure 3.
    """
    sums = np.zeros((len(texts) - 1, 2), np.int64)
    heads = np.full(vocabulary, -1, np.int64)
    for row in range(len(sums)):
        text, source = ids[texts[row] : texts[row + 1]], ids[sources[row] : sources[row + 1]]
        later = np.empty(len(source), np.int64)
        for place in range(len(source) - 1, -1, -1):
            later[place], heads[source[place]] = heads[source[place]], place
        i = 0
        while i < len(text):
            longest, end, place = 0, 0, heads[text[i]]
            while place >= 0:
                if place >= end:
                    length = 1
                    limit = min(len(text) - i, len(source) - place)
                    while length < limit and text[i + length] == source[place + length]:
                        length += 1
                    longest, end = max(longest, length), place + length
                place = later[place]
            sums[row, 0] += longest
            sums[row, 1] += longest * longest
            i += max(longest, 1)
        for word in source:
            heads[word] = -1
    return sums


@compiled
def union_subsequences(
    ids: Ids, lines: Integers, texts: Integers, references: Integers, rows: Integers, vocabulary: int
) -> Integers:
    """Return the tokens that references have in common with text `rows[j]`, sentence by sentence; shape (m,).

    For each sentence of the reference they are the union of its longest common subsequences with all sentences of the
    text; a token counts at most as often as in either text. Sentence k is `ids[lines[k]:lines[k + 1]]`; text i has the
    sentences from texts[i] to texts[i + 1] - 1, reference j those from references[j] to references[j + 1] - 1; ids are
    from 0 to vocabulary - 1.

    Source: Lin 2004, section 3.2; rouge-score 0.1.2 for the choice among equally long subsequences, and the clipping.
    """
    common = np.zeros(len(rows), np.int64)
    left_of_text, left_of_reference = np.zeros(vocabulary, np.int64), np.zeros(vocabulary, np.int64)
    numbers, stamps = np.zeros(vocabulary, np.int64), np.full(vocabulary, -1, np.int64)
    stamp = 0
    for j in range(len(rows)):
        first, last = texts[rows[j]], texts[rows[j] + 1]
        text = ids[lines[first] : lines[last]]
        reference = ids[lines[references[j]] : lines[references[j + 1]]]
        left_of_text[reference] = 0
        left_of_reference[reference] = 0
        left_of_text[text] = 0
        for token in text:
            left_of_text[token] += 1
        for token in reference:
            left_of_reference[token] += 1
        for k in range(references[j], references[j + 1]):
            sentence = ids[lines[k] : lines[k + 1]]
            stamp += 1
            places = positions(sentence, stamp, numbers, stamps)
            matched = np.zeros(len(sentence), np.bool_)
            for line in range(first, last):
                _mark_common(sentence, ids[lines[line] : lines[line + 1]], places, stamp, numbers, stamps, matched)
            for token in sentence[matched]:
                if left_of_text[token] > 0 and left_of_reference[token] > 0:
                    left_of_text[token] -= 1
                    left_of_reference[token] -= 1
                    common[j] += 1
    return common


@compiled
def _mark_common(
    sentence: Ids, other: Ids, places: Words, stamp: int, numbers: Integers, stamps: Integers, matched: Flags
) -> None:
    """Mark the tokens of the sentence that are in its longest common subsequence with the other.

    Bit i of row j is 0 where the subsequence of the other's first j tokens and the sentence's first i + 1 is longer
    than that of its first i. Source: Hyyrö 2004, "Bit-parallel LCS-length computation revisited".
    """
    rows = np.empty((len(other) + 1, places.shape[1]), np.uint64)
    rows[0] = ~np.uint64(0)
    for j in range(len(other)):
        token = other[j]
        if stamps[token] != stamp:
            rows[j + 1] = rows[j]
            continue
        carry = np.uint64(0)
        for k in range(rows.shape[1]):
            row = rows[j, k]
            same = row & places[numbers[token], k]
            total = row + same
            carried = total + carry
            carry = np.uint64(total < same or carried < carry)
            rows[j + 1, k] = carried | (row - same)
    i, j = len(sentence), len(other)
    while i > 0 and j > 0:
        if sentence[i - 1] == other[j - 1]:
            matched[i - 1] = True
            i, j = i - 1, j - 1
        elif (rows[j, (i - 1) // _WORD] >> np.uint64((i - 1) % _WORD)) & _ONE == 0:
            j -= 1
        else:
            i -= 1
