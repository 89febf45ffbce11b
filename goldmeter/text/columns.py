"""Texts from Python, NumPy, pandas or Arrow as Arrow columns, and their UTF-8 bytes for kernels, without copies."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd


# A column of texts, or missing ones; a column of one text or several per row.
Texts: TypeAlias = "Sequence[str | None] | pd.Series[Any] | np.ndarray[Any, Any] | pa.Array | pa.ChunkedArray"
TextLists: TypeAlias = (
    "Sequence[str | Sequence[str] | None] | pd.Series[Any] | np.ndarray[Any, Any] | pa.Array | pa.ChunkedArray"
)
# Names of the types of pandas.NA and pandas.NaT, compared by name so that pandas is not imported.
PANDAS_MISSING = frozenset({"NAType", "NaTType"})
NO_COLUMN = (str, bytes, Mapping, AbstractSet)


def text_column(name: str, values: Any) -> pa.Array:
    """Return strings; None, NaN and pandas.NA are null.

    Args:
        name: Of the argument, for errors.
        values: A list, NumPy array, pandas Series or Arrow array with one text per row.

    Raises:
        TypeError: Not a column, or an entry is a number or anything else that is not text.
        ValueError: A text is not Unicode.
    """
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return _strings(name, values)
    items = entries(name, values)
    if not set(map(type, items)) <= {str, NoneType}:
        items = [_text(name, row, value) for row, value in enumerate(items)]
    return _array(name, items, range(len(items)))


def list_column(name: str, values: Any, *, missing: bool = False) -> pa.Array:
    """Return lists of strings; an entry is one string, or a list of strings.

    Args:
        name: Of the argument, for errors.
        values: A list, NumPy array, pandas Series or Arrow array with one entry per row.
        missing: Whether an entry may be missing; its list is null then.

    Raises:
        TypeError: Not a column, or an entry is a number or anything else that is not text.
        ValueError: A text is missing, or is not Unicode.
    """
    if isinstance(values, pa.Array | pa.ChunkedArray):
        values = values.to_pylist() if _is_lists(values.type) else _strings(name, values)
    items = entries(name, values)
    if set(map(type, items)) == {str}:
        return pa.ListArray.from_arrays(
            np.arange(len(items) + 1, dtype=np.int32), _array(name, items, range(len(items)))
        )
    lists = [None if missing and is_missing(value) else _listed(name, row, value) for row, value in enumerate(items)]
    return _lists(name, lists)


def entries(name: str, values: Any) -> Sequence[Any]:
    """Return the entries of a column as a list.

    Raises:
        TypeError: `values` is one text, a table, or has no order.
    """
    if hasattr(values, "tolist"):  # an array without dimensions gives its only entry
        values = values.tolist()
    if isinstance(values, NO_COLUMN) or hasattr(values, "columns") or not isinstance(values, Iterable):
        what = "one string" if isinstance(values, str) else type(values).__name__
        raise TypeError(f"{name}: expected a list with one entry per row, not {what}")
    if isinstance(values, list | tuple):
        return values
    return list(values)


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, pandas.NA or pandas.NaT."""
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    return value is None or type(value).__name__ in PANDAS_MISSING


def _text(name: str, row: int, value: Any) -> str | None:
    if isinstance(value, str):
        return str(value)
    if not is_missing(value):
        raise _no_text(name, row, value)
    return None


def _no_text(name: str, row: int, value: Any) -> TypeError:
    kind = type(value).__name__
    return TypeError(f"{name}, row {row}: expected text, found {value!r} ({kind}); str() makes a text of a number")


def _listed(name: str, row: int, value: Any) -> list[str]:
    """The texts of one entry."""
    texts = [value] if isinstance(value, str) or is_missing(value) else _several(name, row, value)
    for text in texts:
        if is_missing(text):
            raise ValueError(f"{name}, row {row}: a {name.removesuffix('s')} is a string; found {text} in {texts!r}")
        if not isinstance(text, str):
            raise _no_text(name, row, text)
    return texts


def _several(name: str, row: int, value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return [*value]
    if isinstance(value, NO_COLUMN) or not hasattr(value, "tolist"):
        raise _no_text(name, row, value)
    several = value.tolist()
    return several if isinstance(several, list) else [several]


def _lists(name: str, lists: Sequence[list[str] | None]) -> pa.Array:
    counts = np.array([len(texts or ()) for texts in lists], np.int64)
    flat = [*chain.from_iterable(texts or () for texts in lists)]
    column = _array(name, flat, np.repeat(np.arange(len(lists)), counts).tolist())
    offsets = np.concatenate([np.zeros(1, np.int32), np.cumsum(counts, dtype=np.int32)])
    absent = np.array([texts is None for texts in lists], np.bool_)
    return pa.ListArray.from_arrays(offsets, column, mask=pa.array(absent) if absent.any() else None)


def _is_lists(kind: pa.DataType) -> bool:
    kinds = (pt.is_list, pt.is_large_list, pt.is_fixed_size_list, pt.is_list_view, pt.is_large_list_view)
    return any(is_one(kind) for is_one in kinds)


def _strings(name: str, values: pa.Array | pa.ChunkedArray) -> pa.Array:
    """An Arrow array of texts, whatever their type and chunks, as one array of strings."""
    whole = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    inner = whole.type.value_type if pt.is_dictionary(whole.type) else whole.type
    if not (pt.is_string(inner) or pt.is_large_string(inner) or pt.is_string_view(inner) or pt.is_null(inner)):
        raise TypeError(f"{name}: expected an Arrow array of strings, not of {whole.type}")
    return whole.cast(pa.string())


def _array(name: str, texts: Sequence[str | None], rows: Sequence[int]) -> pa.Array:
    """Convert texts to an Arrow array; rows: the row of each text, for errors."""
    try:
        return pa.array(texts, pa.string())
    except UnicodeEncodeError as error:
        row = next(row for row, text in zip(rows, texts, strict=True) if text == error.object)
        raise ValueError(f"{name}, row {row}: not a Unicode text, it has a lone surrogate: {error.object!r}") from None


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
