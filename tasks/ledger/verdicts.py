"""The ledger of verdicts: the replies of judges, one entry per key (the SHA-256 of the request)."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice, repeat
from operator import methodcaller
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from tasks.errors import LedgerError
from tasks.ledger.entries import NO_REPLY, NO_VERDICT, NOT_ASKED, RANK, Entry, line_of, parse, short_key
from tasks.ledger.entry_index import Rows
from tasks.ledger.journal import SUFFIX, Journal, journals, seal_abandoned
from tasks.ledger.segments import open_store, publish, unusable
from tasks.ledger.short_keys import BUCKETS, NO_KEYS, Mask, ShortKeys, places_by_key, short_keys, split
from tasks.ledger.stored_verdicts import MemoryEntries, Segments, Source
from tasks.ledger.used_keys import UsedKeys
from tasks.ledger.verdict_evidence import (
    MOST_IN_ONE_FILE,
    ONE_FILE,
    EvidenceFile,
    VerdictEvidence,
    file_of,
    index_path,
    write_file,
)
from tasks.pipeline.workers import cores

CHUNK = 50_000
# Flags of a key without an entry.
ABSENT = 255
log = logging.getLogger(__name__)


class _Choice(NamedTuple):
    """The preferred entry of each key: its source, -1 without one, its row there, and its flags; shape (m,)."""

    sources: list[Source]
    source: NDArray[np.int8]
    rows: Rows
    flags: NDArray[np.uint8]

    def put(self, places: Rows, number: int, source: Source, rows: Rows) -> None:
        """Choose the rows of a source for the keys at some places."""
        self.source[places], self.rows[places] = number, rows
        self.flags[places] = source.flags(rows)

    def checksums(self, places: Rows) -> NDArray[np.bytes_]:
        """Return the checksums at some places, empty for keys without an entry."""
        checksums = np.zeros(len(places), NO_KEYS.dtype)
        for number, source in enumerate(self.sources):
            here = self.source[places] == number
            checksums[here] = source.checksums(self.rows[places[here]])
        return checksums

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the place and the line of each key that has an entry."""
        for number, source in enumerate(self.sources):
            here = np.flatnonzero(self.source == number)
            for place, line in source.lines(self.rows[here]):
                yield int(here[place]), line


class Verdicts:
    """The store of verdicts, overlaid by the evidence of the checked-out version; for one thread.

    Of two entries with one key, the one with a verdict is used, else one with a reply, else that of the evidence, else
    that with the smaller SHA-256. An entry without a reply cost nothing: it belongs to the evidence of its version and
    is not stored, so that the next run asks again.
    """

    def __init__(self, store: Path) -> None:
        self.disagreements = 0
        self.folder = store
        # Entries of the evidence that are not the store's choice, or have no reply.
        self._overlay = MemoryEntries()
        # Entries in the journals of other processes, and in that of this one.
        self._others, self._added = MemoryEntries(), MemoryEntries()
        self._evidence: VerdictEvidence | None = None
        self._journal: Journal | None = None
        open_store(store)
        try:
            seal_abandoned(store)
            for _, line in journals(store):  # before the segments, so that a journal sealed in between is not missed
                self._others.add(line)
            self._segments = Segments(store)
            self._used = UsedKeys(self._segments.indexed)
        except OSError as error:
            raise unusable(store, error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get(self, keys: Iterable[str]) -> dict[str, Entry]:
        """Return the stored entries of these keys. Raises LedgerError when one of them is damaged."""
        names = {short_key(key): key for key in keys}
        wanted = np.sort(np.frombuffer(b"".join(names), NO_KEYS.dtype))
        shorts = split(wanted)
        return {names[shorts[place]]: parse(line) for place, line in self._choose(wanted).lines()}

    def unanswered(self, keys: Sequence[str], *, retry_failed: bool = False) -> Mask:
        """Return which keys have to be asked for, shape (m,); retry_failed: also those whose reply is no verdict."""
        flags = self._flags(keys)
        return np.asarray((flags & (NOT_ASKED | NO_VERDICT * retry_failed)) > 0)

    def add(self, entries: Sequence[Entry]) -> None:
        """Add entries, and wait until those with a reply are on the disk."""
        lines = [(short_key(entry["key"]), line_of(entry), entry["raw"] is not None) for entry in entries]
        if paid := [line for _, line, replied in lines if replied]:
            self._journal = self._journal or Journal(self.folder)
            self._journal.append(paid)
        for key, line, replied in lines:
            if replied:
                self._added.add(line)
            if not replied or key in self._overlay:
                self._overlay.add(line, newest=True)
        if len(self._added) >= CHUNK:
            self._seal()

    def take_in(self, folder: Path) -> int:
        """Add the entries of the evidence in a folder that the store lacks; return their number.

        Where the two differ, this object uses the evidence, and `disagreements` counts the entry.

        Raises:
            LedgerError: The evidence is damaged.
        """
        self._evidence = VerdictEvidence(folder)
        before, added, segments = self.disagreements, 0, list[Path]()
        unknown = (line for file in self._evidence.files() for line in self._unknown(file))
        while new := [*islice(unknown, CHUNK)]:
            segments.append(publish(self.folder, SUFFIX, methodcaller("write_bytes", b"".join(new))))
            added += len(new)
        self._adopt(segments)
        if self.disagreements > before:
            count = self.disagreements - before
            log.warning("%s: %d verdicts differ from those in %s; the evidence's are used", folder, count, self.folder)
        return added

    def use(self, keys: Iterable[str]) -> None:
        """Mark keys as used by the current tables."""
        self._used.add(short_keys(keys))

    def write_evidence(self, folder: Path) -> None:
        """Write exactly the used entries; files that stay the same are those of the evidence that was taken in.

        Raises:
            LedgerError: A used entry is missing, or the evidence that was taken in is damaged.
        """
        folder.mkdir(parents=True, exist_ok=True)
        if len(self._used) <= MOST_IN_ONE_FILE:
            write_file(folder / ONE_FILE, self._in_order(self._used.all()))
            written = {ONE_FILE}
        else:
            with ThreadPoolExecutor(cores()) as pool:  # most of the time they are hashed or looked up by numpy
                wrote = pool.map(self._write_bucket, range(BUCKETS), repeat(folder))
                written = {file_of(bucket) for bucket, is_there in enumerate(wrote) if is_there}
        for path in VerdictEvidence(folder).paths:
            if path.name not in written:
                path.unlink()
                index_path(path).unlink(missing_ok=True)

    def close(self) -> None:
        """Seal the journal of this process; if the process is killed before, the next one does."""
        self._sealed()

    def _seal(self) -> None:
        """Seal the journal, and look its entries up in the segment from now on: memory is bounded."""
        segment = self._sealed()
        self._adopt([segment] if segment else [])
        self._added = MemoryEntries()

    def _sealed(self) -> Path | None:
        """Seal the journal, if there is one; when that fails, it is closed, and the next process seals it."""
        journal, self._journal = self._journal, None
        return journal.seal() if journal else None

    def _adopt(self, segments: Sequence[Path]) -> None:
        self._segments.adopt(segments)
        self._used.move_to(self._segments.indexed)

    def _flags(self, keys: Sequence[str]) -> NDArray[np.uint8]:
        shorts = short_keys(keys)
        order = places_by_key(shorts)
        flags = np.empty(len(shorts), np.uint8)
        flags[order] = self._choose(shorts[order]).flags
        return flags

    def _choose(self, keys: ShortKeys) -> _Choice:
        choice = self._stored(keys)
        rows = self._overlay.find(keys)
        here = np.flatnonzero(rows >= 0)
        here = here[(choice.source[here] < 0) | (self._overlay.flags(rows[here]) & RANK <= choice.flags[here] & RANK)]
        choice.put(here, len(choice.sources), self._overlay, rows[here])
        return choice._replace(sources=[*choice.sources, self._overlay])

    def _stored(self, keys: ShortKeys) -> _Choice:
        """Choose among the entries of the store alone."""
        sources: list[Source] = [*self._segments.sources, self._others, self._added]
        choice = _Choice(
            sources,
            np.full(len(keys), -1, np.int8),
            np.full(len(keys), -1),
            np.full(len(keys), ABSENT, np.uint8),
        )
        for number, source in enumerate(sources):
            rows = source.find(keys)
            here = np.flatnonzero(rows >= 0)
            if not len(here):
                continue
            if self._segments.heal(source.files(rows[here])):
                self._used.move_to(self._segments.indexed)
                return self._stored(keys)
            ranks, others = source.flags(rows[here]) & RANK, choice.flags[here] & RANK
            better = (choice.source[here] < 0) | (ranks < others)
            equal = np.flatnonzero(~better & (ranks == others))
            better[equal] = source.checksums(rows[here[equal]]) < choice.checksums(here[equal])
            choice.put(here[better], number, source, rows[here[better]])
        return choice

    def _unknown(self, file: EvidenceFile) -> Iterator[bytes]:
        """Yield the lines of evidence with a reply that the store lacks; prefer those that are not its choice."""
        for start in range(0, len(file.index), CHUNK):
            rows = np.arange(start, min(start + CHUNK, len(file.index)))
            keys, flags, checksums = file.index.keys[rows], file.entries.flags(rows), file.entries.checksums(rows)
            stored = self._stored(keys)
            is_stored, replied = stored.source >= 0, (flags & NO_REPLY) == 0
            worse = ((flags & NO_VERDICT) > 0) & ((stored.flags & NO_VERDICT) == 0)
            differs = replied & is_stored & (stored.checksums(rows - start) != checksums) & ~worse
            self.disagreements += int(differs.sum())
            if len(self._overlay):
                for key in split(keys[replied]):
                    self._overlay.discard(key)
            for _, line in file.entries.lines(rows[differs | ~(replied | is_stored)]):
                self._overlay.add(line, newest=True)
            is_known = np.logical_or.reduce([source.holds(keys, checksums) for source in stored.sources])
            yield from (line for _, line in file.entries.lines(rows[replied & ~is_known]))
        self._segments.release()

    def _write_bucket(self, bucket: int, folder: Path) -> bool:
        """Write the file of evidence of one first byte, or reuse it; return whether it has entries."""
        keys = self._used.bucket(bucket)
        if not len(keys):
            return False
        path, choice = folder / file_of(bucket), self._choose(keys)
        before = self._evidence.file(path.name) if self._evidence else None
        if (
            before
            and np.array_equal(before.index.keys, keys)
            and np.array_equal(before.index.columns["checksum"], choice.checksums(np.arange(len(keys))))
        ):
            before.copy_to(path)
        else:
            write_file(path, self._in_order(keys))
        self._segments.release()
        return True

    def _in_order(self, keys: ShortKeys) -> Iterator[bytes]:
        """Yield the lines of keys in their order. Raises LedgerError when one of them is missing."""
        for start in range(0, len(keys), CHUNK):
            wanted = keys[start : start + CHUNK]
            lines = dict(self._choose(wanted).lines())
            for place, key in enumerate(split(wanted)):
                if place not in lines:
                    raise LedgerError(
                        f"the verdict {key.hex()}… is used, but it is not in {self.folder}; run the stage again"
                    )
                yield lines[place]
