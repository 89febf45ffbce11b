"""Segments: files named by the sha256 of their content, whole on the disk or not there at all.

A store is a folder of segments that are only ever added, so merging two stores is a union of their files.
"""

import hashlib
import os
import secrets
import time
from collections.abc import Callable
from pathlib import Path

from tasks.errors import LedgerError

STALE_SECONDS = 86_400.0
"""A temporary file this old has no writer any more."""


def open_store(store: Path) -> None:
    """Make the folder of a store, and remove what killed writers left half-written in it.

    Raises LedgerError when it can't be made.
    """
    try:
        store.mkdir(parents=True, exist_ok=True)
        for path in store.glob(".*.tmp"):
            if time.time() - path.stat().st_mtime > STALE_SECONDS:
                path.unlink(missing_ok=True)
    except OSError as error:
        raise unusable(store, error) from error


def publish(store: Path, suffix: str, write: Callable[[Path], None]) -> Path:
    """Add the segment that `write` writes to the path it is given; when this returns, it is on the disk.

    Raises LedgerError when the disk refuses.
    """
    temporary = store / f".{secrets.token_hex(8)}.tmp"
    try:
        write(temporary)
        sync(temporary)
        segment = store / f"{digest(temporary)}{suffix}"
        temporary.replace(segment)
        sync(store)
    except OSError as error:
        raise unusable(store, error) from error
    finally:
        temporary.unlink(missing_ok=True)
    return segment


def verify(segment: Path) -> None:
    """Raise LedgerError unless the segment's content is what its name says."""
    if digest(segment) != segment.stem:
        raise LedgerError(
            f"{segment}: damaged, its content is not what its name (a sha256) says.\n"
            "Put a sound copy in its place (another clone, a backup), or move the file out of this folder: "
            "what it held is then taken from data/ledger where it is there, and asked again where not."
        )


def digest(path: Path) -> str:
    """The sha256 of a file's content, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sync(path: Path) -> None:
    """Return when a file's content, or a folder's list of names, is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def unusable(store: Path, error: OSError) -> LedgerError:
    """The error for a store that the system does not let us use."""
    return LedgerError(
        f"{store}: the ledger's store can't be used: {error.strerror or error}.\n"
        "Make room and the folder writable, or name another one in the environment variable GOLDMETER_LEDGER."
    )
