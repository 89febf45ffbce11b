"""Locks of one checkout: one flow at a time, and nothing kept from processes that are gone."""

import fcntl
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import psutil

from tasks.errors import GoldmeterError

CLOCK_ERROR = 2.0
"""Seconds by which the start of a process may be reported too late: the kernel counts from a rounded boot time."""
_held: ContextVar[frozenset[Path]] = ContextVar("held", default=frozenset())


@contextmanager
def held(path: Path, refusal: GoldmeterError) -> Iterator[None]:
    """Hold a lock file, which no process that we start inherits and the kernel frees when we die.

    Raises the refusal when it is held already.
    """
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise refusal from None
        yield


def dvc_tmp(start: Path) -> Path:
    """The folder of DVC's own locks: `.dvc/tmp` of the repository around `start`."""
    for folder in (start, *start.parents):
        if (folder / ".dvc").is_dir():
            tmp = folder / ".dvc" / "tmp"
            tmp.mkdir(exist_ok=True)
            return tmp
    raise GoldmeterError(f"{start}: not in a DVC repository; run `dvc init`, or change to the folder of dvc.yaml")


@contextmanager
def one_at_a_time(tmp: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold the checkout; calls `waiting` once when another flow holds it. The kernel frees it when we die.

    Within a context that holds it already, it stays held until that one ends.
    """
    if tmp in _held.get():
        yield
        return
    with (tmp / "flow.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(lock, fcntl.LOCK_EX)
        token = _held.set(_held.get() | {tmp})
        try:
            yield
        finally:
            _held.reset(token)


def release_stale(tmp: Path) -> None:
    """Remove stale entries from DVC's table of locked paths, `rwlock`.

    DVC itself ignores entries of a process ID that does not exist. It waits forever for a zombie (a container without
    init reaps none), for a process ID that another process has by now (usual after a restart of a container), and
    fails on a table that a kill cut short.

    Args:
        tmp: The folder `.dvc/tmp`.
    """
    # Private API, written for dvc 3.67.1: the file and its format. DVC has no command that does this.
    table = tmp / "rwlock"
    with (tmp / "rwlock.lock").open("a") as guard:  # what DVC holds while it edits the table
        fcntl.flock(guard, fcntl.LOCK_EX)
        try:
            written = table.stat().st_mtime
            held = json.loads(table.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return
        except ValueError:
            table.unlink()
            return
        kept = _held_by_the_living(held, written)
        if kept != held:
            table.write_text(json.dumps(kept), encoding="utf-8")


def _held_by_the_living(held: dict[str, Any], written: float) -> dict[str, Any]:
    readers = {
        path: [info for info in infos if _lives(info["pid"], written)] for path, infos in held.get("read", {}).items()
    }
    writers = {path: info for path, info in held.get("write", {}).items() if _lives(info["pid"], written)}
    return {"read": {path: infos for path, infos in readers.items() if infos}, "write": writers}


def _lives(pid: int, written: float) -> bool:
    """Whether the process can be the one that wrote its number into the table at `written`, Unix time, or before."""
    try:
        process = psutil.Process(pid)
        return bool(process.status() != psutil.STATUS_ZOMBIE and process.create_time() <= written + CLOCK_ERROR)
    except psutil.NoSuchProcess:
        return False
