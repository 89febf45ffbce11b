"""JSON lines as columns."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from tasks.dataset.columnar.piece import LIST, NULL, Lists, Texts, encoded, listed, lists_of_texts, strings
from tasks.dataset.columnar.spans import Span, blocks, whole_lines
from tasks.dataset.formats.json_records import DECODER, decode_whole
from tasks.dataset.kernels.json_members import objects
from tasks.dataset.kernels.json_texts import unescaped
from tasks.dataset.kernels.record_lines import starts
from tasks.dataset.record import Record, file_name
from tasks.pipeline.division import Undivided


class JsonLines:
    """The records of a span.

    names: the columns that will be asked for.

    Raises:
        Undivided: The bytes are no UTF-8, or not those that were seen before.
    """

    def __init__(self, span: Span, names: Sequence[str]) -> None:
        self._file, self._names = span.file, {name: number for number, name in enumerate(names)}
        self._data = whole_lines(span.read())
        found = objects(self._data, span.records, *encoded(names))
        lines, self._begins, self._ends, is_plain, self._kinds, self._firsts, self._lasts = found
        if len(lines) != span.records:
            raise Undivided
        self.lines = span.line + lines
        self.is_odd = ~is_plain

    def has(self, name: str) -> bool:
        """Whether a record that is not odd has the column."""
        return bool(self._kinds[self._names[name]].any())

    def texts(self, name: str) -> Texts:
        """Return a column of texts."""
        column = self._names[name]
        content, offsets, is_odd = unescaped(self._data, self._kinds[column], self._firsts[column], self._lasts[column])
        return Texts(strings(content, offsets, self._kinds[column] <= NULL), is_odd)

    def lists(self, name: str) -> Lists:
        """Return a column of lists, or of texts that may print one."""
        column = self._names[name]
        kinds = self._kinds[column]
        if not (kinds == LIST).any():
            return lists_of_texts(self.texts(name))
        found = listed(self._data, kinds, self._firsts[column], self._lasts[column])
        return Lists(found.items, found.counts, found.is_null, found.is_text, found.is_odd | found.is_text)

    def record(self, row: int) -> Record:
        """Return one record; Undivided if it can't be read."""
        line = self._data[self._begins[row] : self._ends[row]].tobytes().decode()
        try:
            values = decode_whole(line.rstrip(" \t\r\n"), DECODER)
        except ValueError:
            raise Undivided from None
        if not isinstance(values, dict):
            raise Undivided
        return Record(self._file_name, int(self.lines[row]), values)

    @cached_property
    def _file_name(self) -> str:
        return file_name(Path(self._file))


def scan(file: Path, first: int, every: int) -> Iterator[Span]:
    """Yield the spans of a file: of `first` records, then of `every`; the last may have fewer."""
    begin, line, records, end = -1, 0, 0, 0
    # The kernel counts from a record that would have been the first one of the part.
    state = np.array([0, every - first, 0], np.int64)
    for offset, block in blocks(file):
        begin = offset if begin < 0 else begin
        offsets, lines, state = starts(block, state, every)
        for at, number in zip((offsets + offset).tolist(), lines.tolist(), strict=True):
            count = every if records else first
            yield Span(str(file), begin, at, line + 1, count)
            begin, line, records = at, number, records + count
        end = offset + len(block)
    left = int(state[1] + state[2]) - (every - first) - records
    if left:
        yield Span(str(file), begin, end, line + 1, left)
