"""What changed since the last committed run."""

import shutil
from pathlib import Path

import pytest

from goldmeter.console.terminal import console
from goldmeter.history import last_run
from tests.comparison import repository
from tests.comparison.repository import git


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template")
    repository.make(folder)
    return folder


@pytest.fixture(autouse=True)
def project(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two committed runs, of which dvc.lock has the second; one answer of the first became wrong in the workspace."""
    path = repository.copy(template, tmp_path / "clone")
    monkeypatch.chdir(path)
    return path


def said(capsys: pytest.CaptureFixture[str]) -> list[str]:
    last_run.show(console())
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()]


def test_answers_that_changed_since_the_last_run_with_other_tables(capsys: pytest.CaptureFixture[str]) -> None:
    head, *lines = said(capsys)

    assert f"python -m flows.compare {git('rev-parse', '--short', 'v1')} --html" in head
    assert lines == ["  aurora −2.5 points [−11.7, +5.7] by f1: 1 newly wrong (q39)"]


def test_a_project_without_an_earlier_run_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    git("checkout", "-q", "-f", "v1")

    assert said(capsys) == []


def test_an_earlier_run_whose_tables_are_not_here_is_not_fetched(capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(".dvc/cache")

    assert said(capsys) == []


def test_outside_of_git_it_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(".git")

    assert said(capsys) == []


def test_a_damaged_lock_is_told_and_stops_nothing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "dvc.lock").write_text("{", encoding="utf-8")

    assert said(capsys)[0].startswith("! what changed since the last run is not known: workspace: its dvc.lock can")
