"""Read the user's files record by record: as they are, or by the reader of the tool that wrote them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from goldmeter.dataset import readers
from goldmeter.dataset.formats.arrow import arrow, parquet, saved_files
from goldmeter.dataset.formats.delimited import delimited, unnamed_columns
from goldmeter.dataset.formats.excel import excel
from goldmeter.dataset.formats.json_records import DECODER, json_lines, json_list
from goldmeter.dataset.formats.text_lines import OPENERS, TEXT, head, inner_suffix, parallel_text
from goldmeter.dataset.record import Batch, Chunk, NumberedValues, Record, Value, as_text, batch_of, blocks, file_name
from goldmeter.errors import DataError, did_you_mean

__all__ = ["DECODER", "FORMATS", "Record", "Records", "Value", "as_text", "records"]

# Files that an error message lists.
FILES_LISTED = 10
KEYS_LISTED = 5
# Bytes in which the first character of a JSON file is looked for.
FIRST_BYTES = 1_000
# Formats whose columns the header names for all records.
TABLES = {".csv", ".tsv", ".parquet", ".arrow", ".xlsx"}


@dataclass(frozen=True)
class Records:
    """The records of some files, in order; can be iterated repeatedly.

    One record is in memory at a time, except that a .json file is read whole.

    Attributes:
        files: The files to read.
        format: The tool whose logs they are (`goldmeter.dataset.readers`); none: records as they are, by the suffix.
        columns: Those whose values are needed; others are null where a format can leave them unread. None: all.

    Raises:
        DataError: On iteration, for anything that can't be read, with file and line.
    """

    files: tuple[Path, ...]
    format: str | None = None
    columns: frozenset[str] | None = None

    def __iter__(self) -> Iterator[Record]:
        for chunk in self.chunks():
            yield from chunk().records()

    def chunks(self) -> Iterator[Chunk]:
        """Yield what reads the batches, each in any process.

        Raises:
            DataError: As on iteration; of the records of a batch, the batch says it.
        """
        if self.format is not None:
            found = readers.read(self.files, self.format)
            is_drawn = (self.columns is None or "draw" in self.columns) and self._has_draws
            for block in blocks(readers.with_draws(found) if is_drawn else found):
                yield partial(batch_of, block)
            return
        if all(map(is_text, self.files)):
            yield from _named(
                file_name(self.files[0].parent), _in_chunks(self.files[0].parent, parallel_text(self.files))
            )
            return
        for path in self.files:
            yield from _chunks(path, self.columns)

    def require_in_all_files(self, wanted: Mapping[str, str]) -> None:
        """Check that a mapped column is in each of the files, if it is in one of them.

        Records of JSON may lack a key, even all of a file: only a file with other keys instead is refused.

        wanted: Column → its place in params.yaml.

        Raises:
            DataError: A file lacks a column that another has.
        """
        tables = [file for file in self.files if not self.format and inner_suffix(file) in TABLES]
        headers = {file: next(_read(file, self.columns)).values.keys() for file in tables} if len(tables) > 1 else {}
        for column, place in wanted.items():
            having = [file for file, header in headers.items() if column in header]
            lacking = [file for file in headers if file not in having]
            if having and lacking:
                raise DataError(
                    f"{place}: {file_name(lacking[0])} has no column {column[:60]!r}, but {file_name(having[0])} has; "
                    "choose files by dataset.pattern, or add the column to all (an empty cell is null)"
                )
        texts = [file for file in self.files if not self.format and inner_suffix(file) in {".json", ".jsonl"}]
        if len(texts) > 1:
            _require_same_keys(texts, wanted)

    @cached_property
    def _has_draws(self) -> bool:
        """Whether a record of these logs is one of several answers."""
        return any("draw" in record.values for record in readers.read(self.files, self.format or ""))

    @property
    def notes(self) -> list[str]:
        """What the user should know of how the files are read: columns without a name."""
        separators = {".csv": ",", ".tsv": "\t"}
        files = [] if self.format else [(file, separators.get(inner_suffix(file))) for file in self.files]
        return [
            f"{file_name(file)}: column {number} of the header has no name (pandas writes such an index column); "
            f"it is called column_{number}"
            for file, separator in files
            if separator
            for number in unnamed_columns(file, separator)
        ]


def records(path: str | Path, pattern: str | Sequence[str] | None = None, format: str | None = None) -> Records:  # noqa: A002 (its name in params.yaml)
    """Find the records of a file, or of the files in a folder that match a glob pattern, sorted by path.

    Hidden files never match.

    Args:
        path: Of the file or folder.
        pattern: Of a folder: which files; or their names.
        format: The tool whose logs they are, a key of `goldmeter.dataset.readers.READERS`; none: by the suffix.

    Raises:
        DataError: There is no such file, or its format is unknown.
    """
    if "://" in str(path):
        raise DataError(f"{path}: fetch it first, by dvc import-url {path}, and name the local file in dataset.path")
    files = _files(Path(path), pattern)
    if format is None and not (Path(path).is_dir() and all(map(is_text, files))):
        for file in files:
            _require_known(file)
    return Records(tuple(files), format)


def _require_same_keys(files: Sequence[Path], wanted: Mapping[str, str]) -> None:
    first = {file: next(_read(file)).values.keys() for file in files}
    for column, place in wanted.items():
        having = [file for file, keys in first.items() if column in keys]
        for file in files if having else ():
            if column in first[file] or any(column in record.values for record in _read(file)):
                continue
            if instead := sorted(_keys([file]) - _keys(having)):
                raise DataError(
                    f"{place}: no record of {file_name(file)} has {column[:60]!r}, but those of {file_name(having[0])} "
                    f"have; instead it has {', '.join(repr(key[:60]) for key in instead[:KEYS_LISTED])}; "
                    "choose files by dataset.pattern, or give the column one name"
                )


def _keys(files: Sequence[Path]) -> set[str]:
    return {key for file in files for record in _read(file) for key in record.values}


def _require_known(file: Path) -> None:
    suffix = inner_suffix(file)
    known = suffix in FORMATS and (suffix in TEXT_FORMATS or file.suffix.lower() not in OPENERS)
    if known and not (suffix == ".json" and head(file, FIRST_BYTES).lstrip().startswith(b"{")):
        return
    tool = readers.detect(file)
    if known and tool is None:
        return
    if tool is not None:
        raise DataError(f"{file_name(file)}: a log of {tool}; set dataset.format: {tool}")
    raise DataError(
        f"{file_name(file)}: unknown format {suffix or file.suffix!r}; allowed: {', '.join(FORMATS)}, "
        f"of which text may be compressed ({', '.join(OPENERS)})"
    )


def is_text(file: Path) -> bool:
    """Whether it is a plain text file, one of several that are parallel, by its name."""
    return file.suffix.lower() == TEXT or (file.suffix.lower() in OPENERS and inner_suffix(file) == TEXT)


def _files(path: Path, pattern: str | Sequence[str] | None) -> list[Path]:
    if path.is_dir() and isinstance(pattern, Sequence) and not isinstance(pattern, str):
        return [file for name in pattern for file in _files(path / name, None)]
    if path.is_dir():
        saved = saved_files(path) if pattern in {None, "*"} else None
        return _matching(path, str(pattern or "")) if saved is None else saved
    if path.exists() and not path.is_file():
        raise DataError(f"{file_name(path)}: neither a file nor a folder")
    if not path.exists():
        siblings = [file_name(sibling) for sibling in path.parent.iterdir()] if path.parent.is_dir() else []
        suggestion = did_you_mean(file_name(path), siblings)
        raise DataError(f"{file_name(path)}: no such file or folder; see dataset.path{suggestion}")
    return [path]


def _matching(folder: Path, pattern: str) -> list[Path]:
    if not pattern:
        raise DataError(f"{file_name(folder)}: a folder; say which of its files in dataset.pattern, such as *.jsonl")
    if ".." in Path(pattern).parts:
        raise DataError(f"dataset.pattern: {pattern!r} leaves the folder; name the folder of the files in dataset.path")
    try:
        files = sorted(path for path in folder.glob(pattern) if path.is_file() and path.name[0] != ".")
    except (NotImplementedError, ValueError) as error:
        raise DataError(f"dataset.pattern: {pattern!r} can't be used: {error}") from None
    if not files:
        names = sorted(file_name(path.relative_to(folder)) for path in folder.iterdir())
        more = [f"and {len(names) - FILES_LISTED} more"] if len(names) > FILES_LISTED else []
        content = f"it holds {', '.join(names[:FILES_LISTED] + more)}" if names else "it is empty"
        raise DataError(f"{file_name(folder)}: no file matches dataset.pattern {pattern!r}; {content}")
    return files


def _read(path: Path, columns: frozenset[str] | None = None) -> Iterator[Record]:
    for chunk in _chunks(path, columns):
        yield from chunk().records()


def _chunks(path: Path, columns: frozenset[str] | None) -> Iterator[Chunk]:
    suffix = inner_suffix(path)
    lines = json_lines(path) if suffix == ".jsonl" else _in_chunks(path, ROWS[suffix](path, columns))
    return _named(file_name(path), lines)


def _in_chunks(path: Path, rows: NumberedValues) -> Iterator[Chunk]:
    name = file_name(path)
    for block in blocks(rows):
        yield partial(Batch, [name] * len(block), [line for line, _ in block], [values for _, values in block])


def _named(name: str, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
    is_empty = True
    try:
        for chunk in chunks:
            yield chunk
            is_empty = False
    except OSError as error:
        raise DataError(f"{name}: can't be read: {error.strerror or error}") from None
    if is_empty:
        raise DataError(f"{name}: empty, no record in it")


TEXT_FORMATS = (".jsonl", ".json", ".csv", ".tsv")
# What yields the rows of a file, given the columns whose values are needed; none: all.
ROWS: Mapping[str, Callable[[Path, frozenset[str] | None], NumberedValues]] = {
    ".json": lambda path, _: json_list(path),
    ".csv": lambda path, _: delimited(path, ","),
    ".tsv": lambda path, _: delimited(path, "\t"),
    ".parquet": parquet,
    ".arrow": arrow,
    ".xlsx": lambda path, _: excel(path),
}
FORMATS = (".jsonl", *ROWS)
