"""Files of vectors: Arrow IPC, one row per key, in key order, in batches of 65,536 rows, read by memory map."""

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from goldmeter.errors import LedgerError

BATCH = 65_536
KEY_BYTES = 32
NO_KEYS = np.empty(0, "S32")

Keys: TypeAlias = Sequence[bytes] | pa.Array | pa.ChunkedArray | NDArray[np.bytes_] | NDArray[np.uint8]
KeyArray: TypeAlias = NDArray[np.bytes_]
Floats32: TypeAlias = NDArray[np.float32]
Rows: TypeAlias = NDArray[np.int64]
# What Arrow raises for a damaged file, and what follows from other columns than ours.
_DAMAGE = (OSError, pa.ArrowException, KeyError, AttributeError, ValueError)
REMEDY = "Remove it, then `dvc checkout` brings it back; without it, its vectors are computed again."


class VectorFile:
    """The keys and vectors of one file. Raises LedgerError when it is not a file of vectors."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._reader = pa.ipc.open_file(pa.memory_map(str(path)))
            self.dimension: int = self._reader.schema.field("vector").type.list_size
        except _DAMAGE as error:
            raise self._unreadable(error) from error

    @cached_property
    def keys(self) -> KeyArray:
        """All keys, shape (n,), dtype S32; the array's bytes include the trailing NULs of a key."""
        try:
            parts = [key_array(self._batch(i).column("key")) for i in range(self._reader.num_record_batches)]
        except _DAMAGE as error:
            raise self._unreadable(error) from error
        keys = np.concatenate([NO_KEYS, *parts])
        if any(len(part) != BATCH for part in parts[:-1]) or (keys[1:] <= keys[:-1]).any():
            raise self._unreadable("keys out of order, or batches of another size")
        return keys

    def take(self, rows: Rows) -> Floats32:
        """Return the vectors of rows, shape (m, dimension)."""
        out = np.empty((len(rows), self.dimension), np.float32)
        try:
            for number in np.unique(rows // BATCH):
                here = rows // BATCH == number
                vectors = self._batch(int(number)).column("vector").flatten()
                out[here] = vectors.to_numpy().reshape(-1, self.dimension)[rows[here] - number * BATCH]
        except _DAMAGE as error:
            raise self._unreadable(error) from error
        return out

    def _batch(self, number: int) -> pa.RecordBatch:
        """Return a batch whose columns lie within the file. Raises ArrowInvalid when they do not."""
        batch = self._reader.get_batch(number)
        batch.validate()
        return batch

    def _unreadable(self, problem: object) -> LedgerError:
        return LedgerError(f"{self.path}: not a file of vectors ({problem}). {REMEDY}")


def key_array(keys: Keys) -> KeyArray:
    """Return keys as an array of shape (m,), dtype S32.

    Args:
        keys: 32 bytes each, as a list, an Arrow column, or an array of dtype S32 or of shape (m, 32), uint8.
    """
    if isinstance(keys, np.ndarray):
        return np.ascontiguousarray(keys).view("S32").reshape(-1)
    if isinstance(keys, pa.ChunkedArray | pa.Array):
        array = pa.concat_arrays(keys.chunks) if isinstance(keys, pa.ChunkedArray) and keys.num_chunks else keys
        if array.type != pa.binary(32) or array.null_count:
            raise ValueError(f"keys are 32 bytes each, without nulls; got {array.type}, {array.null_count} null")
        return np.frombuffer(array.buffers()[1], "S32")[array.offset :][: len(array)] if len(array) else NO_KEYS
    if any(len(key) != KEY_BYTES for key in keys):
        raise ValueError("keys are 32 bytes each")
    return np.frombuffer(b"".join(keys), "S32")


def split(keys: KeyArray) -> list[bytes]:
    """Return keys as bytes of their full length; numpy itself drops trailing NULs."""
    size, content = keys.itemsize, keys.tobytes()
    return [content[start : start + size] for start in range(0, len(content), size)]


def find(keys: KeyArray, wanted: KeyArray) -> tuple[Rows, NDArray[np.bool_]]:
    """Return the first position of each wanted key among sorted keys, and whether it exists; both of shape (m,)."""
    if not len(keys):
        return np.zeros(len(wanted), np.int64), np.zeros(len(wanted), np.bool_)
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return places, keys[places] == wanted


def write_vectors(path: Path, keys: KeyArray, vectors: Callable[[slice], Floats32]) -> None:
    """Write sorted keys and their vectors; the same entries give the same bytes.

    vectors: returns the vectors of a slice of the keys; called once per batch.
    """
    batch = vectors(slice(0, BATCH))
    dimension = batch.shape[1]
    vector = pa.list_(pa.float32(), dimension)
    schema = pa.schema([pa.field("key", pa.binary(32), nullable=False), pa.field("vector", vector, nullable=False)])
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
        for start in range(0, len(keys), BATCH):
            part = slice(start, start + BATCH)
            batch = batch if start == 0 else vectors(part)
            check_dimension(batch.shape[1], dimension, path)
            column = pa.FixedSizeListArray.from_arrays(pa.array(batch.reshape(-1)), type=vector)
            writer.write_batch(pa.record_batch([_key_column(keys[part]), column], schema=schema))


def _key_column(keys: KeyArray) -> pa.Array:
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(32), len(keys), [None, pa.py_buffer(keys.tobytes())])


def check_dimension(dimension: int, expected: int, where: Path) -> None:
    if dimension != expected:
        raise LedgerError(f"{where}: vectors of dimension {dimension} where {expected} was expected. {REMEDY}")


def missing(keys: KeyArray, where: Path) -> LedgerError:
    first = keys[:1].tobytes().hex()
    return LedgerError(f"{where}: {len(keys)} vectors are not there; the first key is {first}. {REMEDY}")
