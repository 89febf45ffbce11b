"""Processes that end with us: one command with its output line by line, and a guard over all we started."""

import os
import re
import secrets
import selectors
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from threading import Event
from typing import IO, Literal

from flows.system import command_supervisor, flow_reaper
from tasks.console.format import visible

Stream = Literal["stdout", "stderr"]

MARK = "GOLDMETER_FLOW"
"""Environment variable that everything started by one flow inherits."""

_POLL = 0.2
_COLOUR = re.compile(r"\x1b\[[0-9;:]*m")
_live: set[subprocess.Popen[bytes]] = set()


def run(
    command: Sequence[str],
    environment: Mapping[str, str],
    timeout: float,
    each_line: Callable[[Stream, str], None],
    *,
    cwd: Path | None = None,
    given_up: Event | None = None,
) -> int:
    """Run a command in a process group of its own, in the folder `cwd`, and hand on its lines as they come.

    Returns its exit status, `command_supervisor.TIMED_OUT` when it took longer than `timeout` seconds, or
    `command_supervisor.STOPPED` after `stop`, or when it was `given_up` before it started. Whatever the reason it ended,
    nothing of its group is left; the group also ends when this process does, even by SIGKILL.
    """
    with subprocess.Popen(
        [sys.executable, "-I", "-S", command_supervisor.__file__, str(timeout), *command],
        stdin=subprocess.PIPE,  # never written to: it ends when we do
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env=environment,
        cwd=cwd,
    ) as process:
        _live.add(process)
        if given_up is not None and given_up.is_set():  # after it is among those that `stop` ends: none slips through
            _release(process)
        try:
            for stream, line in _lines(process):
                each_line(stream, line)
            return process.wait()
        finally:
            _live.discard(process)
            _release(process)


def environment() -> dict[str, str]:
    """Ours, with this Python first in the path and its output unbuffered, for commands that people write."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    return os.environ | {"PATH": path, "PYTHONUNBUFFERED": "1"}


def stop() -> None:
    """End every command that runs now."""
    for process in tuple(_live):
        _release(process)


def watch() -> None:
    """From now on, whatever carries our mark ends when this process does, even by SIGKILL.

    For what we start only indirectly, like Prefect's temporary server, and for what left its process group.
    """
    mark = secrets.token_hex(16)
    ends_with_us, _ = os.pipe()  # never written to, and never closed by us
    guarding = subprocess.Popen(
        [sys.executable, flow_reaper.__file__, MARK, mark],
        stdin=ends_with_us,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    os.close(ends_with_us)
    guarding.returncode = 0  # it outlives us: nobody waits for it, and Python need not warn of that
    os.environ[MARK] = mark


def _release(process: subprocess.Popen[bytes]) -> None:
    if process.stdin:
        process.stdin.close()


def _lines(process: subprocess.Popen[bytes]) -> Iterator[tuple[Stream, str]]:
    """Each line of both streams, until they end, or the process has ended and they say no more."""
    streams: dict[Stream, IO[bytes] | None] = {"stdout": process.stdout, "stderr": process.stderr}
    begun: dict[Stream, bytes] = {"stdout": b"", "stderr": b""}
    with selectors.DefaultSelector() as selector:
        for name, pipe in streams.items():
            if pipe:
                selector.register(pipe, selectors.EVENT_READ, name)
        while selector.get_map():
            ready = selector.select(_POLL)
            if not ready and process.poll() is not None:  # a process outside the group holds the pipe
                break
            for key, _ in ready:
                chunk = os.read(key.fd, 65536)
                *whole, begun[key.data] = (begun[key.data] + chunk).split(b"\n")
                yield from ((key.data, _text(line)) for line in whole)
                if not chunk:
                    selector.unregister(key.fileobj)
    yield from ((name, _text(line)) for name, line in begun.items() if line)


def _text(line: bytes) -> str:
    """A line as a terminal would leave it, the last state of a progress bar only; without colours and controls."""
    return visible(_COLOUR.sub("", line.decode("utf-8", "replace").rstrip("\r").rpartition("\r")[2]))
