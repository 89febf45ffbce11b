"""How a Prefect server is started, and what for."""

import subprocess
from typing import Any

import pytest
from prefect.server.api.server import SubprocessASGIServer

from flows.system import server
from flows.system.server import environment


def test_the_server_takes_no_request_from_a_page_of_another_site() -> None:
    given = environment(4321)

    assert given["PREFECT_SERVER_CSRF_PROTECTION_ENABLED"] == "true"
    assert given["PREFECT_SERVER_CORS_ALLOWED_ORIGINS"] == "http://127.0.0.1:4321,http://localhost:4321"


def test_prefects_temporary_server_is_out_of_reach_of_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[dict[str, Any]] = []
    monkeypatch.setattr(SubprocessASGIServer, "_instances", {})
    monkeypatch.setattr(server.processes, "watch", lambda: None)
    monkeypatch.setattr(subprocess, "Popen", lambda **how: started.append(how))

    server.for_one_run()
    SubprocessASGIServer()._run_uvicorn_command()

    assert [how["start_new_session"] for how in started] == [True]
    assert "uvicorn" in started[0]["args"]
