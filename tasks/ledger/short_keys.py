"""Short keys: the first 16 bytes of the keys of entries, as sorted arrays."""

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tasks.ledger.entries import SHORT

ShortKeys: TypeAlias = NDArray[np.bytes_]
Mask: TypeAlias = NDArray[np.bool_]
# Keys are uniform hashes: their first byte divides them evenly.
BUCKETS = 256
NO_KEYS = np.empty(0, f"S{SHORT}")


def short_keys(keys: Iterable[str]) -> ShortKeys:
    """Return the short form of keys of 64 hex digits, shape (m,), dtype S16; all bytes count, also trailing NULs."""
    whole = np.frombuffer(bytes.fromhex("".join(keys)), f"S{2 * SHORT}")
    return whole.view(NO_KEYS.dtype)[::2].copy()


def first_bytes(keys: ShortKeys) -> NDArray[np.uint8]:
    """Return the first byte of each key, shape (m,)."""
    return np.frombuffer(keys.tobytes(), np.uint8)[:: keys.itemsize]


def places_by_key(keys: ShortKeys) -> NDArray[np.intp]:
    """Return the places of keys in ascending order of their first eight bytes, shape (m,): looked up so, they are near.

    As numbers, for numpy compares texts byte by byte.
    """
    return np.argsort(keys.view(">u8")[::2].astype(np.uint64))


def split(keys: NDArray[np.bytes_]) -> list[bytes]:
    """Return keys or checksums as bytes of their full length; numpy itself drops trailing NULs."""
    size, content = keys.itemsize, keys.tobytes()
    return [content[start : start + size] for start in range(0, len(content), size)]


class KeySet:
    """A set of short keys, 16 bytes a key, by first byte. Keys are merged with runs of fewer or as many keys."""

    def __init__(self) -> None:
        self._runs: list[list[ShortKeys]] = [[] for _ in range(BUCKETS)]

    def add(self, keys: ShortKeys) -> None:
        """Add keys."""
        keys = np.unique(keys)
        bounds = np.searchsorted(first_bytes(keys), np.arange(BUCKETS + 1)).tolist()
        for runs, start, end in zip(self._runs, bounds, bounds[1:], strict=False):
            run = keys[start:end]
            while runs and len(run) and len(runs[-1]) <= 2 * len(run):
                run = np.unique(np.concatenate([runs.pop(), run]))
            if len(run):
                runs.append(run.copy() if run.base is not None else run)

    def contains(self, keys: ShortKeys) -> Mask:
        """Return which of the keys are in the set, shape (m,)."""
        found, buckets = np.zeros(len(keys), np.bool_), first_bytes(keys)
        for number in np.unique(buckets).tolist():
            here = np.flatnonzero(buckets == number)
            for run in self._runs[number]:
                places = np.minimum(np.searchsorted(run, keys[here]), len(run) - 1)
                found[here] |= run[places] == keys[here]
        return found

    def bucket(self, number: int) -> ShortKeys:
        """Return all keys with a first byte, in order."""
        runs = self._runs[number]
        if len(runs) > 1:
            runs[:] = [np.unique(np.concatenate(runs))]
        return runs[0] if runs else NO_KEYS
