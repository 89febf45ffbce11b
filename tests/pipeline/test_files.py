"""Locks that die with their process, and files that are never there by half."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from goldmeter.errors import DataError, GoldmeterError
from goldmeter.pipeline.files import (
    exclusive,
    is_locked,
    lock_opened,
    move,
    move_durably,
    read_json,
    replacing,
    to_json,
)
from tests.small_project import mount

HOLDER = """
import sys
from pathlib import Path
from goldmeter.pipeline.files import exclusive
with exclusive(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path: Path):
    """A process that holds the lock file `lock`."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path / "lock")],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout.readline() == b"held\n"
        yield process
        process.kill()


@pytest.mark.usefixtures("holder")
def test_a_lock_that_is_held_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GoldmeterError, match="busy"), exclusive(tmp_path / "lock", refusal=GoldmeterError("busy")):
        pytest.fail("it is held")

    assert is_locked(tmp_path / "lock")


def test_a_killed_process_holds_no_lock_and_leaves_the_file(holder: subprocess.Popen[bytes], tmp_path: Path) -> None:
    with exclusive(tmp_path / "lock", on_wait=holder.kill):
        assert is_locked(tmp_path / "lock")

    assert not is_locked(tmp_path / "lock")
    assert (tmp_path / "lock").exists()


def test_a_child_does_not_inherit_a_lock(tmp_path: Path) -> None:
    with exclusive(tmp_path / "lock"):
        child = subprocess.Popen(["sleep", "60"], close_fds=False)

    assert not is_locked(tmp_path / "lock")
    child.kill()
    child.wait()


def test_a_lock_is_released_by_an_error_and_keeps_what_the_file_holds(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text("content")

    with pytest.raises(KeyError), exclusive(tmp_path / "lock"):
        raise KeyError

    assert not is_locked(tmp_path / "lock")
    assert (tmp_path / "lock").read_text() == "content"


def test_nobody_holds_a_lock_that_is_not_there(tmp_path: Path) -> None:
    assert not is_locked(tmp_path / "lock")
    assert not (tmp_path / "lock").exists()


def test_a_folder_is_locked_once(tmp_path: Path) -> None:
    first, second = (os.open(tmp_path, os.O_RDONLY) for _ in range(2))

    assert [lock_opened(first, tmp_path), lock_opened(second, tmp_path)] == [True, False]
    os.close(first)
    assert lock_opened(second, tmp_path)
    os.close(second)


@pytest.mark.parametrize("again", [True, False])
def test_what_was_removed_or_replaced_since_it_was_opened_is_not_locked(tmp_path: Path, again: bool) -> None:
    path = tmp_path / "file"
    path.touch()
    opened = os.open(path, os.O_RDONLY)
    path.rename(tmp_path / "other")
    if again:
        path.touch()

    assert not lock_opened(opened, path)
    os.close(opened)


def test_a_file_is_replaced_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "[1].json"
    path.write_text("old")

    with pytest.raises(KeyError), replacing(path) as temporary:
        raise KeyError(temporary.write_text("half"))
    assert (path.read_text(), [*tmp_path.iterdir()]) == ("old", [path])

    with replacing(path) as temporary:
        temporary.write_text("new")
        assert path.read_text() == "old"
    assert (path.read_text(), [*tmp_path.iterdir()]) == ("new", [path])


def test_what_killed_writers_left_is_removed_and_what_others_write_is_not(tmp_path: Path) -> None:
    path = tmp_path / "[1].json"
    abandoned, current, other = (tmp_path / name for name in (".[1].json.a.tmp", ".[1].json.b.tmp", ".1.json.a.tmp"))
    for left in (abandoned, current, other):
        left.touch()
    for old in (abandoned, other):
        os.utime(old, (0, 0))

    with replacing(path) as temporary:
        temporary.touch()

    assert {*tmp_path.iterdir()} == {path, current, other}


def test_a_folder_that_is_named_like_a_temporary_file_stays(tmp_path: Path) -> None:
    (tmp_path / ".a.json.1.tmp").mkdir()
    os.utime(tmp_path / ".a.json.1.tmp", (0, 0))

    with replacing(tmp_path / "a.json") as temporary:
        temporary.touch()

    assert {path.name for path in tmp_path.iterdir()} == {".a.json.1.tmp", "a.json"}


def test_json_keeps_the_order_of_keys_and_refuses_what_is_no_number() -> None:
    assert to_json({"b": "é", "a": [1]}) == '{\n "b": "é",\n "a": [\n  1\n ]\n}\n'
    assert to_json("é", ascii_only=True) == '"\\u00e9"\n'

    with pytest.raises(ValueError, match="not JSON compliant"):
        to_json(float("nan"))


@pytest.mark.parametrize(
    ("content", "problem"),
    [(None, "No such file"), (b"{", "not JSON"), (b"\xff", "not JSON"), (b"[]", "expected an object, found a list")],
)
def test_a_document_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None, problem: str) -> None:
    path = tmp_path / "metrics.json"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(DataError, match=f"metrics.json: .*{problem}.*dvc repro"):
        read_json(path)


@pytest.fixture
def two_file_systems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Two folders between which no file can be renamed."""
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    mount(there, monkeypatch)
    return here, there


def test_folders_and_files_move_to_another_file_system(two_file_systems: tuple[Path, Path]) -> None:
    here, there = two_file_systems
    (here / "table/deep").mkdir(parents=True)
    (here / "table/deep/part").write_bytes(b"rows")
    (here / "table/link").symlink_to("deep/part")
    (here / "report").write_bytes(b"new")
    (there / "report").write_bytes(b"old")
    (there / ".report.moving").write_bytes(b"of a killed process")

    move(here / "table", there / "table")
    move_durably(here / "report", there / "report")

    assert (there / "table/deep/part").read_bytes() == b"rows"
    assert (there / "table/link").readlink() == Path("deep/part")
    assert (there / "report").read_bytes() == b"new"
    assert sorted(path.name for path in there.iterdir()) == ["report", "table"]
    assert not list(here.iterdir())


def test_a_copy_that_fails_leaves_both_as_they_were(
    two_file_systems: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = two_file_systems
    (here / "report").write_bytes(b"new")
    (there / "report").write_bytes(b"old")

    def full(source: Path, target: Path, **_: bool) -> None:
        Path(target).write_bytes(Path(source).read_bytes()[:1])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))

    monkeypatch.setattr("shutil.copy2", full)
    with pytest.raises(OSError, match="No space left"):
        move(here / "report", there / "report")

    assert {path.name: path.read_bytes() for path in (*here.iterdir(), *there.iterdir())} == {"report": b"old"}
    assert [path.read_bytes() for path in here.iterdir()] == [b"new"]
