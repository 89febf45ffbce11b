"""A run becomes a DVC experiment, and nothing of the user's is touched, whatever happens meanwhile."""

import hashlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.errors import VersionError
from goldmeter.pipeline import dvc_yaml
from goldmeter.pipeline import git as tasks_git
from goldmeter.pipeline.git import forget_surroundings
from goldmeter.versions import experiments
from goldmeter.versions.experiments import Facts, NameTakenError, free_name, record, require_free, snapshot
from goldmeter.versions.version import versions
from tests.comparison import repository
from tests.comparison.repository import git
from tests.comparison.sample import answers, version

STARTED = datetime(2026, 11, 21, 2, 0, 0, tzinfo=UTC)
OTHER = "....." * 8


@pytest.fixture
def clone(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a copy and of its remote; the current folder is its project."""
    monkeypatch.chdir(repository.copy(template, tmp_path / "clone"))
    dvc_yaml.forget_stages()
    git("reset", "-q")  # the copied files have another ctime, so that the first look at them writes the index
    return tmp_path / "clone"


def facts(**changed: object) -> Facts:
    made = Facts(
        STARTED, 12.34, "d" * 32, experiments.params_id(snapshot()), git("rev-parse", "HEAD"), 0.5, "a-flow-run"
    )
    return made._replace(**changed)  # type: ignore[arg-type]


def run(text: str) -> None:
    """As if the stages had run and DVC had kept what they made."""
    from dvc.repo import Repo

    version(Path(), answers(text))
    with Repo() as repo:
        repo.commit("score", force=True)


def dvc(*command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "dvc", *command],
        check=False,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def of_the_user() -> dict[str, str]:
    """Everything that must stay: index, branch, stash, and each file outside of .git."""
    look = ("--no-optional-locks", "status", "--porcelain=v2", "--branch", "--untracked-files=all", "--ignored")
    files = [path for path in sorted(Path().rglob("*")) if path.is_file() and path.parts[0] != ".git"]
    return {
        "status": git(*look),
        "stash": git("stash", "list"),
        "branches": git("for-each-ref", "refs/heads", "refs/tags", "refs/stash"),
        "index": hashlib.sha256(Path(git("rev-parse", "--git-path", "index")).read_bytes()).hexdigest(),
    } | {str(path): f"{path.stat().st_mtime_ns} {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in files}


def tree(name: str) -> list[str]:
    return git("ls-tree", "-r", "--name-only", name).splitlines()


def edit() -> None:
    """What a person leaves lying: staged, unstaged, new, deleted and stashed changes."""
    Path("notes.txt").write_text("a stash", encoding="utf-8")
    git("add", "notes.txt")
    git("stash", "--quiet")
    with Path("params.yaml").open("a", encoding="utf-8") as file:
        file.write("# staged\n")
    git("add", "params.yaml")
    with Path("params.yaml").open("a", encoding="utf-8") as file:
        file.write("# not staged\n")
    Path("staged.txt").write_text("new, staged", encoding="utf-8")
    git("add", "staged.txt")
    Path("untracked.txt").write_text("untracked", encoding="utf-8")
    Path(".dvcignore").unlink(missing_ok=True)


@pytest.mark.usefixtures("clone")
def test_index_stash_branch_and_files_of_the_user_stay_as_they_are() -> None:
    edit()
    before = of_the_user()

    made = record("try-2", facts(), snapshot())

    assert of_the_user() == before
    assert git("show", f"{made.commit}:params.yaml").endswith("# staged\n# not staged")
    assert "staged.txt" in tree(made.commit)
    assert "untracked.txt" not in tree(made.commit)


@pytest.mark.usefixtures("clone")
def test_an_experiment_starts_from_the_commit_the_run_started_from_and_tells_its_facts() -> None:
    v1 = git("rev-parse", "v1")

    made = record("try-2", facts(code=v1), snapshot())

    assert git("rev-parse", f"refs/exps/{v1[:2]}/{v1[2:]}/try-2", f"{made.commit}^") == f"{made.commit}\n{v1}"
    assert git("log", "-1", "--format=%B", made.commit) == (
        "goldmeter: try-2\n"
        "\n"
        "Data: dddddddddddddddddddddddddddddddd\n"
        f"Params: {git('rev-parse', 'HEAD:params.yaml')}\n"
        f"Code: {v1}\n"
        "Started: 2026-11-21T02:00:00+00:00\n"
        "Duration: 12.3 s\n"
        "Cost: 0.500000 USD\n"
        "Prefect-Run: a-flow-run"
    )
    assert git("log", "-1", "--format=%(trailers:key=Duration,valueonly)", made.commit) == "12.3 s"


@pytest.mark.usefixtures("clone")
def test_facts_that_nobody_knows() -> None:
    made = record("try-2", facts(data="", cost=None, flow_run=None), snapshot())

    said = git("log", "-1", "--format=%(trailers:only)", made.commit)
    assert [line.split(": ")[0] for line in said.splitlines()] == ["Params", "Code", "Started", "Duration", "Cost"]
    assert "Cost: unknown" in said


@pytest.mark.long
def test_dvc_lists_shows_applies_pushes_and_pulls_it_and_versions_compare(clone: Path) -> None:
    git("init", "-q", "--bare", str(clone / "hub.git"))
    git("remote", "add", "hub", str(clone / "hub.git"))
    git("push", "-q", "hub", "main")
    run(OTHER)
    made = record("exp-a", facts(), snapshot())
    git("checkout", "-q", "--", "dvc.lock")

    assert "exp-a" in dvc("exp", "list")
    assert "exp-a" in dvc("exp", "show", "--csv")
    dvc("exp", "push", "hub", "exp-a")
    with versions(["exp-a", "try-1"]) as (ours, theirs):
        assert set(ours.parts("load").whole(["response"])["response"].to_pylist()) == {"something else"}
        assert theirs.commit != ours.commit == made.commit
    dvc("checkout", "--force")
    dvc("exp", "apply", "exp-a")
    assert git("diff", "--name-only", made.commit) == ""
    git("clone", "-q", str(clone / "hub.git"), str(clone / "project2"), "--branch", "main")
    os.chdir(clone / "project2")
    assert "exp-a" in dvc("exp", "pull", "origin", "exp-a") + dvc("exp", "list")
    with versions(["exp-a"]) as (there,):
        assert set(there.parts("load").whole(["response"])["response"].to_pylist()) == {"something else"}


@pytest.mark.usefixtures("clone")
def test_new_code_of_a_stage_and_new_dvc_files_belong_to_it_and_data_does_not() -> None:
    pipeline = Path("dvc.yaml").read_text(encoding="utf-8")
    others = "data/today.csv, '${dataset.path}', 's3://b/k', /dev/null, ../x.py"
    deps = f"    deps: [goldmeter/metrics, tasks/new.py, {others}]\n"
    Path("dvc.yaml").write_text(pipeline.replace("    cmd: echo\n", f"    cmd: echo\n{deps}"), encoding="utf-8")
    dvc_yaml.forget_stages()
    Path(".gitignore").write_text("data/load\n*.pyc\n", encoding="utf-8")
    for name in (
        "tasks/new.py",
        "goldmeter/metrics/mine.py",
        "goldmeter/metrics/mine.pyc",
        "tasks/other.py",
        "in/big.csv.dvc",
    ):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("", encoding="utf-8")
    for name in ("in/big.csv", "data/today.csv", "data/mine.csv"):
        Path(name).write_text("", encoding="utf-8")
    Path("in/.gitignore").write_text("/big.csv\n", encoding="utf-8")

    new = set(tree(snapshot().tree)) - set(tree("HEAD"))

    assert new == {"tasks/new.py", "goldmeter/metrics/mine.py", "in/big.csv.dvc", "in/.gitignore"}


@pytest.mark.usefixtures("clone")
def test_dvc_lock_is_recorded_even_where_git_ignores_it() -> None:
    git("rm", "-q", "--cached", "dvc.lock")
    Path(".gitignore").write_text("data/\ndvc.lock\n", encoding="utf-8")

    assert "dvc.lock" in tree(snapshot().tree)


@pytest.mark.usefixtures("clone")
def test_a_deleted_file_is_no_part_of_it() -> None:
    Path("dvc.lock").unlink()

    assert "dvc.lock" in tree("HEAD")
    assert "dvc.lock" not in tree(snapshot().tree)


@pytest.mark.usefixtures("clone")
@pytest.mark.parametrize(("flag", "folder"), [("--assume-unchanged", "."), ("--skip-worktree", "sub")])
def test_what_git_was_told_to_overlook_is_recorded_as_it_lies_there(
    flag: str, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("sub").mkdir()
    Path("a\nb, Icon\r").write_text("first", encoding="utf-8")
    shutil.copy("dvc.yaml", "sub/dvc.yaml")
    git("add", "-A")
    git("update-index", flag, "params.yaml", "a\nb, Icon\r", "dvc.lock")
    for name in ("params.yaml", "a\nb, Icon\r"):
        Path(name).write_text("other: {}\n", encoding="utf-8")
    index = Path(".git/index").read_bytes()
    monkeypatch.chdir(folder)

    made = snapshot().tree

    for name in ("params.yaml", "a\nb, Icon\r"):
        assert git("show", f"{made}:{name}") == "other: {}"
    assert git("rev-parse", f"{made}:dvc.lock") == git("rev-parse", "HEAD:dvc.lock")
    assert Path(git("rev-parse", "--git-path", "index")).read_bytes() == index


@pytest.mark.usefixtures("clone")
@pytest.mark.parametrize("how", [("--no-cone", "/*", "!/web/"), ("--cone", "in"), ("--cone", "--sparse-index", "in")])
def test_a_sparse_checkout_is_recorded_with_what_it_leaves_out_and_with_what_lies_there_all_the_same(
    how: tuple[str, ...],
) -> None:
    for name in ("in/page.txt", "web/page.txt", "web/code.py"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("a page", encoding="utf-8")
    git("add", "-A")
    git("commit", "-q", "-m", "with pages")
    git("sparse-checkout", "set", *how)
    assert not Path("web").exists()
    Path("web").mkdir()
    Path("web/code.py").write_text("runs", encoding="utf-8")

    made = snapshot().tree

    assert git("diff", "--name-only", "HEAD", made) == "web/code.py"
    assert git("show", f"{made}:web/code.py") == "runs"


@pytest.mark.usefixtures("clone")
def test_a_deleted_file_that_git_takes_for_unchanged_is_no_part_of_it() -> None:
    git("config", "core.ignoreStat", "true")
    git("update-index", "--really-refresh")
    git("update-index", "--assume-unchanged", ".dvc/config", "params.yaml")
    Path(".dvc/config").unlink()

    made = tree(snapshot().tree)

    assert "params.yaml" in made
    assert ".dvc/config" not in made


@pytest.mark.usefixtures("clone")
@pytest.mark.parametrize("overlooked", [[], ["notes.txt"], ["params.yaml"]])
def test_a_change_of_the_same_length_in_the_same_instant_is_seen(overlooked: list[str]) -> None:
    git("config", "core.trustctime", "false")
    git("config", "core.checkStat", "minimal")
    instant = (1_700_000_000 * 10**9,) * 2
    Path("notes.txt").write_text("one", encoding="utf-8")
    os.utime("notes.txt", ns=instant)
    git("add", "notes.txt")
    git("update-index", "--assume-unchanged", *overlooked)
    os.utime(".git/index", ns=instant)
    Path("notes.txt").write_text("two", encoding="utf-8")
    os.utime("notes.txt", ns=instant)

    assert git("show", f"{snapshot().tree}:notes.txt") == "two"


@pytest.mark.usefixtures("clone")
def test_a_file_edited_meanwhile_is_named_and_nothing_is_recorded() -> None:
    before, made_by = snapshot(), facts()
    refs = git("for-each-ref")
    with Path("params.yaml").open("a", encoding="utf-8") as file:
        file.write("# another value\n")

    with pytest.raises(VersionError, match=r"changed while the run went on: params\.yaml"):
        record("try-2", made_by, before)

    assert git("for-each-ref") == refs


@pytest.mark.usefixtures("clone")
def test_what_the_run_itself_writes_is_no_edit() -> None:
    before, made_by = snapshot(), facts()

    run(OTHER)
    Path("data/.gitignore").write_text("/load\n", encoding="utf-8")

    assert record("try-2", made_by, before).name == "try-2"


@pytest.mark.usefixtures("clone")
@pytest.mark.parametrize("edited", [False, True])
def test_a_cleaning_of_the_repository_meanwhile_loses_nothing(*, edited: bool) -> None:
    Path("params.yaml").write_text("mine: {}\n", encoding="utf-8")
    Path("new.csv.dvc").write_text("new", encoding="utf-8")
    before, made_by = snapshot(), facts()

    git("gc", "--quiet", "--prune=now")

    if not edited:
        made = record("try-2", made_by, before)
        assert git("show", f"{made.commit}:params.yaml") == "mine: {}"
        assert experiments.params_id(before) == git("rev-parse", f"{made.commit}:params.yaml")
        return
    Path("params.yaml").chmod(0o755)
    Path("new.csv.dvc").unlink()
    with pytest.raises(VersionError, match=r"changed while the run went on: new\.csv\.dvc, params\.yaml\."):
        record("try-2", made_by, before)


@pytest.mark.usefixtures("clone")
def test_another_branch_meanwhile_is_seen() -> None:
    before, made_by = snapshot(), facts()
    git("checkout", "-q", "--force", "v0")
    Path("params.yaml").write_text("other: {}\n", encoding="utf-8")
    git("commit", "-q", "-a", "-m", "elsewhere")

    with pytest.raises(VersionError, match=r"changed while the run went on: params\.yaml"):
        record("try-2", made_by, before)


@pytest.mark.usefixtures("clone")
def test_a_commit_of_the_same_files_meanwhile_does_no_harm() -> None:
    Path("notes.txt").write_text("mine", encoding="utf-8")
    git("add", "notes.txt")
    before, made_by = snapshot(), facts()
    git("commit", "-q", "-m", "mine")

    assert git("rev-parse", f"{record('try-2', made_by, before).commit}^") == made_by.code


@pytest.mark.usefixtures("clone")
def test_a_stale_dvc_lock_is_refused() -> None:
    stages = Path("dvc.lock").read_text(encoding="utf-8")
    code = (
        "    deps:\n    - path: params.yaml\n      hash: md5\n      md5: 00000000000000000000000000000000\n    outs:\n"
    )
    Path("dvc.lock").write_text(stages.replace("    outs:\n", code, 1), encoding="utf-8")

    with pytest.raises(VersionError, match=r"score was run with another params\.yaml"):
        record("try-2", facts(), snapshot())


@pytest.mark.usefixtures("clone")
def test_a_name_that_is_there_is_refused_whatever_has_it() -> None:
    for name in ("try-1", "main", "v1", "HEAD"):
        with pytest.raises(NameTakenError, match=f"{name}: a version of this name already exists"):
            record(name, facts(), snapshot())


@pytest.mark.usefixtures("clone")
@pytest.mark.parametrize("name", [
    "", "a/b", "-x", ".x", "a..b", "a.lock", "a.", "a b", "a~1", "a^", "a:b", "a@{0}", "a\n", "ä", "\ud800", "x" * 101,
])  # fmt: skip
def test_a_name_that_git_or_dvc_would_trip_over_is_refused(name: str) -> None:
    with pytest.raises(VersionError, match="no name for an experiment; allowed: up to 100 letters"):
        require_free(name)


@pytest.mark.usefixtures("clone")
@pytest.mark.parametrize("name", ["workspace", "cafe", "20261121", "F" * 40])
def test_a_name_that_means_something_else_is_refused(name: str) -> None:
    with pytest.raises(VersionError, match="would be taken for the workspace or a commit"):
        require_free(name)


@given(st.text("aZ9._-/@{}~^:?*[\\ \té\n\0", max_size=12) | st.text(max_size=8))
def test_whatever_is_accepted_as_a_name_is_one_component_to_git(name: str) -> None:
    try:
        experiments._require_valid(name)
    except VersionError:
        return
    assert subprocess.run(["git", "check-ref-format", f"refs/exps/aa/bb/{name}"], check=False).returncode == 0
    assert "/" not in name


@pytest.mark.usefixtures("clone")
def test_a_name_is_made_from_the_start_in_utc_and_counted_on_when_it_is_taken() -> None:
    in_berlin = datetime(2026, 11, 21, 3, 0, 0, tzinfo=timezone(timedelta(hours=1)))
    names = []
    for _ in range(3):
        names.append(free_name("nightly", in_berlin))
        record(names[-1], facts(), snapshot())

    assert names == ["nightly-2026-11-21-020000", "nightly-2026-11-21-020000-2", "nightly-2026-11-21-020000-3"]


@pytest.mark.usefixtures("clone")
def test_of_several_at_once_one_takes_the_name_whatever_commit_they_start_from() -> None:
    made_by, before = [facts(code=git("rev-parse", name)) for name in ("v0", "v1", "v2", "v2")], snapshot()

    def attempt(each: Facts) -> str:
        try:
            return record("mine", each, before).commit
        except NameTakenError:
            return "taken"

    with ThreadPoolExecutor(4) as pool:
        ended = list(pool.map(attempt, made_by))

    assert sorted(ended)[1:] == ["taken"] * 3
    assert git("for-each-ref", "--format=%(objectname) %(refname:lstrip=4)", "refs/exps").count("mine") == 1


@pytest.mark.usefixtures("clone")
def test_several_at_once_under_names_of_their_own_are_all_recorded() -> None:
    made_by, before = facts(), snapshot()

    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda number: record(f"mine-{number}", made_by, before), range(6)))

    assert [git("rev-parse", f"refs/exps/{made_by.code[:2]}/{made_by.code[2:]}/{each.name}") for each in made] == [
        each.commit for each in made
    ]


def forked(act: Callable[[], object]) -> int:
    """Do it in another process; how that ended, as os.waitpid tells it."""
    if pid := os.fork():
        return os.waitpid(pid, 0)[1]
    try:
        act()
    finally:
        os._exit(0)


@pytest.mark.long
def test_a_kill_before_any_git_command_blocks_nothing(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edit()
    made_by, before, untouched = facts(), snapshot(), of_the_user()
    calls, path = clone / "calls", os.environ["PATH"]
    (clone / "bin").mkdir()
    (clone / "bin/git").write_text(
        f"#!/bin/sh\necho >> {calls}\n[ $(wc -l < {calls}) -eq $KILL_AT ] && kill -9 $PPID && exit 1\n"
        f'exec {shutil.which("git")} "$@"\n',
        encoding="utf-8",
    )
    (clone / "bin/git").chmod(0o755)
    kills = 0
    while True:
        calls.write_text("", encoding="utf-8")
        monkeypatch.setenv("PATH", f"{clone / 'bin'}:{path}")
        monkeypatch.setenv("KILL_AT", str(kills + 1))
        status = forked(partial(record, f"killed-{kills}", made_by, before))
        monkeypatch.setenv("PATH", path)
        if not os.WIFSIGNALED(status):
            break
        kills += 1
        assert os.WTERMSIG(status) == signal.SIGKILL
        assert record(f"after-{kills}", made_by, before).name == f"after-{kills}"
        assert of_the_user() == untouched

    recorded = git("for-each-ref", "--format=%(refname:lstrip=4)", "refs/exps").splitlines()
    assert [name for name in recorded if name.startswith("killed")] == [f"killed-{kills}"]
    assert kills > 10
    assert [*Path(".git").rglob("*.lock")] == [Path(".git/goldmeter/experiments.lock")]


def test_a_project_in_a_folder_of_its_repository(
    template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = repository.copy(template, tmp_path / "clone")
    shutil.rmtree(project / ".git")
    shutil.rmtree(project / ".dvc")
    shutil.move(project, tmp_path / "repository/evaluation")
    monkeypatch.chdir(tmp_path / "repository/evaluation")
    dvc_yaml.forget_stages()
    git("init", "-q", "-b", "main", "..")
    git("config", "user.name", "n")
    git("config", "user.email", "e@x")
    Path("../web.txt").write_text("old", encoding="utf-8")
    git("add", "-A", "..")
    git("commit", "-q", "-m", "all")
    Path("new.csv.dvc").write_text("", encoding="utf-8")
    made_by, before = facts(), snapshot()
    Path("../web.txt").write_text("a colleague's, no part of the run", encoding="utf-8")

    made = record("try-2", made_by, before)

    assert made_by.params == git("rev-parse", "HEAD:evaluation/params.yaml")
    assert "evaluation/new.csv.dvc" in git("ls-tree", "-r", "--name-only", "--full-tree", made.commit)


def test_a_linked_worktree_with_a_detached_head(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git("worktree", "add", "-q", "--detach", str(clone / "linked"), "v1")
    main = of_the_user()
    monkeypatch.chdir(clone / "linked")
    linked = of_the_user()

    made = record("try-2", facts(), snapshot())

    assert of_the_user() == linked
    assert git("rev-parse", f"{made.commit}^") == git("rev-parse", "v1")
    monkeypatch.chdir(clone / "project")
    assert of_the_user() == main


def test_a_submodule(clone: Path) -> None:
    git("clone", "-q", ".", str(clone / "other"))
    git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(clone / "other"), "vendor")
    git("commit", "-q", "-m", "with a submodule")
    pipeline = Path("dvc.yaml").read_text(encoding="utf-8")
    Path("dvc.yaml").write_text(
        pipeline.replace("    cmd: echo\n", "    cmd: echo\n    deps: [vendor, vendor/new.py]\n"), encoding="utf-8"
    )
    dvc_yaml.forget_stages()
    Path("vendor/new.py").write_text("", encoding="utf-8")

    made = record("try-2", facts(), snapshot())

    assert git("ls-tree", made.commit, "vendor").split()[:3] == ["160000", "commit", git("rev-parse", "HEAD:vendor")]


def test_a_repository_that_the_environment_names_is_left_alone(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git("clone", "-q", ".", str(clone / "other"))
    files = {path: path.read_bytes() for path in (clone / "other").rglob("*") if path.is_file()}
    head = git("rev-parse", "HEAD")
    edit()
    before = of_the_user()
    with monkeypatch.context() as patch:
        patch.setenv("GIT_DIR", str(clone / "other/.git"))
        patch.setenv("GIT_WORK_TREE", str(clone / "other"))
        patch.setenv("GIT_INDEX_FILE", str(clone / "other/.git/index"))
        patch.setenv("GIT_OBJECT_DIRECTORY", str(clone / "other/.git/objects"))
        patch.setenv("GIT_LITERAL_PATHSPECS", "1")
        Path("new.csv.dvc").write_text("", encoding="utf-8")
        at_start = snapshot()
        made_by = Facts(STARTED, 1.0, "", experiments.params_id(at_start), experiments.head(), 0.0, None)

        made = record("try-2", made_by, at_start)

    assert git("rev-parse", f"refs/exps/{head[:2]}/{head[2:]}/try-2") == made.commit
    assert "new.csv.dvc" in tree(made.commit)
    assert git("show", f"{made.commit}:params.yaml").endswith("# staged\n# not staged")
    assert files == {path: path.read_bytes() for path in (clone / "other").rglob("*") if path.is_file()}
    Path("new.csv.dvc").unlink()
    assert of_the_user() == before


def test_children_are_told_of_no_repository_but_of_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "safe.directory",
        "GIT_CONFIG_VALUE_0": "*",
        "GIT_AUTHOR_NAME": "n",
        "GIT_CEILING_DIRECTORIES": "/above",
        "GIT_SSH_COMMAND": "ssh -i key",
    }
    for name, value in kept.items():
        monkeypatch.setenv(name, value)
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY"):
        monkeypatch.setenv(name, "/nowhere")

    forget_surroundings()

    assert {name: value for name, value in os.environ.items() if name.startswith("GIT_") and name in kept} == kept
    assert "/nowhere" not in [value for name, value in os.environ.items() if name.startswith("GIT_")]


def test_without_git_there_is_no_repository_to_forget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    tasks_git._repository_variables.cache_clear()

    with pytest.raises(VersionError, match="git: not found"):
        forget_surroundings()


@pytest.mark.usefixtures("clone")
def test_in_the_middle_of_a_merge_the_files_are_recorded_as_they_lie_there() -> None:
    git("checkout", "-q", "-b", "theirs")
    Path("notes.txt").write_text("theirs", encoding="utf-8")
    git("add", "notes.txt")
    git("commit", "-q", "-m", "theirs")
    git("checkout", "-q", "main")
    Path("notes.txt").write_text("ours", encoding="utf-8")
    git("add", "notes.txt")
    git("commit", "-q", "-m", "ours")
    subprocess.run(["git", "merge", "-q", "theirs"], check=False, capture_output=True)
    before = of_the_user()

    made = record("try-2", facts(), snapshot())

    assert "<<<<<<< HEAD" in git("show", f"{made.commit}:notes.txt")
    assert of_the_user() == before


def test_git_without_a_name_of_the_user(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(clone))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.delenv("EMAIL", raising=False)
    git("config", "--remove-section", "user")
    git("config", "user.useConfigOnly", "true")

    made = record("try-2", facts(), snapshot())

    assert git("log", "-1", "--format=%an <%ae> %cn <%ce>", made.commit) == " ".join(
        ["goldmeter <goldmeter@localhost>"] * 2
    )


def test_no_hook_runs_and_nothing_is_signed(clone: Path) -> None:
    for hook in ("pre-commit", "post-commit", "reference-transaction", "post-index-change", "fsmonitor-watchman"):
        Path(".git/hooks", hook).write_text(f"#!/bin/sh\necho {hook} >> {clone}/hooks\nexit 1\n", encoding="utf-8")
        Path(".git/hooks", hook).chmod(0o755)
    git("config", "commit.gpgSign", "true")
    git("config", "gpg.program", "/bin/false")
    git("config", "core.fsmonitor", ".git/hooks/fsmonitor-watchman")
    (clone / "hooks").unlink(missing_ok=True)

    made = record("try-2", facts(code=git("rev-parse", "v2")), snapshot())

    ran = (clone / "hooks").read_text(encoding="utf-8") if (clone / "hooks").exists() else ""
    assert set(ran.split()) <= {"fsmonitor-watchman"}  # by the commands of this test
    assert "gpgsig" not in git("cat-file", "commit", made.commit)


def test_without_git_or_a_commit_it_is_said_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(VersionError, match="not a git repository"):
        snapshot()

    git("init", "-q")
    with pytest.raises(VersionError, match="HEAD: no commit yet"):
        snapshot()

    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(VersionError, match="git: not found"):
        snapshot()


@pytest.mark.usefixtures("clone")
def test_the_hash_of_the_data_set_is_the_one_in_dvc_lock() -> None:
    assert experiments.data_hash() == ""

    stages = Path("dvc.lock").read_text(encoding="utf-8")
    deps = f"    deps:\n    - path: data/examples/qa.jsonl\n      hash: md5\n      md5: {'5' * 32}\n    outs:\n"
    Path("dvc.lock").write_text(stages.replace("    outs:\n", deps, 1), encoding="utf-8")

    assert experiments.data_hash() == "5" * 32


@pytest.mark.usefixtures("clone")
@pytest.mark.parametrize("content", [bytes(range(256)), b"[]", b"stages: {load: {deps: [5]}}"])
def test_a_dvc_lock_that_is_none_is_named_when_the_hash_is_asked_for(content: bytes) -> None:
    Path("dvc.lock").write_bytes(content)

    with pytest.raises(VersionError, match=r"^workspace: its dvc\.lock can't be read: .*`dvc repro` writes it again$"):
        experiments.data_hash()
