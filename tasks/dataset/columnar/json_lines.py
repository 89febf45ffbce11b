"""JSON lines as columns."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tasks.dataset.columnar.piece import LIST, NULL, Lists, Texts, encoded, listed, lists_of_texts, strings
from tasks.dataset.columnar.spans import Span, blocks, whole_lines
from tasks.dataset.formats.json_records import DECODER, decode_whole
from tasks.dataset.kernels.json_members import ABSENT, inner, objects
from tasks.dataset.kernels.json_texts import unescaped
from tasks.dataset.kernels.record_lines import starts
from tasks.dataset.paths import Steps, leads, lookup, may_be_in_list, steps_into
from tasks.dataset.record import Record, file_name
from tasks.pipeline.division import Undivided
from tasks.text.kernels import Bytes, Integers


class Values(NamedTuple):
    """Kind, begin and end of n values in the bytes, as the kernel `json_members` finds them; each of shape (n,)."""

    kinds: Bytes
    firsts: Integers
    lasts: Integers


class JsonLines:
    """The records of a span.

    names: the columns that will be asked for; some may be paths.

    Raises:
        Undivided: The bytes are no UTF-8, or not those that were seen before; or a path is also a column.
    """

    def __init__(self, span: Span, names: Sequence[str]) -> None:
        self._file = span.file
        self._paths = {name: steps for name in names if (steps := steps_into(name)) is not None}
        keys = [*dict.fromkeys([*names, *(str(steps[0]) for steps in self._paths.values())])]
        self._data = whole_lines(span.read())
        found = objects(self._data, span.records, *encoded(keys))
        lines, self._begins, self._ends, is_plain, kinds, firsts, lasts = found
        if len(lines) != span.records:
            raise Undivided
        self.lines = span.line + lines
        self.is_odd = ~is_plain
        self._values = {key: Values(kinds[number], firsts[number], lasts[number]) for number, key in enumerate(keys)}
        nested = {name: self._nested(steps) for name, steps in self._paths.items()}
        self.exact = {name for name in nested if self._values[name].kinds.any()}
        self.nested = {name for name, values in nested.items() if values.kinds.any()}
        for row in np.flatnonzero(self.is_odd).tolist() if self._paths else ():
            self.record(row)  # which notes what its paths are
        self._values |= {name: nested[name] for name in self.nested}

    def has(self, name: str) -> bool:
        """Whether a record that is not odd has the column."""
        return bool(self._values[name].kinds.any())

    def texts(self, name: str) -> Texts:
        """Return a column of texts."""
        values = self._values[name]
        content, offsets, is_odd = unescaped(self._data, *values)
        return Texts(strings(content, offsets, values.kinds <= NULL), is_odd)

    def lists(self, name: str) -> Lists:
        """Return a column of lists, or of texts that may print one."""
        values = self._values[name]
        if not (values.kinds == LIST).any():
            return lists_of_texts(self.texts(name))
        found = listed(self._data, *values)
        return Lists(found.items, found.counts, found.is_null, found.is_text, found.is_odd | found.is_text)

    def record(self, row: int) -> Record:
        """Return one record, with the values to which paths lead; Undivided if it can't be read."""
        line = self._data[self._begins[row] : self._ends[row]].tobytes().decode()
        try:
            values = decode_whole(line.rstrip(" \t\r\n"), DECODER)
        except ValueError:
            raise Undivided from None
        if not isinstance(values, dict):
            raise Undivided
        nested = {name: lookup(values, steps) for name, steps in self._paths.items() if leads(values, steps)}
        self.exact |= self._paths.keys() & values.keys()
        self.nested |= nested.keys()
        return Record(self._file_name, int(self.lines[row]), {**values, **nested})

    def _nested(self, steps: Steps) -> Values:
        """Return the values to which a path leads; records with a list on the way are odd if it may lead into it."""
        values = self._values[str(steps[0])]
        for step in steps[1:]:
            if may_be_in_list(step):
                self.is_odd |= values.kinds == LIST
            values = Values(*inner(self._data, values.kinds, values.firsts, *encoded([str(step)])))
            if isinstance(step, int):
                values.kinds[:] = ABSENT
        return values

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
