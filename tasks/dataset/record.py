"""One record of the user's files, as every format and reader yields it."""

import os
from collections.abc import Iterator
from math import isnan
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

Value: TypeAlias = "str | list[Value] | dict[str, Value] | None"
# Line (in tables: row) number and values of each record.
NumberedValues: TypeAlias = Iterator[tuple[int, dict[str, Value]]]


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


def as_text(value: Any) -> Value:
    """Convert numbers, booleans, dates and bytes of a JSON or Parquet value to text; NaN becomes null."""
    if isinstance(value, list | tuple):
        return [as_text(item) for item in value]
    if isinstance(value, dict):
        return {key: as_text(item) for key, item in value.items()}
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None or (isinstance(value, float) and isnan(value)):
        return None
    if isinstance(value, bytes):
        return value.decode()
    return str(value.isoformat() if hasattr(value, "isoformat") else value)


def file_name(path: Path) -> str:
    """Return the path with / between its parts and bytes that are not UTF-8 escaped."""
    return os.fsencode(path.as_posix()).decode(errors="backslashreplace")
