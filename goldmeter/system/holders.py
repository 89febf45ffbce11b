"""Which other process has a file or folder open, so that whoever waits for a lock knows for what."""

import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import psutil


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
