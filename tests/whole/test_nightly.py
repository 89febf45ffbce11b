"""A night of the real project behind a real server: a worse candidate fails it, and it is told, once."""

import signal
import subprocess
import sys
from collections.abc import Iterable
from typing import Any

import httpx
import pytest

from tests.flow_project import wait_until
from tests.flows.served import free_port, prefect_server
from tests.flows.webhook import webhook
from tests.whole.conftest import DATA, Project

pytestmark = pytest.mark.exhaustive

EVENT = "goldmeter.schedule.failed"
SECRET_ENV = "HOOK_SECRET"  # noqa: S105 (a name)
SECRET = "Bearer not-in-any-log"  # noqa: S105 (it is looked for)
OPEN_TO_US = {"PREFECT_SERVER_ANALYTICS_ENABLED": "false", "PREFECT_SERVER_CSRF_PROTECTION_ENABLED": "false"}


def runs(url: str, state: str) -> list[dict[str, Any]]:
    """The scheduled flow runs in this state, the oldest first."""
    wanted = {"flow_runs": {"state": {"type": {"any_": [state]}}}, "flows": {"name": {"any_": ["scheduled"]}}}
    answer = httpx.post(f"{url}/flow_runs/filter", json=wanted | {"sort": "START_TIME_ASC"})
    return list(answer.raise_for_status().json())


def events(url: str) -> list[dict[str, Any]]:
    wanted = {"filter": {"event": {"name": [EVENT]}}}
    return list(httpx.post(f"{url}/events/filter", json=wanted).json()["events"])


def ended(sentences: Iterable[str]) -> list[str]:
    """The sentences of runs that came to an end, sorted."""
    return sorted(sentence for sentence in sentences if " did not end. " not in sentence)


def serve(project: Project, url: str) -> "subprocess.Popen[str]":
    log = (project.folder.parent / "serving.log").open("a")
    return subprocess.Popen(
        [sys.executable, "-m", "flows.schedule"],
        cwd=project.folder,
        env=project.environment | {"PREFECT_API_URL": url, SECRET_ENV: SECRET},
        stdout=log,
        stderr=log,
        text=True,
    )


def test_a_worse_night_fails_is_told_once_and_is_an_experiment_in_the_history(v1: Project) -> None:
    """What happens between nights, with other outcomes and when something is killed: tests/serving."""
    with (
        webhook() as hook,
        prefect_server(v1.folder, v1.environment | OPEN_TO_US, free_port()) as url,
    ):
        told = {"url": hook.url, "secret_env": SECRET_ENV}

        def change(params: dict[str, Any]) -> None:
            params["schedule"]["nightly"].update(cron=None, interval=5, baseline="v1")
            params["schedule"]["nightly"]["notify"].update(told)

        v1.change_params(change)
        v1.write_answers(DATA, wrong=25)
        v1.commit("a schedule, and worse answers")
        with serve(v1, url) as process:
            try:
                wait_until(lambda: runs(url, "FAILED"), "a night that fails", 240.0)
                process.send_signal(signal.SIGTERM)  # while the process of the run may still be ending
                process.wait(60)
            finally:
                process.kill()

        failed = runs(url, "FAILED")  # on a slow machine the next night has begun and failed as well
        sentences = [request.content["sentence"] for request in hook.received]
        assert all(text in sentences[0] for text in ("aurora", "v1", "rows lost: q"))
        assert ended(sentences) == sorted(run["state"]["message"] for run in failed)
        # a run that started just before the signal is told as lost; one that failed is not told again
        assert len(sentences) - len(failed) <= len(runs(url, "CRASHED"))
        assert hook.received[0].headers["authorization"] == SECRET
        assert hook.received[0].content["experiment"] in v1.experiments()
        wait_until(
            lambda: ended(event["payload"]["sentence"] for event in events(url)) == ended(sentences),
            "the server has written the events down",
        )
        assert "aurora" in httpx.get(f"{url}/artifacts/schedule-nightly/latest").json()["data"]

    assert v1.experiments()[-1] in v1.run("python", "-m", "tasks", "history")
    assert SECRET not in (v1.folder.parent / "serving.log").read_text(encoding="utf-8")
    assert SECRET.encode() not in (v1.folder.parent / "prefect/prefect.db").read_bytes()
