"""Parallel text files: line n of each file is one record; a column has the name of its file, without suffix."""

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path

from tasks.dataset.formats.text_lines import OPENERS, text_lines
from tasks.dataset.record import NumberedValues, file_name
from tasks.errors import DataError


def parallel_text(files: Sequence[Path]) -> NumberedValues:
    """Yield line and values of each record; an empty line is null.

    Raises:
        DataError: Two files have the same name, or one has more lines than another.
    """
    columns = _columns(files)
    end = object()
    for line, texts in enumerate(zip_longest(*map(text_lines, columns.values()), fillvalue=end), 1):
        ended = [file for text, file in zip(texts, columns.values(), strict=True) if text is end]
        if ended:
            _refuse_lengths(columns, ended[0])
        yield line, {name: str(text).rstrip("\r\n") or None for name, text in zip(columns, texts, strict=True)}


def _columns(files: Sequence[Path]) -> Mapping[str, Path]:
    columns: dict[str, Path] = {}
    for file in files:
        name = Path(file.stem).stem if file.suffix.lower() in OPENERS else file.stem
        if name in columns:
            raise DataError(f"{file_name(file)}: the column {name!r} is also in {file_name(columns[name])}")
        columns[name] = file
    return columns


def _refuse_lengths(columns: Mapping[str, Path], shortest: Path) -> None:
    counts = {file: sum(1 for _ in text_lines(file)) for file in columns.values()}
    longest = max(counts, key=lambda file: counts[file])
    raise DataError(
        f"{file_name(shortest)}: {counts[shortest]} lines, but {file_name(longest)} has {counts[longest]}; "
        "parallel text files must have the same number of lines"
    )
