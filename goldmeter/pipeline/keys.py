"""Keys of tables: whether they are unique over all parts, and whether a part has those of the part it was made from."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from goldmeter.pipeline.tables import Parts

Hashes = NDArray[np.uint64]
# Columns that identify a row, in any table.
KEYS = ("id", "candidate", "metric", "slice", "slice_value")


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
    named = [name for name in columns if name in table.column_names]
    frame = pa.table({name: _hashable(table[name]) for name in named}).to_pandas()
    return np.asarray(pd.util.hash_pandas_object(frame, index=False, categorize=False), np.uint64)


def _hashable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Bytes, and all else as texts: pandas hashes numbers with and without nulls in other ways."""
    is_bytes = pa.types.is_binary(column.type) or pa.types.is_fixed_size_binary(column.type)
    return column.cast(pa.binary() if is_bytes else pa.string())


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
