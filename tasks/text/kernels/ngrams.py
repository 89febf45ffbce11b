"""Kernel that counts common n-grams of a text and its references, each as often as both contain it."""

from typing import NamedTuple

import numpy as np

from tasks.text.kernels import GOLDEN, Ids, Integers, compiled

_HALF = np.uint64(32)


class _Grams(NamedTuple):
    """A hash table of n-grams, all arrays by slot; a new stamp empties it.

    Attributes:
        keys: Key of the n-gram in the slot.
        stamps: The slot is in use if this is the current stamp.
        most: Largest count in any reference, less the matches so far.
        current: Count in the reference that was read last.
        reference: Index of that reference.
    """

    keys: Integers
    stamps: Integers
    most: Integers
    current: Integers
    reference: Integers


@compiled
def clipped_matches(
    ids: Ids, texts: Integers, references: Integers, rows: Integers, firsts: Integers, lasts: Integers, max_order: int
) -> Integers:
    """Return the n-grams of text `rows[k]` that references `firsts[k]:lasts[k]` contain; shape (len(rows), max_order).

    An n-gram counts at most as often as in the reference that contains it most. Text i is
    `ids[texts[i]:texts[i + 1]]`, reference j `ids[references[j]:references[j + 1]]`.

    The key of an n-gram is the slot of its prefix (the first n - 1 tokens) and its last token, so that each order only
    looks up n-grams whose prefix matched. Source: Papineni et al. 2002, section 2.1.
    """
    matches = np.zeros((len(rows), max_order), np.int64)
    longest = pooled = np.int64(1)
    for k in range(len(rows)):
        longest = max(longest, texts[rows[k] + 1] - texts[rows[k]])
        pooled = max(pooled, references[lasts[k]] - references[firsts[k]])
    slots = np.zeros((5, _capacity(pooled)), np.int64)
    grams = _Grams(slots[0], slots[1], slots[2], slots[3], slots[4])
    text_prefixes, reference_prefixes = np.empty(longest, np.int64), np.empty(pooled, np.int64)
    stamp = 0
    for k in range(len(rows)):
        text = ids[texts[rows[k]] : texts[rows[k] + 1]]
        pool = references[firsts[k]]
        mask = _capacity(references[lasts[k]] - pool) - 1
        text_prefixes[: len(text)] = 0
        reference_prefixes[: references[lasts[k]] - pool] = 0
        for order in range(min(max_order, len(text))):
            stamp += 1
            for j in range(firsts[k], lasts[k]):
                reference = ids[references[j] : references[j + 1]]
                _count(reference, order, j, reference_prefixes[references[j] - pool :], grams, stamp, mask)
            matches[k, order] = _match(text, order, text_prefixes, grams, stamp, mask)
            if matches[k, order] == 0:
                break
    return matches


@compiled
def _count(reference: Ids, order: int, j: int, prefixes: Integers, grams: _Grams, stamp: int, mask: int) -> None:
    """Count the n-grams of reference j; their slots become the next prefixes."""
    for i in range(len(reference) - order):
        key = prefixes[i] << 32 | np.int64(reference[i + order])
        slot = _slot(key, grams, stamp, mask)
        if grams.stamps[slot] != stamp:
            grams.keys[slot], grams.stamps[slot], grams.most[slot], grams.reference[slot] = key, stamp, 0, -1
        if grams.reference[slot] != j:
            grams.current[slot], grams.reference[slot] = 0, j
        grams.current[slot] += 1
        grams.most[slot] = max(grams.most[slot], grams.current[slot])
        prefixes[i] = slot


@compiled
def _match(text: Ids, order: int, prefixes: Integers, grams: _Grams, stamp: int, mask: int) -> int:
    """Return the matches of the text's n-grams; their slots become the next prefixes, -1 without a match."""
    matches = 0
    for i in range(len(text) - order):
        if prefixes[i] < 0:
            continue
        slot = _slot(prefixes[i] << 32 | np.int64(text[i + order]), grams, stamp, mask)
        prefixes[i] = slot if grams.stamps[slot] == stamp else -1
        if prefixes[i] >= 0 and grams.most[slot] > 0:
            grams.most[slot] -= 1
            matches += 1
    return matches


@compiled
def _slot(key: int, grams: _Grams, stamp: int, mask: int) -> int:
    """Return the slot of the n-gram, or the one where it would be inserted."""
    slot = np.int64((np.uint64(key) * GOLDEN) >> _HALF) & mask
    while grams.stamps[slot] == stamp and grams.keys[slot] != key:
        slot = (slot + 1) & mask
    return int(slot)


@compiled
def _capacity(length: np.int64) -> int:
    """Return a power of two, at least twice the length."""
    capacity = 2
    while capacity < 2 * length:
        capacity *= 2
    return capacity
