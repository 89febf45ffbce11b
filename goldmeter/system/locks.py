"""One flow at a time in a checkout; what killed processes leave: paths that DVC treats as locked, a cut dvc.lock."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import datetime
from pathlib import Path
from typing import Any

import psutil

from goldmeter.errors import GoldmeterError, ParamsError
from goldmeter.pipeline import git
from goldmeter.pipeline.files import exclusive, move, replacing
from goldmeter.pipeline.yaml import parse_yaml

WAITING = "Another flow runs in this checkout: waiting for its end"

_held: ContextVar[frozenset[Path]] = ContextVar("held", default=frozenset())


def dvc_tmp(start: Path) -> Path:
    """The folder `.dvc/tmp`, which holds the locks, of the DVC repository around `start`."""
    for folder in (start, *start.parents):
        if (folder / ".dvc").is_dir():
            tmp = folder / ".dvc" / "tmp"
            tmp.mkdir(exist_ok=True)
            return tmp
    raise GoldmeterError(f"{start}: not in a DVC repository; run `dvc init`, or change to the folder of dvc.yaml")


@contextmanager
def one_at_a_time(tmp: Path, on_wait: Callable[[str], object]) -> Iterator[None]:
    """Hold the lock of the checkout; a context inside another one that holds it does nothing.

    Args:
        tmp: The folder `.dvc/tmp`.
        on_wait: Called once, with a message, when another flow holds the lock.
    """
    if tmp in _held.get():
        yield
        return
    lock = tmp / "flow.lock"

    def waiting() -> None:
        holder = holder_of(lock)
        on_wait(f"{WAITING} ({holder})" if holder else WAITING)

    with exclusive(lock, on_wait=waiting):
        token = _held.set(_held.get() | {tmp})
        try:
            yield
        finally:
            _held.reset(token)


# Private API, written for dvc 3.67.1: the table of locked paths, its format and its lock, and the
# lock of its repository. DVC has no command that
# releases them, and a run that was killed would stop all later ones.

# seconds by which the start of a process may be reported too late: the kernel counts from a rounded boot time
CLOCK_ERROR = 2.0


def release_stale(tmp: Path) -> None:
    """Remove the entries of processes that are gone from DVC's table of locked paths.

    DVC itself ignores entries of a process ID that does not exist. It waits forever for a zombie (a container without
    init reaps none), for a process ID that another process has by now (usual after a restart of a container), and
    for a table that a kill cut short.

    Args:
        tmp: The folder `.dvc/tmp`.
    """
    table = tmp / "rwlock"
    with exclusive(tmp / "rwlock.lock"):  # DVC holds it while it edits the table
        try:
            written = table.stat().st_mtime
            locked = json.loads(table.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return
        except ValueError:
            table.unlink()
            return
        current = _without_stale(locked, written)
        if current != locked:
            table.write_text(json.dumps(current), encoding="utf-8")


def restore_cut_lock(tmp: Path, lock: Path) -> str | None:
    """Put the committed dvc.lock in the place of one that DVC would refuse, such as one that a kill cut short.

    DVC then looks again at what ran since that commit. A file with a conflict of a merge is left to the user.

    Args:
        tmp: The folder `.dvc/tmp`, which keeps the damaged file.
        lock: The file dvc.lock, in the working folder.

    Returns:
        What was done; None if it was nothing.
    """
    if _is_whole(lock):  # which it is as a rule: then nobody is to wait
        return None
    with exclusive(tmp / "lock"):  # DVC holds it while it writes
        if _is_whole(lock):
            return None
        written = lock.read_text(encoding="utf-8", errors="replace")
        committed = git.run("show", f"HEAD:./{lock}")
        there = committed.returncode == 0
        if "\n<<<<<<<" in f"\n{written}" or (there and not _is_lock(committed.stdout)):
            return None
        damaged = tmp / f"{lock}.damaged"
        move(lock, damaged)
        if there:
            with replacing(lock) as temporary:
                temporary.write_text(committed.stdout, encoding="utf-8")
        now = "that of HEAD is back, and what ran since is looked at again" if there else "HEAD has none"
        return f"{lock}: not readable, likely cut short by a kill; kept as {damaged}; {now}"


def _is_whole(lock: Path) -> bool:
    return not lock.exists() or _is_lock(lock.read_text(encoding="utf-8", errors="replace"))


def _is_lock(content: str) -> bool:
    """Whether DVC accepts this content of a dvc.lock."""
    from dvc.schema import COMPILED_LOCKFILE_SCHEMA
    from voluptuous import Invalid

    try:
        COMPILED_LOCKFILE_SCHEMA(parse_yaml(content))
    except (ParamsError, Invalid):
        return False
    return True


def _without_stale(locked: dict[str, Any], written: float) -> dict[str, Any]:
    """The table without entries of processes that can't have written it at `written`, Unix time."""
    readers = {
        path: [info for info in infos if _may_have_written(info["pid"], written)]
        for path, infos in locked.get("read", {}).items()
    }
    writers = {path: info for path, info in locked.get("write", {}).items() if _may_have_written(info["pid"], written)}
    return {"read": {path: infos for path, infos in readers.items() if infos}, "write": writers}


def _may_have_written(pid: int, written: float) -> bool:
    """Whether the process of this ID lives, and started before `written`."""
    try:
        process = psutil.Process(pid)
        return bool(process.status() != psutil.STATUS_ZOMBIE and process.create_time() <= written + CLOCK_ERROR)
    except psutil.NoSuchProcess:
        return False


def holder_of(path: Path) -> str:
    """Return the process that has a path open, and its start, in words; "" if none is found.

    Of several, the one that started first holds its lock: the others wait. Linux only; processes of other users are not
    seen.
    """
    holders = sorted(_holders(str(path.resolve())))
    if not holders:
        return ""
    started, number = holders[0]
    return f"process {number}, started {datetime.fromtimestamp(started).astimezone():%Y-%m-%d %H:%M:%S}"


def _holders(path: str) -> Iterator[tuple[float, int]]:
    """Yield start and number of each other process that has a path open."""
    for number in psutil.pids():
        if number == os.getpid():
            continue
        with suppress(OSError, psutil.Error):
            if any(_target(link) == path for link in Path(f"/proc/{number}/fd").iterdir()):
                yield psutil.Process(number).create_time(), number


def _target(link: Path) -> str | None:
    with suppress(OSError):
        return str(link.readlink())
    return None
