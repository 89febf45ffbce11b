"""Locks of one checkout: one flow at a time, and nothing kept from processes that are gone."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import psutil

from tasks.errors import GoldmeterError
from tasks.pipeline.files import exclusive

CLOCK_ERROR = 2.0
"""Seconds by which the start of a process may be reported too late: the kernel counts from a rounded boot time."""
_held: ContextVar[frozenset[Path]] = ContextVar("held", default=frozenset())


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
    with exclusive(tmp / "flow.lock", on_wait=waiting):
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
    with exclusive(tmp / "rwlock.lock"):  # DVC holds it while it edits the table
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
