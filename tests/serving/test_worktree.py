"""A scheduled run computes in a worktree of its own, which is as HEAD is, whatever was left there."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from configobj import ConfigObjError
from dvc.config import Config
from dvc.exceptions import DvcException
from dvc.repo import Repo
from hypothesis import assume, given
from hypothesis import strategies as st

from goldmeter.errors import VersionError
from goldmeter.serving import worktree
from goldmeter.serving.worktree import StillRunningError, prepared
from goldmeter.system import processes

ROOT = Path(__file__).parents[2]
PIPELINE = """\
stages:
  copy:
    cmd: cp data/mine.csv data/out
    deps: [data/mine.csv]
    outs: [data/out]
"""
SECRET = 'p%40ss, "word"'  # noqa: S105 (made up)
IDENTITY = ["-c", "user.name=n", "-c", "user.email=e@x"]
Prepare = Callable[..., AbstractContextManager[Path]]
Until = Callable[..., None]


def git(folder: Path, *command: str) -> str:
    return subprocess.run(["git", *IDENTITY, *command], cwd=folder, check=True, capture_output=True, text=True).stdout


def commit(folder: Path, message: str = "more") -> str:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", message)
    return git(folder, "rev-parse", "HEAD").strip()


def dvc_project(folder: Path) -> None:
    """A stage and a data set of DVC, in a folder of a git repository."""
    (folder / ".dvc").mkdir(parents=True)
    (folder / ".dvc/config").write_text("[core]\n    analytics = false\n    check_update = false\n")
    (folder / ".dvc/.gitignore").write_text("/config.local\n/tmp\n/cache\n")
    (folder / "data").mkdir()
    (folder / "data/mine.csv").write_text("one\n")
    (folder / "dvc.yaml").write_text(PIPELINE)
    (folder / "code.py").write_text("first\n")
    with Repo(str(folder)) as repo:
        repo.add(str(folder / "data/mine.csv"))
    with (folder / "data/.gitignore").open("a") as ignored:
        ignored.write("/out\n")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template") / "checkout"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    dvc_project(folder)
    commit(folder, "start")
    return folder


@pytest.fixture
def checkout(template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(template, tmp_path / "checkout", symlinks=True))


@pytest.fixture
def by_git_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves out `dvc checkout`, which takes a second."""
    monkeypatch.setattr(worktree, "_check_out_outputs", lambda *_: None)


def tree_of(checkout: Path, name: str = "nightly") -> Path:
    return (checkout / ".git/goldmeter/worktrees" / name).resolve()


def state(checkout: Path) -> dict[str, str | bytes]:
    """What a run must leave alone: index, files, branch, stash."""
    files = {
        str(path.relative_to(checkout)): path.read_bytes()
        for path in sorted(checkout.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(checkout).parts and "tmp" not in path.parts
    }
    index = {"index": (checkout / ".git/index").read_bytes()}
    asked = ("symbolic-ref HEAD", "for-each-ref", "stash list", "status --porcelain=v2 --branch")
    return files | index | {question: git(checkout, "--no-optional-locks", *question.split()) for question in asked}


@pytest.mark.usefixtures("by_git_alone")
def test_it_is_a_worktree_of_its_own_as_head_is(checkout: Path) -> None:
    with prepared("nightly", checkout) as folder:
        assert folder == tree_of(checkout)
        assert (folder / "code.py").read_text() == "first\n"
        assert git(folder, "rev-parse", "HEAD") == git(checkout, "rev-parse", "HEAD")
        assert git(folder, "branch", "--show-current") == ""
        assert git(folder, "status", "--porcelain") == ""


@pytest.mark.usefixtures("by_git_alone")
def test_it_follows_head_and_loses_what_a_run_changed(checkout: Path) -> None:
    with prepared("nightly", checkout) as folder:
        (folder / "code.py").write_text("overridden\n")
        (folder / "dvc.lock").write_text("schema: '2.0'\n")
        (folder / "data/.load.tmp").mkdir()
        (folder / "data/.load.tmp/part").write_text("half")
        git(folder, "init", "--quiet", "fetched")
        (folder / "fetched/file").write_text("of a refresh command")
        (folder / "data/out").write_text("an output")
    (checkout / "code.py").write_text("second\n")
    commit(checkout)

    with prepared("nightly", checkout) as folder:
        assert (folder / "code.py").read_text() == "second\n"
        assert git(folder, "status", "--porcelain") == ""
        assert {path.name for path in folder.iterdir()} == {".dvc", ".git", "code.py", "data", "dvc.yaml"}
        assert (folder / "data/out").read_text() == "an output"


def test_a_run_in_a_path_of_any_letters_leaves_what_a_person_is_in_the_middle_of(
    checkout: Path, tmp_path: Path
) -> None:
    checkout = checkout.rename(tmp_path / "für alle, 'heute'")
    (checkout / "code.py").write_text("stashed\n")
    git(checkout, "stash")
    (checkout / "code.py").write_text("staged\n")
    git(checkout, "add", "code.py")
    (checkout / "code.py").write_text("staged, then edited\n")
    (checkout / "dvc.yaml").write_text("no: [YAML\n")
    (checkout / "untracked").write_text("mine")
    (checkout / ".git/hooks").mkdir(exist_ok=True)
    (checkout / ".git/hooks/post-checkout").write_text(f"#!/bin/sh\ntouch {checkout}/hooked\n")
    (checkout / ".git/hooks/post-checkout").chmod(0o755)
    before, told = state(checkout), list[str]()

    for _ in range(2):
        with prepared("nightly", checkout, told.append) as folder:
            assert folder == tree_of(checkout)
            assert (folder / "code.py").read_text() == "first\n"
            assert (folder / "data/mine.csv").read_text() == "one\n"
            (folder / ".dvc/tmp/rwlock").write_text('{"read": {"')  # a table of busy paths, cut short by a kill

    assert told == []
    assert state(checkout) == before


@pytest.mark.usefixtures("by_git_alone")
@pytest.mark.parametrize("inside", ["the checkout", "another repository"])
def test_a_repository_that_the_environment_names_is_left_alone(
    checkout: Path, tmp_path: Path, inside: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Path(shutil.copytree(checkout, tmp_path / "other", symlinks=True))
    for folder in (checkout, other):
        (folder / "code.py").write_text("staged\n")
        git(folder, "add", "code.py")
        (folder / "dvc.yaml").write_text("an edit\n")
    before = state(checkout), state(other)
    named = checkout if inside == "the checkout" else other

    for _ in range(2):
        with monkeypatch.context() as patch:
            patch.setenv("GIT_DIR", str(named / ".git"))
            patch.setenv("GIT_WORK_TREE", str(named))
            patch.setenv("GIT_INDEX_FILE", str(named / ".git/index"))
            patch.setenv("GIT_PREFIX", "")
            with prepared("nightly", checkout) as folder:
                assert folder == tree_of(checkout)
                assert (folder / "code.py").read_text() == "first\n"

    assert (state(checkout), state(other)) == before


@pytest.mark.usefixtures("by_git_alone")
@pytest.mark.parametrize("target", [".git", ".git/worktrees/mine"])
def test_a_worktree_that_claims_to_be_another_one_resets_nobody_elses(
    checkout: Path, tmp_path: Path, target: str
) -> None:
    mine = tmp_path / "mine"
    git(checkout, "worktree", "add", "--quiet", "-b", "mine", str(mine))
    with prepared("nightly", checkout) as folder:
        (folder / ".git").write_text(f"gitdir: {checkout / target}\n")
    for each in (checkout, mine):
        (each / "code.py").write_text("staged\n")
        git(each, "add", "code.py")
    before = state(checkout), git(mine, "status", "--porcelain=v2", "--branch")

    with prepared("nightly", checkout) as folder:
        assert git(folder, "status", "--porcelain") == ""

    assert (state(checkout), git(mine, "status", "--porcelain=v2", "--branch")) == before


@pytest.mark.usefixtures("by_git_alone")
def test_a_worktree_on_a_disk_that_is_away_survives(checkout: Path, tmp_path: Path) -> None:
    away, disk = tmp_path / "away", tmp_path / "disk"
    git(checkout, "worktree", "add", "--quiet", "--detach", str(disk / "mine"))
    (disk / "mine/code.py").write_text("committed there\n")
    only_there = commit(disk / "mine")
    (disk / "mine/code.py").write_text("staged there\n")
    git(disk / "mine", "add", "code.py")
    with prepared("nightly", checkout):
        pass
    disk.rename(away)
    damaged(checkout, "no folder")

    with prepared("nightly", checkout):
        pass

    away.rename(disk)
    assert git(disk / "mine", "rev-parse", "HEAD").strip() == only_there
    assert git(disk / "mine", "show", ":code.py") == "staged there\n"


# What may be left of a worktree → how that comes about. $tree: the worktree; $own: what git has about it.
DAMAGES = {
    "no folder": "rm -r $tree",
    "no registration": "rm -r .git/worktrees",
    "no folder of a locked one": "git worktree lock $tree; rm -r $tree",
    "a link to nowhere": "echo gitdir: /nowhere > $tree/.git",
    "no link": "rm $tree/.git",
    "another repository": "rm -r $tree; git init --quiet $tree",
    "a file": "rm -r $tree; echo no folder > $tree",
    "locks": "touch $own/index.lock $own/HEAD.lock",
    "a torn index": "printf DIRC > $own/index",
    "half of it, as `git worktree add` was killed": "printf initializing > $own/locked; mv $own/index $own/index.lock",
    "no HEAD in the file": "printf '' > $own/HEAD",
    "no name of the worktree": "rm $own/gitdir",
    "no name of the worktree and no folder": "printf '' > $own/gitdir; rm -r $tree",
    "neither HEAD nor folder": "rm -r $own/HEAD $tree",
    "no way to the repository": "rm $own/commondir",
    "no tracked files": "rm -r $tree/data $tree/dvc.yaml; mkdir $tree/dvc.yaml",
    "torn settings": "echo '[cache' > $tree/.dvc/config.local",
}  # fmt: skip


def damaged(checkout: Path, damage: str) -> None:
    places = {"tree": str(tree_of(checkout)), "own": str(checkout / ".git/worktrees/nightly")}
    subprocess.run(["sh", "-e", "-c", DAMAGES[damage]], cwd=checkout, env=os.environ | places, check=True)


@pytest.mark.usefixtures("by_git_alone")
def test_nothing_that_is_left_there_needs_a_person(checkout: Path) -> None:
    with prepared("nightly", checkout):
        pass

    for damage in DAMAGES:
        damaged(checkout, damage)
        before = state(checkout)
        with prepared("nightly", checkout) as folder:
            assert git(folder, "status", "--porcelain") == "", damage
            assert git(folder, "rev-parse", "--show-toplevel").strip() == str(folder), damage
            assert (folder / "dvc.yaml").read_text() == PIPELINE, damage
        assert state(checkout) == before, damage


@pytest.mark.usefixtures("by_git_alone")
def test_a_second_run_of_the_schedule_is_refused_while_the_first_lives(checkout: Path) -> None:
    with prepared("nightly", checkout), pytest.raises(StillRunningError, match=r"nightly: a run .* is still running"):
        prepared("nightly", checkout).__enter__()

    with prepared("nightly", checkout):
        pass


@pytest.mark.usefixtures("by_git_alone")
def test_two_schedules_run_side_by_side(checkout: Path) -> None:
    with prepared("nightly", checkout) as one, prepared("nightly-en", checkout) as other:
        (one / "code.py").write_text("of the one\n")

        assert (other / "code.py").read_text() == "first\n"


@pytest.mark.usefixtures("by_git_alone")
def test_no_child_holds_the_schedule_when_the_run_has_ended(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(processes.MARK, raising=False)  # a marked child would be taken for one of a killed run
    with prepared("nightly", checkout) as folder:
        child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, cwd=folder, close_fds=False)

    with child, prepared("nightly", checkout):
        assert child.poll() is None
        child.kill()


WORKS = """
import sys
from pathlib import Path
from goldmeter.system import processes
from goldmeter.serving.worktree import prepared
processes.end_marked_with_us()
work = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(600)"
with prepared("nightly", Path({checkout!r})) as folder:
    command = [sys.executable, "-c", work]
    processes.run(command, processes.environment(), 600, lambda *_: Path({up!r}).touch(), cwd=folder)
"""


@pytest.mark.long
@pytest.mark.usefixtures("by_git_alone")
def test_a_run_waits_for_the_end_of_one_that_was_killed(checkout: Path, tmp_path: Path, until: Until) -> None:
    up = tmp_path / "up"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", WORKS.format(checkout=str(checkout), up=str(up))], env=environment
    ) as first:
        until(up.exists, "the first run works")
        assert worktree._working_in(tree_of(checkout))
        first.kill()

    with prepared("nightly", checkout) as folder:
        assert worktree._working_in(folder) == []


@pytest.mark.usefixtures("by_git_alone")
def test_a_persons_shell_in_the_worktree_stays(checkout: Path) -> None:
    with prepared("nightly", checkout) as folder:
        pass
    mine = {name: value for name, value in os.environ.items() if name != processes.MARK}

    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, cwd=folder, env=mine) as shell:
        with prepared("nightly", checkout):
            assert shell.poll() is None
        shell.kill()


def test_the_checkout_may_be_a_linked_worktree_itself(checkout: Path, tmp_path: Path) -> None:
    git(checkout, "worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    (tmp_path / "side/data/mine.csv").write_text("of the side\n")
    with Repo(str(tmp_path / "side")) as repo:
        repo.add(str(tmp_path / "side/data/mine.csv"))
    commit(tmp_path / "side")

    with prepared("nightly", tmp_path / "side") as folder:
        assert folder == tree_of(checkout)
        assert (folder / "data/mine.csv").read_text() == "of the side\n"
        assert Config(str(folder / ".dvc"))["cache"]["dir"] == str(tmp_path / "side/.dvc/cache")


def test_data_and_outputs_of_a_project_in_a_subfolder_come_from_the_shared_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "top/evaluation"
    project.parent.mkdir()
    git(project.parent, "init", "--quiet")
    dvc_project(project)
    (project / "data/out").write_text("one\n")
    monkeypatch.chdir(project)
    with Repo() as repo:
        repo.commit("copy", force=True)
    commit(project.parent)
    told: list[str] = []

    with prepared("nightly", project, told.append) as folder:
        assert folder == tree_of(project.parent) / "evaluation"
        assert (folder / "data/mine.csv").read_text() == "one\n"
        assert (folder / "data/out").read_text() == "one\n"
        assert not (folder / ".dvc/cache").exists()
    assert told == []


def test_what_is_not_in_the_cache_stops_nothing(checkout: Path) -> None:
    shutil.rmtree(checkout / ".dvc/cache")
    told: list[str] = []

    with prepared("nightly", checkout, told.append) as folder:
        assert not (folder / "data/mine.csv").exists()

    assert told == []


def test_a_failed_checkout_is_told_and_the_run_goes_on(checkout: Path) -> None:
    (checkout / "dvc.lock").write_text("<<<<<<< a merge\n")
    commit(checkout)
    told: list[str] = []

    with prepared("nightly", checkout, told.append) as folder:
        assert (folder / "code.py").exists()

    assert "exit status 255; the run goes on without" in told[0]
    assert "dvc.lock" in told[0]


@pytest.mark.usefixtures("by_git_alone")
def test_local_settings_are_shared_and_only_ours_to_read(checkout: Path, tmp_path: Path) -> None:
    (checkout / ".dvc/config").write_text(
        "[core]\n    remote = shared\n['remote \"shared\"']\n    url = ../../remote\n"
        "['remote \"s3\"']\n    url = s3://bucket/path\n"
    )
    commit(checkout)
    (checkout / ".dvc/config").write_text("[core]\n    remote = an-edit-that-is-not-committed\n")
    (checkout / ".dvc/config.local").write_text(
        "[cache]\n    dir = ../../cache\n    type = hardlink,copy\n"
        f"['remote \"s3\"']\n    secret_access_key = '{SECRET}'\n    configpath = aws\n"
    )

    with prepared("nightly", checkout) as folder:
        found, local = Config(str(folder / ".dvc")), folder / ".dvc/config.local"
        assert local.stat().st_mode & 0o777 == 0o600
        assert git(folder, "status", "--porcelain") == ""

    assert found["core"]["remote"] == "shared"
    assert found["cache"]["dir"] == str(tmp_path / "cache")
    assert found["cache"]["type"] == ["hardlink", "copy"]
    assert found["remote"]["shared"]["url"] == str(tmp_path / "remote")
    assert found["remote"]["s3"]["url"] == "s3://bucket/path"
    assert found["remote"]["s3"]["secret_access_key"] == SECRET
    assert found["remote"]["s3"]["configpath"] == str(checkout / ".dvc/aws")


@given(text=st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1), committed=st.booleans())
def test_every_path_and_secret_means_the_same_in_the_worktree(text: str, *, committed: bool) -> None:
    with TemporaryDirectory() as folder:
        ours, theirs = Path(folder, "checkout/.dvc"), Path(folder, "checkout/.git/goldmeter/worktrees/nightly/.dvc")
        for each in (ours, theirs):
            each.mkdir(parents=True)
            (each / "config").touch()
        written = ours / ("config" if committed else "config.local")
        written.write_text(
            f"['remote \"tables\"']\nurl = {text}\n['remote \"b\"']\nurl = s3://b\nsession_token = {text}"
        )
        try:
            expected = Config(str(ours))["remote"]
        except (DvcException, ConfigObjError, TypeError):
            assume(condition=False)  # DVC can't read it either
        shutil.copy(ours / "config", theirs)

        worktree._share_dvc(ours, theirs)

        found = Config(str(theirs))["remote"]
        assert os.path.normpath(found["tables"]["url"]) == os.path.normpath(expected["tables"]["url"])
        assert found["b"]["session_token"] == expected["b"]["session_token"]
        assert Config(str(theirs))["cache"]["dir"] == str(ours / "cache")


@pytest.mark.usefixtures("by_git_alone")
def test_a_cache_that_is_committed_with_a_relative_path_is_the_checkouts(checkout: Path, tmp_path: Path) -> None:
    (checkout / ".dvc/config").write_text("[cache]\n    dir = ../../cache\n")
    commit(checkout)

    with prepared("nightly", checkout) as folder:
        assert Config(str(folder / ".dvc"))["cache"]["dir"] == str(tmp_path / "cache")


@pytest.mark.usefixtures("by_git_alone")
def test_a_run_begins_with_what_the_newest_one_of_the_same_commit_found(checkout: Path) -> None:
    head = git(checkout, "rev-parse", "HEAD").strip()
    with prepared("nightly", checkout) as folder:
        for name in ("nightly-2026-11-21-020000", "nightly-en-2026-11-22-020000", "nightly-2-2026-11-23-020000"):
            (folder / "dvc.lock").write_text(f"schema: '2.0'\nstages: {{}}  # {name}\n")
            git(folder, "add", "dvc.lock")
            git(folder, "commit", "--quiet", "--message", name)
            git(folder, "update-ref", f"refs/exps/{head[:2]}/{head[2:]}/{name}", "HEAD")

    with prepared("nightly", checkout) as folder:
        assert "nightly-2026-11-21" in (folder / "dvc.lock").read_text()
    commit_of_more = commit(checkout) if (checkout / "new").write_text("new") else ""
    with prepared("nightly", checkout) as folder:
        assert git(folder, "rev-parse", "HEAD").strip() == commit_of_more
        assert not (folder / "dvc.lock").exists()


@pytest.mark.usefixtures("by_git_alone")
def test_a_newest_run_without_dvc_lock_leaves_the_one_of_head(checkout: Path) -> None:
    (checkout / "dvc.lock").write_text("schema: '2.0'\nstages: {}  # of HEAD\n")
    head = commit(checkout)
    with prepared("nightly", checkout) as folder:
        git(folder, "rm", "--quiet", "dvc.lock")
        git(folder, "commit", "--quiet", "--message", "nothing was made")
        git(folder, "update-ref", f"refs/exps/{head[:2]}/{head[2:]}/nightly-2026-11-21-020000-2", "HEAD")

    with prepared("nightly", checkout) as folder:
        assert (folder / "dvc.lock").read_text() == "schema: '2.0'\nstages: {}  # of HEAD\n"


@pytest.mark.usefixtures("by_git_alone")
def test_what_is_not_committed_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    folder.mkdir()
    with pytest.raises(VersionError, match="scheduled runs need a commit"):
        prepared("nightly", folder).__enter__()

    git(folder, "init", "--quiet")
    with pytest.raises(VersionError, match="scheduled runs need a commit"):
        prepared("nightly", folder).__enter__()

    (folder / "code.py").write_text("")
    commit(folder)
    dvc_project(folder)
    (folder / ".dvc/config.local").write_text("[core]\n")
    with pytest.raises(VersionError, match=r"dvc.yaml: HEAD has none, .*: commit it"):
        prepared("nightly", folder).__enter__()

    git(folder, "add", "dvc.yaml")
    git(folder, "commit", "--quiet", "--message", "all but .dvc")
    with pytest.raises(VersionError, match=r"\.dvc: HEAD has none"):
        prepared("nightly", folder).__enter__()
    assert (folder / ".dvc/config.local").read_text() == "[core]\n"
