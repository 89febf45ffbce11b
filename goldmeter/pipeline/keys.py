"""Keys of tables: whether they are unique over all parts, and whether a part has those of the part it was made from."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from goldmeter.pipeline.tables import Parts

Hashes = NDArray[np.uint64]
# Columns that identify a row, in any table.
KEYS = ("id", "candidate", "metric", "slice", "slice_value")
# Bytes of text hashed at a time: each takes some 30 bytes of memory meanwhile.
CHUNK_BYTES = 1 << 20
# Increment and multipliers of SplitMix64 (Steele, Lea and Flood 2014).
_STEP, _FIRST, _SECOND = (np.uint64(n) for n in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


class KeyHashes:
    """The hashes of the keys of all parts: 8 bytes a row.

    Equal keys have equal hashes. So may different keys, in 3 % of tables of 1e9 rows: where hashes are equal, the keys
    themselves have to be compared.
    """

    def __init__(self) -> None:
        self._hashes = bytearray()

    def add(self, hashes: Hashes) -> None:
        """Add the hashes of one part."""
        self._hashes += hashes.tobytes()

    def repeated(self) -> Hashes:
        """Return the hashes that occur more than once, ascending."""
        ordered = np.frombuffer(self._hashes, np.uint64)
        ordered.sort()
        return np.unique(ordered[1:][ordered[1:] == ordered[:-1]])


def hashes_of(table: pa.Table, columns: Sequence[str]) -> Hashes:
    """Hash the values of some columns, of those that are there, row by row; shape (rows,).

    Equal rows have equal hashes. Columns are of texts, bytes, or a type that Arrow can write as text.
    """
    total = np.zeros(table.num_rows, np.uint64)
    for name in [name for name in columns if name in table.column_names]:
        values = [_hashed(chunk) for array in table[name].chunks for chunk in _chunks(_binary(array))]
        total = _mixed(total + _STEP + np.concatenate([np.zeros(0, np.uint64), *values]))
    return total


def with_hashes(parts: Parts, columns: Sequence[str], hashes: Hashes) -> tuple[pa.Table, NDArray[np.int64]]:
    """Return the rows of a table whose hash over `columns` is among `hashes`, with their keys, and their positions.

    Args:
        parts: The table.
        columns: The columns that were hashed.
        hashes: Ascending.
    """
    schema = parts.schema
    wanted = [name for name in schema.names if name in columns or name in KEYS]
    found, positions, start = [pa.table({name: pa.array([], schema.field(name).type) for name in wanted})], [], 0
    for part in parts.read(wanted) if len(hashes) else ():
        inside = np.flatnonzero(np.isin(hashes_of(part, columns), hashes))
        found.append(part.take(pa.array(inside)).replace_schema_metadata())
        positions.append(inside + start)
        start += part.num_rows
    return pa.concat_tables(found), np.concatenate([np.zeros(0, np.int64), *positions])


class KeyDifferences(NamedTuple):
    """How the keys of a part differ from those of the part it was made from.

    rows: Number of rows with another key than the row of the same number there, missing and additional rows included.
    first: The first of them, counted from 0; None if there is none.
    here, there: Its keys in both parts, such as `q1/aurora`; None where the part has ended.
    """

    rows: int = 0
    first: int | None = None
    here: str | None = None
    there: str | None = None


def key_differences(here: pa.Table, there: pa.Table, columns: Sequence[str]) -> KeyDifferences:
    """Compare the keys of two parts row by row; null equals null. A column that `here` lacks differs in each row."""
    common = min(here.num_rows, there.num_rows)
    differs = np.zeros(max(here.num_rows, there.num_rows), np.bool_)
    differs[common:] = True
    for name in columns:
        differs[:common] |= _differs(here, there, name, common)
    if not differs.any():
        return KeyDifferences()
    first = int(differs.argmax())
    return KeyDifferences(int(differs.sum()), first, _key(here, columns, first), _key(there, columns, first))


def _differs(here: pa.Table, there: pa.Table, name: str, rows: int) -> NDArray[np.bool_]:
    if name not in here.column_names:
        return np.ones(rows, np.bool_)
    one, other = here[name].slice(0, rows), there[name].slice(0, rows)
    if one.equals(other):
        return np.zeros(rows, np.bool_)
    if one.type != other.type:
        one, other = one.cast(pa.string()), other.cast(pa.string())
    unequal = pc.fill_null(pc.not_equal(one, other), pa.scalar(value=False))
    differs: NDArray[np.bool_] = pc.or_(unequal, pc.xor(one.is_null(), other.is_null())).to_numpy()
    return differs


def _key(table: pa.Table, columns: Sequence[str], row: int) -> str | None:
    if row >= table.num_rows:
        return None
    values = [table[name][row].as_py() for name in columns if name in table.column_names]
    return "/".join(str(value) for value in values if value is not None)


def _binary(column: pa.Array) -> pa.Array:
    """The values as bytes with 64-bit offsets, null as no bytes."""
    if pa.types.is_fixed_size_binary(column.type):
        column = column.cast(pa.binary())
    elif not (pa.types.is_string(column.type) or pa.types.is_binary(column.type)):
        column = column.cast(pa.large_string())
    return pc.fill_null(column.cast(pa.large_binary()), b"")


def _chunks(column: pa.Array) -> Iterator[pa.Array]:
    """Slices of at most CHUNK_BYTES, or of one row."""
    offsets, start = _offsets(column), 0
    while start < len(column):
        end = max(int(np.searchsorted(offsets, offsets[start] + CHUNK_BYTES, side="right")) - 1, start + 1)
        yield column.slice(start, end - start)
        start = end


def _offsets(column: pa.Array) -> NDArray[np.int64]:
    offsets: NDArray[np.int64] = np.frombuffer(column.buffers()[1], np.int64)
    return offsets[column.offset : column.offset + len(column) + 1]


def _hashed(column: pa.Array) -> Hashes:
    """Sum of the bytes of each value, each times a number that depends on its position; then mixed."""
    offsets = _offsets(column)
    content = column.buffers()[2] or b""
    text = np.frombuffer(content, np.uint8)[offsets[0] : offsets[-1]].astype(np.uint64)
    lengths = np.diff(offsets)
    positions = np.arange(len(text), dtype=np.int64) - np.repeat(offsets[:-1] - offsets[0], lengths)
    weights = _mixed(np.arange(1, lengths.max(initial=0) + 1, dtype=np.uint64) * _STEP)
    sums = np.zeros(len(text) + 1, np.uint64)
    np.cumsum((text + np.uint64(1)) * weights[positions], out=sums[1:])  # 1: a NUL counts too
    return _mixed(sums[offsets[1:] - offsets[0]] - sums[offsets[:-1] - offsets[0]])


def _mixed(values: Hashes) -> Hashes:
    """The finaliser of SplitMix64."""
    values = (values ^ (values >> np.uint64(30))) * _FIRST
    values = (values ^ (values >> np.uint64(27))) * _SECOND
    return values ^ (values >> np.uint64(31))
