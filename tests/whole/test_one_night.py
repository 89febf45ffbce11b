"""Nights of the real project in a worktree, without a server of Prefect's: tests run in order on one copy."""

import json
import os
import signal
import subprocess
import sys
from typing import Any

import psutil
import pytest

from tests.flow_project import wait_until
from tests.whole.conftest import Project, ran

pytestmark = pytest.mark.long

DATA = "data/mine.jsonl"

# What a flow run does for its schedule.
RUN = """
import sys
from pathlib import Path
from goldmeter.system import processes
from goldmeter.serving.worktree import prepared

processes.end_marked_with_us()
with prepared("nightly", Path.cwd()) as tree:
    command = [sys.executable, "-m", "flows.scheduled_run", "nightly", "--outcome", sys.argv[1]]
    environment = processes.environment()
    sys.exit(processes.run(command, environment, 600, lambda _, line: print(line, flush=True), cwd=tree))
"""


def night(project: Any, status: int = 0) -> tuple[Any, list[str]]:
    """The outcome of a night, and the stages that ran."""
    outcome = project.folder.parent / "outcome.json"
    outcome.unlink(missing_ok=True)
    output = project.run("python", "-c", RUN, str(outcome), status=status)
    return json.loads(outcome.read_text(encoding="utf-8")), ran(output)


def data_of(project: Any, experiment: str) -> str:
    """The data set that an experiment saw, as DVC names it."""
    commit = project.run("git", "for-each-ref", "--format=%(objectname)", f"refs/exps/*/*/{experiment}").strip()
    return str(project.run("git", "show", f"{commit}:{DATA}.dvc"))


@pytest.fixture(scope="module")
def project(v1: Project) -> Project:
    return v1


@pytest.fixture(scope="module", autouse=True)
def prepare(project: Any) -> None:
    """Data that comes from elsewhere each night, and a person in the middle of an edit."""
    project.write_answers("../source.jsonl", wrong=25)
    project.run("dvc", "import-url", str(project.folder.parent / "source.jsonl"), DATA)
    project.edit("params.yaml", "path: data/examples/qa.jsonl", f"path: {DATA}")
    shared = str(project.folder.parent / "shared.git")
    project.run("git", "init", "--quiet", "--bare", shared)
    project.run("git", "remote", "add", "shared", shared)
    project.run("dvc", "remote", "add", "--default", "tables", "../shared.dvc")
    project.edit("params.yaml", "refresh:       ", f"refresh: dvc update {DATA}.dvc  ")
    project.edit("params.yaml", "baseline:    ", "baseline: v1")
    project.edit("params.yaml", "push:     ", "push: shared")
    project.commit("our own data")
    project.edit("README.md", "# An evaluation", "# An evaluation, edited")
    project.run("git", "add", "README.md")
    project.edit("tasks/normalize.py", '"""Normalises', '"""Edited. Normalises')
    project.edit("params.yaml", "seed: 0", "seed: [")


def test_a_night_computes_what_is_committed_leaves_the_checkout_alone_and_tells_what_is_worse(project: Any) -> None:
    before = project.state()

    outcome, ran = night(project, status=1)

    assert {"load", "report"} <= set(ran)  # DVC has what the others made of v2, whose rows are the same
    assert project.state() == before
    assert project.experiments() == [outcome["experiment"]]
    assert outcome["facts"]["code"] == project.run("git", "rev-parse", "HEAD").strip()
    assert not outcome["ok"]
    assert "aurora" in outcome["sentence"]
    assert "label: worse than" in outcome["sentence"]
    assert " and 22 more" in outcome["sentence"]
    assert "| worse |" in outcome["markdown"]


def test_it_is_shared_with_its_tables(project: Any) -> None:
    shared = project.run("git", "ls-remote", "shared")

    assert [line.rpartition("/")[2] for line in shared.splitlines()] == project.experiments()
    assert len([*(project.folder.parent / "shared.dvc").rglob("*")]) > 20


@pytest.mark.exhaustive
def test_a_night_without_anything_new_runs_no_stage(project: Any) -> None:
    outcome, ran = night(project, status=1)

    assert outcome["sentence"]
    assert ran == []
    assert len(project.experiments()) == 2


@pytest.mark.exhaustive
def test_after_a_kill_in_the_middle_the_next_night_starts_clean_on_the_data_of_its_time(project: Any) -> None:
    project.write_answers("../source.jsonl", wrong=0)
    before, known = project.state(), project.experiments()
    command = [sys.executable, "-c", RUN, str(project.folder.parent / "outcome.json")]
    with subprocess.Popen(command, cwd=project.folder, env=project.environment, stdout=subprocess.DEVNULL) as run:
        wait_until(lambda: _working(project, "load"), "a stage works")
        [computing] = _working(project, "flows.scheduled_run")
        os.kill(computing, signal.SIGKILL)
        os.kill(run.pid, signal.SIGKILL)
    assert project.experiments() == known

    outcome, ran = night(project)

    assert outcome["ok"], outcome
    assert "report" in ran
    assert [*known, outcome["experiment"]] == project.experiments()
    assert project.state() == before
    assert data_of(project, known[0]) != data_of(project, outcome["experiment"])
    project.run("git", "checkout", "--quiet", "HEAD", "--", "params.yaml")  # whose gate the comparison goes by
    project.run("python", "-m", "flows.compare", known[0], outcome["experiment"])


def _working(project: Any, *commands: str) -> list[int]:
    """The processes of the project that run one of these commands."""
    found = []
    for process in psutil.process_iter():
        try:
            ours = process.environ().get("GUARD_LOG") == str(project.log)
            if ours and process.status() != psutil.STATUS_ZOMBIE and set(process.cmdline()[2:4]) & set(commands):
                found.append(process.pid)
        except (psutil.Error, OSError):
            continue
    return found


@pytest.mark.exhaustive
def test_data_that_nobody_versioned_is_named_with_what_to_do(project: Any) -> None:
    project.run("git", "checkout", "--quiet", "HEAD", "--", "params.yaml", "tasks/normalize.py", "README.md")
    project.write_answers("data/private.jsonl", wrong=0)
    (project.folder / ".git/info/exclude").write_text("data/private.jsonl\n")
    project.edit("params.yaml", f"path: {DATA}", "path: data/private.jsonl")
    project.edit("params.yaml", f"refresh: dvc update {DATA}.dvc", "refresh:")
    project.commit("data that is not committed")

    outcome, ran = night(project, status=2)

    assert outcome["sentence"].startswith("dataset.path: data/private.jsonl is in neither git nor DVC")
    assert "`dvc add`" in outcome["sentence"]
    assert ran == []
