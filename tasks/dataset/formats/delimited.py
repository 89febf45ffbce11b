"""CSV and TSV."""

import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from tasks.dataset.formats.text_lines import text_lines
from tasks.dataset.record import NumberedValues, file_name
from tasks.errors import DataError

# Characters. A longer CSV cell is a quote that was never closed.
LONGEST_CELL = 100_000_000


def delimited(path: Path, delimiter: str) -> NumberedValues:
    csv.field_size_limit(LONGEST_CELL)
    reader = csv.reader(_split_at_cr(text_lines(path)), delimiter=delimiter, strict=True)
    header: list[str] = []
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise DataError(
                f"{file_name(path)}, line {line}: the record that starts here: {error}; see its quotes"
            ) from None
        if cells is None:
            return
        if not cells:
            continue
        if not header:
            header = checked_header(cells, f"{file_name(path)}, line {line}")
        elif len(cells) != len(header):
            raise DataError(
                f"{file_name(path)}, line {line}: expected {len(header)} fields, found {len(cells)}; see its quotes"
            )
        else:
            yield line, {name: cell or None for name, cell in zip(header, cells, strict=True)}


def _split_at_cr(lines: Iterator[str]) -> Iterator[str]:
    """Split lines also after a CR without LF, as csv.reader requires."""
    for line in lines:
        yield from filter(None, LONE_CR.split(line)) if "\r" in line else (line,)


def checked_header(names: Sequence[str], where: str) -> list[str]:
    for number, name in enumerate(names, 1):
        if not name.strip():
            raise DataError(f"{where}: column {number} of the header has no name; pandas writes such an index column")
        if names.index(name) + 1 < number:
            first = names.index(name) + 1
            raise DataError(f"{where}: the column name {name[:60]!r} appears twice, in columns {first} and {number}")
    return list(names)


LONE_CR = re.compile(r"(?<=\r)(?!\n)")
