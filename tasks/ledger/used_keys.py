"""The keys that the current tables use: one byte for each entry of an index, and the keys that it lacks."""

import numpy as np
from numpy.typing import NDArray

from tasks.ledger.entry_index import EntryIndex
from tasks.ledger.short_keys import BUCKETS, NO_KEYS, KeySet, ShortKeys, places_by_key

_FIRST_KEYS = np.array([bytes([number]) for number in range(BUCKETS)], NO_KEYS.dtype)


class UsedKeys:
    """A set of short keys, most of which are in an index."""

    def __init__(self, index: EntryIndex) -> None:
        self._others = KeySet()
        self._set_index(index)

    def __len__(self) -> int:
        return sum(len(self.bucket(number)) for number in range(BUCKETS))

    def move_to(self, index: EntryIndex) -> None:
        """Use another index from now on."""
        self._others.add(self._index.keys[self._is_used])
        self._set_index(index)

    def add(self, keys: ShortKeys) -> None:
        """Add keys."""
        keys = keys[places_by_key(keys)]
        rows = self._index.find(keys)
        self._is_used[rows[rows >= 0]] = True
        self._others.add(keys[rows < 0])

    def bucket(self, number: int) -> ShortKeys:
        """Return all keys with a first byte, in order."""
        rows = slice(*self._bounds[number : number + 2])
        indexed, others = self._index.keys[rows][self._is_used[rows]], self._others.bucket(number)
        return np.union1d(indexed, others) if len(others) else indexed

    def all(self) -> ShortKeys:
        """Return all keys, in order."""
        return np.concatenate([self.bucket(number) for number in range(BUCKETS)])

    def _set_index(self, index: EntryIndex) -> None:
        self._index = index
        self._is_used: NDArray[np.bool_] = np.zeros(len(index), np.bool_)
        self._bounds: list[int] = [*np.searchsorted(index.keys, _FIRST_KEYS).tolist(), len(index)]
