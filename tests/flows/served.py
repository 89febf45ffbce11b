"""A project whose schedules are served: goldmeter's own code, committed; its runs take a second."""

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from pathlib import Path
from textwrap import dedent
from typing import Any, TypeVar
from uuid import UUID

import httpx
import psutil
from prefect.client.orchestration import PrefectClient
from prefect.client.schemas.objects import Deployment, FlowRun, State
from prefect.client.schemas.sorting import DeploymentSort, FlowRunSort

from goldmeter.pipeline.schedule import Schedule
from goldmeter.pipeline.yaml import dump_yaml
from tests import prefect_database
from tests.flow_project import ROOT, wait_until
from tests.small_project import settings

Answer = TypeVar("Answer")

SCHEDULE: dict[str, Any] = {
    "cron": None,
    "interval": 4,
    "timezone": "UTC",
    "set": [],
    "refresh": None,
    "baseline": None,
    "floors": {},
    "overlap": "skip",
    "missed": "once",
    "push": None,
    "notify": {"url": None, "header": "Authorization", "secret_env": None, "always": False},
}

# Instead of flows/scheduled_run.py: says what the files in the folder `notes` say, and waits while told to.
SCRIPT = """
    import argparse, json, os, subprocess, sys, time
    from pathlib import Path

    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("--outcome", type=Path)
    chosen = parser.parse_args()
    here = Path(os.environ["NOTES"])
    number = len(list(here.glob("started.*"))) + 1
    (here / f"started.{number}").write_text(str(os.getpid()))
    print("the scheduled run works on it", flush=True)
    deadline = time.monotonic() + 200
    while (here / "wait").exists():
        if time.monotonic() > deadline:
            sys.exit("waited in vain")
        time.sleep(0.02)
    worse = (here / "worse").exists() and number == int((here / "worse").read_text())
    outcome = {
        "ok": not worse,
        "sentence": "aurora: f1 fell by 0.153 (worse on q1, q2)" if worse else "all is well",
        "experiment": f"{chosen.name}-{number}",
        "commit": "c" * 40,
        "alarms": ["aurora: f1 fell by 0.153 (worse on q1, q2)"] if worse else [],
        "markdown": "| f1 | worse |",
        "facts": {"code": subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True).stdout.strip()},
    }
    chosen.outcome.write_text(json.dumps(outcome))
    (here / f"ended.{number}").touch()
    sys.exit(worse)
"""


def params_with(schedules: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """All of params.yaml where dvc.yaml has no stages."""
    run = settings()["run"]
    run |= {"retries": {"default": 0}, "timeouts": {"default": 300}}
    return {"run": run, "schedule": {name: {**options} for name, options in schedules.items()}}


class Served:
    """A repository, a Prefect server of its own database, and the process that serves its schedules.

    notes: the folder that SCRIPT, in place of flows/scheduled_run.py, writes to.
    """

    def __init__(self, base: Path, schedules: Mapping[str, Mapping[str, Any]]) -> None:
        self.folder, self.home, self.notes = base / "project", base / "prefect", base / "notes"
        self.port = free_port()
        self.notes.mkdir(parents=True)
        prefect_database.put(self.home)
        self.folder.mkdir()
        for name in ("flows", "goldmeter", "tasks"):
            shutil.copytree(ROOT / name, self.folder / name)
        shutil.copy(ROOT / "prefect.toml", self.folder)
        (self.folder / "flows/scheduled_run.py").write_text(dedent(SCRIPT))
        self.write(schedules)
        (self.folder / "dvc.yaml").write_text("stages: {}\n")
        (self.folder / ".gitignore").write_text("__pycache__/\n")
        for command in ("git init -q", f"{sys.executable} -m dvc init -q", "git add -A"):
            self.run(*command.split())
        self.commit()
        self.started: list[subprocess.Popen[str]] = []

    def write(self, schedules: Mapping[str, Mapping[str, Any]]) -> None:
        (self.folder / "params.yaml").write_text(dump_yaml(params_with(schedules)))

    def commit(self) -> None:
        who = ("-c", "user.name=Test", "-c", "user.email=test@example.org")
        self.run("git", *who, "commit", "-q", "-a", "-m", "schedules")

    @property
    def environment(self) -> dict[str, str]:
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PREFECT", "GOLDMETER", "CI", "DO_NOT_TRACK", "PYTEST"))
        }
        return kept | {
            "PREFECT_HOME": str(self.home),
            "PREFECT_SERVER_API_PORT": str(self.port),
            "PREFECT_RUNNER_POLL_FREQUENCY": "1",
            "PREFECT_SERVER_SERVICES_SCHEDULER_LOOP_SECONDS": "5",
            "NOTES": str(self.notes),
        }

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/api"

    def run(self, *command: str) -> str:
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment, check=True, text=True, stdout=subprocess.PIPE
        )
        return done.stdout

    def start(self, *arguments: str, **environment: str) -> "subprocess.Popen[str]":
        """`python -m flows.schedule` in a process."""
        with (self.notes.parent / "served.log").open("a") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "flows.schedule", *arguments],
                cwd=self.folder,
                env=self.environment | environment,
                text=True,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self.started.append(process)
        return process

    def log(self) -> str:
        return (self.notes.parent / "served.log").read_text()

    def scheduled_run(self, number: int, event: str = "started") -> int:
        """Wait until that scheduled run has started or ended; returns its process."""
        file = self.notes / f"{event}.{number}"
        wait_until(
            lambda: file.exists() and (event == "ended" or file.read_text()), f"scheduled run {number} {event}", 90
        )
        return int((self.notes / f"started.{number}").read_text())

    def hold(self) -> None:
        """Let every scheduled run wait from now on, until `release`."""
        (self.notes / "wait").touch()

    def release(self) -> None:
        (self.notes / "wait").unlink(missing_ok=True)

    def ask(self, question: Callable[[PrefectClient], Any]) -> Any:
        """What the Prefect server answers."""

        async def answer() -> Any:
            async with PrefectClient(self.url) as client:
                return await question(client)

        return asyncio.run(answer())

    def runs(self, *states: str) -> list[FlowRun]:
        """Flow runs of schedules in states of these names, oldest first; none named: all but those to come."""
        found = [run for run in self.ask(_runs) if run.deployment_id and run.state]
        wanted = [run for run in found if run.state.name in states or (not states and run.state.name != "Scheduled")]
        return sorted(wanted, key=lambda run: run.expected_start_time)

    def states(self, run: FlowRun) -> list[State]:
        """The states that a run has had, oldest first."""
        return sorted(self.ask(partial(_states, run.id)), key=lambda state: state.timestamp)

    def deployments(self) -> dict[str, Deployment]:
        """What is served, by the schedule's name; of the flows on demand, by the project's."""
        return {each.name.removeprefix("project-"): each for each in self.ask(_deployments)}

    def wait_for(self, number: int, state: str) -> list[FlowRun]:
        """Wait until that many runs are in the state; the server may come and go meanwhile."""
        found: list[FlowRun] = []

        def are_there() -> bool:
            with suppress(httpx.TransportError):
                found[:] = self.runs(state)
            return len(found) >= number

        wait_until(are_there, f"{number} runs {state}", 90)
        return found

    def server(self) -> AbstractContextManager[str]:
        """Prefect's server by itself."""
        return prefect_server(self.folder, self.environment, self.port)

    def processes(self) -> list[psutil.Process]:
        """All that run on behalf of the project."""
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error, OSError):
                ours = process.environ().get("NOTES") == str(self.notes)
                if ours and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
        return found

    def end(self) -> None:
        """End whatever a failed test left."""
        for process in self.started:
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGKILL)
            process.wait()
        for left in self.processes():
            with suppress(psutil.Error):
                left.kill()


@contextmanager
def prefect_server(folder: Path, environment: Mapping[str, str], port: int) -> Iterator[str]:
    """`prefect server start` by itself, as a team runs it, from the project's folder; its address."""
    command = [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port)]
    url = f"http://127.0.0.1:{port}/api"
    with (folder.parent / "server.log").open("ab") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
    try:
        wait_until(lambda: _answers(url), "the Prefect server answers")
        yield url
    finally:
        process.terminate()
        process.wait()


def schedule(**changed: Any) -> dict[str, Any]:
    """A schedule of every four seconds, with some options changed."""
    return SCHEDULE | changed


def of(**changed: Any) -> Schedule:
    """That schedule as the section of params.yaml is read."""
    return Schedule(**schedule(**changed))


def stop(process: "subprocess.Popen[Any]", number: int) -> int:
    """Send the signal and wait for the end; returns the exit status."""
    process.send_signal(number)
    return process.wait(60)


async def _runs(client: PrefectClient) -> Sequence[FlowRun]:
    return await client.read_flow_runs(limit=200, sort=FlowRunSort.EXPECTED_START_TIME_ASC)


async def _states(run: UUID, client: PrefectClient) -> Sequence[State]:
    return await client.read_flow_run_states(run)


async def _deployments(client: PrefectClient) -> Sequence[Deployment]:
    return await client.read_deployments(limit=200, sort=DeploymentSort.NAME_ASC)


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health", timeout=2).is_success
    except httpx.HTTPError:
        return False


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
