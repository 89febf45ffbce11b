"""The Prefect server that a run uses: the one of PREFECT_API_URL, or one on loopback that ends with this process."""

import atexit
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, NamedTuple

import httpx
from prefect.settings import PREFECT_API_URL, PREFECT_HOME, PREFECT_SERVER_API_PORT, PREFECT_UI_URL, temporary_settings

from goldmeter.console.terminal import TRY_LATER, print_error
from goldmeter.errors import GoldmeterError
from goldmeter.pipeline.files import exclusive
from goldmeter.system import processes

if TYPE_CHECKING:
    from fastapi import FastAPI

LOOPBACK = "127.0.0.1"
# the first start creates the database
START_SECONDS, END_SECONDS = 120.0, 10.0
# That stages get to end when the server was lost; their supervisors go on without this process.
STAGES_SECONDS = 15.0
SERVE_AGAIN = "start again: the run that was under way counts as crashed"
# where a server stores who holds a deployment's slot: in memory, the default, a restart would end a long run
LEASE_STORAGE = "prefect.server.concurrency.lease_storage.filesystem"


# Servers that this process started and has not ended.
_running: list["subprocess.Popen[bytes]"] = []


class Server(NamedTuple):
    """A running server; `url` is that of its API, `own` means that this process started it for itself alone."""

    url: str
    own: bool


@contextmanager
def prefect_server() -> Iterator[Server]:
    """Use the server of PREFECT_API_URL, or start one, and point Prefect's settings to it.

    If the server that it started ends first, this process ends with TRY_LATER.

    Raises:
        GoldmeterError: The server does not answer, or another checkout serves from the same database.
    """
    if url := _named():
        yield Server(url, own=False)
        return
    home = PREFECT_HOME.value()
    home.mkdir(parents=True, exist_ok=True)
    taken = GoldmeterError(
        f"{home}: schedules of another checkout are served from this database. Run `prefect server start` by itself "
        "and set PREFECT_API_URL for both, or give this one another PREFECT_HOME"
    )
    port, log = _free_port(PREFECT_SERVER_API_PORT.value(), 0), home / "goldmeter-server.log"
    command = [sys.executable, "-m", "prefect", "server", "start", "--host", LOOPBACK, "--port", str(port)]
    ended = f"Prefect's server ended, as {log} may say; {SERVE_AGAIN}"
    with (
        exclusive(home / "goldmeter-server.lock", refusal=taken),
        _started(command, port, log, on_loss=lambda: end_at_once(ended)) as url,
        temporary_settings(updates={PREFECT_API_URL: url}),
    ):
        yield Server(url, own=True)


def for_one_run() -> None:
    """Start a temporary server, unless one is named, that survives Ctrl-C and ends with this process, even by SIGKILL.

    Ctrl-C in a terminal, and `timeout`, signal the whole process group. Prefect's own temporary server is in it, and a
    client repeats its requests for minutes once the server is gone. Ours has a session of its own; if it ends all the
    same, this process ends with TRY_LATER.

    Raises:
        GoldmeterError: The server that is named does not answer, or ours does not start.
    """
    named = _named()
    processes.end_marked_with_us()
    if named is None:
        port = _free_port(0)
        command = [sys.executable, "-m", "uvicorn", "--app-dir", str(Path(__file__).parents[2])]
        command += ["--factory", "goldmeter.serving.server:temporary_app", "--host", LOOPBACK, "--port", str(port)]
        command += ["--log-level", "error", "--lifespan", "on"]
        resources = ExitStack()
        atexit.register(resources.close)
        ended = "Prefect's temporary server ended before the run; run again: finished stages are kept"
        url = resources.enter_context(_started(command, port, None, on_loss=lambda: end_at_once(ended)))
        # without an address of the UI, which this server lacks: Prefect would log links to it
        resources.enter_context(temporary_settings(updates={PREFECT_API_URL: url, PREFECT_UI_URL: ""}))


def end_at_once(problem: str) -> None:
    """End this process, its server and its stages, as a kill would: every way to end a flow run asks the server."""
    processes.stop(seconds=STAGES_SECONDS)
    for server in [*_running]:
        _kill_session(server)
    print_error(problem)
    os._exit(TRY_LATER)


def temporary_app() -> "FastAPI":
    """Prefect's API without UI and background services."""
    from prefect.server.api.server import create_app

    return create_app(ephemeral=True, final=True)


def _named() -> str | None:
    """The URL in PREFECT_API_URL; raises GoldmeterError when no server answers there."""
    url: str | None = PREFECT_API_URL.value()
    if url and not _answers(url):
        raise GoldmeterError(f"PREFECT_API_URL={url}: no Prefect server answers there; start it, or unset the variable")
    return url


def environment(port: int) -> dict[str, str]:
    """Environment of the server. It asks for no password, so it refuses requests from pages of other sites."""
    return os.environ | {
        "PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE": LEASE_STORAGE,
        "PREFECT_SERVER_CORS_ALLOWED_ORIGINS": f"http://{LOOPBACK}:{port},http://localhost:{port}",
        "PREFECT_SERVER_CSRF_PROTECTION_ENABLED": "true",
    }


@contextmanager
def _started(
    command: Sequence[str], port: int, log: Path | None, on_loss: Callable[[], None] | None = None
) -> Iterator[str]:
    """Run a server with the database of PREFECT_HOME; yields the URL of its API.

    Args:
        log: The file that gets its output; None: the output of this process.
        on_loss: Called in a thread when the server has started and ends before the context does.
    """
    left = Event()

    def watch() -> None:
        process.wait()
        if on_loss and not left.is_set():
            on_loss()

    url = f"http://{LOOPBACK}:{port}/api"
    with (
        log.open("wb") if log else nullcontext() as output,
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=environment(port),
            start_new_session=True,
        ) as process,
    ):
        _running.append(process)
        try:
            _wait_for(process, url, str(log or "the output above"))
            Thread(target=watch, daemon=True).start()
            yield url
        finally:
            left.set()
            _running.remove(process)
            _end(process)


def _free_port(*preferred: int) -> int:
    """The first of the preferred ports that is free; 0 stands for any."""
    for port in preferred:
        with socket.socket() as probe:
            # the server sets it too: after a restart, its port is free at once
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((LOOPBACK, port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise GoldmeterError(f"{LOOPBACK}: no free port for Prefect's server; set PREFECT_API_URL to a server that runs")


def _wait_for(process: subprocess.Popen[bytes], url: str, log: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not _answers(url):
        if process.poll() is not None or time.monotonic() > deadline:
            raise GoldmeterError(f"Prefect's server did not start; {log} says why")
        time.sleep(0.1)


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url.rstrip('/')}/health", timeout=5).is_success
    except (httpx.HTTPError, httpx.InvalidURL):
        return False


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(END_SECONDS)
    _kill_session(process)  # `prefect server start` has a child, which its own end does not always end


def _kill_session(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):  # all of it ended
        os.killpg(process.pid, signal.SIGKILL)
