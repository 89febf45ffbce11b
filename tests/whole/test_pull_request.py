"""The workflow's commands, run in their order on pull requests, with a `gh` that notes what it is asked."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.test_workflow import JOBS
from tests.whole.conftest import DATA, ROOT, Project

pytestmark = pytest.mark.long

MARKS = (".ready", ".ready-dev")
GH = """#!/usr/bin/env python
import json, os, pathlib, sys

body = pathlib.Path("body.md")
asked = {"arguments": sys.argv[1:], "body": body.exists() and body.read_text(), "token": os.environ["GH_TOKEN"]}
with open(os.environ["GH_LOG"], "a") as log:
    log.write(json.dumps(asked) + "\\n")
if "--paginate" in sys.argv:
    print(os.environ["GH_FINDS"])
"""


class Outcome(NamedTuple):
    """How a pull request went: status of the last command, what it printed, what `gh` was asked."""

    status: int
    printed: str
    asked: list[dict[str, Any]]


class Runner:
    """A fresh clone of a branch, as a machine of GitHub's has it, with this environment's packages."""

    def __init__(self, project: Project, branch: str, base: str, folder: Path) -> None:
        self.folder = folder / "checkout"
        self._path, self._base = folder / "path", base
        subprocess.run(["git", "clone", "--quiet", project.folder, self.folder], check=True)
        subprocess.run(["git", "checkout", "--quiet", "--detach", f"origin/{branch}"], cwd=self.folder, check=True)
        _installed(self.folder)
        (folder / "bin").mkdir()
        (folder / "bin/gh").write_text(GH, encoding="utf-8")
        (folder / "bin/gh").chmod(0o755)
        self._log = folder / "gh.log"
        self._log.touch()
        self._path.touch()
        files = {"GITHUB_PATH": self._path, "GITHUB_OUTPUT": folder / "output", "GH_LOG": self._log}
        self._environment = project.environment | {name: str(path) for name, path in files.items()}
        self._environment |= {"PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}", "GH_FINDS": "", "CI": "true"}

    def run(self, finds: str = "") -> Outcome:
        """The jobs `evaluate` and `comment`; finds: the comment that is there already."""
        self._environment["GH_FINDS"] = finds
        status, printed = self._job("evaluate")
        self._job("comment")
        return Outcome(status, printed, [json.loads(line) for line in self._log.read_text().splitlines()])

    def _job(self, name: str) -> tuple[int, str]:
        printed = ""
        for step in JOBS[name]["steps"]:
            if "run" not in step:
                continue
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
                cwd=self.folder,
                env=self._with(step.get("env", {})),
                text=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                check=False,
            )
            printed += done.stdout
            if done.returncode:
                return done.returncode, printed
        return 0, printed

    def _with(self, variables: dict[str, str]) -> dict[str, str]:
        known = {
            "github.event.pull_request.base.sha": self._base,
            "github.event.pull_request.number": "7",
            "github.repository": "team/evaluation",
            "github.server_url": "https://github.example",
            "github.run_id": "99",
            "github.token": "token",
        }
        filled = {
            name: re.sub(r"\$\{\{ (.*?) \}\}", lambda match: known.get(match[1], ""), value)
            for name, value in variables.items()
        }
        added = os.pathsep.join([*self._path.read_text().split(), self._environment["PATH"]])
        return self._environment | {"PATH": added} | filled


def _installed(folder: Path) -> None:
    """As if `make setup-dev` had installed everything: what this Python has, by links, and the marks that say so."""
    (folder / ".venv").mkdir()
    for path in Path(sys.prefix).iterdir():
        if path.name not in MARKS:
            (folder / ".venv" / path.name).symlink_to(path)
    for mark in MARKS:
        (folder / ".venv" / mark).touch()


@pytest.fixture(scope="module")
def project(v1: Project) -> Project:
    """With what the workflow sets up an environment by."""
    for name in ("Makefile", "requirements.lock"):
        shutil.copy(ROOT / name, v1.folder / name)
    return v1


@pytest.fixture(scope="module")
def base(project: Project) -> str:
    """The commit on main that both branches left, evaluated and pushed; the name of the one that main has since."""
    project.run("dvc", "remote", "add", "--default", "shared", str(project.folder.parent / "remote"))
    project.commit("evaluated, with a remote")
    project.run("dvc", "push")
    project.run("git", "checkout", "--quiet", "-b", "worse")
    project.write_answers(DATA, wrong=25)
    project.commit("worse answers, not evaluated")
    project.run("git", "checkout", "--quiet", "-b", "good", "main")
    (project.folder / "README.md").write_text("a change of words", encoding="utf-8")
    project.commit("words")
    project.run("git", "checkout", "--quiet", "main")
    project.edit("params.yaml", "gleu: {threshold: 0.5}", "gleu: {threshold: 0.9}")
    project.commit("main went on, and was not evaluated")
    return project.run("git", "rev-parse", "main").strip()


def test_a_good_pull_request_passes_and_gets_a_comment(project: Project, base: str, tmp_path: Path) -> None:
    runner = Runner(project, "good", base, tmp_path)
    left = project.run("git", "rev-parse", "main~1")[:12]

    status, printed, asked = runner.run()

    assert status == 0, printed
    assert "Running stage" not in printed
    assert "::warning" not in printed
    assert [each["arguments"][1] for each in asked] == ["--paginate", "--silent"]
    assert asked[1]["arguments"] == [
        "api",
        "--silent",
        "repos/team/evaluation/issues/7/comments",
        "--field",
        "body=@body.md",
    ]
    assert asked[1]["body"].startswith(f"<!-- goldmeter -->\n### goldmeter: {left} → workspace\n")
    assert "all 16 measures unchanged on every row" in asked[1]["body"]
    assert asked[1]["body"].endswith("(https://github.example/team/evaluation/actions/runs/99)\n")
    assert (runner.folder / "reports/comparison.html").exists()


def test_a_worse_one_fails_and_its_comment_is_renewed(project: Project, base: str, tmp_path: Path) -> None:
    status, printed, asked = Runner(project, "worse", base, tmp_path).run(finds="11\n12")

    assert status == 1, printed
    assert "Running stage 'lexical'" in printed
    assert "::warning file=dvc.lock::" in printed
    assert asked[1]["arguments"][:4] == ["api", "--silent", "--method", "PATCH"]
    assert asked[1]["arguments"][4] == "repos/team/evaluation/issues/comments/12"
    assert "25 rows changed result" in asked[1]["body"]
    assert "worse" in asked[1]["body"]


@pytest.mark.exhaustive
@pytest.mark.usefixtures("base")
def test_a_base_without_a_run_is_an_error_that_the_comment_tells(project: Project, tmp_path: Path) -> None:
    start = project.run("git", "rev-list", "--max-parents=0", "main").strip()

    status, _, asked = Runner(project, "main~1", start, tmp_path).run()

    assert status == 2
    assert "### goldmeter: not compared\n\n    error: " in asked[1]["body"]


def test_what_nobody_pushed_is_said(project: Project, base: str, tmp_path: Path) -> None:
    (project.folder.parent / "remote").rename(project.folder.parent / "gone")

    status, printed, _ = Runner(project, "worse", base, tmp_path).run()

    assert status == 1
    assert "::error title=dvc pull::" in printed
    assert "Running stage" not in printed
