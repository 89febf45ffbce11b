"""Where the records of a part stand in their files."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from tasks.dataset.columnar.repeats import Repeats
from tasks.dataset.formats.text_lines import BOM, LONGEST_LINE
from tasks.pipeline.division import Undivided
from tasks.text.kernels import Bytes

# Bytes that are read at once to find where parts begin.
BLOCK = 1 << 22


@dataclass(frozen=True)
class Span:
    """Bytes of a file that hold whole records.

    Attributes:
        file: Its path.
        begin: Offset of the first byte.
        end: Offset behind the last one.
        line: Number of the first line, from 1.
        records: Number of records.
        columns: Of its cells, in a table; in JSON none.
    """

    file: str
    begin: int
    end: int
    line: int
    records: int
    columns: tuple[str, ...] = ()

    def read(self) -> bytes:
        """Read the bytes."""
        with Path(self.file).open("rb") as file:
            file.seek(self.begin)
            return file.read(self.end - self.begin)


@dataclass(frozen=True)
class Part:
    """The records of a part.

    Attributes:
        spans: They hold its records.
        records: Number of its records.
        skip: Number of selected records in `spans` that stand before them.
        repeats: What is known of records whose id others have, if there are any.
    """

    spans: tuple[Span, ...]
    records: int
    skip: int = 0
    repeats: Repeats | None = None


# Yields the spans of a file, given the records of the first one, and of those after it.
Scan: TypeAlias = Callable[[Path, int, int], Iterator[Span]]


def parts_of_files(files: Sequence[Path], scan: Scan, every: int, limit: int | None) -> list[Part]:
    """Divide files into parts of `every` records; a part may go on in the next file.

    limit: at most so many records are in parts.

    Raises:
        Undivided: A file has no record, or a part is too large to be read at once.
    """
    parts: list[list[Span]] = [[]]
    missing = every  # records of the last part
    for file in files:
        found = [*scan(file, missing, every)]
        if not found:
            raise Undivided
        for span in found:
            parts[-1].append(span)
            missing -= span.records
            if missing == 0:
                parts.append([])
                missing = every
    return _limited([Part((*spans,), sum(span.records for span in spans)) for spans in parts if spans], limit)


def parts_of_selected(spans: Sequence[Span], selected: Iterable[int], every: int, limit: int | None) -> list[Part]:
    """Divide spans into parts of `every` selected records; selected: how many of them each span has."""
    ends = np.cumsum([0, *selected])
    parts = []
    for first in range(0, ends[-1], every):
        last = min(first + every, int(ends[-1]))
        begin, end = int(np.searchsorted(ends, first, "right")) - 1, int(np.searchsorted(ends, last, "left"))
        parts.append(Part((*spans[begin:end],), last - first, first - int(ends[begin])))
    return _limited(parts, limit)


def _limited(parts: Sequence[Part], limit: int | None) -> list[Part]:
    left, limited = sys.maxsize if limit is None else limit, []
    for part in parts:
        if left > 0:
            limited.append(replace(part, records=min(part.records, left)))
            left -= part.records
    if any(sum(span.end - span.begin for span in part.spans) > LONGEST_LINE for part in limited):
        raise Undivided
    return limited


def blocks(file: Path) -> Iterator[tuple[int, Bytes]]:
    """Yield offset and bytes of the blocks of a text file, without a byte order mark."""
    offset = 0
    with file.open("rb") as content:
        while block := content.read(BLOCK):
            start = len(BOM) if offset == 0 and block.startswith(BOM) else 0
            yield offset + start, np.frombuffer(block, np.uint8)[start:]
            offset += len(block)


def whole_lines(content: bytes) -> Bytes:
    """Return bytes whose last line is ended.

    Raises:
        Undivided: They are no UTF-8.
    """
    offsets = pa.py_buffer(np.array([0, len(content)]))
    text = pa.Array.from_buffers(pa.large_string(), 1, [None, offsets, pa.py_buffer(content)])
    try:
        text.validate(full=True)
    except pa.ArrowInvalid:
        raise Undivided from None
    return np.frombuffer(content if content.endswith(b"\n") else content + b"\n", np.uint8)
