"""Owns one command and its process group, and ends the whole group when its time is up or its parent is gone.

Run as a file, with the standard library only: `python command_supervisor.py TIMEOUT COMMAND…`. The parent holds the
other end of standard input for as long as it lives: end of file means that it is gone, even by SIGKILL.
"""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

GRACE = 5.0
"""Seconds between SIGTERM and SIGKILL."""

TIMED_OUT = 124
"""Exit status of a command whose time was up, as of timeout(1)."""

STOPPED = 125
"""Exit status of a command that was ended because its parent was gone."""

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def main(timeout: float, command: Sequence[str]) -> int:
    """Run the command; returns its exit status, 128 + the signal that ended it, TIMED_OUT or STOPPED."""
    signals = _signal_pipe()
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    status = _watch(child, signals, time.monotonic() + timeout)
    _end_group(child)
    return status


def _signal_pipe() -> int:
    """The readable end of a pipe that gets the number of every signal, so that one select waits for all."""
    readable, writable = os.pipe()
    os.set_blocking(writable, False)
    signal.set_wakeup_fd(writable)
    for number in (signal.SIGCHLD, *SIGNALS):
        signal.signal(number, lambda *_: None)
    return readable


def _watch(child: subprocess.Popen[bytes], signals: int, deadline: float) -> int:
    lifeline = sys.stdin.fileno()
    while (code := child.poll()) is None:
        ready, _, _ = select.select([lifeline, signals], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return TIMED_OUT
        if lifeline in ready or set(os.read(signals, 64)) & set(SIGNALS):
            return STOPPED
    return code if code >= 0 else 128 - code


def _end_group(child: subprocess.Popen[bytes]) -> None:
    """SIGTERM for all, SIGKILL for those that are still there after GRACE; also for what the command left."""
    for number, seconds in ((signal.SIGTERM, GRACE), (signal.SIGKILL, GRACE)):
        try:
            os.killpg(child.pid, number)
        except (ProcessLookupError, PermissionError):  # macOS: a group of zombies may not be signalled
            break
        wait_until(lambda: not _group_lives(child), seconds)
    child.wait()


def _group_lives(child: subprocess.Popen[bytes]) -> bool:
    child.poll()  # a zombie would count
    try:
        os.killpg(child.pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def wait_until(met: Callable[[], bool], seconds: float) -> bool:
    """Look at a condition until it is met or the time is up."""
    deadline = time.monotonic() + seconds
    while not met():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), sys.argv[2:]))
