"""Wheels in an environment of their own: a project in a folder that was empty, and its upgrade to the next version."""

import json
import os
import subprocess
import sys
import venv
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from benchmarks.project import copy_shipped
from goldmeter.pipeline import revisions
from goldmeter.pipeline.yaml import dump_yaml, load_yaml
from goldmeter.project.template import project_files
from tests.whole.conftest import ROOT, Project, ran

pytestmark = pytest.mark.exhaustive
SCORE = "from goldmeter import score; print(score('f1', ['a b'], ['b']))"


class Environment(NamedTuple):
    """One with our wheel, which sees the libraries of the environment that runs the tests."""

    folder: Path

    @property
    def goldmeter(self) -> str:
        """The command."""
        return str(self.folder / "bin/goldmeter")

    @property
    def python(self) -> str:
        """Its Python."""
        return str(self.folder / "bin/python")

    def install(self, wheel: Path) -> None:
        """Install a wheel in place of the one before."""
        pip = [sys.executable, "-m", "pip", "--python", self.python, "install", "--force-reinstall"]
        subprocess.run([*pip, "--no-deps", "--no-index", "--no-compile", wheel], check=True, capture_output=True)


def built(sources: Path, folder: Path) -> Path:
    """The wheel of a clone."""
    build = partial(subprocess.run, check=True, capture_output=True, cwd=sources)
    build([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)])
    [wheel] = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    folder = tmp_path_factory.mktemp("installed")
    found = Environment(folder / "environment")
    venv.create(found.folder, symlinks=True)
    [packages] = found.folder.glob("lib/python*/site-packages")
    present = [path for path in sys.path if Path(path).name == "site-packages"]
    (packages / "present.pth").write_text("\n".join(present), encoding="utf-8")
    found.install(built(ROOT, folder))
    return found


@pytest.fixture(scope="module")
def newer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of a next version, in which METEOR is another formula."""
    sources = tmp_path_factory.mktemp("newer")
    copy_shipped(sources)
    changes = [change.model_dump() for change in revisions.changes()]
    now = changes[0] | {
        "version": "0.2.0",
        "reasons": [{"lexical": "METEOR has no penalty"}],
        "signatures": ["meteor"],
    }
    (sources / "goldmeter/pipeline/changes.yaml").write_text(dump_yaml([now, *changes]), encoding="utf-8")
    for name, old, new in (
        ("pyproject.toml", 'version = "0.1.0"', 'version = "0.2.0"'),
        (
            "goldmeter/metrics/lexical/meteor.py",
            "    alpha: Share = 0.9\n",
            "    version = 2\n    alpha: Share = 0.9\n",
        ),
        ("goldmeter/metrics/lexical/meteor.py", "penalty = self.gamma *", "penalty = 0 * self.gamma *"),
        ("tasks/lexical.py", '"""', '"""Of the next version. '),
    ):
        text = (sources / name).read_text(encoding="utf-8")
        assert old in text
        (sources / name).write_text(text.replace(old, new, 1), encoding="utf-8")
    return built(sources, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A folder with nothing in it; no environment is active."""
    project = Project.empty(tmp_path_factory.mktemp("scratch"))
    project.folder.mkdir(parents=True)
    guard, _, _ = project.environment["PYTHONPATH"].partition(os.pathsep)
    project.environment["PYTHONPATH"] = guard  # the library is the wheel's
    outside = [part for part in os.environ["PATH"].split(os.pathsep) if not Path(part, "dvc").exists()]
    project.environment["PATH"] = os.pathsep.join(outside)
    project.environment["NUMBA_CACHE_DIR"] = str(Path(sys.prefix, "var/goldmeter"))  # its environment is a new one
    return project


def test_a_score_needs_no_project(environment: Environment, project: Project) -> None:
    assert project.run(environment.python, "-c", SCORE) == "[1.]\n"


def test_a_project_is_made_of_the_wheel_alone_and_runs_as_the_clone_does(
    environment: Environment, project: Project, example: Project
) -> None:
    output = project.run(environment.goldmeter, "init")
    assert output.endswith("next: goldmeter run\n")
    made = {name: (project.folder / name).read_bytes() for name in project_files()}
    assert made == project_files()
    project.commit("start")

    output = project.run(environment.goldmeter, "run")

    assert output.rstrip().endswith("report: reports/index.html")
    assert json.loads(project.read("reports/summary.json")) == json.loads(example.read("reports/summary.json"))
    assert not project.log.exists(), project.log.read_text(encoding="utf-8")
    assert project.run(environment.goldmeter, "--version").strip() == "0.1.0"
    assert "aurora" in project.run(environment.goldmeter, "summary")
    project.commit("run")


def test_ten_rows_pass_the_projects_own_test(environment: Environment, project: Project) -> None:
    assert "1 passed" in project.run(environment.python, "-m", "pytest", "-q", "-p", "no:cacheprovider")


def test_a_comment_in_the_library_runs_nothing(environment: Environment, project: Project) -> None:
    [file] = environment.folder.glob("lib/python*/site-packages/goldmeter/metrics/lexical/meteor.py")
    with file.open("a", encoding="utf-8") as text:
        text.write("# a comment\n")

    assert ran(project.run(str(Path(sys.executable).with_name("dvc")), "repro")) == []


def test_a_newer_library_is_refused_until_the_upgrade(environment: Environment, project: Project, newer: Path) -> None:
    environment.install(newer)

    output = project.run(environment.goldmeter, "run", status=2)

    assert output.splitlines()[-1] == (
        "error: goldmeter.yaml: the project was made for goldmeter 0.1.0, and 0.2.0 changes the numbers of lexical; "
        "run `goldmeter upgrade`"
    )


def test_the_upgrade_runs_what_differs_and_the_comparison_says_what_is_comparable(
    environment: Environment, project: Project
) -> None:
    before = load_yaml(project.folder / "goldmeter.yaml")["revisions"]

    output = project.run(environment.goldmeter, "upgrade")

    assert "  lexical: METEOR has no penalty\n" in output
    assert "  tasks/lexical.py: replaced\n" in output
    after = load_yaml(project.folder / "goldmeter.yaml")["revisions"]
    assert after == before | {"lexical": before["lexical"] + 1}

    project.run(environment.goldmeter, "run")
    output = project.run(environment.goldmeter, "compare", "HEAD", "--json", "comparison.json")

    changed = load_yaml(project.folder / "dvc.lock")["stages"], load_lock(project, "HEAD")
    assert [name for name in changed[0] if changed[0][name]["outs"] != changed[1][name]["outs"]] == [
        "lexical",
        "aggregate",
        "report",
    ]
    for pair in json.loads(project.read("comparison.json"))["pairs"]:
        assert [(refused["measure"], refused["differing"]) for refused in pair["refused"]] == [("meteor", ["v"])]
        assert {each["verdict"] for each in pair["measures"].values()} == {"unchanged"}
    assert "Do not ship" not in output


def load_lock(project: Project, version: str) -> dict[str, dict[str, object]]:
    """The stages of a version's dvc.lock."""
    path = project.folder.parent / "before.lock"
    path.write_text(project.run("git", "show", f"{version}:dvc.lock"), encoding="utf-8")
    stages: dict[str, dict[str, object]] = load_yaml(path)["stages"]
    return stages
