"""The Prefect server that runs live in: the one of PREFECT_API_URL, else one on loopback that ends with us."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import httpx
from prefect.settings import PREFECT_API_URL, PREFECT_HOME, PREFECT_SERVER_API_PORT, temporary_settings

from flows.system import locks, processes
from tasks.errors import GoldmeterError

LOOPBACK = "127.0.0.1"
STARTING, ENDING = 120.0, 10.0
"""Seconds that a server has to start (its first start makes the database), and to end."""
LEASES = "prefect.server.concurrency.lease_storage.filesystem"
"""Where a server keeps who holds a deployment's slot: in memory, as is its default, a restart would end a long run."""


class Server(NamedTuple):
    """url: of its API. own: nobody else's runs are in it, and it ends with us."""

    url: str
    own: bool


@contextmanager
def prefect_server() -> Iterator[Server]:
    """The server, and Prefect's settings such that everything asks it; raises GoldmeterError when none answers."""
    if url := _named():
        yield Server(url, own=False)
        return
    home = PREFECT_HOME.value()
    home.mkdir(parents=True, exist_ok=True)
    taken = GoldmeterError(
        f"{home}: schedules of another checkout are served from this database. Run `prefect server start` by itself "
        "and set PREFECT_API_URL for both, or give this one another PREFECT_HOME"
    )
    with (
        locks.held(home / "goldmeter-server.lock", taken),
        _started(home / "goldmeter-server.log") as url,
        temporary_settings(updates={PREFECT_API_URL: url}),
    ):
        yield Server(url, own=True)


def for_one_run() -> None:
    """Have Prefect's temporary server, unless one is named, outlive Ctrl-C, and end with us even by SIGKILL.

    Raises GoldmeterError when the server that is named does not answer.
    """
    if not _named():
        _apart()
    processes.watch()


def _named() -> str | None:
    """The address of a server that answers, None where none is named."""
    url: str | None = PREFECT_API_URL.value()
    if url and not _answers(url):
        raise GoldmeterError(f"PREFECT_API_URL={url}: no Prefect server answers there; start it, or unset the variable")
    return url


def _apart() -> None:
    """Put in the place of Prefect's temporary server one with a session of its own.

    Ctrl-C in a terminal, and `timeout`, signal our whole group: with its server gone, a client asks it for minutes.
    """
    from prefect.server.api.server import SubprocessASGIServer

    class Apart(SubprocessASGIServer):
        def _run_uvicorn_command(self) -> "subprocess.Popen[Any]":
            with patch("subprocess.Popen", partial(subprocess.Popen, start_new_session=True)):
                return super()._run_uvicorn_command()

    Apart()  # Prefect keeps the first one that is made, and asks for no other


def environment(port: int) -> dict[str, str]:
    """Ours, and what the server needs: it asks for no password, so no page of another site may ask for anything."""
    return os.environ | {
        "PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE": LEASES,
        "PREFECT_SERVER_CORS_ALLOWED_ORIGINS": f"http://{LOOPBACK}:{port},http://localhost:{port}",
        "PREFECT_SERVER_CSRF_PROTECTION_ENABLED": "true",
    }


@contextmanager
def _started(log: Path) -> Iterator[str]:
    """A server with the database of PREFECT_HOME; what it says goes to a file."""
    port = _port()
    url = f"http://{LOOPBACK}:{port}/api"
    command = [sys.executable, "-m", "prefect", "server", "start", "--host", LOOPBACK, "--port", str(port)]
    with (
        log.open("wb") as output,
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=environment(port),
            start_new_session=True,
        ) as process,
    ):
        try:
            _wait_for(process, url, log)
            yield url
        finally:
            _end(process)


def _port() -> int:
    """Prefect's usual port, or any when that is taken."""
    for port in (PREFECT_SERVER_API_PORT.value(), 0):
        with socket.socket() as probe:
            # as the server will: no waiting after a restart
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((LOOPBACK, port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise GoldmeterError(f"{LOOPBACK}: no free port for Prefect's server; set PREFECT_API_URL to a server that runs")


def _wait_for(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    deadline = time.monotonic() + STARTING
    while not _answers(url):
        if process.poll() is not None or time.monotonic() > deadline:
            raise GoldmeterError(f"Prefect's server did not start; {log} says why")
        time.sleep(0.2)


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url.rstrip('/')}/health", timeout=5).is_success
    except (httpx.HTTPError, httpx.InvalidURL):
        return False


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(ENDING)
    except subprocess.TimeoutExpired:
        process.kill()
