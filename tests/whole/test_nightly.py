"""Nights of the real project behind a real server, while somebody edits; tests run in order on one copy."""

import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import httpx
import psutil
import pytest

from tests.flows.conftest import wait_until
from tests.flows.webhook import Webhook, webhook
from tests.whole.conftest import DATA, Project

pytestmark = pytest.mark.exhaustive

EVENT = "goldmeter.schedule.failed"
NIGHT = 240.0
SECRET_ENV = "HOOK_SECRET"  # noqa: S105 (a name)
SECRET = "Bearer not-in-any-log"  # noqa: S105 (it is looked for)
EDITS = {"README.md": "an edit\n", "tasks/statistics/mean.py": "this is no Python\n", "params.yaml": "nor: [YAML\n"}


class Server:
    """Prefect's server on a port of its own, which can be restarted."""

    def __init__(self, project: Any) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/api"
        self._project = project
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(self.port)]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        open_to_us = {"PREFECT_SERVER_ANALYTICS_ENABLED": "false", "PREFECT_SERVER_CSRF_PROTECTION_ENABLED": "false"}
        environment = self._project.environment | open_to_us
        self._process = subprocess.Popen(command, cwd=self._project.folder, env=environment, **quiet)
        wait_until(self._answers, "the server answers")

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(60)

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{self.url}/health").status_code == 200
        except httpx.TransportError:
            return False

    def runs(self, *types: str) -> list[dict[str, Any]]:
        """The scheduled flow runs in these states, the oldest first."""
        wanted = {"flow_runs": {"state": {"type": {"any_": list(types)}}}, "flows": {"name": {"any_": ["scheduled"]}}}
        answer = httpx.post(f"{self.url}/flow_runs/filter", json=wanted | {"sort": "START_TIME_ASC"})
        return list(answer.raise_for_status().json())

    def events(self, name: str) -> list[dict[str, Any]]:
        """The events of this name."""
        wanted = {"filter": {"event": {"name": [name]}}}
        return list(httpx.post(f"{self.url}/events/filter", json=wanted).json()["events"])

    def artifact(self, key: str) -> str:
        """The newest artifact of this key."""
        found = httpx.get(f"{self.url}/artifacts/{key}/latest")
        return str(found.json()["data"])


@pytest.fixture(scope="module")
def project(v1: Project) -> Project:
    return v1


@pytest.fixture(scope="module")
def hook() -> Iterator[Webhook]:
    with webhook() as hook:
        yield hook


@pytest.fixture(scope="module")
def server(project: Any) -> Iterator[Server]:
    server = Server(project)
    yield server
    server.stop()


@pytest.fixture(scope="module", autouse=True)
def leave_nothing(project: Any) -> Iterator[None]:
    yield
    for process in psutil.process_iter():
        try:
            ours = process.environ().get("GUARD_LOG") == str(project.log)
        except (psutil.Error, OSError):
            continue
        if ours:
            process.kill()


def plan(project: Any, **options: str) -> None:
    """Write options of the schedule into params.yaml."""
    path = project.folder / "params.yaml"
    before, section = path.read_text(encoding="utf-8").split("\nschedule:")
    for name, value in options.items():
        section = re.sub(rf"^( +{name}:).*$", rf"\g<1> {value}", section, flags=re.MULTILINE)
    path.write_text(f"{before}\nschedule:{section}", encoding="utf-8")


def serve(project: Any, server: Server) -> "subprocess.Popen[str]":
    log = (project.folder.parent / "serving.log").open("a")
    return subprocess.Popen(
        [sys.executable, "-m", "flows.schedule"],
        cwd=project.folder,
        env=project.environment | {"PREFECT_API_URL": server.url, SECRET_ENV: SECRET},
        stdout=log,
        stderr=log,
        text=True,
    )


def experiments(project: Any) -> list[str]:
    listed = project.run("git", "for-each-ref", "--format=%(refname)", "refs/exps/")
    return sorted(line.rpartition("/")[2] for line in listed.splitlines() if "/exec/" not in line)


def edit(project: Any) -> None:
    """What a person is in the middle of."""
    for name, text in EDITS.items():
        path = project.folder / name
        path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")
    project.run("git", "add", "README.md")


def ended(sentences: Iterable[str]) -> list[str]:
    """The sentences of runs that came to an end, sorted."""
    return sorted(sentence for sentence in sentences if " did not end. " not in sentence)


def undo(project: Any) -> None:
    project.run("git", "checkout", "--quiet", "HEAD", "--", *EDITS)


@pytest.fixture(scope="module")
def serving(project: Any, server: Server, hook: Webhook) -> Iterator["subprocess.Popen[str]"]:
    """A process that serves a schedule of a few seconds, beside a tag to compare with."""
    plan(project, cron="", interval="5", baseline="v1", url=hook.url, secret_env=SECRET_ENV)
    project.commit("a schedule")
    process = serve(project, server)
    yield process
    process.kill()
    process.wait(60)


def test_two_good_nights_with_the_server_restarted_between(project: Any, server: Server, serving: Any) -> None:
    wait_until(lambda: server.runs("COMPLETED"), "a first night", NIGHT)
    edit(project)
    before = project.state()

    server.stop()
    server.start()
    wait_until(lambda: len(server.runs("COMPLETED")) >= 2, "a second night", NIGHT)

    assert serving.poll() is None
    assert server.runs("FAILED", "CRASHED") == []
    assert project.state() == before
    assert len(experiments(project)) >= 2


@pytest.mark.usefixtures("serving")
def test_a_run_that_is_due_meanwhile_is_skipped(server: Server) -> None:
    skipped = server.runs("CANCELLED")

    assert skipped
    assert "concurrency" in skipped[0]["state"]["message"]


def test_a_worse_candidate_fails_the_run_and_is_told_once(
    project: Any, server: Server, serving: Any, hook: Webhook
) -> None:
    assert hook.received == []
    undo(project)
    project.write_answers(DATA, wrong=25)
    project.run("git", "commit", "--quiet", "--all", "--message", "worse")

    wait_until(lambda: server.runs("FAILED"), "a night that fails", NIGHT)
    serving.send_signal(signal.SIGTERM)  # while the process of the run may still be ending
    serving.wait(60)

    failed = server.runs("FAILED")  # on a slow machine the next night has begun and failed as well
    message = hook.received[0].content["sentence"]
    assert "aurora" in message
    assert "v1" in message
    assert "rows lost: q" in message
    told = [request.content["sentence"] for request in hook.received]
    assert ended(told) == sorted(run["state"]["message"] for run in failed)
    # a run that started just before the signal is told as lost; one that failed is not told again
    assert len(told) - len(failed) <= len(server.runs("CRASHED"))
    assert hook.received[0].headers["authorization"] == SECRET
    assert hook.received[0].content["experiment"] in experiments(project)
    wait_until(
        lambda: ended(event["payload"]["sentence"] for event in server.events(EVENT)) == ended(told),
        "the server has written the events down",
    )
    assert "aurora" in server.artifact("schedule-nightly")


def test_each_night_is_an_experiment_to_compare(project: Any) -> None:
    good, *_, bad = experiments(project)  # a slow machine has more than one bad night

    shown = project.run("dvc", "exp", "show", "--json", "--all-commits")
    compared = project.run("python", "-m", "flows.compare", good, bad, status=1)

    assert good in shown
    assert "25 rows changed result" in compared


def test_the_history_tells_of_each_night(project: Any) -> None:
    terminal = project.run("python", "-m", "tasks", "history")
    project.run("python", "-m", "tasks", "history", "--html")

    assert experiments(project)[-1] in terminal
    assert "Over time" in project.read("reports/history.html")


def test_no_secret_and_no_connection_left_this_machine(project: Any) -> None:
    assert not project.log.exists()
    assert SECRET not in (project.folder.parent / "serving.log").read_text(encoding="utf-8")
    assert SECRET.encode() not in (project.folder.parent / "prefect/prefect.db").read_bytes()
