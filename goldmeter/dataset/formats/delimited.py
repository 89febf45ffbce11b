"""CSV and TSV."""

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from goldmeter.dataset.formats.text_lines import text_lines
from goldmeter.dataset.record import NumberedValues, file_name
from goldmeter.errors import DataError

# Characters. A longer CSV cell is a quote that was never closed.
LONGEST_CELL = 100_000_000
# Spreadsheets write semicolons where the comma is the decimal sign, and tabs into a .csv file.
OTHERS = ";\t,|"
# Records behind the header that must have as many fields, for another delimiter than the suffix says.
MOST_COMPARED = 20


class Size(NamedTuple):
    """Size of a table, with its header."""

    rows: int
    fields: int


def delimited(path: Path, delimiter: str) -> NumberedValues:
    """Yield line and values of each record.

    A .tsv file whose quotes are part of the text is read without quoting: if every line then has as many fields as the
    header, and quoting breaks the records or joins lines. (A quoted tab or line break leaves lines with other fields.)
    If the header is one field, the delimiter is that of `delimiter_of`.
    """
    delimiter = delimiter_of(path, delimiter)
    unquoted = delimiter == "\t" and _is_unquoted(path)
    header: list[str] = []
    for line, cells in _unquoted_rows(path) if unquoted else _quoted_rows(path, delimiter):
        if not header:
            header = checked_header(cells, f"{file_name(path)}, line {line}")
        elif len(cells) != len(header):
            raise DataError(
                f"{file_name(path)}, line {line}: expected {len(header)} fields, found {len(cells)}; see its quotes"
            )
        else:
            yield line, {name: cell or None for name, cell in zip(header, cells, strict=True)}


def delimiter_of(path: Path, usual: str) -> str:
    """Return the delimiter of a table: another than the usual one if the header and the first records say so."""
    if _widths(path, usual, 1)[0] > 1:
        return usual
    fields = {sign: _widths(path, sign, 1 + MOST_COMPARED) for sign in OTHERS if sign != usual}
    even = {sign: counts[0] for sign, counts in fields.items() if len(set(counts)) == 1 and counts[0] > 1}
    return max(even, key=lambda sign: even[sign], default=usual)


def _widths(path: Path, delimiter: str, rows: int) -> list[int]:
    """Return the number of fields of the header and of the first records; 0 if they can't be read."""
    try:
        return [len(cells) for _, cells in islice(_quoted_rows(path, delimiter), rows)] or [0]
    except DataError:
        return [0]


def unnamed_columns(path: Path, delimiter: str) -> list[int]:
    """Return the numbers of the columns, from 1, to which the header gives no name."""
    header = next(_quoted_rows(path, delimiter_of(path, delimiter)), (0, []))[1]
    return [number for number, name in enumerate(header, 1) if not name.strip()]


def checked_header(names: Sequence[str], where: str) -> list[str]:
    """Return the names of columns; one without a name is called column_1, column_2, … by its number.

    Raises:
        DataError: Two have the same name.
    """
    named = [name if name.strip() else f"column_{number}" for number, name in enumerate(names, 1)]
    firsts: dict[str, int] = {}
    for number, name in enumerate(named, 1):
        if (first := firsts.setdefault(name, number)) < number:
            raise DataError(f"{where}: the column name {name[:60]!r} appears twice, in columns {first} and {number}")
    return named


def _is_unquoted(path: Path) -> bool:
    """Tell whether each line has as many fields as the first without quoting, and not as many records with it."""
    if not any('"' in line for line in text_lines(path)):
        return False
    quoted, unquoted = _even(_quoted_rows(path, "\t")), _even(_unquoted_rows(path))
    # In a single column, any line break leaves lines of one field.
    return unquoted is not None and (quoted is None or (quoted.rows < unquoted.rows and unquoted.fields > 1))


def _even(rows: Iterator[tuple[int, list[str]]]) -> Size | None:
    """Return the size of a table; None if its rows differ in length or can't be read."""
    try:
        counts = Counter(len(cells) for _, cells in rows)
    except DataError:
        return None
    return Size(counts.total(), next(iter(counts))) if len(counts) == 1 else None


def _unquoted_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    for line, text in enumerate(_split_at_cr(text_lines(path)), 1):
        if text.strip("\r\n"):
            yield line, text.rstrip("\r\n").split("\t")


def _quoted_rows(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    csv.field_size_limit(LONGEST_CELL)
    reader = csv.reader(_split_at_cr(text_lines(path)), delimiter=delimiter, strict=True)
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
        if cells:
            yield line, cells


def _split_at_cr(lines: Iterator[str]) -> Iterator[str]:
    """Split lines also after a CR without LF, as csv.reader requires."""
    for line in lines:
        yield from filter(None, LONE_CR.split(line)) if "\r" in line else (line,)


LONE_CR = re.compile(r"(?<=\r)(?!\n)")
