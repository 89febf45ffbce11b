"""The stored verdicts: the segments of a store and their index, and the lines that are in no segment yet."""

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tasks.errors import LedgerError
from tasks.ledger.entries import RANK, checksum, flags_of, is_checked, parse, short_key
from tasks.ledger.entry_index import EntryIndex, Rows
from tasks.ledger.journal import SUFFIX
from tasks.ledger.segments import damaged, is_whole, publish, set_aside
from tasks.ledger.short_keys import Mask, ShortKeys, split
from tasks.pipeline.files import replacing
from tasks.pipeline.workers import cores

INDEX_FILE = "entries.index"
# The index of a store is written again when the segments that it lacks hold this share of its entries.
GROWTH = 1 / 32
log = logging.getLogger(__name__)


class Source(Protocol):
    """Entries that are looked up by key."""

    def find(self, keys: ShortKeys) -> Rows:
        """Return the preferred row of each key, -1 for a key that is not there; shape (m,)."""

    def holds(self, keys: ShortKeys, checksums: NDArray[np.bytes_]) -> Mask:
        """Return whether an entry with this key and checksum is there, preferred or not; shape (m,)."""

    def flags(self, rows: Rows) -> NDArray[np.uint8]:
        """Return what is missing in the entries, see `flags_of`; shape (m,)."""

    def checksums(self, rows: Rows) -> NDArray[np.bytes_]:
        """Return the checksum of the entries, shape (m,)."""

    def files(self, rows: Rows) -> set[Path]:
        """Return the files that hold the entries."""

    def lines(self, rows: Rows) -> Iterator[tuple[int, bytes]]:
        """Yield the place in `rows` and the line of each entry. Raises LedgerError when an entry is damaged."""


class FileEntries:
    """The entries of files with their index."""

    def __init__(
        self, index: EntryIndex, paths: Sequence[Path], error: Callable[[Path], LedgerError] = damaged
    ) -> None:
        self.index, self._paths, self._error = index, paths, error

    def find(self, keys: ShortKeys) -> Rows:
        return self.index.find(keys)

    def holds(self, keys: ShortKeys, checksums: NDArray[np.bytes_]) -> Mask:
        return self.index.holds(keys, checksums)

    def flags(self, rows: Rows) -> NDArray[np.uint8]:
        return np.asarray(self.index.columns["flags"][rows], np.uint8)

    def checksums(self, rows: Rows) -> NDArray[np.bytes_]:
        return self.index.columns["checksum"][rows]

    def files(self, rows: Rows) -> set[Path]:
        return {self._paths[number] for number in np.unique(self.index.columns["file"][rows]).tolist()}

    def lines(self, rows: Rows) -> Iterator[tuple[int, bytes]]:
        columns = {name: self.index.columns[name][rows] for name in ("file", "offset", "length")}
        order, checksums = np.lexsort((columns["offset"], columns["file"])), split(self.checksums(rows))
        sorted_columns = (columns[name][order].tolist() for name in ("file", "offset", "length"))
        places = zip(*sorted_columns, order.tolist(), strict=True)
        for number, in_file in groupby(places, key=itemgetter(0)):
            with self._paths[number].open("rb", buffering=0) as file:
                for _, offset, length, place in in_file:
                    line = os.pread(file.fileno(), length, offset)
                    if checksum(line) != checksums[place]:
                        raise self._error(self._paths[number])
                    yield place, line


class MemoryEntries:
    """Entries that are in memory, such as those of journals."""

    def __init__(self) -> None:
        self._lines: list[bytes] = []
        self._facts: list[tuple[int, bytes]] = []
        self._rows: dict[bytes, int] = {}
        self._checksums: dict[bytes, set[bytes]] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, key: bytes) -> bool:
        return key in self._rows

    def add(self, line: bytes, *, newest: bool = False) -> None:
        """Add an entry; newest: it is preferred to all others with its key."""
        entry = parse(line)
        key, flags, row = short_key(entry["key"]), flags_of(entry), len(self._lines)
        self._lines.append(line)
        self._facts.append((flags, checksum(line)))
        self._checksums.setdefault(key, set()).add(checksum(line))
        other = self._rows.get(key)
        if newest or other is None or self._preference(row) < self._preference(other):
            self._rows[key] = row

    def discard(self, key: bytes) -> None:
        """Forget the entries of a key."""
        self._rows.pop(key, None)
        self._checksums.pop(key, None)

    def find(self, keys: ShortKeys) -> Rows:
        if not self._rows:
            return np.full(len(keys), -1)
        return np.array([self._rows.get(key, -1) for key in split(keys)], np.int64)

    def holds(self, keys: ShortKeys, checksums: NDArray[np.bytes_]) -> Mask:
        if not self._rows:
            return np.zeros(len(keys), np.bool_)
        pairs = zip(split(keys), split(checksums), strict=True)
        return np.array([each in self._checksums.get(key, ()) for key, each in pairs], np.bool_)

    def flags(self, rows: Rows) -> NDArray[np.uint8]:
        return np.array([self._facts[row][0] for row in rows.tolist()], np.uint8)

    def checksums(self, rows: Rows) -> NDArray[np.bytes_]:
        return np.frombuffer(b"".join(self._facts[row][1] for row in rows.tolist()), "S16")

    def files(self, rows: Rows) -> set[Path]:  # noqa: ARG002 (part of the protocol)
        return set()

    def lines(self, rows: Rows) -> Iterator[tuple[int, bytes]]:
        return ((place, self._lines[row]) for place, row in enumerate(rows.tolist()))

    def _preference(self, row: int) -> tuple[int, bytes]:
        flags, each = self._facts[row]
        return flags & RANK, each


class Segments:
    """The segments of a store, with one index of most of them on the disk, and one of the others in memory.

    Damaged segments are set aside when they are added to the index, and those of the index by `heal`; lines that are as
    they were written are kept in a new segment.
    """

    def __init__(self, store: Path) -> None:
        self._store = store
        self._verified: set[Path] = set()
        self._load()

    def _load(self) -> None:
        # Before the segments are listed: another process may add some.
        index = EntryIndex.load(self._store / INDEX_FILE)
        paths = {path.stem: path for path in sorted(self._store.glob(f"[0-9a-f]*{SUFFIX}"))}
        # Checksums of lines that were in whole segments; old lines state none themselves.
        self._checksums = (index or EntryIndex.merged([])).columns["checksum"]
        if index and any(
            name not in paths or paths[name].stat().st_size != size for name, size in index.files
        ):  # a segment was moved away or cut
            index = None
        self.indexed, self._others = index or EntryIndex.merged([]), EntryIndex.merged([])
        known = {name for name, _ in self.indexed.files}
        self.adopt([path for name, path in paths.items() if name not in known])

    @property
    def sources(self) -> list[FileEntries]:
        """The entries of all segments."""
        return [FileEntries(index, self._paths(index)) for index in (self.indexed, self._others)]

    def adopt(self, segments: Sequence[Path]) -> None:
        """Add segments to the index, which then may be another one."""
        if not (whole := [path for path in map(self._healed, segments) if path]):
            return
        self._others = EntryIndex.merged([self._others, *map(EntryIndex.of_file, whole)])
        if len(self._others) > GROWTH * len(self.indexed):
            self._save(EntryIndex.merged([self.indexed, self._others]))

    def heal(self, segments: set[Path]) -> bool:
        """Set the damaged ones of these segments aside; return whether there were any, so that rows have changed."""
        unread = sorted(segments - self._verified)
        with ThreadPoolExecutor(cores()) as pool:  # hashing releases the interpreter
            damaged = [path for path, sound in zip(unread, pool.map(self._is_whole, unread), strict=True) if not sound]
        if damaged:
            self._checksums = np.concatenate([each.columns["checksum"] for each in (self.indexed, self._others)])
            for path in damaged:
                self._healed(path)
            self._load()
        return bool(damaged)

    def release(self) -> None:
        """Let the system take back the memory of the mapped index."""
        self.indexed.release()

    def _is_whole(self, segment: Path) -> bool:
        if segment not in self._verified and is_whole(segment):
            self._verified.add(segment)
        return segment in self._verified

    def _healed(self, segment: Path) -> Path | None:
        """Return a segment; if it is damaged, one of its sound lines, and None if it has none."""
        if self._is_whole(segment):
            return segment
        try:
            lines = [line + b"\n" for line in segment.read_bytes().removesuffix(b"\n").split(b"\n")]
        except FileNotFoundError:  # another process has set it aside
            return None
        checksums = np.array([checksum(line) for line in lines], self._checksums.dtype)
        known = np.isin(checksums, self._checksums).tolist()
        sound = [line for line, is_known in zip(lines, known, strict=True) if is_known or is_checked(line)]
        kept = publish(self._store, SUFFIX, lambda file: file.write_bytes(b"".join(sound))) if sound else None
        if kept == segment:
            log.warning("%s: was damaged; all its lines were as they were written, and it is whole again", segment)
            return kept
        aside = set_aside(segment)
        log.warning(
            "%s: damaged; %d of its %d lines are as they were written, and were kept. It was moved to %s; the other "
            "verdicts are taken from data/ledger, or asked again",
            segment,
            len(sound),
            len(lines),
            aside.parent,
        )
        return kept

    def _save(self, index: EntryIndex) -> None:
        # Only a cache: without it the segments are read again. Mapped before it is published: another process may
        # replace it at any time.
        with suppress(OSError), replacing(self._store / INDEX_FILE) as temporary:
            index.save(temporary)
            index = EntryIndex.load(temporary) or index
        self.indexed, self._others = index, EntryIndex.merged([])

    def _paths(self, index: EntryIndex) -> list[Path]:
        return [self._store / f"{name}{SUFFIX}" for name, _ in index.files]
