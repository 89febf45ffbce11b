"""The server of a run: forks the stages of one `dvc repro` from a process that has imported their libraries.

The first stage of a run starts it and runs in a process of its own. Each later stage is forked from it, and
`python -m tasks STAGE` passes signals on and ends as the stage does. Where there is no server, or it was killed, or the
code has changed since it started, a stage runs in its own process. The server ends with the run.
"""

import gc
import json
import os
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from select import select
from threading import Thread
from typing import IO, Any, NoReturn, TextIO

# Environment variable with the process id of a run whose stages are not children of one `dvc repro`.
RUN = "GOLDMETER_RUN"
# Command of `python -m tasks` that is the server; its arguments are those of `serve`.
SERVE = "serve-stages"
# Seconds that a stage waits for a server that is importing.
PATIENCE = 30.0
FORWARDED = (signal.SIGINT, signal.SIGTERM)
STARTED, NUMBER = b"+", struct.Struct("i")
SHELLS = {"sh", "bash", "dash", "zsh", "fish", "ksh"}
CODE = (Path(__file__).parents[1], Path("tasks"))


def delegate(arguments: Sequence[str]) -> int | None:
    """Run a command in a fork of this run's server, and return its exit status.

    Returns:
        None if it is no stage of `dvc repro`, or no server accepts it: then it runs in this process.
    """
    if len(arguments) != 1 or "DVC_STAGE" not in os.environ or not hasattr(os, "pidfd_open"):
        return None
    run = int(os.environ.get(RUN) or _parent_of(os.getpid()))
    place = Path(".dvc", "tmp", f"stages-{run}")  # relative: the path of a socket has at most 107 bytes
    with socket.socket(socket.AF_UNIX) as connection:
        if connection.connect_ex(str(place)):
            _start(run, place)
        else:
            with _passed_on(connection) as signals:
                if _accepted(connection, arguments):
                    return _follow(connection)
            for number in signals:  # no stage has got them
                signal.raise_signal(number)
    return None


def _accepted(connection: socket.socket, arguments: Sequence[str]) -> bool:
    request = {"arguments": arguments, "environment": dict(os.environ), "folder": str(Path.cwd())}
    content = json.dumps(request).encode()
    try:
        socket.send_fds(connection, [NUMBER.pack(len(content))], [0, 1, 2])
        connection.sendall(content)
        connection.settimeout(PATIENCE)
        answer = connection.recv(1)
        connection.settimeout(None)
    except OSError:  # the server ended, or is stopped; or one of the streams is closed
        return False
    return answer == STARTED


def _parent_of(process: int) -> int:
    """The process that started one, through its shell."""
    while True:
        fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        process = int(fields[1])
        if Path(f"/proc/{process}/comm").read_text(encoding="utf-8").strip() not in SHELLS:
            return process


def _start(run: int, place: Path) -> None:
    place.unlink(missing_ok=True)
    process = subprocess.Popen(
        [sys.executable, "-m", "tasks", SERVE, str(run), str(place)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C reaches the stages through `python -m tasks STAGE`
    )
    process.returncode = 0  # it outlives this process: Python need not warn that nobody waits for it


@contextmanager
def _passed_on(connection: socket.socket) -> Iterator[list[int]]:
    """Pass signals on to the stage; yields them."""
    received = list[int]()

    def pass_on(number: int, _: object) -> None:
        received.append(number)
        with suppress(OSError):
            connection.sendall(bytes([number]))

    before = {forwarded: signal.getsignal(forwarded) for forwarded in FORWARDED}
    for forwarded, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(forwarded, pass_on)
    try:
        yield received
    finally:
        for forwarded, handler in before.items():
            signal.signal(forwarded, handler)


def _follow(connection: socket.socket) -> int:
    """Wait for the stage; return its exit status, or end by the signal that ended it."""
    answer = b""
    with suppress(OSError):
        _wait_for(connection)
        answer = connection.recv(NUMBER.size, socket.MSG_WAITALL)
    status = os.waitstatus_to_exitcode(*NUMBER.unpack(answer)) if len(answer) == NUMBER.size else -signal.SIGKILL
    if status < 0:
        with suppress(OSError, ValueError):  # SIGKILL has no handler
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    return status


def _wait_for(connection: socket.socket) -> None:
    """Wait until there is something to read, and let Python handle each signal at once.

    A signal just before a call that waits, or in another thread, does not interrupt the call.
    """
    reader, writer = socket.socketpair()
    with reader, writer:
        writer.settimeout(0)  # `set_wakeup_fd` takes no descriptor that could wait
        before = signal.set_wakeup_fd(writer.fileno())
        try:
            while connection not in select([connection, reader], [], [])[0]:
                reader.recv(64)
        finally:
            signal.set_wakeup_fd(before)


def serve(run: int, place: Path) -> list[str]:
    """Accept stages until the run ends; returns, in the process of each stage, its arguments."""
    code = _code()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the processes that attend to stages
    with socket.socket(socket.AF_UNIX) as listener:
        before, begun = os.umask(0o177), place.with_suffix(".new")
        listener.bind(str(begun))
        os.umask(before)
        listener.listen()
        begun.rename(place)  # who sees it can connect
        Thread(target=_end_with, args=(run, place), daemon=True).start()
        modules = _modules()
        while True:
            ready = select([listener.fileno()], [], [], 0 if modules else None)[0]
            if _code() != code:
                place.unlink(missing_ok=True)
                sys.exit()
            if ready:
                connection, _ = listener.accept()
                gc.freeze()  # a stage that examines what is here would copy it
                if not os.fork():
                    return _attend(connection)
                connection.close()
            elif modules:
                import_module(modules.pop(0))


def _end_with(run: int, place: Path) -> NoReturn:
    """End this process as soon as the run has ended."""
    with suppress(ProcessLookupError):  # it has ended already
        select([os.pidfd_open(run)], [], [])
    place.unlink(missing_ok=True)
    os._exit(0)


def _attend(connection: socket.socket) -> list[str]:
    """Fork a stage, and tell how it ended; its arguments are returned in the process of the stage."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    length, streams, _, _ = socket.recv_fds(connection, NUMBER.size, 3)
    [size] = NUMBER.unpack(length)
    request = json.loads(connection.recv(size, socket.MSG_WAITALL))
    connection.sendall(STARTED)
    if stage := os.fork():
        _wait(connection, stage)
    connection.close()
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
        os.close(descriptor)
    for name in ("stdin", "stdout", "stderr"):
        stream = _reopened(getattr(sys, name))
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    arguments: list[str] = request["arguments"]
    return arguments


def _reopened(stream: TextIO) -> IO[str]:
    """A stream of this process, after its descriptor has become another file."""
    return open(
        stream.fileno(), stream.mode, buffering=1, encoding=stream.encoding, errors=stream.errors, closefd=False
    )


def _wait(connection: socket.socket, stage: int) -> NoReturn:
    """Pass signals on to a stage until it ends; it is killed if `python -m tasks STAGE` is."""
    Thread(target=_pass_on, args=(connection, stage), daemon=True).start()
    _, status = os.waitpid(stage, 0)
    with suppress(OSError):
        connection.sendall(NUMBER.pack(status))
    os._exit(0)


def _pass_on(connection: socket.socket, stage: int) -> None:
    with suppress(OSError):
        while numbers := connection.recv(16):
            for number in numbers:
                os.kill(stage, number)
    os.kill(stage, signal.SIGKILL)


def _modules() -> list[str]:
    """What the server imports while no stage waits: what all stages need, then what each stage and its workers do."""
    from goldmeter.pipeline.dvc_yaml import stages
    from goldmeter.pipeline.stage import load_stage

    for module in ("goldmeter.pipeline.expectations", "goldmeter.runner"):
        import_module(module)
    loaded = map(load_stage, stages())
    return [module for stage in loaded for module in (*stage.preload, *stage.server_imports)]


def _code() -> dict[str, tuple[int, int]]:
    """The time and size of each file of the code."""
    folders = filter(os.path.isdir, CODE)
    return {path: (stat.st_mtime_ns, stat.st_size) for folder in folders for path, stat in _files(folder)}


def _files(folder: Path | str) -> Iterator[tuple[str, Any]]:
    for entry in os.scandir(folder):
        if entry.is_dir():
            yield from _files(entry.path)
        elif entry.name.endswith(".py"):
            yield entry.path, entry.stat()
