"""Clipped n-gram matches of a response and its pooled references, as BLEU and Google BLEU count them."""

from collections.abc import Callable

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tasks.metrics.pairs import Tokens

Integers = NDArray[np.int64]


def clipped_matches(tokens: Tokens, rows: Integers, starts: Integers, ends: Integers, max_order: int) -> Integers:
    """n-grams of response `rows[k]` that references `starts[k]:ends[k]` have too; shape (len(rows), max_order).

    An n-gram counts at most as often as in the reference that has most of it. rows, starts, ends: shape (k,).
    Source: Papineni et al. 2002, section 2.1.
    """
    responses, references = tokens.responses, tokens.references
    return _kernel(responses.ids, responses.offsets, references.ids, references.offsets, rows, starts, ends, max_order)


def ngram_counts(lengths: Integers, max_order: int) -> Integers:
    """Number of n-grams of each order in texts of so many tokens; shape (len(lengths), max_order).

    >>> ngram_counts(np.array([5, 2]), 4)
    array([[5, 4, 3, 2],
           [2, 1, 0, 0]])
    """
    counts: Integers = np.maximum(lengths[:, None] - np.arange(max_order), 0)
    return counts


def _clipped_matches(
    ids: NDArray[np.int32],
    offsets: Integers,
    reference_ids: NDArray[np.int32],
    reference_offsets: Integers,
    rows: Integers,
    starts: Integers,
    ends: Integers,
    max_order: int,
) -> Integers:
    """Order by order: an n-gram's key is the slot of its first n - 1 tokens and its last token."""
    matches = np.zeros((len(rows), max_order), np.int64)
    for k in range(len(rows)):
        response = ids[offsets[rows[k]] : offsets[rows[k] + 1]]
        first = reference_offsets[starts[k]]
        pooled = reference_ids[first : reference_offsets[ends[k]]]
        bounds = reference_offsets[starts[k] : ends[k] + 1] - first
        prefixes = np.zeros(len(response), np.int64)
        pooled_prefixes = np.zeros(len(pooled), np.int64)
        for order in range(min(max_order, len(response))):
            keys = np.full(_capacity(len(response)), -1, np.int64)
            counts = _count(response, prefixes, order, keys, insert=True)
            most = np.zeros(len(keys), np.int64)
            for j in range(len(bounds) - 1):
                reference = pooled[bounds[j] : bounds[j + 1]]
                its_prefixes = pooled_prefixes[bounds[j] : bounds[j + 1]]
                most = np.maximum(most, _count(reference, its_prefixes, order, keys, insert=False))
            matches[k, order] = np.minimum(counts, most).sum()
    return matches


def _count(text: NDArray[np.int32], prefixes: Integers, order: int, keys: Integers, insert: bool) -> Integers:  # noqa: FBT001
    """How often each n-gram of the hash table `keys` stands in a text; `prefixes` advance by one token.

    Only with `insert` are new n-grams given a slot; else their prefix becomes -1.
    """
    counts = np.zeros(len(keys), np.int64)
    for i in range(len(text) - order):
        if prefixes[i] < 0:
            continue
        key = (prefixes[i] << 32) | np.int64(text[i + order])
        slot = _slot(key, keys)
        if keys[slot] == key or insert:
            keys[slot] = key
            counts[slot] += 1
            prefixes[i] = slot
        else:
            prefixes[i] = -1
    return counts


def _slot(key: np.int64, keys: Integers) -> np.int64:
    """Where the key is, or would be put."""
    mask = np.uint64(len(keys) - 1)
    slot = ((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & mask  # Knuth: 2^64 / golden ratio
    while keys[slot] not in (-1, key):
        slot = (slot + np.uint64(1)) & mask
    return np.int64(slot)


def _capacity(length: int) -> int:
    """A power of two, at least twice the length."""
    capacity = 2
    while capacity < 2 * length:
        capacity *= 2
    return capacity


_slot = njit(cache=True)(_slot)
_capacity = njit(cache=True)(_capacity)
_count = njit(cache=True)(_count)
_kernel: Callable[..., Integers] = njit(cache=True)(_clipped_matches)
