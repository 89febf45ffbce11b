"""Evidence of verdicts, data/ledger/judge: one file, or from 65,536 entries on one for each first byte of the keys.

The files are lines of entries in key order. Each of the 256 files has its index beside it. Which files there are, and
their bytes, depend on the entries alone, so that a changed entry is one changed file.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from tasks.errors import LedgerError
from tasks.ledger.entries import Usage
from tasks.ledger.entry_index import EntryIndex
from tasks.ledger.short_keys import BUCKETS
from tasks.ledger.stored_verdicts import FileEntries
from tasks.pipeline.files import temporary_in
from tasks.pipeline.hashing import sha256

ONE_FILE = "verdicts.jsonl"
# With fewer entries, 256 files would hold less than 256 entries each.
MOST_IN_ONE_FILE = 65_536


def file_of(bucket: int) -> str:
    """Return the name of the file with the keys of a first byte."""
    return f"verdicts-{bucket:02x}.jsonl"


class VerdictEvidence:
    """The verdicts that the tables of a version use (data/ledger/judge), read-only."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def files(self) -> Iterator["EvidenceFile"]:
        """Yield the files, in key order. Raises LedgerError when one is damaged."""
        return (EvidenceFile(path) for path in self.paths)

    def file(self, name: str) -> "EvidenceFile | None":
        """Return one file; None if there is none of this name."""
        path = self.folder / name
        return EvidenceFile(path) if path.exists() else None

    @property
    def paths(self) -> list[Path]:
        """The paths of the files, in key order."""
        return [path for name in (ONE_FILE, *map(file_of, range(BUCKETS))) if (path := self.folder / name).exists()]

    def usage(self) -> Usage:
        """Return what the entries took. Raises LedgerError when a file is damaged."""
        return Usage.total(file.index.usage for file in self.files() if file.index.usage)


class EvidenceFile:
    """One file of evidence with its index. Raises LedgerError when it is not a file of entries."""

    def __init__(self, path: Path) -> None:
        self.path = path
        index = None if path.name == ONE_FILE else EntryIndex.load(index_path(path))
        if index and ([size for _, size in index.files] != [path.stat().st_size] or not index.usage):
            index = None
        self.has_index = index is not None
        self.index = index or EntryIndex.of_file(path)
        self.entries = FileEntries(self.index, [path], damaged)

    def copy_to(self, path: Path) -> None:
        """Write the same file, and its index, elsewhere: as a hard link where that is possible.

        Raises:
            LedgerError: The file is not the one that was indexed.
        """
        if sha256(self.path).hex() != self.index.files[0].sha256:
            raise damaged(self.path)
        if self.path == path and self.has_index:
            return
        _replace(path, partial(_link, self.path))
        write_index = partial(_link, index_path(self.path)) if self.has_index else self.index.save
        _replace(index_path(path), write_index)


def write_file(path: Path, lines: Iterator[bytes]) -> None:
    """Write a file of evidence, and its index unless it is the only file."""

    def write(temporary: Path) -> None:
        with temporary.open("wb") as file:
            file.writelines(lines)

    _replace(path, write)
    if path.name != ONE_FILE:
        _replace(index_path(path), EntryIndex.of_file(path).save)


def index_path(path: Path) -> Path:
    """Return the path of the index of a file of evidence."""
    return path.with_suffix(".index")


def damaged(path: Path) -> LedgerError:
    """Return the error for a file whose content has changed."""
    return LedgerError(
        f"{path}: damaged, its content is not what its index says.\n"
        "Remove the file, then `dvc checkout` brings it back; without it, its entries are read from the store."
    )


def _replace(path: Path, write: Callable[[Path], object]) -> None:
    with temporary_in(path.parent) as temporary:
        write(temporary)
        temporary.replace(path)


def _link(source: Path, target: Path) -> None:
    with suppress(OSError):
        if not source.is_symlink():
            os.link(source, target)
            return
    shutil.copyfile(source, target)
