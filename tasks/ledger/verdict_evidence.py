"""Evidence of verdicts, data/ledger/judge: one file, or from 65,536 entries on one for each first byte of the keys.

The files are lines of entries in key order. Which files there are, and their bytes, depend on the entries alone, so
that a changed entry is one changed file.
"""

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from tasks.errors import LedgerError
from tasks.ledger.entries import Entry, Usage, parse
from tasks.pipeline.files import temporary_in

ONE_FILE = "verdicts.jsonl"
# With fewer entries, 256 files would hold less than 256 entries each.
MOST_IN_ONE_FILE = 65_536
FIRST_BYTES = 256


class VerdictEvidence:
    """The verdicts that the tables of a version use (data/ledger/judge), read-only."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def paths(self) -> list[Path]:
        """The paths of the files, in key order."""
        names = (ONE_FILE, *map(file_of, range(FIRST_BYTES)))
        return [path for name in names if (path := self.folder / name).exists()]

    def lines(self) -> Iterator[tuple[str, bytes]]:
        """Yield where each line is, for messages, and the line."""
        for path in self.paths:
            with path.open("rb") as file:
                yield from ((f"{path}, line {number}", line) for number, line in enumerate(file, 1))

    def usage(self) -> Usage:
        """Return what the entries took. Raises LedgerError when a line is damaged."""
        return Usage.of(parsed(where, line) for where, line in self.lines())


def parsed(where: str, line: bytes) -> Entry:
    """Return the entry of a line of evidence. Raises LedgerError when it is damaged."""
    try:
        return parse(line)
    except (ValueError, TypeError, KeyError) as error:
        raise LedgerError(
            f"{where}: not an entry of the ledger ({error!r}).\n"
            "Remove the file, then `dvc checkout` brings it back; without it, its entries are read from the store."
        ) from error


def file_of(first_byte: int) -> str:
    """Return the name of the file with the keys of a first byte."""
    return f"verdicts-{first_byte:02x}.jsonl"


def write_file(path: Path, lines: Iterable[bytes], before: Path | None) -> None:
    """Write a file of evidence; if it is the same as the one before, as a hard link where that is possible."""
    with temporary_in(path.parent) as temporary:
        with temporary.open("wb") as file:
            file.writelines(lines)
        if before and before.exists() and _is_same(temporary, before):
            if before == path:
                return
            temporary.unlink()
            _link(before, temporary)
        temporary.replace(path)


def _is_same(one: Path, other: Path) -> bool:
    return one.stat().st_size == other.stat().st_size and one.read_bytes() == other.read_bytes()


def _link(source: Path, target: Path) -> None:
    with suppress(OSError):
        if not source.is_symlink():
            os.link(source, target)
            return
    shutil.copyfile(source, target)
