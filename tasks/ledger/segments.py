"""Segments: immutable files named by the SHA-256 of their content.

A segment is complete or does not exist. A store is a folder to which segments are only added, so that the union of the
files of two stores merges them.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tasks.errors import LedgerError
from tasks.pipeline.files import move_durably, remove_abandoned, temporary_in
from tasks.pipeline.hashing import sha256

ASIDE = "damaged"


def open_store(store: Path) -> None:
    """Create the folder of a store, and remove temporary files that killed writers left in it.

    Raises:
        LedgerError: The folder can't be created.
    """
    try:
        store.mkdir(parents=True, exist_ok=True)
        remove_abandoned(store)
    except OSError as error:
        raise unusable(store, error) from error


def publish(store: Path, suffix: str, write: Callable[[Path], object]) -> Path:
    """Add a segment, and wait until it is on the disk.

    Args:
        store: The folder of segments.
        suffix: The suffix of the file's name.
        write: Writes the content to the path it is given.

    Raises:
        LedgerError: The disk is full or not writable.
    """
    try:
        with temporary_in(store) as temporary:
            write(temporary)
            segment = store / f"{sha256(temporary).hex()}{suffix}"
            move_durably(temporary, segment)
    except OSError as error:
        raise unusable(store, error) from error
    return segment


def segments(stores: Path) -> list[Path]:
    """Return the segments of all stores in a folder."""
    return sorted(path for path in stores.glob("*/*") if re.fullmatch("[0-9a-f]{64}", path.stem))


def set_aside(path: Path) -> Path:
    """Move a damaged file of a store into its folder `damaged`, where nothing reads it, and return the new path.

    Raises:
        LedgerError: The folder is not writable.
    """
    folder = path.parent / ASIDE
    try:
        folder.mkdir(exist_ok=True)
        with suppress(FileNotFoundError):  # another process has moved it
            path.replace(folder / path.name)
    except OSError as error:
        raise unusable(path.parent, error) from error
    return folder / path.name


def is_whole(segment: Path) -> bool:
    """Return whether the segment's content has the hash in its name; False also when it is gone.

    Raises:
        LedgerError: The file can't be read.
    """
    try:
        return sha256(segment).hex() == segment.stem
    except FileNotFoundError:
        return False
    except OSError as error:
        raise unusable(segment.parent, error) from error


def damaged(segment: Path) -> LedgerError:
    """Return the error for a segment whose content has changed."""
    return LedgerError(
        f"{segment}: damaged, its content is not what its name (a sha256) says.\n"
        "Run again: it is set aside, and its entries are read from data/ledger, or asked again if they are not there."
    )


def unusable(store: Path, error: OSError) -> LedgerError:
    """Return the error for a store that the system does not let us use."""
    return LedgerError(
        f"{store}: the ledger's store can't be used: {error.strerror or error}.\n"
        "Free disk space and make the folder writable, or name another folder in the variable GOLDMETER_LEDGER."
    )
