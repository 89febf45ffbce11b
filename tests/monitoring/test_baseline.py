"""A baseline has a name that stands still; a branch, or a way from another name, has not."""

from pathlib import Path

import pytest

from tasks.errors import ParamsError
from tasks.monitoring.decision import check_baseline
from tests.comparison.repository import git


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with tag v1 (and v1 no more), branches, an experiment, and names that are both."""
    folder = tmp_path_factory.mktemp("baselines")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        from dvc.repo import Repo

        git("init", "-q", "-b", "main")
        git("config", "user.name", "n")
        git("config", "user.email", "e@x")
        Repo.init().close()
        git("add", "-A")
        git("commit", "-q", "-m", "first")
        git("tag", "v1")
        git("tag", "-a", "-m", "told", "told")
        for branch in ("topic", "both", "deadbeef"):
            git("branch", branch)
        git("tag", "both")
        git("update-ref", "refs/remotes/origin/upstream", "HEAD")
        head = git("rev-parse", "HEAD")
        git("commit", "-q", "--allow-empty", "-m", "tried")
        git("update-ref", f"refs/exps/{head[:2]}/{head[2:]}/try-1", "HEAD")
        git("update-ref", f"refs/exps/{head[:2]}/{head[2:]}/topic", "HEAD")
        git("reset", "-q", "--hard", head)
    return folder


@pytest.fixture
def head(repository: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(repository)
    return git("rev-parse", "HEAD")


@pytest.mark.parametrize("name", ["v1", "told", "tags/v1", "refs/tags/v1", "tags/both"])
def test_a_tag_stands_still(head: str, name: str) -> None:
    assert check_baseline("nightly", name) == head


def test_a_commits_id_stands_still(head: str) -> None:
    for name in (head, head[:7], head[:12].upper()):
        assert check_baseline("nightly", name) == head


def test_an_experiment_stands_still(head: str) -> None:
    tried = git("rev-parse", f"refs/exps/{head[:2]}/{head[2:]}/try-1")

    assert check_baseline("nightly", "try-1") == tried != head
    assert check_baseline("nightly", f"refs/exps/{head[:2]}/{head[2:]}/try-1") == tried


@pytest.mark.parametrize(
    "name",
    ["main", "topic", "heads/topic", "both", "deadbeef", "HEAD", "@", "origin/upstream", "v1~0", "v1^{}", ":/first"],
)
@pytest.mark.usefixtures("head")
def test_a_name_that_moves_or_may_is_refused(name: str) -> None:
    with pytest.raises(ParamsError, match=r"^schedule\.nightly\.baseline: .*expected a tag, a commit or an experiment"):
        check_baseline("nightly", name)


@pytest.mark.parametrize("name", ["v9", "--all", "-", ".", "0" * 40, "try-2", "", "a b", "v1\n"])
@pytest.mark.usefixtures("head")
def test_a_name_that_nobody_knows_is_refused(name: str) -> None:
    with pytest.raises(ParamsError, match=r"^schedule\.nightly\.baseline: "):
        check_baseline("nightly", name)
