"""Kernel for Levenshtein distances, up to 64 characters of one text at a time."""

import numpy as np

from tasks.text.kernels import Bytes, Integers, Words, compiled

_WORD = 64
_ASCII, _LAST_CONTINUATION = 0x7F, 0xBF
_ONE = np.uint64(1)


@compiled
def edits(data: Bytes, texts: Integers, others: Bytes, references: Integers, rows: Integers) -> Integers:
    """Return the Levenshtein distance of the characters of each reference and text `rows[j]`; shape (m,).

    Text i is `data[texts[i]:texts[i + 1]]`, reference j `others[references[j]:references[j + 1]]`, both UTF-8. It is -1
    where neither has from 1 to 64 characters, all of them ASCII.

    Source: Hyyrö 2003, "A bit-vector algorithm for computing Levenshtein and Damerau edit distances".
    """
    distances = np.full(len(rows), -1, np.int64)
    places = np.zeros(256, np.uint64)
    for j in range(len(rows)):
        text, reference = data[texts[rows[j]] : texts[rows[j] + 1]], others[references[j] : references[j + 1]]
        if _mark(reference, places):
            distances[j] = _distance(text, places, len(reference))
            places[reference] = 0
        elif _mark(text, places):
            distances[j] = _distance(reference, places, len(text))
            places[text] = 0
    return distances


@compiled
def _mark(pattern: Bytes, places: Words) -> bool:
    """Set the places of each character, as bits, unless the pattern is empty, long or not ASCII."""
    if not 0 < len(pattern) <= _WORD:
        return False
    for byte in pattern:
        if byte > _ASCII:
            return False
    for i in range(len(pattern)):
        places[pattern[i]] |= _ONE << np.uint64(i)
    return True


@compiled
def _distance(text: Bytes, places: Words, length: int) -> int:
    """Return the distance of the text from the pattern whose places are given; a later byte of a character is none."""
    distance = length
    last = np.uint64(length - 1)
    above, below = ~np.uint64(0), np.uint64(0)
    for byte in text:
        if _ASCII < byte <= _LAST_CONTINUATION:
            continue
        same = places[byte]
        diagonal = (((same & above) + above) ^ above) | same | below
        right, left = below | ~(diagonal | above), diagonal & above
        distance += int((right >> last) & _ONE) - int((left >> last) & _ONE)
        right = (right << _ONE) | _ONE
        above, below = (left << _ONE) | ~(diagonal | right), right & diagonal
    return distance
