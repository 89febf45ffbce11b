"""`tasks ledger import`: the evidence of other versions, from DVC's cache or remote, even amid a merge conflict."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tasks.errors import LedgerError
from tasks.ledger import open_store, root
from tasks.ledger.imports import import_revisions
from tasks.ledger.vectors import Vectors
from tasks.ledger.verdicts import Entry, Verdicts

Run = Callable[..., str]
PIPELINE = """\
stages:
  judge:
    cmd: echo
    deps: [rows.txt]
    outs:
      - data/ledger/judge: {persist: true}
      - data/ledger/embed: {persist: true}
"""


def entry(name: str) -> Entry:
    fields = {"metric": "m", "prompt": "p", "draw": 0, "verdict": 1.0, "reason": name, "problem": None, "model": "m"}
    return Entry(key=name * 64, raw="{}", tokens=None, latency=0.0, attempts=1, **fields)  # type: ignore[typeddict-item]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A clone with a remote, where branches `one` and `two` each judged a row of their own beside the shared one."""
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    monkeypatch.delenv("GOLDMETER_LEDGER", raising=False)
    for name, value in {"user.name": "n", "user.email": "e@x"}.items():
        monkeypatch.setenv(f"GIT_CONFIG_KEY_{['user.name', 'user.email'].index(name)}", name)
        monkeypatch.setenv(f"GIT_CONFIG_VALUE_{['user.name', 'user.email'].index(name)}", value)
    monkeypatch.setenv("GIT_CONFIG_COUNT", "2")

    def call(*command: str, check: bool = True) -> str:
        program = [sys.executable, "-m", "dvc"] if command[0] == "dvc" else [command[0]]
        return subprocess.run(
            [*program, *command[1:]], check=check, capture_output=True, text=True, cwd=project
        ).stdout

    call("git", "init", "-q", "-b", "main")
    call("dvc", "init", "-q")
    call("dvc", "config", "core.analytics", "false")
    call("dvc", "config", "core.check_update", "false")
    call("dvc", "remote", "add", "-q", "-d", "shared", str(tmp_path / "remote"))
    Path("dvc.yaml").write_text(PIPELINE)
    Path(".gitignore").write_text("data/\n")
    judged(call, "s")
    for branch in ("one", "two"):
        call("git", "checkout", "-q", "-b", branch, "main")
        judged(call, "s", {"one": "a", "two": "b"}[branch])
    return call


def judged(call: Run, *names: str) -> None:
    Path("rows.txt").write_text(" ".join(names))
    shutil.rmtree("data", ignore_errors=True)
    verdicts, vectors = Verdicts(Path("scratch/judge")), Vectors(Path("scratch/embed"))
    keys = [name.encode() * 32 for name in names]
    verdicts.add([entry(name) for name in names])
    verdicts.use(name * 64 for name in names)
    verdicts.write_evidence(Path("data/ledger/judge"))
    vectors.add(keys, np.array([[ord(name), 1.0] for name in names], np.float32))
    vectors.use(keys)
    vectors.write_evidence(Path("data/ledger/embed"))
    shutil.rmtree("scratch")
    call("dvc", "commit", "-q", "--force")
    call("dvc", "push", "-q")
    call("git", "add", "-A")
    call("git", "commit", "-q", "-m", " ".join(names))


def known() -> str:
    verdicts, vectors = Verdicts(root() / "judge"), Vectors(root() / "embed")
    names = [name for name in "abs" if verdicts.get([name * 64])]
    assert names == [name for name in "abs" if vectors.known([name.encode() * 32])[0]]
    return "".join(names)


def test_both_sides_of_a_merge_conflict_are_taken_in(run: Run) -> None:
    run("git", "checkout", "-q", "one")
    run("git", "merge", "two", check=False)
    assert "<<<<<<<" in Path("dvc.lock").read_text()

    summary = import_revisions(["HEAD", "MERGE_HEAD"])

    assert known() == "abs"
    assert summary.splitlines() == [
        "HEAD: 2 verdicts added, 0 differ from the store's",
        "HEAD: 2 vectors added, 0 differ from the store's",
        "MERGE_HEAD: 1 verdicts added, 0 differ from the store's",
        "MERGE_HEAD: 1 vectors added, 0 differ from the store's",
    ]


def test_evidence_that_only_the_remote_has_is_found(run: Run) -> None:
    shutil.rmtree(".dvc/cache")
    shutil.rmtree("data")

    import_revisions(["one"])

    assert known() == "as"


def test_evidence_that_nobody_has_is_an_error_that_says_so(run: Run, tmp_path: Path) -> None:
    shutil.rmtree(".dvc/cache")
    shutil.rmtree(tmp_path / "remote")

    with pytest.raises(LedgerError, match=r"ledger import one: its data/ledger/judge can't be fetched(.|\n)*dvc push"):
        import_revisions(["one"])


@pytest.mark.parametrize("revision", ["nowhere", "--help", "HEAD~99", ""])
def test_an_unknown_revision_is_an_error(run: Run, revision: str) -> None:
    with pytest.raises(LedgerError, match="git knows no such revision"):
        import_revisions(["one", revision])

    assert known() == ""


def test_a_version_without_evidence_is_an_error(run: Run) -> None:
    run("git", "checkout", "-q", "--orphan", "bare")
    run("git", "rm", "-q", "-r", "--cached", ".")
    run("git", "add", ".dvc", ".gitignore")
    run("git", "commit", "-q", "-m", "bare")
    shutil.rmtree("data")

    with pytest.raises(LedgerError, match="has no evidence"):
        import_revisions(["bare"])


def test_importing_again_adds_nothing(run: Run) -> None:
    import_revisions(["one"])

    assert import_revisions(["one"]).startswith("one: 0 verdicts added")


def test_no_revision_is_an_error() -> None:
    with pytest.raises(LedgerError, match="at least one"):
        import_revisions([])


def test_stores_are_opened_by_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOLDMETER_LEDGER", str(tmp_path))

    assert isinstance(open_store("judge"), Verdicts)
    assert isinstance(open_store("embed"), Vectors)
