"""Journals: entries that are durable line by line, until they are sealed into one segment.

Each writing process has its own journal and locks it. The kernel releases the lock when the process ends, however it
ends, and the next process that opens the store seals the unlocked journals. An incomplete last line is ignored.
"""

import hashlib
import logging
import os
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path

from tasks.errors import LedgerError
from tasks.ledger.entries import parse
from tasks.ledger.segments import publish, set_aside, unusable
from tasks.pipeline.files import lock_opened, sync

PATTERN = "journal-*"
SUFFIX = ".jsonl"
log = logging.getLogger(__name__)


class Journal:
    """The journal of this process; `append` returns when its lines are on the disk."""

    def __init__(self, store: Path) -> None:
        self._store = store
        self._path, self._descriptor = _create(store)
        self._durable, self._size = hashlib.sha256(), 0
        self._locks: list[int] = []

    def append(self, lines: Iterable[bytes]) -> None:
        """Add lines, each with its line break, and wait for the disk.

        Raises:
            LedgerError: The disk is full or not writable; then none of the lines is stored.
        """
        content = b"".join(lines)
        try:
            _write_all(self._descriptor, content)
            os.fsync(self._descriptor)
        except OSError as error:
            self._reopen()
            raise unusable(self._store, error) from error
        self._durable.update(content)
        self._size += len(content)

    def _reopen(self) -> None:
        """Cut off what may not be on the disk, and read the rest again: after a failed fsync no page is sure.

        Raises:
            LedgerError: What was on the disk before has changed.
        """
        os.ftruncate(self._descriptor, self._size)
        descriptor = os.open(self._path, os.O_RDWR | os.O_APPEND)
        is_ours = os.path.samestat(os.fstat(descriptor), os.fstat(self._descriptor))
        with os.fdopen(os.dup(descriptor), "rb") as file:
            is_whole = hashlib.file_digest(file, "sha256").digest() == self._durable.digest()
        if not (is_ours and is_whole):
            os.close(descriptor)
            raise LedgerError(f"{self._path}: what was written before has changed; check the disk, then run again")
        # The lock belongs to the first descriptor: it stays open until the journal is sealed.
        self._locks.append(self._descriptor)
        self._descriptor = descriptor

    def seal(self) -> Path | None:
        """Turn the journal into a segment, and close it; None if it has no entry."""
        try:
            return _seal(self._path)
        finally:
            for descriptor in (self._descriptor, *self._locks):
                os.close(descriptor)


def seal_abandoned(store: Path) -> None:
    """Seal the journals whose writers have ended."""
    for path in sorted(store.glob(PATTERN)):
        try:
            descriptor = os.open(path, os.O_RDWR)
        except FileNotFoundError:  # another process has sealed it
            continue
        try:
            if lock_opened(descriptor, path):
                _seal(path)
        finally:
            os.close(descriptor)


def journals(store: Path) -> Iterator[tuple[str, bytes]]:
    """Yield key and line of each entry in the store's unsealed journals."""
    for path in sorted(store.glob(PATTERN)):
        try:
            content = path.read_bytes()
        except FileNotFoundError:  # another process has sealed it: it is a segment now
            continue
        yield from whole_lines(content, path)


def whole_lines(content: bytes, path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield key and line of each sound entry of a journal; warn of damaged ones, whose requests are asked again.

    A last line without an end was not acknowledged: its writer was killed.
    """
    for number, line in enumerate(content.split(b"\n")[:-1], 1):
        try:
            yield parse(line + b"\n")["key"], line + b"\n"
        except (ValueError, TypeError, KeyError) as error:
            log.warning(
                "%s, line %d: damaged (%s); it is set aside, and its request is asked again", path, number, error
            )


def _create(store: Path) -> tuple[Path, int]:
    while True:
        path = store / f"journal-{secrets.token_hex(8)}{SUFFIX}"
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
            if lock_opened(descriptor, path):  # else another process is sealing it as abandoned: take another name
                sync(store)
                return path, descriptor
        except OSError as error:
            raise unusable(store, error) from error
        os.close(descriptor)


def _seal(path: Path) -> Path | None:
    segment, content = None, path.read_bytes()
    lines = sorted({(key, line) for key, line in whole_lines(content, path)})
    if lines:
        segment = publish(path.parent, SUFFIX, lambda file: file.write_bytes(b"".join(line for _, line in lines)))
    if len(lines) < len({*content.split(b"\n")[:-1]}):
        set_aside(path)
    else:
        path.unlink()
    sync(path.parent)
    return segment


def _write_all(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
