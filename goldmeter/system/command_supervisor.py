"""Run one command in a process group of its own, and end the group after a timeout or when the parent is gone.

Run as a file, with the standard library only: `python command_supervisor.py TIMEOUT GRACE COMMAND…`. The parent keeps
the other end of standard input open as long as it lives; end of file means that it is gone, even by SIGKILL.
"""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence

# seconds between SIGTERM and SIGKILL, for a command that has nothing to finish
GRACE = 5.0

POLL = 0.02

# exit status after the timeout, as of timeout(1)
TIMED_OUT = 124

# exit status of a command that was ended by a signal to the supervisor, or because the parent was gone
STOPPED = 125

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def main(timeout: float, grace: float, command: Sequence[str]) -> int:
    """Run the command; returns its exit status, or 128 + the signal that ended it, TIMED_OUT or STOPPED.

    Args:
        timeout: Seconds after which it is ended.
        grace: Seconds that it has to end after SIGTERM; a signal to this process meanwhile cuts them short.
        command: The command.
    """
    signals = _signal_pipe()
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    status = _watch(child, signals, time.monotonic() + timeout)
    _end_group(child, signals, grace)
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
        if lifeline in ready or _is_told_to_stop(signals):
            return STOPPED
    return code if code >= 0 else 128 - code


def _is_told_to_stop(signals: int) -> bool:
    return bool(set(os.read(signals, 64)) & set(SIGNALS))


def _end_group(child: subprocess.Popen[bytes], signals: int, grace: float) -> None:
    """Send SIGTERM to the group, and SIGKILL to what is left after it; also after the command itself has ended."""
    if _signal_group(child, signal.SIGTERM) and _is_hurried(child, signals, grace):
        _signal_group(child, signal.SIGTERM)
        _wait_until_ended(child, GRACE)
    if _signal_group(child, signal.SIGKILL):
        _wait_until_ended(child, GRACE)
    child.wait()


def _signal_group(child: subprocess.Popen[bytes], number: int) -> bool:
    """Send a signal to what is left of the group; returns False if nothing is."""
    try:
        os.killpg(child.pid, number)
    except (ProcessLookupError, PermissionError):  # macOS refuses to signal a group of zombies
        return False
    return True


def _is_hurried(child: subprocess.Popen[bytes], signals: int, seconds: float) -> bool:
    """Wait until the group has ended, or seconds have passed; returns True at once after a signal to this process."""
    deadline = time.monotonic() + seconds
    while _group_lives(child) and time.monotonic() < deadline:
        ready, _, _ = select.select([signals], [], [], POLL)
        if ready and _is_told_to_stop(signals):
            return True
    return False


def _wait_until_ended(child: subprocess.Popen[bytes], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while _group_lives(child) and time.monotonic() < deadline:
        time.sleep(POLL)


def _group_lives(child: subprocess.Popen[bytes]) -> bool:
    child.poll()  # reaps the child: a zombie would count
    try:
        os.killpg(child.pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]))
