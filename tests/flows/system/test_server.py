"""How a Prefect server is started, and for what."""

import atexit
import os
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from prefect.settings import PREFECT_API_URL, PREFECT_UI_URL

from flows.system import server
from flows.system.server import environment


def test_the_server_takes_no_request_from_a_page_of_another_site() -> None:
    given = environment(4321)

    assert given["PREFECT_SERVER_CSRF_PROTECTION_ENABLED"] == "true"
    assert given["PREFECT_SERVER_CORS_ALLOWED_ORIGINS"] == "http://127.0.0.1:4321,http://localhost:4321"


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
