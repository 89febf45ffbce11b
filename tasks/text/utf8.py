"""Texts as UTF-8 bytes for kernels: Arrow's own buffers, without copies."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Integers = NDArray[np.int64]


def distinct(*texts: pa.Array) -> tuple[pa.Array, NDArray[np.int32]]:
    """Return the distinct texts of all arrays, and the index of each text among them in sequence; a null is empty."""
    encoded = _joined(*texts).dictionary_encode()
    return encoded.dictionary, np.array(encoded.indices.to_numpy())  # writable, as numba's other ids


def utf8(*texts: pa.Array) -> tuple[NDArray[np.uint8], Integers]:
    """Return the UTF-8 of all arrays, one after another, and the offset of each text; a null is an empty text.

    Returns:
        Data, uint8, and offsets into it, shape (n + 1,), of n texts in all. Both are always read-only, because numba
        would compile a kernel again for writable arrays.
    """
    joined = _joined(*texts)
    _, offsets, data = joined.buffers() if len(joined) else (None, bytes(8), b"")
    content, begins = np.frombuffer(data or b"", np.uint8), np.frombuffer(offsets, np.int64)
    content.flags.writeable = begins.flags.writeable = False
    return content, begins[joined.offset : joined.offset + len(joined) + 1]


def equal(texts: pa.Array, references: pa.Array, rows: Integers) -> NDArray[np.bool_]:
    """Return whether each of m references equals text `rows[j]`; shape (m,). A null is an empty text."""
    left, right = _joined(texts), _joined(references)
    lengths, others = (pc.binary_length(side).to_numpy(zero_copy_only=False) for side in (left, right))
    same = np.array(lengths[rows] == others, np.bool_)
    compared = np.flatnonzero(same)
    pairs = left.take(pa.array(rows[compared])), right.take(pa.array(compared))
    same[compared] = pc.equal(*pairs).to_numpy(zero_copy_only=False)
    return same


def mapped(change: Callable[[str], str], texts: pa.Array) -> pa.Array:
    """Apply a function to each distinct text; a null stays null."""
    encoded = texts.dictionary_encode()
    changed = pa.array(map(change, encoded.dictionary.to_pylist()), pa.large_string())
    return changed.take(encoded.indices)


def _joined(*texts: pa.Array) -> pa.Array:
    arrays = [pc.fill_null(array.cast(pa.large_string()), "") for array in texts]
    return arrays[0] if len(arrays) == 1 else pa.concat_arrays(arrays)
