"""End every process that carries the mark of one flow, once the flow is gone; run as a file beside the flow."""

import os
import sys
from collections.abc import Callable
from contextlib import suppress

import psutil

# seconds between SIGTERM and SIGKILL: longer than command_supervisor takes to end its group
GRACE = 8.0


def main(mark: str, value: str) -> None:
    """Wait for end of file on standard input, which only the end of the flow causes; then end what it left."""
    while os.read(sys.stdin.fileno(), 1):
        pass
    psutil.wait_procs(_signalled(mark, value, psutil.Process.terminate), timeout=GRACE)
    while left := _signalled(mark, value, psutil.Process.kill):
        psutil.wait_procs(left, timeout=GRACE)


def _signalled(mark: str, value: str, send: Callable[[psutil.Process], None]) -> list[psutil.Process]:
    """The processes that carry the mark, after a signal to each."""
    processes = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):  # gone meanwhile, or another user's
            if process.status() != psutil.STATUS_ZOMBIE and process.environ().get(mark) == value:
                processes.append(process)
                send(process)
    return processes


if __name__ == "__main__":
    main(*sys.argv[1:])
