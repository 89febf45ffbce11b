"""The first records of the user's files, and the pattern for the files of a folder."""

from collections import Counter
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from tasks.console.format import counted
from tasks.dataset.formats.arrow import saved_files
from tasks.dataset.formats.text_lines import OPENERS
from tasks.dataset.sources import FORMATS, TEXT, Record, records
from tasks.errors import DataError

MOST_RECORDS = 1_000
ALL = "*"
_SEPARATORS: Mapping[str, str] = {".csv": ",", ".tsv": "\t"}
_OTHERS = ";\t,|"
_HEADER_BYTES = 65_536


class Sample(NamedTuple):
    """The first records, the value for dataset.pattern, and whether these are all records."""

    records: list[Record]
    pattern: str
    complete: bool

    @property
    def read(self) -> str:
        """How many records were read, in words."""
        number = counted(len(self.records), "record")
        return f"its {number}" if self.complete else f"its first {number}"


def read_sample(path: str, pattern: str | None = None) -> Sample:
    """Read the first records of a file, or of a folder's files.

    Args:
        path: Of the file or folder.
        pattern: Of a folder: which files; None: all of the one format in it.

    Raises:
        DataError: If `load` could not read them either.
    """
    chosen = pattern or _pattern(Path(path))
    source = records(path, chosen)
    for file in source.files:
        _require_separator(file)
    found = list(islice(source, MOST_RECORDS + 1))
    if not found:
        raise DataError(f"{path}: no record in it")
    return Sample(found[:MOST_RECORDS], chosen, len(found) <= MOST_RECORDS)


def has_known_suffix(path: Path) -> bool:
    """Whether `load` reads files of this suffix."""
    return path.suffix.lower() in FORMATS


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


def _require_separator(path: Path) -> None:
    """Raise DataError if the header of a CSV or TSV file has another separator than its suffix says."""
    own = _SEPARATORS.get(path.suffix.lower())
    if own is None:
        return
    with path.open("rb") as file:
        header = file.readline(_HEADER_BYTES).decode("utf-8", "replace")
    other = max(_OTHERS, key=header.count)
    if own not in header and other in header:
        code = (
            f"import pandas; pandas.read_csv({str(path)!r}, sep={other!r}, dtype=str, keep_default_na=False)"
            f".to_csv({path.stem + '-commas.csv'!r}, index=False)"
        )
        raise DataError(
            f"{path}: its first line has {header.count(other)} of {other!r} and no {own!r}, at which "
            f"{path.suffix} is split; as commas, in Python:\n  {code}"
        )
