"""The wheel in an environment of its own: `goldmeter init` and `goldmeter run` in a folder that was empty."""

import os
import subprocess
import sys
import venv
from functools import partial
from pathlib import Path

import pytest

from goldmeter.template import project_files
from tests.whole.conftest import ROOT, Project, answer

pytestmark = pytest.mark.exhaustive


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command in an environment with our wheel, which sees the libraries of the one that runs the tests."""
    folder = tmp_path_factory.mktemp("installed")
    run = partial(subprocess.run, check=True, capture_output=True, cwd=ROOT)
    run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)])
    [wheel] = folder.glob("*.whl")
    environment = folder / "environment"
    venv.create(environment, symlinks=True)
    [packages] = environment.glob("lib/python*/site-packages")
    present = [path for path in sys.path if Path(path).name == "site-packages"]
    (packages / "present.pth").write_text("\n".join(present), encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "--python", str(environment / "bin/python")]
    run([*pip, "install", "--no-deps", "--no-index", "--no-compile", str(wheel)])
    return environment / "bin/goldmeter"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A folder with nothing but data; no environment is active."""
    project = Project.empty(tmp_path_factory.mktemp("scratch"))
    (project.folder / "data").mkdir(parents=True)
    lines = (answer(number, wrong=3) for number in range(12))
    (project.folder / "data/mine.jsonl").write_text("".join(lines), encoding="utf-8")
    outside = [part for part in os.environ["PATH"].split(os.pathsep) if not Path(part, "dvc").exists()]
    project.environment["PATH"] = os.pathsep.join(outside)
    project.environment["NUMBA_CACHE_DIR"] = str(Path(sys.prefix, "var/goldmeter"))  # its environment is a new one
    return project


def test_a_project_is_made_of_data_and_of_the_wheel_alone(installed: Path, project: Project) -> None:
    output = project.run(str(installed), "init", "data/mine.jsonl")

    assert "24 rows: 2 systems, 24 labelled" in output
    assert [name for name in project_files() if not (project.folder / name).is_file()] == []
    assert "mine.jsonl" in project.read("params.yaml")


def test_it_runs_to_its_report(installed: Path, project: Project) -> None:

    output = project.run(str(installed), "run")

    assert output.rstrip().endswith("report: reports/index.html")
    assert "nobody knows" in project.read("reports/index.html").lower()
    assert not project.log.exists(), project.log.read_text(encoding="utf-8")


def test_the_command_names_its_version_and_what_a_run_found(installed: Path, project: Project) -> None:
    assert project.run(str(installed), "--version").strip() == "0.1.0"
    assert "aurora" in project.run(str(installed), "summary")
