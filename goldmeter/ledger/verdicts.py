"""The ledger of verdicts: the replies of judges, one entry per key (the SHA-256 of the request), and their evidence.

Evidence, data/ledger/judge, is one file, or from 65,536 entries on one for each first byte of the keys: lines of
entries in key order. Which files there are, and their bytes, depend on the entries alone, so that a changed entry is
one changed file.
"""

import logging
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from goldmeter.errors import LedgerError
from goldmeter.ledger.entries import (
    Entry,
    Usage,
    has_reply,
    has_verdict,
    key_of,
    line_of,
    lines_in,
    parse,
    rank_of,
    was_asked,
)
from goldmeter.ledger.sqlite_file import Layout, Store
from goldmeter.ledger.vector_file import NO_KEYS, KeyArray, split
from goldmeter.pipeline.files import temporary_in

LAYOUT = Layout("verdicts", rank_of, lines_in)
CHUNK = 20_000
log = logging.getLogger(__name__)


class Verdicts(Store):
    """The store of verdicts, overlaid by the evidence of the checked-out version; for one thread.

    Of two entries with one key, the one with a verdict is used, else one with a reply, else that of the evidence, else
    that with the smaller SHA-256. An entry without a reply cost nothing: it belongs to the evidence of its version and
    is not stored, so that the next run asks again.
    """

    def __init__(self, store: Path) -> None:
        super().__init__(store, LAYOUT)
        # Entries of the evidence that are not the store's choice, or have no reply: key → line.
        self._overlay: dict[bytes, bytes] = {}
        self._evidence: VerdictEvidence | None = None

    def get(self, keys: Iterable[str]) -> dict[str, Entry]:
        """Return the stored entries of these keys."""
        lines = self._lines([bytes.fromhex(key) for key in keys])
        return {key.hex(): parse(line) for key, line in lines.items()}

    def unanswered(self, keys: Sequence[str], *, retry_failed: bool = False) -> NDArray[np.bool_]:
        """Return which keys have to be asked for, shape (m,); retry_failed: also those whose reply is no verdict."""
        wanted = [bytes.fromhex(key) for key in keys]
        lines = self._lines(wanted)
        if any(key not in lines for key in wanted):
            self._rows.check()
            lines = self._lines(wanted)

        def is_open(line: bytes | None) -> bool:
            return line is None or not was_asked(line) or (retry_failed and not has_verdict(line))

        return np.array([is_open(lines.get(key)) for key in wanted], np.bool_)

    def add(self, entries: Sequence[Entry]) -> None:
        """Add entries, and wait until those with a reply are on the disk."""
        lines = [(bytes.fromhex(entry["key"]), line_of(entry)) for entry in entries]
        self._rows.put([(key, line) for key, line in lines if has_reply(line)])
        for key, line in lines:
            if not has_reply(line) or key in self._overlay:
                self._overlay[key] = line

    def take_in(self, folder: Path) -> int:
        """Add the entries of the evidence in a folder that the store lacks; return their number.

        Where the two differ, this object uses the evidence, and `disagreements` counts the entry.

        Raises:
            LedgerError: The evidence is damaged.
        """
        self._evidence = VerdictEvidence(folder)
        before, added, lines = self.disagreements, 0, self._evidence.lines()
        while chunk := [*islice(lines, CHUNK)]:
            added += self._take_in(chunk)
        if self.disagreements > before:
            count = self.disagreements - before
            log.warning("%s: %d verdicts differ from those in %s; the evidence's are used", folder, count, self.folder)
        return added

    def use(self, keys: Iterable[str]) -> None:
        """Mark keys as used by the current tables."""
        self._used.append(np.frombuffer(bytes.fromhex("".join(keys)), NO_KEYS.dtype))

    def write_evidence(self, folder: Path) -> None:
        """Write exactly the used entries; files that stay the same are those of the evidence that was taken in.

        Raises:
            LedgerError: A used entry is missing.
        """
        folder.mkdir(parents=True, exist_ok=True)
        keys = np.unique(np.concatenate([NO_KEYS, *self._used]))
        self._used = [keys]
        files = {ONE_FILE: keys}
        if len(keys) > MOST_IN_ONE_FILE:
            firsts = np.frombuffer(keys.tobytes(), np.uint8)[:: keys.itemsize]
            bounds = np.searchsorted(firsts, np.arange(FIRST_BYTES + 1)).tolist()
            parts = ((file_of(byte), keys[bounds[byte] : bounds[byte + 1]]) for byte in range(FIRST_BYTES))
            files = {name: part for name, part in parts if len(part)}
        for name, part in files.items():
            write_file(folder / name, self._in_order(part), self._evidence.folder / name if self._evidence else None)
        for path in VerdictEvidence(folder).paths:
            if path.name not in files:
                path.unlink()

    def _lines(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the preferred line of each key that has one."""
        lines = self._rows.get(keys)
        for key in keys if self._overlay else ():
            other = self._overlay.get(key)
            if other and (key not in lines or rank_of(other) <= rank_of(lines[key])):
                lines[key] = other
        return lines

    def _take_in(self, lines: Sequence[tuple[str, bytes]]) -> int:
        """Take in some lines of evidence; return how many the store lacked."""
        keys = [key_of(line) for _, line in lines]
        stored, new = self._rows.get(filter(None, keys)), list[tuple[bytes, bytes]]()
        for key, (where, line) in zip(keys, lines, strict=True):
            best = stored.get(key) if key else None
            if line != best or key is None:
                parsed(where, line)
            if key is None:
                continue
            if not has_reply(line):
                if best is None:
                    self._overlay[key] = line
                continue
            self._overlay.pop(key, None)
            is_worse = best is not None and not has_verdict(line) and has_verdict(best)
            if best not in (None, line) and not is_worse:
                self.disagreements += 1
                self._overlay[key] = line
            if best != line:
                new.append((key, line))
        return self._rows.put(new)

    def _in_order(self, keys: KeyArray) -> Iterator[bytes]:
        """Yield the lines of keys in their order. Raises LedgerError when one of them is missing."""
        for start in range(0, len(keys), CHUNK):
            wanted = split(keys[start : start + CHUNK])
            lines = self._lines(wanted)
            for key in wanted:
                if key not in lines:
                    raise LedgerError(
                        f"the verdict {key.hex()[:32]}… is used, but it is not in {self.folder}; run the stage again"
                    )
                yield lines[key]


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
