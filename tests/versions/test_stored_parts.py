"""Which parts in storage the versions of a project name."""

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from goldmeter.errors import ParamsError, VersionError
from goldmeter.pipeline import dvc_yaml
from goldmeter.pipeline.storage import MANIFEST, Manifest, Storage, manifest_of
from goldmeter.pipeline.tables import write_part
from goldmeter.versions import stored_parts
from goldmeter.versions.stored_parts import KEPT_DAYS, collect
from goldmeter.versions.version import versions
from tasks.__main__ import main
from tests.comparison import repository
from tests.comparison.repository import git
from tests.small_project import edit


def write(storage: Path, *texts: str) -> list[Path]:
    """As if the stage had written a table with a part for each text; the files in storage."""
    folder = Path("data/load")
    for old in folder.glob("*"):
        old.unlink()
    storage.mkdir(exist_ok=True)
    for number, text in enumerate(texts):
        write_part(pa.table({"id": [text]}), folder, number, Storage(str(storage)))
    manifest = manifest_of(folder)
    for path in folder.glob("part-*"):
        path.unlink()
    manifest.write(folder / MANIFEST)
    return [storage / part.path for part in manifest.parts]


def in_storage(storage: Path) -> set[Path]:
    return {path for path in storage.rglob("*") if path.is_file()}


def make_old(paths: list[Path], days: float = KEPT_DAYS + 1) -> None:
    for path in paths:
        os.utime(path, (time.time() - days * 86_400,) * 2)


@pytest.fixture(scope="module")
def stored(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the template with three more versions, whose table is in storage: a tag, a branch, an experiment."""
    from dvc.repo import Repo

    folder = tmp_path_factory.mktemp("stored") / "copy"
    storage = folder / "storage"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(repository.copy(template, folder))
        edit(lambda p: p["run"].update(storage=str(storage), retries={"default": 0}, timeouts={"default": 60}))
        with Repo() as repo:
            git("commit", "-q", "-a", "-m", "storage")
            write(storage, "a", "d")
            repo.commit("score", force=True)
            repo.experiments.save(name="tried")
            for name, texts in (("tagged", ["a", "b"]), ("branched", ["a", "c"])):
                git("checkout", "-q", "--detach", "main")
                write(storage, *texts)
                repo.commit("score", force=True)
                git("commit", "-q", "-a", "-m", name)
                git("tag" if name == "tagged" else "branch", name)
        git("checkout", "-q", "main")
        write(storage, "e", "a")
    return folder


@pytest.fixture
def storage(stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The storage as it was at first, where all parts are old; the project is a copy."""
    storage = stored / "storage"
    shutil.copytree(storage, tmp_path / "kept")
    monkeypatch.chdir(repository.copy(stored, tmp_path / "copy"))
    dvc_yaml.forget_stages()
    make_old([*in_storage(storage)])
    yield storage
    dvc_yaml.forget_stages()
    shutil.rmtree(storage)
    shutil.copytree(tmp_path / "kept", storage)


def unnamed(storage: Path, *texts: str) -> list[Path]:
    """Parts that no version names."""
    put = [Storage(str(storage)).put(text.encode(), 1).path for text in texts]
    return [storage / path for path in put]


def test_only_what_no_version_names_is_removed(storage: Path) -> None:
    named = in_storage(storage)
    assert len(named) == 5
    extra = unnamed(storage, "x", "yy")
    make_old(extra)

    listed = collect(remove=False)

    assert in_storage(storage) == {*named, *extra}
    assert (listed.all.files, listed.unnamed, listed.old) == (7, (2, 3), (2, 3))
    assert collect(remove=True) == listed
    assert in_storage(storage) == named
    assert collect(remove=True).unnamed.files == 0


def test_what_was_written_lately_stays(storage: Path) -> None:
    new, old = unnamed(storage, "new", "old")
    make_old([old])
    make_old([new], KEPT_DAYS - 1)

    assert collect(remove=True).old.files == 1
    assert new.exists()
    assert not old.exists()


def test_a_clock_of_this_machine_that_is_years_ahead_removes_nothing_new(
    storage: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [new] = unnamed(storage, "new")
    ahead = time.time() + 10 * 365 * 86_400
    monkeypatch.setattr(time, "time", lambda: ahead)

    assert collect(remove=True).old.files == 0
    assert new in in_storage(storage)
    assert not [path for path in in_storage(storage) if path.name == ".time"]


@pytest.mark.parametrize("removed", ["branch", "experiment", "tag", "workspace"])
def test_a_version_that_is_gone_names_nothing(storage: Path, removed: str) -> None:
    if removed == "branch":
        git("branch", "-q", "-D", "branched")
    elif removed == "tag":
        git("tag", "-d", "tagged")
    elif removed == "experiment":
        [ref] = [name for name in git("for-each-ref", "--format=%(refname)", "refs/exps").split() if "tried" in name]
        git("update-ref", "-d", ref)
    else:
        write(storage, "a")
    git("reflog", "expire", "--expire=now", "--all")

    assert collect(remove=True).old.files == 1


def test_a_version_whose_manifest_is_nowhere_keeps_everything(storage: Path) -> None:
    make_old(unnamed(storage, "x"))
    before = in_storage(storage)
    for path in Path(".dvc/cache").rglob("*.dir"):
        if b"manifest.json" in path.read_bytes():
            path.unlink()

    with pytest.raises(VersionError, match=r"[0-9a-f]{12}, .*: 3 tables are neither in DVC's cache nor in the remote"):
        collect(remove=True)

    assert in_storage(storage) == before


def test_a_lost_manifest_keeps_everything_whatever_else_was_in_its_folder(storage: Path) -> None:
    make_old(unnamed(storage, "x"))
    before = in_storage(storage)
    for path in Path(".dvc/cache").rglob("*"):
        if path.is_file() and b'"storage"' in path.read_bytes():
            path.unlink()
    lock = Path("dvc.lock").read_text(encoding="utf-8")
    git("checkout", "-q", "tagged", "--", "dvc.lock")
    text = Path("dvc.lock").read_text(encoding="utf-8").replace("nfiles: 1", "nfiles: 2")
    assert text != lock
    Path("dvc.lock").write_text(text, encoding="utf-8")
    for name in ("branched", "tagged"):
        git("update-ref", "-d", f"refs/{'heads' if name == 'branched' else 'tags'}/{name}")
    for ref in git("for-each-ref", "--format=%(refname)", "refs/exps").split():
        git("update-ref", "-d", ref)
    git("reflog", "expire", "--expire=now", "--all")

    with pytest.raises(VersionError, match=r"^workspace: 1 tables are neither in DVC's cache nor in the remote"):
        collect(remove=True)

    assert in_storage(storage) == before


def test_manifests_come_from_the_remote(storage: Path) -> None:
    make_old(unnamed(storage, "x"))
    shutil.copytree(".dvc/cache/files", "../remote/files", dirs_exist_ok=True)
    shutil.rmtree(".dvc/cache/files")

    assert collect(remove=True).old.files == 1
    assert len(in_storage(storage)) == 5


def test_the_command_says_what_there_is_and_what_removes_it(storage: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_old(unnamed(storage, "x"))

    assert main(["storage", "gc"]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        "named by no version: 1 parts, 0.000 GB; of these, written more than 14 days ago: 1 parts, 0.000 GB",
        "`python -m tasks storage gc --remove` removes these 1 parts",
    ]
    assert main(["storage", "gc", "--remove"]) == 0
    assert capsys.readouterr().out.endswith("removed these 1 parts\n")


def refuse_to_remove(storage: Path, match: str) -> None:
    make_old(unnamed(storage, "x"))
    before = in_storage(storage)
    with pytest.raises(VersionError, match=match):
        collect(remove=True)
    assert in_storage(storage) == before


def test_what_git_cannot_list_keeps_everything(storage: Path) -> None:
    Path(".git/refs/heads/broken").write_text("1" * 40 + "\n", encoding="utf-8")

    refuse_to_remove(storage, r"^git: .*; nothing is removed")


def test_a_shallow_clone_keeps_everything(storage: Path) -> None:
    Path(".git/shallow").write_text(git("rev-parse", "v1") + "\n", encoding="utf-8")

    refuse_to_remove(storage, "shallow")


@pytest.mark.parametrize("content", [b"stages: [1, 2]\n", bytes(range(256))])
def test_a_lock_that_is_not_one_keeps_everything(storage: Path, content: bytes) -> None:
    Path("dvc.lock").write_bytes(content)

    refuse_to_remove(storage, "^workspace: what it references can't be read")


@pytest.mark.usefixtures("storage")
def test_both_sides_of_a_merge_name_their_parts() -> None:
    git("checkout", "-q", "branched")
    git("merge", "-q", "-s", "ours", "--no-edit", "tagged")
    git("config", "log.diffMerges", "combined")
    git("config", "log.showRoot", "false")
    git("tag", "-d", "tagged")
    git("reflog", "expire", "--expire=now", "--all")

    assert collect(remove=True).old.files == 0


@pytest.mark.usefixtures("storage")
def test_a_project_that_moved_in_its_repository_names_what_it_named() -> None:
    Path("sub").mkdir()
    git("mv", "dvc.lock", "dvc.yaml", "params.yaml", "sub/")
    git("commit", "-q", "-a", "-m", "moved")
    shutil.move(".dvc", "sub/.dvc")
    shutil.move("data", "sub/data")
    os.chdir("sub")
    Path(".dvc/config").write_text("[core]\n    analytics = false\n", encoding="utf-8")
    git("reflog", "expire", "--expire=now", "--all")

    try:
        assert collect(remove=True).old.files == 0
    finally:
        os.chdir("..")


@pytest.mark.parametrize("spelling", ["{}/", "{}//", "{}/../storage"])
def test_an_address_spelled_in_another_way_is_the_same_storage(storage: Path, spelling: str) -> None:
    manifest = manifest_of(Path("data/load"))
    Manifest.of(spelling.format(storage), manifest.parts).write(Path("data/load", MANIFEST))

    assert collect(remove=False).unnamed.files == 0


def test_the_lock_of_the_workspace_names_parts_even_without_the_table(storage: Path) -> None:
    from dvc.repo import Repo

    [part] = write(storage, "locked")
    with Repo() as repo:
        repo.commit("score", force=True)
    shutil.rmtree("data/load")
    make_old([part])

    collect(remove=True)

    assert part.exists()


def test_what_is_no_part_stays(storage: Path) -> None:
    others = [storage / name for name in ("files/md5/ab/cdef", "parts/md5/ab/cdef.dir", "notes.txt")]
    for path in others:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    make_old(others)

    collect(remove=True)

    assert all(path.exists() for path in others)


@pytest.mark.parametrize("is_gone", [True, False])
def test_what_changes_while_parts_are_removed(storage: Path, is_gone: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = unnamed(storage, "x", "y")
    make_old([first, second])
    remove = stored_parts._remove

    def meanwhile(place: Storage, path: str, now: float) -> None:
        os.utime(second) if second.exists() and not is_gone else second.unlink(missing_ok=True)
        remove(place, path, now)

    monkeypatch.setattr(stored_parts, "_remove", meanwhile)

    collect(remove=True)

    assert not first.exists()
    assert second.exists() != is_gone


@pytest.mark.usefixtures("storage")
def test_tables_of_a_version_are_read_from_storage() -> None:
    with versions(["tagged", "tried"]) as named:
        assert [one.parts("load").whole()["id"].to_pylist() for one in named] == [["a", "b"], ["a", "d"]]


@pytest.mark.usefixtures("storage")
def test_without_storage_there_is_nothing_to_collect() -> None:
    edit(lambda p: p["run"].update(storage=None))

    with pytest.raises(ParamsError, match=r"run\.storage: not set"):
        collect(remove=True)
