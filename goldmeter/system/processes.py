"""Run commands that end when this process does, with their output line by line."""

import os
import re
import secrets
import selectors
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import IO, Literal

from goldmeter.console.format import visible
from goldmeter.system import command_supervisor, flow_reaper

Stream = Literal["stdout", "stderr"]

# Environment variable of every process that a flow started: a word for each flow or schedule that it is below.
MARK = "GOLDMETER_FLOW"

_POLL = 0.2
# Bytes after which a line is passed on before its end: a longer one would be copied with each block that is read.
_LONGEST_LINE = 1 << 20
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
    grace: float = command_supervisor.GRACE,
) -> int:
    """Run a command in a process group of its own, and pass on each line of its output as it comes.

    When the call returns, no process of the group is left. The group also ends when this process does, even by SIGKILL.

    Args:
        timeout: Seconds after which the group is ended.
        each_line: Called with the name of the stream and the line; a line of megabytes comes in pieces.
        given_up: When it is set before the command starts, the command is ended at once.
        grace: Seconds that the group has to end after SIGTERM, before SIGKILL.

    Returns:
        The exit status of the command, or TIMED_OUT or STOPPED of `command_supervisor`.
    """
    with subprocess.Popen(
        [sys.executable, "-I", "-S", command_supervisor.__file__, str(timeout), str(grace), *command],
        stdin=subprocess.PIPE,  # never written to: it closes when this process ends
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env=environment,
        cwd=cwd,
    ) as process:
        _live.add(process)
        if given_up is not None and given_up.is_set():  # checked after _live.add: `stop` misses no command
            _release(process)
        try:
            for stream, line in _lines(process):
                each_line(stream, line)
            return process.wait()
        finally:
            _live.discard(process)
            _release(process)


def environment() -> dict[str, str]:
    """This process's environment, with its Python first in PATH and unbuffered output, for commands of the user."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    return os.environ | {"PATH": path, "PYTHONUNBUFFERED": "1"}


def stop(*, seconds: float = 0.0) -> None:
    """End every command that is running; return when they have ended, or after so many seconds."""
    live = tuple(_live)
    for process in live:
        _release(process)
    deadline = time.monotonic() + seconds
    for process in live:
        with suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, deadline - time.monotonic()))


def hurry() -> None:
    """Tell every command that is ending to end at once."""
    for process in tuple(_live):
        process.terminate()


def end_marked_with_us() -> None:
    """Mark every process started from now on; all marked ones end when this process does, even by SIGKILL.

    This covers what is started indirectly, such as a server's own children, and what left its process group.
    """
    value = secrets.token_hex(16)
    lifeline, _ = os.pipe()  # the write end stays open, unused, as long as this process lives
    reaper = subprocess.Popen(
        [sys.executable, flow_reaper.__file__, MARK, value],
        env={name: text for name, text in os.environ.items() if name != MARK},  # a schedule's reaper would end it
        stdin=lifeline,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    os.close(lifeline)
    reaper.returncode = 0  # it outlives this process: Python need not warn that nobody waits for it
    os.environ[MARK] = " ".join([*os.environ.get(MARK, "").split(), value])


def _release(process: subprocess.Popen[bytes]) -> None:
    if process.stdin:
        process.stdin.close()


def _lines(process: subprocess.Popen[bytes]) -> Iterator[tuple[Stream, str]]:
    """Yield the lines of both streams until both are closed, or the process has ended and nothing more comes."""
    streams: dict[Stream, IO[bytes] | None] = {"stdout": process.stdout, "stderr": process.stderr}
    partial: dict[Stream, bytes] = {"stdout": b"", "stderr": b""}
    with selectors.DefaultSelector() as selector:
        for name, pipe in streams.items():
            if pipe:
                selector.register(pipe, selectors.EVENT_READ, name)
        while selector.get_map():
            ready = selector.select(_POLL)
            if not ready and process.poll() is not None:  # a process outside the group keeps the pipe open
                break
            for key, _ in ready:
                chunk = os.read(key.fd, 65536)
                *complete, partial[key.data] = (partial[key.data] + chunk).split(b"\n")
                if len(partial[key.data]) > _LONGEST_LINE:
                    complete.append(partial[key.data])
                    partial[key.data] = b""
                yield from ((key.data, _text(line)) for line in complete)
                if not chunk:
                    selector.unregister(key.fileobj)
    yield from ((name, _text(line)) for name, line in partial.items() if line)


def _text(line: bytes) -> str:
    """The line without colours and control characters; of a progress bar, its last state only."""
    return visible(_COLOUR.sub("", line.decode("utf-8", "replace").rstrip("\r").rpartition("\r")[2]))
