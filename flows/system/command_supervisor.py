"""Run one command in a process group of its own, and end the group after a timeout or when the parent is gone.

Run as a file, with the standard library only: `python command_supervisor.py TIMEOUT COMMAND…`. The parent keeps the
other end of standard input open as long as it lives; end of file means that it is gone, even by SIGKILL.
"""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence

# seconds between SIGTERM and SIGKILL
GRACE = 5.0

# exit status after the timeout, as of timeout(1)
TIMED_OUT = 124

# exit status of a command that was ended by a signal to the supervisor, or because the parent was gone
STOPPED = 125

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def main(timeout: float, command: Sequence[str]) -> int:
    """Run the command; returns its exit status, or 128 + the signal that ended it, TIMED_OUT or STOPPED."""
    signals = _signal_pipe()
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    status = _watch(child, signals, time.monotonic() + timeout)
    _end_group(child)
    return status


def _signal_pipe() -> int:
    """The read end of a pipe that gets the number of each signal, so that one select can wait for all events."""
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
    """Send SIGTERM to the group, and SIGKILL to what is left after GRACE; also after the command itself has ended."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(child.pid, number)
        except (ProcessLookupError, PermissionError):  # macOS refuses to signal a group of zombies
            break
        _wait_until_ended(child, GRACE)
    child.wait()


def _wait_until_ended(child: subprocess.Popen[bytes], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while _group_lives(child) and time.monotonic() < deadline:
        time.sleep(0.02)


def _group_lives(child: subprocess.Popen[bytes]) -> bool:
    child.poll()  # reaps the child: a zombie would count
    try:
        os.killpg(child.pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), sys.argv[2:]))
