"""A project under git and DVC with a remote: tags v1 and v2, the experiment try-1, and a workspace of its own."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.comparison.sample import Row, answers, version
from tests.small_project import stated_in_full

PIPELINE = """\
stages:
  score:
    cmd: echo
    outs:
      - data/load
      - data/normalize
      - data/lexical
"""
CONFIG = """\
[core]
    analytics = false
    check_update = false
    remote = shared
['remote "shared"']
    url = ../../remote
"""
V1, V2, TRIED, NOW = "+" * 40, "+" * 20 + "." * 20, "." * 5 + "+" * 35, "+" * 39 + "."


def git(*command: str) -> str:
    return subprocess.run(["git", *command], check=True, capture_output=True, text=True).stdout.strip()


def make(folder: Path) -> None:
    """Write the project to folder/project and its remote to folder/remote."""
    from dvc.repo import Repo

    (folder / "project/.dvc").mkdir(parents=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder / "project")
        git("init", "-q", "-b", "main")
        git("config", "user.name", "n")
        git("config", "user.email", "e@x")
        Path(".dvc/config").write_text(CONFIG, encoding="utf-8")
        Path(".dvc/.gitignore").write_text("/cache\n/tmp\n/config.local\n", encoding="utf-8")
        Path(".gitignore").write_text("data/\n", encoding="utf-8")
        Path("dvc.yaml").write_text(PIPELINE, encoding="utf-8")
        write_params()
        git("add", "-A")
        git("commit", "-q", "-m", "before any run")
        git("tag", "v0")
        with Repo() as repo:
            for name, text in (("v1", V1), ("v2", V2)):
                commit_tables(repo, answers(text))
                repo.push()
                git("add", "-A")
                git("commit", "-q", "-m", name)
                git("tag", name)
            commit_tables(repo, answers(TRIED))
            repo.experiments.save(name="try-1")
        git("checkout", "-q", "--", "dvc.lock")
        version(Path(), answers(NOW))


def write_params() -> None:
    """The params of the tests, with a primary measure that these versions have: they have no labels and no judge."""
    content = stated_in_full().replace("  primary:  ", "  primary: f1", 1)
    Path("params.yaml").write_text(content, encoding="utf-8")


def copy(template: Path, folder: Path) -> Path:
    """A copy to work in; the path of its project."""
    shutil.copytree(template, folder, symlinks=True)
    return folder / "project"


def commit_tables(repo: object, rows: list[Row]) -> None:
    """As if the stage had made the tables of these rows."""
    version(Path(), rows)
    repo.commit("score", force=True)  # type: ignore[attr-defined]
