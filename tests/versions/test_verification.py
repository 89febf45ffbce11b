"""`python -m tasks verify` finds each damaged file of what a version consists of, and says what to do."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.errors import DataError, VersionError
from goldmeter.ledger.verdicts import Verdicts
from goldmeter.pipeline.contents import dvc_hash
from goldmeter.pipeline.storage import MANIFEST, Manifest, Storage
from goldmeter.versions.verification import verify
from goldmeter.versions.version import versions
from tests.comparison import repository
from tests.comparison.repository import git
from tests.ledger.test_verdicts import entry


@pytest.fixture
def clone(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose workspace is v2; the current folder is its project."""
    monkeypatch.chdir(repository.copy(template, tmp_path / "clone"))
    monkeypatch.setenv("GOLDMETER_LEDGER", str(tmp_path / "ledger"))
    checkout()
    return tmp_path


def checkout() -> None:
    from dvc.repo import Repo

    with Repo() as repo:
        repo.checkout(force=True)


def flip(path: Path) -> None:
    """Flip a bit as a bad disk would: size and times stay."""
    content, about = bytearray(path.read_bytes()), path.stat()
    content[len(content) // 2] ^= 1
    path.unlink()  # the remote may have the same inode
    path.write_bytes(content)
    path.chmod(0o444)
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))


def of_cache(version: str, out: str, name: str = "part-00000.parquet") -> Path:
    """DVC's copy of a file."""
    with versions([version]) as [found]:
        hashed = str(found.hashes()[out])
    folder = Path(".dvc/cache/files/md5")
    entries = json.loads((folder / hashed[:2] / hashed[2:]).read_text())
    [md5] = [entry["md5"] for entry in entries if entry["relpath"] == name]
    return folder / md5[:2] / md5[2:]


@pytest.mark.usefixtures("clone")
def test_whole_versions_are_said_to_be_whole() -> None:
    assert [str(found).split(": ", 1)[1] for found in verify(["workspace", "v1", "try-1"])] == [
        "9 files, all as they were written",
        "6 files, all as they were written",
        "6 files, all as they were written",
        "nothing there",
    ]


@pytest.mark.usefixtures("clone")
def test_a_damaged_file_of_the_workspace_comes_back_by_the_command_that_is_named() -> None:
    path = Path("data/lexical/part-00000.parquet")
    flip(path)

    with pytest.raises(DataError, match=r"1 of 9 .*\n  data/lexical/part-00000.parquet: damaged.*; remove it"):
        verify([])

    path.unlink()
    checkout()
    verify([])
    shutil.rmtree("data/lexical")
    with pytest.raises(DataError, match=r"data/lexical: missing; `dvc checkout data/lexical` brings it back"):
        verify([])


def test_a_damaged_copy_is_named_and_never_read_as_another_version(clone: Path) -> None:
    path = of_cache("v1", "data/load")
    flip(path)

    with pytest.raises(
        DataError, match=rf"v1: damaged or missing: 1 of 6 .*\n  data/load/part-00000.parquet: .*{path}"
    ):
        verify(["v1"])
    with versions(["v1"]) as [found], pytest.raises(VersionError, match=r"its data/load came back damaged.*verify v1"):
        found.path("data/load")

    path.unlink()
    with pytest.raises(DataError, match=r"data/load/part-00000.parquet: not in DVC's cache; `dvc fetch"):
        verify(["v1"])
    # DVC takes a remote's relative path for one below / when it looks at other commits.
    Path(".dvc/config.local").write_text(f"['remote \"shared\"']\nurl = {clone / 'clone/remote'}\n")
    from dvc.repo import Repo

    with Repo() as repo:
        repo.fetch(all_commits=True)
    verify(["v1"])


@pytest.mark.usefixtures("clone")
def test_a_damaged_list_of_a_folder_is_found() -> None:
    with versions(["v1"]) as [found]:
        hashed = str(found.hashes()["data/load"])
    flip(Path(".dvc/cache/files/md5", hashed[:2], hashed[2:]))

    with pytest.raises(DataError, match=r"1 of 5 .*\n  data/load: .*DVC's copy of it: damaged, its content"):
        verify(["v1"])


@pytest.mark.usefixtures("clone")
def test_a_damaged_table_of_the_workspace_is_told_and_not_read_unless_it_may_be_one_made_by_hand(
    capsys: pytest.CaptureFixture[str],
) -> None:
    flip(Path("data/lexical/part-00000.parquet"))
    with versions(["workspace"]) as [found]:
        found.path("data/lexical")
    assert re.search(r"^warning: workspace: data/lexical.*: damaged.* by hand, `dvc commit`", capsys.readouterr().err)

    Path("dvc.lock").touch()
    with versions(["workspace"]) as [found], pytest.raises(DataError, match=r"part-00000\.parquet: damaged"):
        found.path("data/lexical")


def test_a_damaged_row_of_the_ledger_is_found(clone: Path) -> None:
    with Verdicts(clone / "ledger/judge") as ledger:
        ledger.add([entry("a"), entry("b", "another reason")])
    store = clone / "ledger/judge/verdicts.sqlite"
    damaged = store.read_bytes().replace(b"another reason", b"another season")
    store.write_bytes(damaged)

    with pytest.raises(
        DataError,
        match=r"ledger: damaged or missing: 1 of 1 files\n  .*verdicts\.sqlite, table entries, key b{64}: damaged",
    ):
        verify([])

    assert store.read_bytes() == damaged


def test_a_damaged_part_in_storage_is_found(clone: Path) -> None:
    storage = Storage(str(clone / "storage"))
    (clone / "storage").mkdir()
    part = storage.put(b"content", 3)
    for path in Path("data/load").iterdir():
        path.unlink()
    Manifest.of(storage.address, [part]).write(Path("data/load") / MANIFEST)
    from dvc.repo import Repo

    with Repo() as repo:
        repo.commit("score", force=True)
    verify([])
    flip(clone / "storage" / part.path)

    with pytest.raises(DataError, match=rf"{part.path}: damaged"):
        verify([])
    with versions(["workspace"]) as [found], pytest.raises(DataError, match=rf"{part.path}: damaged"):
        found.parts("load")
    git("commit", "-qam", "v3")
    with pytest.raises(DataError, match=rf"HEAD: .*\n  .*{part.path}: damaged"):
        verify(["HEAD"])


@given(st.dictionaries(st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=5), st.binary()))
def test_the_hash_of_a_folder_is_that_of_dvc(tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes]) -> None:
    from dvc_data.hashfile.build import build
    from dvc_data.hashfile.db import HashFileDB
    from dvc_objects.fs import LocalFileSystem

    folder = tmp_path_factory.mktemp("hashed")
    for name, content in files.items():
        path = folder / "of" / name[:1] / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (folder / "of").mkdir(exist_ok=True)

    system = LocalFileSystem()
    _, _, found = build(HashFileDB(system, str(folder / "db")), os.fspath(folder / "of"), system, "md5")

    assert dvc_hash(folder / "of") == found.hash_info.value
