"""A small project of its own for the flow to run, and ways to wait for what it does."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from textwrap import dedent
from typing import Any

import psutil
import pytest

from goldmeter.pipeline.yaml import dump_yaml
from tests import prefect_database
from tests.small_project import ROOT, settings

# What every stage of the small project runs: it notes its start, does what its mode says, and writes its out.
STAGE = """
    import os, signal, subprocess, sys, time
    from pathlib import Path

    def wait_for(*paths):
        deadline = time.monotonic() + 120
        while not all(Path(path).exists() for path in paths):
            if time.monotonic() > deadline:
                sys.exit(f"waited in vain for {paths}")
            time.sleep(0.02)

    name, mode = sys.argv[1], Path("modes", sys.argv[1])
    mode = mode.read_text() if mode.exists() else ""
    with open("started.log", "a") as log:
        log.write(f"{name} {os.environ.get('GOLDMETER_RETRY_FAILED', '-')}\\n")
    if spent := os.environ.get("GOLDMETER_SPENT"):
        with open(spent, "a") as file:
            file.write("x")
        with open(f"attempts.{name}", "a") as file:
            file.write(Path(spent).read_text() + "\\n")
    Path(f"pid.{name}").write_text(str(os.getpid()))
    print(f"{name} works on it")
    if mode.startswith("together "):
        wait_for(*(f"pid.{other}" for other in mode.split()[1:]))
    if mode.startswith("fail "):
        sys.exit(print(f"{name}: the reason\\n  and what to do", file=sys.stderr) or int(mode.split()[1]))
    if mode == "at work":
        sys.exit(print("error: judge: batches are at work at http://h: 0 of 9", file=sys.stderr) or 75)
    if mode == "hang":
        child = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        grandchild = subprocess.Popen([sys.executable, "-c", child])
        Path("pid.grandchild").write_text(str(grandchild.pid))
        grandchild.wait()
    if mode.startswith("until "):
        wait_for(mode.split()[1])
    Path("data").mkdir(exist_ok=True)
    Path("data", name).write_text(name)
"""

# What each process of a run tells of the hosts it asks for or connects to.
WATCH_CONNECTIONS = """
    import os, sys

    def note(event, arguments):
        if event == "socket.connect" and isinstance(arguments[1], tuple):
            host = arguments[1][0]
        elif event == "socket.getaddrinfo":
            host = arguments[0]
        else:
            return
        with open(os.environ["CONNECTIONS"], "a") as log:
            log.write(f"{host}\\n")

    sys.addaudithook(note)
"""


class Project:
    """A folder with a dvc.yaml, params.yaml and prefect.toml of its own."""

    def __init__(self, folder: Path, deps: dict[str, list[str]], run: dict[str, Any]) -> None:
        self.folder = folder
        (folder / "modes").mkdir(parents=True)
        (folder / "watch").mkdir()
        (folder / "watch/sitecustomize.py").write_text(dedent(WATCH_CONNECTIONS))
        (folder / "stage.py").write_text(dedent(STAGE))
        (folder / "prefect.toml").write_text((ROOT / "prefect.toml").read_text())
        shipped = settings()
        seen = {name for stage in deps for name in import_module(f"tasks.{stage}").Params.model_fields}
        self.params = {name: shipped[name] for name in {"schedule", *seen}}
        self.run_section = {
            "workers": None,
            "engine": "local",
            "address": None,
            "storage": None,
            "verify": True,
            "parallel_stages": 3,
            "retries": {"default": 0},
            "timeouts": {"default": 300},
            "judge": settings()["run"]["judge"],
        } | run
        self.write_params()
        stages = {
            name: {
                "cmd": f"python stage.py {name}",
                "deps": [f"data/{dep}" for dep in before] + [f"modes/{name}"],
                "outs": [f"data/{name}"],
            }
            for name, before in deps.items()
        }
        (folder / "dvc.yaml").write_text(dump_yaml({"stages": stages}))
        for name in deps:
            self.mode(name, "")
        subprocess.run(["git", "init", "-q", folder], check=True)
        (folder / ".dvc").mkdir()  # what `dvc init` makes, without three starts of DVC
        (folder / ".dvc/config").write_text("[core]\n    analytics = false\n    check_update = false\n")
        (folder / ".dvc/.gitignore").write_text("/config.local\n/tmp\n/cache\n")

    def mode(self, stage: str, mode: str) -> None:
        """What the stage does when it next runs; a dependency, so that a change makes it run."""
        (self.folder / "modes" / stage).write_text(mode)

    def write_params(self, **changed: Any) -> None:
        self.run_section |= changed
        (self.folder / "params.yaml").write_text(dump_yaml(self.params | {"run": self.run_section}))

    @property
    def environment(self) -> dict[str, str]:
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PREFECT", "GOLDMETER", "CI", "DO_NOT_TRACK"))
        }
        return kept | {
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(self.folder / "watch")]),
            "PREFECT_HOME": str(self.folder.parent / "prefect"),
            "CONNECTIONS": str(self.folder / "connections.log"),
        }

    def dvc(self, *arguments: str) -> str:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        return subprocess.run(
            [sys.executable, "-m", "dvc", *arguments],
            cwd=self.folder,
            env=self.environment | {"PATH": path},
            check=True,
            text=True,
            stdout=subprocess.PIPE,
        ).stdout

    def start(self, *arguments: str, **environment: str) -> "subprocess.Popen[str]":
        prefect_database.put(self.folder.parent / "prefect")
        return subprocess.Popen(
            [sys.executable, "-m", "flows.evaluate", *arguments],
            cwd=self.folder,
            env=self.environment | environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def evaluate(self, *arguments: str, **environment: str) -> tuple[int, str]:
        """Exit status and output of one flow run."""
        with self.start(*arguments, **environment) as process:
            output, _ = process.communicate(timeout=240)
            return process.returncode, output

    def started(self) -> list[str]:
        """The stages that started since it was last asked, with what they saw of GOLDMETER_RETRY_FAILED."""
        log = self.folder / "started.log"
        lines = log.read_text().splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        return lines

    def pid(self, name: str) -> int:
        """The process that stage `name` runs in, once it has started."""
        file = self.folder / f"pid.{name}"
        wait_until(lambda: file.exists() and file.read_text() != "", f"{name} starts")
        return int(file.read_text())

    def processes(self) -> list[psutil.Process]:
        """All that run on behalf of the project's flows, the temporary server too."""
        return [process for process in psutil.process_iter() if self._is_ours(process)]

    def _is_ours(self, process: psutil.Process) -> bool:
        with suppress(psutil.Error, OSError):
            home = process.environ().get("CONNECTIONS")
            return bool(process.status() != psutil.STATUS_ZOMBIE and home == str(self.folder / "connections.log"))
        return False


def wait_until(met: Callable[[], object], what: str, seconds: float = 120) -> None:
    """Look again until the condition is met; fail when it is not within `seconds`."""
    deadline = time.monotonic() + seconds
    while not met():
        if time.monotonic() > deadline:
            pytest.fail(f"not within {seconds} s: {what}")
        time.sleep(0.05)


@pytest.fixture(scope="session")
def until() -> Callable[..., None]:
    return wait_until


@pytest.fixture(scope="session")
def is_running() -> Callable[[int], bool]:
    return process_is_running


def process_is_running(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


@pytest.fixture(scope="module")
def make_project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Project]]:
    """Makes projects, which share one Prefect database; ends what a failing test left running in them."""
    made: list[Project] = []
    base = tmp_path_factory.mktemp("flows")

    def make(deps: dict[str, list[str]], **run: Any) -> Project:
        made.append(Project(base / f"project{len(made)}", deps, run))
        return made[-1]

    yield make
    for project in made:
        for process in project.processes():
            with suppress(psutil.Error):
                process.kill()
