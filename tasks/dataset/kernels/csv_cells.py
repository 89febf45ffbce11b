"""Kernels that find the records of CSV and their cells in the bytes, as Python's `csv.reader(strict=True)` reads them.

Left to others, as broken: NUL, a CR without LF, and whatever `csv` refuses. Blank lines are no records.
"""

import numpy as np

from tasks.text.kernels import Bytes, Integers, compiled

# As in json_members. DOUBLED: a text in which two quotes stand for one.
NULL, VERBATIM, DOUBLED = 1, 2, 3
NEWLINE, RETURN, QUOTE = map(ord, '\n\r"')
# Where a byte stands: at the start of a record, of a cell, in a cell, in a quoted one, behind a quote in it, behind the
# CR of a record, of a blank line, in a quoted cell.
RECORD, CELL, INSIDE, QUOTED, CLOSED, ENDED, BLANK, BREAK, BROKEN = range(9)
_NEXT = {  # behind any other byte, a quote, a delimiter, a newline, a CR; behind NUL it is broken
    RECORD: (INSIDE, QUOTED, CELL, RECORD, BLANK),
    CELL: (INSIDE, QUOTED, CELL, RECORD, ENDED),
    INSIDE: (INSIDE, INSIDE, CELL, RECORD, ENDED),
    QUOTED: (QUOTED, CLOSED, QUOTED, QUOTED, BREAK),
    CLOSED: (BROKEN, QUOTED, CELL, RECORD, ENDED),
    ENDED: (BROKEN, BROKEN, BROKEN, RECORD, BROKEN),
    BLANK: (BROKEN, BROKEN, BROKEN, RECORD, BROKEN),
    BREAK: (BROKEN, BROKEN, BROKEN, QUOTED, BROKEN),
    BROKEN: (BROKEN,) * 5,
}
NEXT = np.array([(*row, BROKEN) for row in _NEXT.values()], np.int64)
SIGNS = np.zeros(256, np.int64)
SIGNS[[QUOTE, NEWLINE, RETURN, 0]] = 1, 3, 4, 5
DELIMITER = 2


@compiled
def record_starts(data: Bytes, state: Integers, delimiter: int, every: int) -> tuple[Integers, Integers, Integers]:
    """Return offset and number of the line that follows every so many records, and the new state.

    Args:
        data: The next bytes of a file.
        state: Lines that ended before; where the first byte stands; records that ended before; number of records at
            which the next offset is returned; how many after that.
        delimiter: Between cells.
        every: Records between two offsets after these.
    """
    signs = SIGNS.copy()
    signs[delimiter] = DELIMITER
    lines, place, records, wanted, then = state[0], state[1], state[2], state[3], state[4]
    offsets, numbers = np.empty((2, len(data) + 1), np.int64)
    found = 0
    for i in range(len(data)):
        before = place
        place = NEXT[before, signs[data[i]]]
        if data[i] == NEWLINE:
            lines += 1
            if place == RECORD and before != RECORD and before != BLANK:  # noqa: PLR1714 (faster)
                records += 1
                if records == wanted:
                    offsets[found], numbers[found] = i + 1, lines
                    found += 1
                    wanted, then = wanted + then, every
    return offsets[:found], numbers[:found], np.array([lines, place, records, wanted, then], np.int64)


@compiled
def cells(
    data: Bytes, rows: int, delimiter: int, columns: Integers, n: int
) -> tuple[Integers, Integers, Integers, Bytes, Integers, Integers]:
    """Return where the cells of n columns stand in each record.

    Args:
        data: Records that `record_starts` found to be whole, each ended by a newline.
        rows: At most so many records.
        delimiter: Between cells.
        columns: Of each cell of a record the number of its column among those wanted, or -1.
        n: Number of columns that are wanted.

    Returns:
        Number of the line on which each record starts, from 0, its begin and its end, shape (records,); kind, begin and
        end of each cell, shape (n, records). Fewer records than there are: one has another number of cells.
    """
    lines, begins, stops = np.zeros((3, rows), np.int64)
    kinds = np.zeros((n, rows), np.uint8)
    firsts, lasts = np.zeros((2, n, rows), np.int64)
    at = line = row = 0
    while at < len(data) and row < rows:
        if data[at] == NEWLINE or data[at] == RETURN:
            line += data[at] == NEWLINE
            at += 1
            continue
        lines[row], begins[row] = line, at
        cell = -1
        is_more = True
        while is_more:
            cell += 1
            kind, first, last, breaks, at = _cell(data, at, delimiter)
            line += breaks
            if cell < len(columns) and columns[cell] >= 0:
                kinds[columns[cell], row] = kind
                firsts[columns[cell], row], lasts[columns[cell], row] = first, last
            is_more = at < len(data) and data[at] == delimiter
            at += is_more
        if cell + 1 != len(columns):
            break
        stops[row] = at
        row += 1
    return lines[:row], begins[:row], stops[:row], kinds[:, :row], firsts[:, :row], lasts[:, :row]


@compiled
def undoubled(data: Bytes, kinds: Bytes, firsts: Integers, lasts: Integers) -> tuple[Bytes, Integers]:
    """Return the text of each of n cells, one after another, and offsets of shape (n + 1,)."""
    size = 0
    for row in range(len(kinds)):
        size += lasts[row] - firsts[row]
    texts = np.empty(size, np.uint8)
    offsets = np.zeros(len(kinds) + 1, np.int64)
    written = 0
    for row in range(len(kinds)):
        first, length = firsts[row], lasts[row] - firsts[row]
        if kinds[row] == VERBATIM:
            for i in range(length):
                texts[written + i] = data[first + i]
            written += length
        elif kinds[row] == DOUBLED:
            is_second = False
            for i in range(length):
                is_second = data[first + i] == QUOTE and not is_second
                if not is_second:
                    texts[written] = data[first + i]
                    written += 1
        offsets[row + 1] = written
    return texts[:written], offsets


@compiled
def _cell(data: Bytes, at: int, delimiter: int) -> tuple[int, int, int, int, int]:
    """Return kind, begin and end of the cell at `at`, the line breaks in it, and what follows it."""
    first, kind, breaks = at, VERBATIM, 0
    if at < len(data) and data[at] == QUOTE:
        first = at = at + 1
        while at < len(data):
            if data[at] == QUOTE:
                if at + 1 == len(data) or data[at + 1] != QUOTE:
                    break
                kind = DOUBLED
                at += 1
            breaks += data[at] == NEWLINE
            at += 1
        last = at
        at += 1
    else:
        while at < len(data) and data[at] != delimiter and data[at] != NEWLINE and data[at] != RETURN:
            at += 1
        last = at
    return (NULL if first == last else kind), first, last, breaks, at
