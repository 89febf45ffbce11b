"""Only one flow works in a checkout."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from dvc.schema import COMPILED_LOCKFILE_SCHEMA
from voluptuous import Invalid

from goldmeter.errors import GoldmeterError, ParamsError
from goldmeter.pipeline.yaml import parse_yaml
from goldmeter.system import locks


def test_a_second_flow_is_told_that_it_waits(tmp_path: Path) -> None:
    told: list[str] = []
    holder = """
        import sys
        from pathlib import Path
        from goldmeter.system.locks import one_at_a_time
        with one_at_a_time(Path(sys.argv[1]), print):
            print("held", flush=True)
            sys.stdin.read()
    """.replace("\n        ", "\n")
    with subprocess.Popen(
        [sys.executable, "-c", holder, str(tmp_path)],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as first:
        assert first.stdout is not None
        assert first.stdin is not None
        assert first.stdout.readline() == b"held\n"

        def waiting(message: str) -> None:
            told.append(message)
            first.kill()  # the kernel frees what it held

        with locks.one_at_a_time(tmp_path, waiting):
            told.append("holds")

    assert told[1:] == ["holds"]
    assert told[0].startswith(locks.WAITING)
    assert sys.platform != "linux" or " (process " in told[0]


def test_locks_are_those_of_the_repository_around(tmp_path: Path) -> None:
    (tmp_path / ".dvc").mkdir()
    (tmp_path / "below").mkdir()

    assert locks.dvc_tmp(tmp_path / "below") == tmp_path / ".dvc/tmp"


def test_outside_of_a_repository_the_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(GoldmeterError, match=str(tmp_path)):
        locks.dvc_tmp(tmp_path)


LOCKED = """schema: '2.0'
stages:
  load:
    cmd: x
    deps:
    - path: d
      hash: md5
      md5: d41d8cd98f00b204e9800998ecf8427e
      size: 1
"""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".dvc/tmp").mkdir(parents=True)
    git = ["git", "-c", "user.name=n", "-c", "user.email=e@x"]
    Path("dvc.lock").write_text(LOCKED, encoding="utf-8")
    for command in (["init", "--quiet"], ["add", "dvc.lock"], ["commit", "--quiet", "--message", "a run"]):
        subprocess.run([*git, *command], check=True)
    return tmp_path / ".dvc/tmp"


def accepted(content: str) -> bool:
    try:
        COMPILED_LOCKFILE_SCHEMA(parse_yaml(content))
    except (ParamsError, Invalid):
        return False
    return True


def test_a_dvc_lock_that_was_cut_short_anywhere_is_one_that_dvc_accepts_afterwards(repository: Path) -> None:
    lock = Path("dvc.lock")
    for kept in range(len(LOCKED) + 1):
        lock.write_text(LOCKED[:kept], encoding="utf-8")

        told = locks.restore_cut_lock(repository, lock)

        assert (told is None) == accepted(LOCKED[:kept])
        assert lock.read_text(encoding="utf-8") == (LOCKED if told else LOCKED[:kept])
        assert not told or (repository / "dvc.lock.damaged").read_text(encoding="utf-8") == LOCKED[:kept]


def test_where_none_is_committed_it_is_moved_away(repository: Path) -> None:
    subprocess.run(["git", "update-ref", "-d", "HEAD"], check=True)
    Path("dvc.lock").write_text("stages: [", encoding="utf-8")

    assert str(locks.restore_cut_lock(repository, Path("dvc.lock"))).endswith("HEAD has none")

    assert not Path("dvc.lock").exists()


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_conflict_of_a_merge_is_left_to_the_user(repository: Path, end: str) -> None:
    conflict = f"<<<<<<< HEAD\n{LOCKED}=======\n{LOCKED}>>>>>>> other\n".replace("\n", end).encode()
    Path("dvc.lock").write_bytes(conflict)

    assert locks.restore_cut_lock(repository, Path("dvc.lock")) is None

    assert Path("dvc.lock").read_bytes() == conflict


def test_one_that_was_committed_so_is_left_as_it_is(repository: Path) -> None:
    Path("dvc.lock").write_text("stages: [", encoding="utf-8")
    subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e@x", "commit", "-qam", "cut"], check=True)

    assert locks.restore_cut_lock(repository, Path("dvc.lock")) is None
    assert Path("dvc.lock").read_text(encoding="utf-8") == "stages: ["
