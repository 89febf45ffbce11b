"""However a flow is interrupted, nothing of it goes on, and the next run finds its way free."""

import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

pytestmark = pytest.mark.long

Make = Callable[..., Any]
Until = Callable[..., None]
IsRunning = Callable[[int], bool]


@pytest.fixture
def project(make_project: Make) -> Any:
    return make_project({"load": [], "report": ["load"]})


def succeeds(project: Any, *stages: str) -> None:
    project.started()
    for stage in stages:
        project.mode(stage, "again")
    status, output = project.evaluate()
    assert status == 0, output
    assert [line.split()[0] for line in project.started()] == list(stages)


def test_a_stage_over_its_time_is_ended_and_fails_the_run(project: Any, is_running: IsRunning) -> None:
    project.mode("load", "hang")
    project.write_params(timeouts={"default": 300, "load": 5})

    status, output = project.evaluate()

    assert status == 1
    assert output.endswith("load: not done after 5 s, ended (params.yaml: run.timeouts.load, or default)\n")
    assert not is_running(project.pid("load"))
    assert not is_running(project.pid("grandchild"))
    project.write_params(timeouts={"default": 300})
    succeeds(project, "load", "report")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_signal_to_the_flow_ends_all_of_it(project: Any, number: signal.Signals, until: Until) -> None:
    project.mode("load", "hang")
    with project.start() as flow:
        project.pid("grandchild")
        assert len(project.processes()) > 4  # the flow, Prefect's server, DVC, the stage and its child

        flow.send_signal(number)
        flow.wait(60)
        until(lambda: not project.processes(), "all of the flow ends")

    assert flow.returncode != 0
    succeeds(project, "load", "report")


def test_two_flows_at_the_same_time_both_end_well(project: Any, until: Until) -> None:
    project.mode("load", "until go")
    with project.start() as first:
        project.pid("load")
        with project.start() as second:
            assert second.stdout is not None
            until(lambda: "Another flow runs in this checkout" in second.stdout.readline(), "the second waits")
            (project.folder / "go").touch()
            outputs = [process.communicate(timeout=240)[0] for process in (first, second)]

    assert [first.returncode, second.returncode] == [0, 0], outputs
    assert project.started() == ["load -", "report -"]


def test_a_flow_waits_for_somebodys_dvc_repro(project: Any, until: Until) -> None:
    project.mode("load", "until go")
    command = [sys.executable, "-m", "dvc", "repro", "load"]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with subprocess.Popen(command, cwd=project.folder, env=project.environment | {"PATH": path}) as by_hand:
        project.pid("load")
        with project.start() as flow:
            assert flow.stdout is not None
            until(lambda: "is busy" in flow.stdout.readline(), "the flow finds the path busy")
            (project.folder / "go").touch()
            output, _ = flow.communicate(timeout=240)

    assert [by_hand.returncode, flow.returncode] == [0, 0], output
    assert project.started() == ["load -", "report -"]


def test_stages_wait_longer_than_dvc_does_by_itself_for_its_lock(project: Any, until: Until) -> None:
    lock = project.folder / ".dvc/tmp/lock"
    lock.parent.mkdir(exist_ok=True)
    with lock.open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with project.start() as flow:
            until(lambda: any(_waits_long(process) for process in project.processes()), "DVC waits for 6 s")
            fcntl.flock(held, fcntl.LOCK_UN)
            output, _ = flow.communicate(timeout=240)

    assert flow.returncode == 0, output


def _waits_long(process: psutil.Process) -> bool:
    try:
        return "--single-item" in process.cmdline() and time.time() - process.create_time() > 6
    except psutil.NoSuchProcess:
        return False


@pytest.fixture
def server(project: Any, until: Until) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port)]
    environment = project.environment | {"DO_NOT_TRACK": "1", "PREFECT_SERVER_ANALYTICS_ENABLED": "false"}
    environment["PREFECT_SERVER_CSRF_PROTECTION_ENABLED"] = "false"  # no token for what the test asks
    url = f"http://127.0.0.1:{port}/api"
    with subprocess.Popen(
        command, cwd=project.folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        until(lambda: _answers(f"{url}/health"), "the server answers")
        yield url
        process.terminate()


def _answers(url: str) -> bool:
    try:
        return httpx.get(url).status_code == 200
    except httpx.TransportError:
        return False


def test_a_running_server_gets_the_log_and_the_metrics(project: Any, server: str, until: Until) -> None:
    (project.folder / "reports").mkdir()
    scores = {"value": 0.25, "low": 0.0, "high": 1.0, "n": 4, "n_not_asked": 0, "n_failed": 0}
    dataset = {"rows": 4, "rejected": 0, "rejected_reasons": {}, "truncated_texts": 0}
    metrics = {"confidence": 0.95, "dataset": dataset, "candidates": {"small": {"exact_match": scores}}}
    (project.folder / "reports/metrics.json").write_text(json.dumps(metrics))

    status, output = project.evaluate(PREFECT_API_URL=server)

    assert status == 0, output
    assert "temporary server" not in output
    artifacts = {one["key"]: one["data"] for one in httpx.post(f"{server}/artifacts/filter", json={}).json()}
    assert "0.250" in artifacts["summary"]
    tasks = httpx.post(f"{server}/task_runs/filter", json={"sort": "EXPECTED_START_TIME_ASC"}).json()
    assert [(one["name"], one["state_type"]) for one in tasks][-2:] == [
        ("load", "COMPLETED"),
        ("report", "COMPLETED"),
    ]
    until(lambda: "load works on it" in httpx.post(f"{server}/logs/filter", json={}).text, "the log arrives", 30)
