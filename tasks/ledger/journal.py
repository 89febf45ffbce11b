"""Journals: entries that are durable line by line, until they are sealed into one segment.

Each writing process has its own journal and locks it. The kernel releases the lock when the process ends, however it
ends, and the next process that opens the store seals the unlocked journals. An incomplete last line is ignored.
"""

import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from tasks.ledger.entries import parse
from tasks.ledger.segments import publish, unusable
from tasks.pipeline.files import lock_opened, sync

PATTERN = "journal-*"
SUFFIX = ".jsonl"


class Journal:
    """The journal of this process; `append` returns when its lines are on the disk."""

    def __init__(self, store: Path) -> None:
        self._store = store
        self._path, self._descriptor = _create(store)

    def append(self, lines: Iterable[bytes]) -> None:
        """Add lines, each with its line break, and wait for the disk.

        Raises:
            LedgerError: The disk is full or not writable; then none of the lines is stored.
        """
        before = os.fstat(self._descriptor).st_size
        try:
            _write_all(self._descriptor, b"".join(lines))
            os.fsync(self._descriptor)
        except OSError as error:
            os.ftruncate(self._descriptor, before)
            raise unusable(self._store, error) from error

    def seal(self) -> Path | None:
        """Turn the journal into a segment, and close it; None if it has no entry."""
        try:
            return _seal(self._path)
        finally:
            os.close(self._descriptor)


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
        yield from whole_lines(content)


def whole_lines(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield key and line of each complete entry."""
    for line in content.splitlines(keepends=True):
        with suppress(ValueError, TypeError, KeyError):
            yield parse(line)["key"], line


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
    segment = None
    lines = sorted({(key, line) for key, line in whole_lines(path.read_bytes())})
    if lines:
        segment = publish(path.parent, SUFFIX, lambda file: file.write_bytes(b"".join(line for _, line in lines)))
    path.unlink()
    sync(path.parent)
    return segment


def _write_all(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
