"""End every process that carries the mark of one flow, once the flow is gone; run as a file beside the flow."""

import math
import os
import signal
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil

# seconds between SIGTERM and SIGKILL
GRACE = 8.0
POLL = 0.05
SUPERVISOR = "command_supervisor.py"


def main(mark: str, value: str) -> None:
    """Wait for end of file on standard input, which only the end of the flow causes; then end what it left."""
    while os.read(sys.stdin.fileno(), 1):
        pass
    # A supervisor ends its group when what started it ends, and gives it time: a second SIGTERM would cut that short.
    supervisors = [process for process in _marked(mark, value) if _is_supervisor(process)]
    holders = {parent for process in supervisors for parent in _parent(process)}
    _end({each for each in {*_marked(mark, value)} & holders if not {*_parent(each)} & {*supervisors}})
    _wait(_signalled(_servers(_marked(mark, value), supervisors), psutil.Process.terminate))
    _wait(supervisors, math.inf)
    _wait(_signalled(_marked(mark, value), psutil.Process.terminate))
    while left := _signalled(_marked(mark, value), psutil.Process.kill):
        _wait(left)


def _end(processes: Collection[psutil.Process]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        for process in processes:
            with suppress(psutil.Error):  # gone meanwhile
                process.send_signal(number)
        _wait(processes)


def _wait(processes: Iterable[psutil.Process], seconds: float = GRACE) -> None:
    """Wait until the processes have ended; also where nobody reaps them, as in a container without an init."""
    deadline = time.monotonic() + seconds
    for process in processes:
        while _runs(process) and time.monotonic() < deadline:
            time.sleep(POLL)


def _runs(process: psutil.Process) -> bool:
    with suppress(psutil.Error):  # gone
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def _parent(process: psutil.Process) -> list[psutil.Process]:
    with suppress(psutil.Error):  # gone meanwhile
        return [parent for parent in [process.parent()] if parent]
    return []


def _servers(processes: Iterable[psutil.Process], supervisors: Iterable[psutil.Process]) -> set[psutil.Process]:
    """Those that lead a session of their own which no supervisor ends."""
    ended = {*supervisors}
    for supervisor in supervisors:
        with suppress(psutil.Error):  # gone meanwhile
            ended |= {*supervisor.children(recursive=True)}
    return {process for process in {*processes} - ended if _leads_session(process)}


def _leads_session(process: psutil.Process) -> bool:
    with suppress(OSError):  # gone meanwhile
        return os.getsid(process.pid) == process.pid
    return False


def _signalled(processes: Iterable[psutil.Process], send: Callable[[psutil.Process], None]) -> list[psutil.Process]:
    """Those of the processes that run, after a signal to each."""
    told = []
    for process in processes:
        with suppress(psutil.Error):  # gone meanwhile
            send(process)
            told.append(process)
    return told


def _marked(mark: str, value: str) -> Iterator[psutil.Process]:
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):  # gone meanwhile, or another user's
            if _runs(process) and value in process.environ().get(mark, "").split():
                yield process


def _is_supervisor(process: psutil.Process) -> bool:
    with suppress(psutil.Error, OSError):
        return any(Path(argument).name == SUPERVISOR for argument in process.cmdline())
    return False


if __name__ == "__main__":
    main(*sys.argv[1:])
