"""The first records of the user's files, and the pattern for the files of a folder."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from itertools import islice
from pathlib import Path
from typing import ClassVar, NamedTuple

from goldmeter.console.format import counted
from goldmeter.dataset.formats.arrow import saved_files
from goldmeter.dataset.formats.text_lines import OPENERS, TEXT
from goldmeter.dataset.proposal import names
from goldmeter.dataset.proposal.columns import Column
from goldmeter.dataset.proposal.section import shown
from goldmeter.dataset.sources import FORMATS, Record, Records, records
from goldmeter.dataset.tasks import Task
from goldmeter.errors import DataError, did_you_mean

MOST_RECORDS = 1_000
# Records that are searched for those of other systems, and systems that are looked for.
MOST_SEARCHED, MOST_SYSTEMS = 200_000, 10
ALL = "*"


class Sample(NamedTuple):
    """The first records, the value for dataset.pattern, and whether these are all records."""

    records: list[Record]
    pattern: str | list[str]
    complete: bool

    @property
    def read(self) -> str:
        """How many records were read, in words."""
        number = counted(len(self.records), "record")
        return f"its {number}" if self.complete else f"its first {number}"


def read_sample(path: str, pattern: str | list[str] | None = None) -> Sample:
    """Read the first records of a file, or of a folder's files.

    Args:
        path: Of the file or folder.
        pattern: Of a folder: which files, or their names; None: all of the one format in it.

    Raises:
        DataError: If `load` could not read them either.
    """
    chosen = pattern or _pattern(Path(path))
    source = records(path, chosen)
    found = list(islice(source, MOST_RECORDS + 1))
    if not found:
        raise DataError(f"{path}: no record in it")
    if len(found) <= MOST_RECORDS:
        return Sample(found, chosen, complete=True)
    return Sample([*found[:MOST_RECORDS], *_of_other_systems(found, source)], chosen, complete=False)


def _of_other_systems(found: Sequence[Record], source: Records) -> list[Record]:
    """Later records, some of each system, if a column names the same system in all of the first ones."""
    values = {name: {record.values.get(name) for record in found if isinstance(record.values.get(name), str)}
              for name in found[0].values if names.as_system(name)}  # fmt: skip
    column = next((name for name, own in values.items() if len(own) == 1), None)
    if column is None:
        return []
    others: dict[str, list[Record]] = {}
    with suppress(DataError):  # load says it, with file and line
        for record in islice(source, MOST_RECORDS, MOST_SEARCHED):
            system = record.values.get(column)
            if isinstance(system, str) and system not in values[column] and len(others) <= MOST_SYSTEMS:
                others.setdefault(system, []).append(record)
    return [record for own in others.values() for record in own[:MOST_RECORDS]]


def has_known_suffix(path: Path) -> bool:
    """Whether `load` reads files of this suffix."""
    return _format(_suffix(path)) in set(FORMATS) - {TEXT}


def _pattern(path: Path) -> str:
    """All files, or those of the format that `load` reads, if there are others."""
    if not path.is_dir():
        return ALL
    suffixes = Counter(_suffix(each) for each in path.iterdir() if each.is_file() and each.name[0] != ".")
    known = [suffix for suffix in suffixes if _format(suffix) in FORMATS]
    if saved_files(path) is not None or (suffixes and all(_format(suffix) == TEXT for suffix in suffixes)):
        return ALL
    if len(known) > 1:
        there = ", ".join(f"{suffixes[suffix]} of *{suffix}" for suffix in sorted(known))
        raise DataError(f"{path}: files of several formats, {there}; say which: --pattern '*{known[0]}'")
    if not known:
        below = "for files in the folders below, --pattern '**/*.csv' or the like"
        raise DataError(f"{path}: no data files here: a folder must hold {', '.join(FORMATS)}; {below}")
    return f"*{known[0]}" if len(suffixes) > 1 else ALL


def _suffix(path: Path) -> str:
    """Return the suffix of a file; of a compressed one, with that of what is in it."""
    return "".join(path.suffixes[-2:]) if path.suffix.lower() in OPENERS else path.suffix


def _format(suffix: str) -> str:
    """Return the part of a suffix that says the format.

    >>> _format(".CSV.gz")
    '.csv'
    """
    return "." + suffix.lower().split(".")[1] if suffix else ""


# What the user said on the command line about the columns, which overrides a guess

NONE = ""


@dataclass(frozen=True)
class Chosen:
    """Columns by role. None: guess; an empty name: no column.

    candidates: NAME=COLUMN or COLUMN each.
    task: What answers are asked for.
    labels: NAME=COLUMN or COLUMN each.
    systems: The column that names the system, of the long form.
    """

    id: str | None = None
    input: str | None = None
    references: Sequence[str] = ()
    candidates: Sequence[str] = ()
    systems: str | None = None
    labels: Sequence[str] = ()
    group: str | None = None
    slices: Sequence[str] | None = None
    contexts: str | None = None
    relevant: str | None = None
    draw: str | None = None
    separator: str | None = None
    task: Task | None = None
    comment: ClassVar[str] = "as chosen"

    @property
    def names_columns(self) -> bool:
        """Whether a column is named for any role, or ruled out."""
        given = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "task"}
        return any(value is not None and value not in ([], ()) for value in given.values())

    @property
    def files(self) -> list[str]:
        """The input, the references and the candidates, where these are files of their own."""
        named = [self.input or "", *self.references, *(text.rpartition("=")[2] for text in self.candidates)]
        return list(dict.fromkeys(filter(None, named)))

    def renamed(self, columns: Mapping[str, str]) -> "Chosen":
        """The same with columns in place of files."""
        pairs = [text.rpartition("=") for text in self.candidates]
        return replace(
            self,
            input=columns.get(self.input or "", self.input),
            references=[columns.get(name, name) for name in self.references],
            candidates=[f"{name}{sign}{columns.get(file, file)}" for name, sign, file in pairs],
        )


def column(path: str, found: Sequence[Column], name: str, option: str) -> Column:
    """The column, or place, of this name.

    Raises:
        DataError: There is none.
    """
    for each in found:
        if each.name == name:
            return each
    suggestion = did_you_mean(name, [each.name for each in found], shown)
    listed = ", ".join(shown(each.name) for each in found if not each.leaf)
    raise DataError(f"{option}: {path} has no column {name!r}{suggestion}\nexisting columns: {listed}")


def by_system(path: str, found: Sequence[Column], given: Sequence[str], option: str) -> dict[str, Column]:
    """System → column, from NAME=COLUMN or COLUMN each; a column alone is named by what differs."""
    columns = {column.name for column in found}
    pairs = [_pair(text, columns) for text in given]
    called = iter(names.candidate_names([name for own, name in pairs if not own])) if pairs else iter(())
    return {own or next(called): column(path, found, name, option) for own, name in pairs}


def labels(
    path: str, found: Sequence[Column], given: Sequence[str], systems: Mapping[str, object]
) -> Iterator[tuple[str, Column]]:
    """System and label column, from NAME=COLUMN or COLUMN each; a column alone is of the only system.

    Raises:
        DataError: There is no such column or system, or there are several systems.
    """
    columns = {column.name for column in found}
    for own, name in (_pair(text, columns) for text in given):
        if own and own not in systems:
            raise DataError(f"--label {own}={name}: no such system; there are {', '.join(map(shown, systems))}")
        if not own and len(systems) != 1:
            raise DataError(f"--label {name}: of which of the {len(systems)} systems? --label NAME={name}")
        yield own or next(iter(systems)), column(path, found, name, "--label")


def _pair(text: str, columns: set[str]) -> tuple[str, str]:
    """NAME=COLUMN as two; a column whose own name has a = stays one."""
    name, sign, rest = text.partition("=")
    return ("", text) if text in columns or not sign else (name, rest)
