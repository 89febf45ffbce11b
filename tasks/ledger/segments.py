"""Segments: files named by the sha256 of their content, whole on the disk or not there at all.

A store is a folder of segments that are only ever added, so merging two stores is a union of their files.
"""

from collections.abc import Callable
from pathlib import Path

from tasks.errors import LedgerError
from tasks.pipeline.files import move_durably, remove_abandoned, temporary_in
from tasks.pipeline.hashing import sha256


def open_store(store: Path) -> None:
    """Make the folder of a store, and remove what killed writers left half-written in it.

    Raises LedgerError when it can't be made.
    """
    try:
        store.mkdir(parents=True, exist_ok=True)
        remove_abandoned(store)
    except OSError as error:
        raise unusable(store, error) from error


def publish(store: Path, suffix: str, content: bytes | Callable[[Path], None]) -> Path:
    """Add the segment that `write` writes to the path it is given; when this returns, it is on the disk.

    Raises LedgerError when the disk refuses.
    """
    try:
        with temporary_in(store) as temporary:
            if isinstance(content, bytes):
                temporary.write_bytes(content)
            else:
                content(temporary)
            segment = store / f"{sha256(temporary).hex()}{suffix}"
            move_durably(temporary, segment)
    except OSError as error:
        raise unusable(store, error) from error
    return segment


def verify(segment: Path) -> None:
    """Raise LedgerError unless the segment's content is what its name says."""
    if sha256(segment).hex() != segment.stem:
        raise LedgerError(
            f"{segment}: damaged, its content is not what its name (a sha256) says.\n"
            "Put a sound copy in its place (another clone, a backup), or move the file out of this folder: "
            "what it held is then taken from data/ledger where it is there, and asked again where not."
        )


def unusable(store: Path, error: OSError) -> LedgerError:
    """The error for a store that the system does not let us use."""
    return LedgerError(
        f"{store}: the ledger's store can't be used: {error.strerror or error}.\n"
        "Make room and the folder writable, or name another one in the environment variable GOLDMETER_LEDGER."
    )
