"""CSV and TSV as columns; TSV with quotes is left to `tasks.dataset.formats.delimited`, which finds what they mean."""

import csv
from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import Path

import numpy as np
import pyarrow as pa

from tasks.dataset.columnar.piece import NULL, Lists, Texts, lists_of_texts, strings
from tasks.dataset.columnar.spans import Span, blocks, whole_lines
from tasks.dataset.formats.delimited import LONGEST_CELL, checked_header
from tasks.dataset.kernels.csv_cells import CELL, CLOSED, INSIDE, QUOTE, RECORD, cells, record_starts, undoubled
from tasks.dataset.record import Record, file_name
from tasks.errors import DataError
from tasks.pipeline.division import Undivided

DELIMITERS = {".csv": ",", ".tsv": "\t"}


class CsvLines:
    """The records of a span.

    names: the columns that will be asked for.

    Raises:
        Undivided: The bytes are no UTF-8, a record has another number of cells than the header, or a cell is too long.
    """

    exact: frozenset[str] = frozenset()
    nested: frozenset[str] = frozenset()

    def __init__(self, span: Span, names: Sequence[str]) -> None:
        self._span, self._names = span, {name: number for number, name in enumerate(names)}
        self._delimiter = _delimiter(Path(span.file))
        self._data = whole_lines(span.read())
        columns = np.array([self._names.get(name, -1) for name in span.columns], np.int64)
        found = cells(self._data, span.records, ord(self._delimiter), columns, len(names))
        lines, self._begins, self._ends, self._kinds, self._firsts, self._lasts = found
        if len(lines) != span.records or (self._lasts - self._firsts).max(initial=0) > LONGEST_CELL:
            raise Undivided
        self.lines = span.line + lines
        self.is_odd = np.zeros(len(lines), np.bool_)

    def has(self, name: str) -> bool:
        """Whether the header names the column."""
        return name in self._span.columns

    def texts(self, name: str) -> Texts:
        """Return a column of texts."""
        if not self.has(name):
            return Texts(pa.nulls(len(self.lines), pa.string()), np.zeros(len(self.lines), np.bool_))
        column = self._names[name]
        kinds = self._kinds[column]
        content, offsets = undoubled(self._data, kinds, self._firsts[column], self._lasts[column])
        return Texts(strings(content, offsets, kinds == NULL), np.zeros(len(kinds), np.bool_))

    def lists(self, name: str) -> Lists:
        """Return a column of texts that may print lists."""
        return lists_of_texts(self.texts(name))

    def record(self, row: int) -> Record:
        """Return one record."""
        text = self._data[self._begins[row] : self._ends[row]].tobytes().decode()
        csv.field_size_limit(LONGEST_CELL)
        cells_of_row = next(csv.reader([text], delimiter=self._delimiter, strict=True))
        values = {name: cell or None for name, cell in zip(self._span.columns, cells_of_row, strict=True)}
        return Record(file_name(Path(self._span.file)), int(self.lines[row]), {**values})


def scan(file: Path, first: int, every: int) -> Iterator[Span]:
    """Yield the spans of a file: of `first` records, then of `every`; the last may have fewer.

    Raises:
        Undivided: It is no CSV that the kernels read.
    """
    delimiter = ord(_delimiter(file))
    state, header = np.array([0, RECORD, 0, 1, first], np.int64), b""
    begin, line, records, end = 0, 0, -1, 0
    columns: tuple[str, ...] = ()
    for offset, block in blocks(file):
        if delimiter != ord(",") and QUOTE in block:
            raise Undivided
        offsets, lines, state = record_starts(block, state, delimiter, every)
        for at, number in zip((offsets + offset).tolist(), lines.tolist(), strict=True):
            if records < 0:
                columns, count = _columns(header + block[: at - offset].tobytes(), file), 1
            else:
                count = first if records == 0 else every
                yield Span(str(file), begin, at, line + 1, count, columns)
            begin, line, records = at, number, records + count
        header = header + block.tobytes() if records < 0 else b""
        end = offset + len(block)
    if records < 0 or state[1] not in {RECORD, CELL, INSIDE, CLOSED}:
        raise Undivided
    left = int(state[2]) - 1 + int(state[1] != RECORD) - records
    if left:
        yield Span(str(file), begin, end, line + 1, left, columns)


def _columns(header: bytes, file: Path) -> tuple[str, ...]:
    """Return the names of the columns, given the first record and the blank lines before it."""
    try:
        rows = csv.reader(StringIO(header.decode(), newline=""), delimiter=_delimiter(file), strict=True)
        return (*checked_header(next(filter(None, rows)), ""),)
    except (UnicodeDecodeError, csv.Error, DataError, StopIteration):
        raise Undivided from None


def _delimiter(file: Path) -> str:
    return DELIMITERS[file.suffix.lower()]
