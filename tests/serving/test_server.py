"""How a Prefect server is started, and for what."""

import atexit
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from prefect.settings import PREFECT_API_URL, PREFECT_UI_URL

from goldmeter.serving import server
from goldmeter.serving.server import environment


def test_the_server_takes_no_request_from_a_page_of_another_site() -> None:
    given = environment(4321)

    assert given["PREFECT_SERVER_CSRF_PROTECTION_ENABLED"] == "true"
    assert given["PREFECT_SERVER_CORS_ALLOWED_ORIGINS"] == "http://127.0.0.1:4321,http://localhost:4321"


def test_a_server_that_does_not_end_in_time_is_killed_with_its_children(
    monkeypatch: pytest.MonkeyPatch, until: Callable[..., None], is_running: Callable[[int], bool]
) -> None:
    deaf = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
    child = f"{deaf}print('ready', flush=True); signal.pause()"
    parent = f"import subprocess, sys; {deaf}child = subprocess.Popen([sys.executable, '-c', {child!r}]); "
    parent += "print(child.pid, flush=True); child.wait()"
    monkeypatch.setattr(server, "END_SECONDS", 0.01)

    with subprocess.Popen(
        [sys.executable, "-c", parent], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        lines = {process.stdout.readline().strip(), process.stdout.readline().strip()}
        [pid] = map(int, lines - {"ready"})
        server._end(process)

    until(lambda: not is_running(pid), "the child ends")


def test_a_child_that_the_server_leaves_is_ended_too(
    until: Callable[..., None], is_running: Callable[[int], bool]
) -> None:
    command = ["bash", "-c", "sleep 300 & echo $!; wait"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())

        server._end(process)

        until(lambda: not is_running(child), "the child ends", 10)


@pytest.mark.long
def test_the_server_for_one_run_has_a_session_of_its_own_and_ends_with_the_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    at_exit: list[Callable[[], Any]] = []
    started: list[Any] = []
    popen = server.subprocess.Popen
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path))
    monkeypatch.setattr(server.processes, "end_marked_with_us", lambda: None)
    monkeypatch.setattr(atexit, "register", at_exit.append)
    monkeypatch.setattr(
        server.subprocess, "Popen", lambda *args, **how: started.append(popen(*args, **how)) or started[-1]
    )

    server.for_one_run()
    try:
        url = PREFECT_API_URL.value()
        assert httpx.get(f"{url}/health").is_success
        assert os.getsid(started[0].pid) == started[0].pid  # out of reach of the terminal's signals
        assert not PREFECT_UI_URL.value()
        server.for_one_run()  # uses the one that runs
        assert len(started) == 1
    finally:
        for end in reversed(at_exit):
            end()

    assert started[0].returncode is not None
    assert PREFECT_API_URL.value() != url
