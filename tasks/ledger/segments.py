"""Segments: immutable files named by the SHA-256 of their content.

A segment is complete or does not exist. A store is a folder to which segments are only added, so that the union of the
files of two stores merges them.
"""

from collections.abc import Callable
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


def set_aside(path: Path) -> Path:
    """Move a damaged file of a store into its folder `damaged`, where nothing reads it, and return the new path."""
    folder = path.parent / ASIDE
    folder.mkdir(exist_ok=True)
    return path.replace(folder / path.name)


def verify(segment: Path) -> None:
    """Raise LedgerError unless the segment's content has the hash in its name."""
    if sha256(segment).hex() != segment.stem:
        raise damaged(segment)


def damaged(segment: Path) -> LedgerError:
    """Return the error for a segment whose content has changed."""
    return LedgerError(
        f"{segment}: damaged, its content is not what its name (a sha256) says.\n"
        "Replace it by a copy from another clone or a backup, or move it out of this folder: "
        "its entries are then read from data/ledger, or asked again if they are not there."
    )


def unusable(store: Path, error: OSError) -> LedgerError:
    """Return the error for a store that the system does not let us use."""
    return LedgerError(
        f"{store}: the ledger's store can't be used: {error.strerror or error}.\n"
        "Free disk space and make the folder writable, or name another folder in the variable GOLDMETER_LEDGER."
    )
