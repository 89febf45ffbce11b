"""Files that several processes share: locks, atomic and durable writes, JSON documents."""

import errno
import json
import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from glob import escape
from math import inf
from pathlib import Path
from stat import S_ISDIR
from typing import Any

from filelock import FileLock, Timeout, lock_descriptor

from goldmeter.errors import DataError

# A temporary file that was not written to for a day has no writer any more.
_ABANDONED_AFTER = 86_400.0


@contextmanager
def exclusive(
    path: Path, *, refusal: Exception | None = None, on_wait: Callable[[], object] = lambda: None
) -> Iterator[None]:
    """Hold a lock file; the kernel releases it when the process dies, and child processes do not inherit it.

    Args:
        path: The lock file. It is created where it is missing, and never removed.
        refusal: Raised when another process holds the lock. Without it, the call waits.
        on_wait: Called once before the call waits.
    """
    # A soft lock, which filelock offers where the file system has no locks, would outlive its process.
    lock = FileLock(path, fallback_to_soft=False, thread_local=False)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        if refusal:
            raise refusal from None
        on_wait()
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def is_locked(path: Path) -> bool:
    """Return whether a process holds the lock file; False where there is none."""
    try:
        descriptor = os.open(path, os.O_RDWR)  # NFS locks only files that are open for writing
    except FileNotFoundError:
        return False
    try:
        return not lock_descriptor(descriptor, blocking=False)
    finally:
        os.close(descriptor)


def lock_opened(descriptor: int, path: Path) -> bool:
    """Lock an open file or folder until its descriptor is closed.

    Returns:
        False when another process holds the lock, or has removed or replaced the path since it was opened.
    """
    if not lock_descriptor(descriptor, blocking=False):
        return False
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def sync(path: Path) -> None:
    """Wait until a file's content, or a folder's list of names, is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def temporary_in(folder: Path, name: str = "") -> Iterator[Path]:
    """Yield the path of a temporary file to be written, which is removed at the end unless it was moved."""
    path = folder / f".{name}{secrets.token_hex(8)}.tmp"
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


def remove_abandoned(folder: Path, name: str = "", *, age: float = _ABANDONED_AFTER) -> None:
    """Remove the temporary files that killed processes left in a folder: those not written to for `age` seconds."""
    for path in folder.glob(f".{escape(name)}*.tmp"):
        with suppress(FileNotFoundError):  # its writer has moved it meanwhile
            status = path.lstat()
            if not S_ISDIR(status.st_mode) and time.time() - status.st_mtime >= age:  # no writer makes a folder
                path.unlink()


def move_durably(temporary: Path, path: Path) -> None:
    """Rename a file to its final path; after a crash the old file or the whole new one is there."""
    sync(temporary)
    move(temporary, path)
    sync(path.parent)


def move(source: Path, target: Path) -> None:
    """Rename a file or folder; on another file system, copy it beside the target, durably, and rename the copy.

    After a crash there is the whole target, or none of it. One process at a time moves to and from a path.
    """
    try:
        source.replace(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        copied, left = (path.with_name(f".{path.name}.moving") for path in (target, source))
        remove(left)
        try:
            remove(copied)
            _copy_durably(source, copied)
            copied.replace(target)
        finally:
            remove(copied)
        source.replace(left)  # a folder is removed file by file: under its own name, half of it could be taken for all
        remove(left)


def _copy_durably(source: Path, target: Path) -> None:
    if source.is_symlink() or not source.is_dir():
        shutil.copy2(source, target, follow_symlinks=False)
    else:
        shutil.copytree(source, target, symlinks=True)
    for path in (target, *target.rglob("*")):
        if not path.is_symlink():
            sync(path)


def remove(path: Path) -> None:
    """Remove a file, a link or a folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def replacing(path: Path, *, locked: bool = False) -> Iterator[Path]:
    """Yield the path of a temporary file to be written, which then replaces `path`, atomically and durably.

    Args:
        path: The file to replace.
        locked: The caller holds a lock on the file, so that every other temporary file for it is abandoned.
    """
    remove_abandoned(path.parent, f"{path.name}.", age=-inf if locked else _ABANDONED_AFTER)
    with temporary_in(path.parent, f"{path.name}.") as temporary:
        yield temporary
        move_durably(temporary, path)


def to_json(value: Any, *, ascii_only: bool = False) -> str:
    """Return a JSON document as it is written to a file: one value a line, keys in the order given.

    Raises:
        ValueError: A number is NaN or infinite.
    """
    return json.dumps(value, indent=1, ensure_ascii=ascii_only, allow_nan=False) + "\n"


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object that a stage or a command wrote.

    Raises:
        DataError: The file is missing, or is not a JSON object.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        problem = error.strerror if isinstance(error, OSError) else f"not JSON: {error}"
        raise DataError(f"{path}: can't be read: {problem}; {_REMEDY}") from None
    if not isinstance(content, dict):
        raise DataError(f"{path}: expected an object, found a {type(content).__name__}; {_REMEDY}")
    return content


_REMEDY = "`dvc repro` brings it back, or makes it again"
