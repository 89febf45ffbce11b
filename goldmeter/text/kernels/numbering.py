"""Kernel that numbers byte strings: a hash table over slices of one buffer, read eight bytes at a time."""

from typing import Final, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from goldmeter.text.kernels import GOLDEN, Bytes, Ids, Integers, Words, compiled

Known = Words
Slots = Ids

# Bytes of a word.
_WORD: Final = 8
# Masks of the first 0 to 8 bytes of a word.
_MASKS = np.array([(1 << 8 * length) - 1 for length in range(_WORD + 1)], np.uint64)
_HALF, _ONE = np.uint64(32), np.uint64(1)
_KINDS = np.uint64(4)
_FEWEST_SLOTS = 1 << 13
# Columns of `known`, one row per distinct slice; side by side, because they are read together.
_KEY, _SHAPE, _START, _FIRST = 0, 1, 2, 3


class Table(NamedTuple):
    """Distinct slices by number, for `find`."""

    words: Words
    slots: Slots
    known: Known


def number(data: Bytes, starts: Integers, stops: Integers, kinds: Bytes) -> tuple[Ids, Integers]:
    """Number the slices `data[starts[i]:stops[i]]`, equal bytes of one kind alike; all arrays of shape (n,).

    Args:
        kinds: From 0 to 3.

    Returns:
        The number of each slice, from 0 in the order of first occurrence, shape (n,), and the first slice of each
        number, shape (distinct,).
    """
    return _table(data, starts, stops, kinds)[0]


def table(data: Bytes, offsets: Integers) -> Table:
    """Return the table of the slices `data[offsets[i]:offsets[i + 1]]`, all distinct; offsets: shape (n + 1,)."""
    starts, stops = offsets[:-1].copy(), offsets[1:].copy()  # writable, as those of `number`
    return _table(data, starts, stops, np.zeros(len(offsets) - 1, np.uint8))[1]


def find(known: Table, data: Bytes, offsets: Integers) -> Ids:
    """Return the number of each slice `data[offsets[i]:offsets[i + 1]]` in a table, or -1; shape (n,)."""
    return find_slices(known, data, offsets[:-1].copy(), offsets[1:].copy())


def find_slices(known: Table, data: Bytes, starts: Integers, stops: Integers) -> Ids:
    """Return the number of each slice `data[starts[i]:stops[i]]` in a table, or -1; shape (n,)."""
    return _find(*known, _words(data), starts, stops)


def _words(data: Bytes) -> Words:
    """Return the eight bytes from each byte on, zeros after the last; shape (len(data) + 2,).

    With one word only the array would be contiguous, which is another type to numba.
    """
    padded = np.concatenate([data, np.zeros(2 * _WORD - len(data) % _WORD, np.uint8)])
    # numba loads them as if they were aligned, which x86-64 and AArch64 do at any address.
    return as_strided(padded.view(np.uint64), (len(data) + 2,), (1,))


def _table(data: Bytes, starts: Integers, stops: Integers, kinds: Bytes) -> tuple[tuple[Ids, Integers], Table]:
    words = _words(data)
    numbers = np.empty(len(starts), np.int32)
    slots, known = np.full(_FEWEST_SLOTS, -1, np.int32), np.empty((_FEWEST_SLOTS // 2, 4), np.uint64)
    done, distinct = _number(words, starts, stops, kinds, numbers, slots, known, 0, 0)
    while done < len(starts):
        slots, known = _doubled(known)
        done, distinct = _number(words, starts, stops, kinds, numbers, slots, known, done, distinct)
    return (numbers, known[:distinct, _FIRST].astype(np.int64)), Table(words, slots, known)


@compiled
def _number(
    words: Words,
    starts: Integers,
    stops: Integers,
    kinds: Bytes,
    numbers: Slots,
    slots: Slots,
    known: Known,
    done: int,
    distinct: int,
) -> tuple[int, int]:
    """Number the slices from `done` on until the table is full; return the numbers of numbered and of distinct slices.

    The search is inlined: passing all arrays to a function takes longer than the search itself.
    """
    mask = np.uint64(len(slots) - 1)
    for i in range(done, len(starts)):
        if distinct == len(known):
            return i, distinct
        shape = np.uint64(stops[i] - starts[i]) * _KINDS + np.uint64(kinds[i])
        key = _hash(words, starts[i], stops[i], shape)
        slot = key & mask
        while slots[slot] >= 0:
            other = slots[slot]
            if known[other, _KEY] == key and known[other, _SHAPE] == shape:
                length = stops[i] - starts[i]
                if length <= _WORD or _same(words, starts[i], words, known[other, _START], length):
                    break
            slot = (slot + _ONE) & mask
        if slots[slot] < 0:
            slots[slot] = distinct
            known[distinct, _KEY], known[distinct, _SHAPE] = key, shape
            known[distinct, _START], known[distinct, _FIRST] = starts[i], i
            distinct += 1
        numbers[i] = slots[slot]
    return len(starts), distinct


@compiled
def _find(words: Words, slots: Slots, known: Known, more: Words, starts: Integers, stops: Integers) -> Slots:
    numbers = np.full(len(starts), -1, np.int32)
    mask = np.uint64(len(slots) - 1)
    for i in range(len(numbers)):
        length = stops[i] - starts[i]
        shape = np.uint64(length) * _KINDS
        key = _hash(more, starts[i], stops[i], shape)
        slot = key & mask
        while slots[slot] >= 0:
            other = slots[slot]
            same = known[other, _KEY] == key and known[other, _SHAPE] == shape
            if same and (length <= _WORD or _same(more, starts[i], words, known[other, _START], length)):
                numbers[i] = other
                break
            slot = (slot + _ONE) & mask
    return numbers


@compiled
def _hash(words: Words, start: int, stop: int, shape: np.uint64) -> np.uint64:
    """Hash bytes and shape; slices of one shape and up to eight bytes have equal keys only if they are equal."""
    key = shape
    while stop - start > _WORD:
        key = _mixed(key ^ words[start])
        start += _WORD
    return _mixed(key ^ (words[start] & _MASKS[stop - start]))


@compiled
def _mixed(key: np.uint64) -> np.uint64:
    """Return a different number for each key."""
    product = key * GOLDEN
    return product ^ (product >> _HALF)


@compiled
def _same(words: Words, first: int, others: Words, other: np.uint64, length: int) -> bool:
    """Return whether both slices have the same bytes."""
    second = np.int64(other)
    while length > _WORD:
        if words[first] != others[second]:
            return False
        first, second, length = first + _WORD, second + _WORD, length - _WORD
    return bool((words[first] ^ others[second]) & _MASKS[length] == 0)


@compiled
def _doubled(known: Known) -> tuple[Slots, Known]:
    """Return tables with twice the capacity."""
    slots, larger = np.full(4 * len(known), -1, np.int32), np.empty((2 * len(known), 4), np.uint64)
    larger[: len(known)] = known
    mask = np.uint64(len(slots) - 1)
    for number in range(len(known)):
        slot = known[number, _KEY] & mask
        while slots[slot] >= 0:
            slot = (slot + _ONE) & mask
        slots[slot] = number
    return slots, larger
