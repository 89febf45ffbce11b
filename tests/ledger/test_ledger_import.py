"""`tasks ledger import`: the evidence of other versions, from DVC's cache or remote, even amid a merge conflict."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from goldmeter.errors import LedgerError, VersionError
from goldmeter.ledger import open_store, root
from goldmeter.ledger.entries import Entry
from goldmeter.ledger.vectors import Vectors
from goldmeter.ledger.verdicts import Verdicts
from goldmeter.versions.evidence import import_revisions

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


CONFIG = """\
[core]
    analytics = false
    check_update = false
    remote = shared
['remote "shared"']
    url = ../../remote
"""


def call(*command: str, check: bool = True) -> None:
    program = [sys.executable, "-m", "dvc"] if command[0] == "dvc" else [command[0]]
    subprocess.run([*program, *command[1:]], check=check, capture_output=True)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone and its remote; branches `one` and `two` each judged a row of their own beside the shared one."""
    folder = tmp_path_factory.mktemp("template")
    (folder / "project/.dvc").mkdir(parents=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder / "project")
        call("git", "init", "-q", "-b", "main")
        call("git", "config", "user.name", "n")
        call("git", "config", "user.email", "e@x")
        Path(".dvc/config").write_text(CONFIG)
        Path(".dvc/.gitignore").write_text("/cache\n/tmp\n")
        Path("dvc.yaml").write_text(PIPELINE)
        Path(".gitignore").write_text("data/\n")
        judged("c")
        for branch, name in (("one", "a"), ("two", "b")):
            call("git", "checkout", "-q", "-b", branch, "main")
            judged("c", name)
    return folder


@pytest.fixture(autouse=True)
def clone(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy to work in; the current folder is its project."""
    folder = tmp_path / "clone"
    shutil.copytree(template, folder)
    monkeypatch.chdir(folder / "project")
    monkeypatch.delenv("GOLDMETER_LEDGER", raising=False)
    return folder


def judged(*names: str) -> None:
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
    names = [name for name in "abc" if verdicts.get([name * 64])]
    assert names == [name for name in "abc" if vectors.known([name.encode() * 32])[0]]
    return "".join(names)


def test_both_sides_of_a_merge_conflict_are_taken_in() -> None:
    call("git", "checkout", "-q", "one")
    call("git", "merge", "two", check=False)
    assert "<<<<<<<" in Path("dvc.lock").read_text()

    summary = import_revisions(["HEAD", "MERGE_HEAD"])

    assert known() == "abc"
    assert summary.splitlines() == [
        "HEAD: 2 verdicts added, 0 differ from the store's",
        "HEAD: 2 vectors added, 0 differ from the store's",
        "MERGE_HEAD: 1 verdicts added, 0 differ from the store's",
        "MERGE_HEAD: 1 vectors added, 0 differ from the store's",
    ]


def test_evidence_that_only_the_remote_has_is_found() -> None:
    shutil.rmtree(".dvc/cache")
    shutil.rmtree("data")

    import_revisions(["one"])

    assert known() == "ac"


def test_evidence_that_nobody_has_is_an_error_that_says_so(clone: Path) -> None:
    shutil.rmtree(".dvc/cache")
    shutil.rmtree(clone / "remote")

    with pytest.raises(VersionError, match=r"one: its data/ledger/judge can't be fetched(.|\n)*dvc push"):
        import_revisions(["one"])


@pytest.mark.parametrize("revision", ["nowhere", "--help", "HEAD~99", ""])
def test_an_unknown_revision_is_an_error(revision: str) -> None:
    with pytest.raises(VersionError, match="neither git nor DVC knows"):
        import_revisions(["one", revision])

    assert known() == ""


def test_a_version_without_evidence_is_an_error() -> None:
    call("git", "checkout", "-q", "--orphan", "bare")
    call("git", "rm", "-q", "-r", "--cached", ".")
    call("git", "add", ".dvc", ".gitignore")
    call("git", "commit", "-q", "-m", "bare")
    shutil.rmtree("data")

    with pytest.raises(LedgerError, match="has no evidence"):
        import_revisions(["bare"])


def test_importing_again_adds_nothing() -> None:
    import_revisions(["one"])

    assert import_revisions(["one"]).startswith("one: 0 verdicts added")


def test_no_revision_is_an_error() -> None:
    with pytest.raises(LedgerError, match="at least one"):
        import_revisions([])


def test_stores_are_opened_by_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOLDMETER_LEDGER", str(tmp_path))

    assert isinstance(open_store("judge"), Verdicts)
    assert isinstance(open_store("embed"), Vectors)
