"""The command `goldmeter`: what it copies, where it makes a project, and what it becomes."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from goldmeter.__main__ import main
from goldmeter.template import TEMPLATE, project_files
from tests.small_project import ROOT

FLOWS = [sys.executable, "-m", "flows"]


class BecomeError(Exception):
    """Raised in place of the process that would begin."""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def become(_: str, command: list[str]) -> None:
        raise BecomeError(command)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "execv", become)
    monkeypatch.setenv("PATH", os.environ["PATH"])


def became(*arguments: str) -> list[str]:
    with pytest.raises(BecomeError) as ended:
        main(arguments)
    [command] = ended.value.args
    assert os.environ["PATH"].split(os.pathsep)[0] == str(Path(sys.executable).parent)
    return list(command)


def status(*arguments: str) -> int | str | None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    return ended.value.code


def test_a_project_has_all_that_git_tracks_of_its_folders_and_no_local_file() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    tracked = {name for name in listed.stdout.split("\0") if (ROOT / name).is_file()}
    files = {*project_files()}

    assert {
        name for name in tracked if name.startswith(("goldmeter/", "tasks/", "flows/", "prompts/", "data/examples/"))
    } <= files
    assert {"dvc.yaml", "params.yaml", "requirements.lock", ".dvc/config", ".dvcignore", ".gitignore"} <= files
    assert not any(name.startswith((".dvc/tmp", ".dvc/cache", ".dvc/config.local")) for name in files)
    assert TEMPLATE == ROOT


def test_the_source_distribution_has_all_that_the_wheel_is_made_of_and_nothing_else() -> None:
    targets = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]

    in_wheel = targets["wheel"]["force-include"]
    assert targets["sdist"]["include"] == sorted({"/goldmeter", *(f"/{name}" for name in in_wheel)})
    assert in_wheel == {name: f"goldmeter/project/{name}" for name in in_wheel}


def test_init_makes_a_project_under_git(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status("init") is None

    assert [name for name in project_files() if not (tmp_path / name).is_file()] == []
    assert (tmp_path / ".git").is_dir()
    assert capsys.readouterr().out.endswith("next: goldmeter run\n")
    assert became("init", "x.csv") == [*FLOWS, "init", "x.csv"]


def test_init_with_data_goes_on_to_map_it(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/mine.csv").write_text("question\n", encoding="utf-8")

    assert became("init", "data/mine.csv") == [*FLOWS, "init", "data/mine.csv"]
    assert (tmp_path / "data/mine.csv").read_text(encoding="utf-8") == "question\n"
    assert (tmp_path / "dvc.yaml").is_file()


def test_init_in_a_repository_makes_no_other_one_and_keeps_its_gitignore(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet"], check=True)
    (tmp_path / ".gitignore").write_text("mine\n", encoding="utf-8")
    folder = tmp_path / "evaluation"
    folder.mkdir()
    os.chdir(folder)
    (folder / ".gitignore").write_text("mine\n", encoding="utf-8")

    assert status("init") is None

    assert not (folder / ".git").exists()
    assert (folder / ".gitignore").read_text(encoding="utf-8") == "mine\n"


def test_init_overwrites_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "params.yaml").write_text("mine", encoding="utf-8")

    assert status("init") == 2

    assert [path.name for path in tmp_path.iterdir()] == ["params.yaml"]
    assert capsys.readouterr().err.startswith("error: params.yaml: is there already; ")


def test_without_git_nothing_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    assert status("init") == 2

    assert [*tmp_path.iterdir()] == []
    assert capsys.readouterr().err.startswith("error: git: not found")


def test_a_command_without_a_project_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status("run") == 2

    assert capsys.readouterr().err == f"error: {tmp_path}: holds no project; `goldmeter init` makes one\n"


@pytest.mark.parametrize("arguments", [[], ["--help"], ["init", "--help"], ["compare", "-h"]], ids=" ".join)
def test_help_needs_no_project_and_makes_none(arguments: list[str], tmp_path: Path) -> None:
    assert became(*arguments) == [*FLOWS, *arguments]

    assert Path.cwd() == TEMPLATE
    assert [*tmp_path.iterdir()] == []


def test_in_a_project_a_command_is_that_of_its_flows(tmp_path: Path) -> None:
    for mark in ("dvc.yaml", "flows/__main__.py", "goldmeter/runner.py"):
        (tmp_path / mark).parent.mkdir(exist_ok=True)
        (tmp_path / mark).touch()

    assert became("judge", "--plan") == [*FLOWS, "judge", "--plan"]
    assert Path.cwd() == tmp_path
