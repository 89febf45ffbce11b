"""Numbers byte strings, equal ones alike: a hash table over slices of one buffer."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tasks.kernels import compiled

Bytes = NDArray[np.uint8]
Integers = NDArray[np.int64]
Known = NDArray[np.uint64]
Slots = NDArray[np.int32]

_HASH_START, _HASH_FACTOR = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
"""Of FNV-1a with 64 bits. Source: Fowler, Noll & Vo."""
_HALF, _ONE = np.uint64(32), np.uint64(1)
_FEWEST_SLOTS = 1 << 13
_KEY, _START, _STOP, _FIRST = 0, 1, 2, 3
"""Columns of what is known of a distinct slice; side by side, since they are read together."""


class Numbered(NamedTuple):
    """numbers: of each slice, from 0 in the order of first occurrence; shape (n,), int32.

    firsts: which slice is the first of each number; shape (distinct,).
    """

    numbers: NDArray[np.int32]
    firsts: Integers


@compiled
def number(data: Bytes, starts: Integers, stops: Integers, kinds: Bytes) -> Numbered:
    """Numbers of the slices `data[starts[i]:stops[i]]`: equal bytes of one kind have one; all of shape (n,)."""
    numbers = np.empty(len(starts), np.int32)
    slots = np.full(_FEWEST_SLOTS, -1, np.int32)
    known = np.empty((len(slots) // 2, 4), np.uint64)
    distinct = 0
    for i in range(len(starts)):
        start, stop = np.uint64(starts[i]), np.uint64(stops[i])
        key = _hash(data, start, stop, kinds[i])
        slot = _slot(data, start, stop, key, slots, known)
        if slots[slot] < 0:
            slots[slot] = distinct
            known[distinct, _KEY], known[distinct, _START], known[distinct, _STOP] = key, start, stop
            known[distinct, _FIRST] = i
            distinct += 1
        numbers[i] = slots[slot]
        if distinct == len(known):
            slots, known = _doubled(known)
    firsts = np.empty(distinct, np.int64)
    for k in range(distinct):
        firsts[k] = known[k, _FIRST]
    return Numbered(numbers, firsts)


@compiled
def _hash(data: Bytes, start: np.uint64, stop: np.uint64, kind: np.uint8) -> np.uint64:
    """Of equal bytes, another for each kind."""
    key = _HASH_START ^ np.uint64(kind)
    for i in range(start, stop):
        key = (key ^ np.uint64(data[i])) * _HASH_FACTOR
    return key ^ (key >> _HALF)


@compiled
def _slot(data: Bytes, start: np.uint64, stop: np.uint64, key: np.uint64, slots: Slots, known: Known) -> np.uint64:
    """Where the slice is, or would be put."""
    mask = np.uint64(len(slots) - 1)
    slot = key & mask
    while slots[slot] >= 0:
        other = known[slots[slot]]
        if other[_KEY] == key and other[_STOP] - other[_START] == stop - start:
            same = True
            for i in range(stop - start):
                if data[start + np.uint64(i)] != data[other[_START] + np.uint64(i)]:
                    same = False
                    break
            if same:
                break
        slot = (slot + _ONE) & mask
    return slot


@compiled
def _doubled(known: Known) -> tuple[Slots, Known]:
    """Tables with twice the room."""
    slots, larger = np.full(4 * len(known), -1, np.int32), np.empty((2 * len(known), 4), np.uint64)
    mask = np.uint64(len(slots) - 1)
    for number in range(len(known)):
        for column in range(4):
            larger[number, column] = known[number, column]
        slot = known[number, _KEY] & mask
        while slots[slot] >= 0:
            slot = (slot + _ONE) & mask
        slots[slot] = number
    return slots, larger
