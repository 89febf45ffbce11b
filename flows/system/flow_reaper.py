"""Ends whatever carries one flow's mark in its environment, once that flow is gone; run as a file, beside the flow."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress

import psutil

GRACE = 8.0
"""Seconds between SIGTERM and SIGKILL: longer than the supervisors need, who reap what they end."""


def main(mark: str, value: str) -> None:
    """Wait until standard input ends, which only the end of the flow does; then leave nothing behind."""
    while os.read(sys.stdin.fileno(), 1):
        pass
    psutil.wait_procs(_each(mark, value, psutil.Process.terminate), timeout=GRACE)
    while left := _each(mark, value, psutil.Process.kill):
        psutil.wait_procs(left, timeout=GRACE)


def _each(mark: str, value: str, act: Callable[[psutil.Process], None]) -> list[psutil.Process]:
    """Those that carry the mark, after `act` on each."""
    found = list(_marked(mark, value))
    for process in found:
        with suppress(psutil.NoSuchProcess):
            act(process)
    return found


def _marked(mark: str, value: str) -> Iterator[psutil.Process]:
    for process in psutil.process_iter():
        try:
            if process.status() != psutil.STATUS_ZOMBIE and process.environ().get(mark) == value:
                yield process
        except (psutil.Error, OSError):  # gone meanwhile, or another user's
            continue


if __name__ == "__main__":
    main(*sys.argv[1:])
