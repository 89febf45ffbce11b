"""Parquet as columns."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tasks.dataset.columnar.piece import Lists, Texts, lists_of_texts
from tasks.dataset.columnar.spans import Span
from tasks.dataset.formats.parquet import require_sensible_size, text_columns
from tasks.dataset.formats.record_batches import chosen
from tasks.dataset.record import Record, as_text, file_name
from tasks.errors import DataError
from tasks.pipeline.division import Undivided
from tasks.text.kernels import Flags

# Bytes of a row group when it is decoded: each worker holds one.
LARGEST_GROUP = 1 << 30


class ParquetRows:
    """The rows of a span, whose begin and end are numbers of rows, and some of its columns.

    Raises:
        Undivided: The rows can't be read.
    """

    exact: frozenset[str] = frozenset()
    nested: frozenset[str] = frozenset()

    def __init__(self, span: Span, names: Sequence[str]) -> None:
        self._span = span
        self._rows = _rows(span, frozenset(names))
        self.lines = np.arange(span.begin + 1, span.end + 1)
        self.is_odd = np.zeros(span.records, np.bool_)

    def has(self, name: str) -> bool:
        """Whether the file has the column."""
        return name in self._rows.column_names

    def texts(self, name: str) -> Texts:
        """Return a column of texts."""
        column = self._column(name)
        if _is_text(column.type):
            return Texts(column.cast(pa.string()), self._none())
        if pa.types.is_integer(column.type) or pa.types.is_boolean(column.type) or pa.types.is_null(column.type):
            return Texts(column.cast(pa.string()), self._none())
        values = [as_text(value) for value in column.to_pylist()]
        is_odd = np.array([value is not None and not isinstance(value, str) for value in values], np.bool_)
        return Texts(pa.array([value if isinstance(value, str) else None for value in values], pa.string()), is_odd)

    def lists(self, name: str) -> Lists:
        """Return a column of lists, or of texts that may print one."""
        column = self._column(name)
        if not (_is_list(column.type) and _is_text(column.type.value_type)):
            return lists_of_texts(self.texts(name))
        is_null = np.array(column.is_null())
        items = pc.list_flatten(column).cast(pa.string())
        counts = pc.fill_null(pc.list_value_length(column), 0).to_numpy().astype(np.int64)
        if items.null_count:
            of_rows = np.repeat(np.arange(len(counts)), counts)[np.array(items.is_valid())]
            counts, items = np.bincount(of_rows, minlength=len(counts)), items.drop_null()
        return Lists(items, counts, is_null, self._none(), self._none())

    def record(self, row: int) -> Record:
        """Return one record."""
        [values] = self._rows.slice(row, 1).to_pylist()
        name = file_name(Path(self._span.file))
        return Record(name, int(self.lines[row]), {column: as_text(value) for column, value in values.items()})

    def _column(self, name: str) -> pa.Array:
        if not self.has(name):
            return pa.nulls(len(self.lines), pa.string())
        column = self._rows[name]
        if (kind := _plain(column.type)) != column.type:
            column = column.cast(kind)
        column = column.combine_chunks()
        return column.chunk(0) if isinstance(column, pa.ChunkedArray) else column

    def _none(self) -> Flags:
        return np.zeros(len(self.lines), np.bool_)


def scan(file: Path, first: int, every: int) -> Iterator[Span]:
    """Yield the spans of a file: of `first` rows, then of `every`; the last may have fewer.

    Raises:
        Undivided: It can't be read, a value of its types might stop the run, or a row group is too large.
    """
    try:
        with pq.ParquetFile(file) as opened:
            metadata, schema = opened.metadata, opened.schema_arrow
        require_sensible_size(metadata, file)
    except (DataError, pa.ArrowException, OSError, ValueError):
        raise Undivided from None
    if not all(map(str.strip, schema.names)) or not _is_safe(pa.struct(schema)):
        raise Undivided
    if any(metadata.row_group(i).total_byte_size > LARGEST_GROUP for i in range(metadata.num_row_groups)):
        raise Undivided
    if metadata.num_rows != sum(metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)):
        raise Undivided
    begin, end = 0, first
    while begin < metadata.num_rows:
        end = min(end, metadata.num_rows)
        yield Span(str(file), begin, end, begin + 1, end - begin)
        begin, end = end, end + every


def _rows(span: Span, names: frozenset[str]) -> pa.Table:
    try:
        with pq.ParquetFile(span.file) as opened:
            sizes = [opened.metadata.row_group(i).num_rows for i in range(opened.metadata.num_row_groups)]
        ends = np.cumsum(sizes)
        groups = np.flatnonzero((ends > span.begin) & (ends - sizes < span.end)).tolist()
        tables = [_group(span.file, group, names) for group in groups]
        table = pa.concat_tables(tables)
        rows = table.slice(span.begin - int(ends[groups[0]] - sizes[groups[0]]), span.records)
        rows.validate(full=True)  # that texts are UTF-8
        if any(map(_is_too_large, rows.columns)):
            raise Undivided
    except (pa.ArrowException, OSError, ValueError, IndexError):
        raise Undivided from None
    if rows.num_rows != span.records or [table.num_rows for table in tables] != [sizes[group] for group in groups]:
        raise Undivided
    return rows


@lru_cache(maxsize=2)  # of a part that begins in one group and ends in the next
def _group(file: str, group: int, names: frozenset[str]) -> pa.Table:
    with pq.ParquetFile(file) as opened:
        texts, wanted = text_columns(opened.schema), chosen(opened.schema_arrow.names, names)
    with pq.ParquetFile(file, read_dictionary=texts) as opened:
        return opened.read_row_group(group, wanted)


def _is_too_large(column: pa.ChunkedArray) -> bool:
    return column.nbytes > LARGEST_GROUP or sum(map(_decoded_size, column.chunks)) > LARGEST_GROUP


def _decoded_size(values: pa.Array) -> int:
    """Return the bytes of the texts in dictionaries when each row holds its own."""
    kind = values.type
    if _is_list(kind):
        return _decoded_size(values.flatten())
    if pa.types.is_struct(kind):
        return sum(map(_decoded_size, values.flatten()))
    if not pa.types.is_dictionary(kind) or not _is_text(kind.value_type):
        return 0
    return pc.sum(pc.binary_length(values.dictionary).cast(pa.int64()).take(values.indices)).as_py() or 0


def _plain(kind: pa.DataType) -> pa.DataType:
    """Return a type without dictionaries."""
    if pa.types.is_dictionary(kind):
        return _plain(kind.value_type)
    if not _is_list(kind):
        return kind
    inner = _plain(kind.value_type)
    return pa.large_list(inner) if pa.types.is_large_list(kind) else pa.list_(inner)


def _is_safe(kind: pa.DataType) -> bool:
    """Whether any value of a type can be read: no bytes that may be no UTF-8, no dates beyond those of Python."""
    if pa.types.is_struct(kind):
        names = [field.name for field in kind]
        return len(set(names)) == len(names) and all(_is_safe(field.type) for field in kind)
    if _is_list(kind) or pa.types.is_dictionary(kind):
        return _is_safe(kind.value_type)
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    return _is_text(kind) or is_number or pa.types.is_null(kind)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))
