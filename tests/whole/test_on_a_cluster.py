"""Whole runs on a Dask cluster, started by Dask's own commands: the bytes of one machine, whatever dies."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from subprocess import DEVNULL, PIPE, STDOUT
from typing import Any

import pytest

from tests.whole.conftest import DATA, Project

pytestmark = pytest.mark.exhaustive
DASK = [sys.executable, "-m", "dask"]


def configure(project: Project, **options: Any) -> None:
    project.change_params(lambda params: (params["load"].update(part_rows=60), params["run"].update(options)))


def weigh(project: Project) -> None:
    """Give the rows weights from 1 to 7, in a column that params.yaml names."""
    path = project.folder / DATA
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    weighed = (json.dumps(row | {"traffic": 1 + number % 7}) + "\n" for number, row in enumerate(rows))
    path.write_text("".join(weighed), encoding="utf-8")
    project.edit("params.yaml", "  weight:  ", "  weight: traffic  ")


def tables(project: Project, *names: str) -> dict[str, bytes]:
    folders = [
        f"data/{name}" for name in names or ("load", "normalize", "lexical", "embed", "semantic", "judge", "aggregate")
    ]
    paths = [path for folder in [*folders, "reports"] for path in sorted((project.folder / folder).rglob("*"))]
    return {str(path.relative_to(project.folder)): path.read_bytes() for path in paths if path.is_file()}


@contextmanager
def started(project: Project, workers: int) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A scheduler and workers in the project's folder: the file with its address, and the scheduler and the workers."""
    file = project.folder.parent / "scheduler.json"
    file.unlink(missing_ok=True)
    server = ["scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
    worker = ["worker", "--scheduler-file", str(file), "--nthreads", "1", "--no-dashboard", "--no-nanny"]
    with ExitStack() as stack:

        def start(*command: str) -> subprocess.Popen[bytes]:
            environment = project.environment | {"DASK_TEMPORARY_DIRECTORY": str(project.folder.parent)}
            process = subprocess.Popen(
                [*DASK, *command], cwd=project.folder, env=environment, stdout=DEVNULL, stderr=DEVNULL
            )
            stack.enter_context(process)
            stack.callback(process.kill)
            return process

        members = [start(*server)]
        while not file.exists():
            assert members[0].poll() is None
            time.sleep(0.1)
        yield str(file), members + [start(*worker) for _ in range(workers)]


def begun(project: Project, stage: str) -> subprocess.Popen[str]:
    """A stage that has written its first part."""
    command = [sys.executable, "-m", "tasks", stage]
    process = subprocess.Popen(
        command, cwd=project.folder, env=project.environment, stdout=PIPE, stderr=STDOUT, text=True
    )
    while process.poll() is None and not [*project.folder.glob(f"data/.{stage}.tmp/*/data/{stage}/part-*")]:
        time.sleep(0.01)
    assert process.poll() is None
    return process


@pytest.fixture(scope="module")
def local(example: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The bundled example, with weights, in nine parts, evaluated by one process."""
    project = example.copy(tmp_path_factory.mktemp("local"))
    weigh(project)
    configure(project, workers=1)
    project.evaluate()
    return project


@pytest.fixture
def project(local: Project, tmp_path: Path) -> Project:
    return local.copy(tmp_path)


def test_all_stages_give_the_bytes_of_one_process(local: Project, project: Project) -> None:
    with started(project, 3) as (address, _):
        configure(project, engine="dask", address=address)
        project.evaluate()

    assert len(tables(project, "lexical")) > 9
    assert tables(project) == tables(local)


def test_a_cluster_of_this_machine_gives_the_bytes_of_one_process(local: Project, project: Project) -> None:
    configure(project, engine="dask", workers=2)
    project.evaluate("load", "normalize", "judge", "aggregate")

    assert tables(project) == tables(local)


def test_killed_workers_change_nothing(local: Project, project: Project) -> None:
    with started(project, 3) as (address, [_, *workers]):
        configure(project, engine="dask", address=address)
        stage = begun(project, "lexical")
        for worker in workers[:2]:
            worker.kill()
            time.sleep(0.2)  # the second dies while the lost part is done again
        output, _ = stage.communicate()
        assert stage.returncode == 0, output

    assert tables(project) == tables(local)


def test_after_a_killed_driver_the_next_run_gives_the_same(local: Project, project: Project) -> None:
    with started(project, 2) as (address, _):
        configure(project, engine="dask", address=address)
        begun(project, "lexical").kill()
        project.run("python", "-m", "tasks", "lexical")

    assert tables(project) == tables(local)
    assert not [*project.folder.glob("data/.*.tmp")]


def test_a_scheduler_that_is_gone_is_one_sentence(local: Project, project: Project) -> None:
    with started(project, 1) as (address, [server, _]):
        configure(project, engine="dask", address=address)
        stage = begun(project, "lexical")
        server.send_signal(signal.SIGKILL)
        output, _ = stage.communicate()

    assert stage.returncode == 75
    assert output.count("\n") <= 2
    assert "error: run.address: the scheduler at tcp://127.0.0.1:" in output
    assert tables(project) == tables(local)


def test_workers_with_other_code_or_threads_or_none_are_one_sentence(project: Project) -> None:
    with started(project, 1) as (address, _):
        configure(project, engine="dask", address=address)
        project.run("python", "-m", "tasks", "normalize")
        (project.folder / "tasks/added.py").touch()
        output = project.run("python", "-m", "tasks", "normalize", status=2)

    assert "has other code than" in output
    assert output.count("\n") == 1
