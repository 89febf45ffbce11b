"""Records of the user's files, as every format and reader yields them: one by one, or in batches."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from math import isnan
from pathlib import Path
from types import NoneType
from typing import Any, NamedTuple, TypeAlias, TypeVar

from goldmeter.errors import DataError

Value: TypeAlias = "str | list[Value] | dict[str, Value] | None"
# Line (in tables: row) number and values of each record.
NumberedValues: TypeAlias = Iterator[tuple[int, dict[str, Value]]]
Item = TypeVar("Item")
TEXT_OR_NULL = {str, NoneType}
# Records, and characters of their lines, that are in memory at once.
BATCH_ROWS, BATCH_CHARS = 2_000, 1 << 22


class Record(NamedTuple):
    """One record of a file.

    Every value is text as written in the file, null, a list or an object. Types are never guessed: 007 stays "007",
    1.50 stays "1.50", true becomes "true" and NA is a word. An empty CSV cell is null. NUL characters stay.

    Attributes:
        file: The path as the user wrote it.
        line: Number of the line on which the record starts, from 1; in Parquet, Arrow and Excel files, number of the
            row; in a log of another tool that is not one record a line, number of the record.
        values: Column → value.
    """

    file: str
    line: int
    values: dict[str, Value]


class Batch(NamedTuple):
    """Consecutive records.

    Attributes:
        files: The file of each.
        lines: The line of each.
        rows: The values of each, which `as_text` converts.
        error: Why no record follows; None if one may.
    """

    files: Sequence[str]
    lines: Sequence[int]
    rows: Sequence[Mapping[str, Any]]
    error: DataError | None = None

    def records(self) -> Iterator[Record]:
        """Yield the records.

        Raises:
            DataError: What follows can't be read.
        """
        for file, line, row in zip(self.files, self.lines, self.rows, strict=True):
            yield Record(file, line, {name: as_text(value) for name, value in row.items()})
        if self.error is not None:
            raise self.error


Chunk: TypeAlias = Callable[[], Batch]
"""Reads a batch, in any process."""


def blocks(items: Iterable[Item], size: Callable[[Item], int] = lambda _: 0) -> Iterator[list[Item]]:
    """Yield items in lists of BATCH_ROWS, or of BATCH_CHARS by their size; before an error, those that are there."""
    block: list[Item] = []
    chars = 0
    try:
        for item in items:
            block.append(item)
            chars += size(item)
            if len(block) == BATCH_ROWS or chars > BATCH_CHARS:
                yield block
                block, chars = [], 0
    except DataError:
        if block:
            yield block
        raise
    if block:
        yield block


def batch_of(records: Sequence[Record]) -> Batch:
    """Return records as a batch."""
    files, lines, rows = zip(*records, strict=True)
    return Batch(files, lines, rows)


def as_text(value: Any) -> Value:
    """Convert numbers, booleans, dates and bytes of a JSON or Parquet value to text; NaN becomes null."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        return [as_text(item) for item in value]
    if isinstance(value, dict):
        return {key: as_text(item) for key, item in value.items()}
    return _scalar_text(value)


def are_texts(values: Sequence[Any]) -> bool:
    """Return whether the values are texts, nulls and lists of these, which `as_text` returns as they are."""
    lists = [value for value in values if type(value) is list]
    of_lists = set(map(type, chain.from_iterable(lists)))
    return of_lists <= TEXT_OR_NULL and set(map(type, values)) - {list} <= TEXT_OR_NULL


def _scalar_text(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and isnan(value):
        return None
    if isinstance(value, bytes):
        return value.decode()
    return str(value.isoformat() if hasattr(value, "isoformat") else value)


def file_name(path: Path) -> str:
    """Return the path with / between its parts and bytes that are not UTF-8 escaped."""
    return os.fsencode(path.as_posix()).decode(errors="backslashreplace")
