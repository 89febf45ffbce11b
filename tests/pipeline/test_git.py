"""The commit that a page names."""

import subprocess
from pathlib import Path

import pytest

from goldmeter.pipeline import git

COMMIT = ("-c", "user.name=n", "-c", "user.email=e@x", "commit", "--quiet", "--allow-empty", "--message", "m")


def run(*command: str) -> str:
    return subprocess.run(["git", *command], check=True, capture_output=True, text=True).stdout.strip()


def today() -> str:
    """The day of the last commit."""
    return run("log", "-1", "--format=%cs")


@pytest.fixture
def first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A repository with params.yaml; its commit."""
    monkeypatch.chdir(tmp_path)
    run("init", "--quiet")
    Path("params.yaml").write_text("a: 1", encoding="utf-8")
    run("add", "--all")
    run(*COMMIT)
    return run("rev-parse", "--short", "HEAD")


def test_a_later_commit_of_other_files_is_not_named(first: str) -> None:
    Path("dvc.lock").touch()
    run("add", "--all")
    run(*COMMIT)

    assert git.described("params.yaml", "tasks", with_day=True) == f"{first} of {today()}"


def test_changes_that_are_not_committed_are_said(first: str) -> None:
    Path("params.yaml").write_text("a: 2", encoding="utf-8")

    assert git.described("params.yaml", with_day=True) == f"{first} of {today()} with uncommitted changes"


@pytest.mark.usefixtures("first")
def test_a_tag_names_it_and_what_no_commit_changed_is_of_the_last_one() -> None:
    run("tag", "v1")
    run(*COMMIT)

    assert git.described("params.yaml", with_day=True) == f"v1 of {today()}"
    assert git.described("tasks", with_day=True) == f"v1-1-g{run('rev-parse', '--short', 'HEAD')} of {today()}"


@pytest.mark.parametrize("is_repository", [True, False])
def test_without_a_commit_there_is_no_version(
    is_repository: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if is_repository:
        run("init", "--quiet")

    assert git.described("params.yaml") is None
