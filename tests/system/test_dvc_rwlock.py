"""Entries of processes that are gone do not stop the next run; those of living processes stay."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from goldmeter.system import locks


def held_by(pid: int) -> dict[str, object]:
    info = {"pid": pid, "cmd": "dvc repro"}
    return {"read": {"/p/data/a": [info]}, "write": {"/p/data/b": info}}


def table(folder: Path, content: object) -> Path:
    path = folder / "rwlock"
    path.write_text(json.dumps(content))
    return path


def test_what_a_living_process_holds_is_kept(tmp_path: Path) -> None:
    path = table(tmp_path, held_by(os.getpid()))

    locks.release_stale(tmp_path)

    assert json.loads(path.read_text()) == held_by(os.getpid())


def test_what_a_zombie_holds_is_released(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.read()  # it has ended, or is about to
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and is not reaped
        path = table(tmp_path, held_by(process.pid))

        locks.release_stale(tmp_path)

    assert json.loads(path.read_text()) == {"read": {}, "write": {}}


def test_what_a_process_gone_holds_is_released(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        pass
    path = table(tmp_path, held_by(process.pid))

    locks.release_stale(tmp_path)

    assert json.loads(path.read_text()) == {"read": {}, "write": {}}


def test_a_number_that_another_process_has_by_now_is_released(tmp_path: Path) -> None:
    path = table(tmp_path, held_by(os.getpid()))
    long_ago = 1_000_000_000
    os.utime(path, (long_ago, long_ago))

    locks.release_stale(tmp_path)

    assert json.loads(path.read_text()) == {"read": {}, "write": {}}


@pytest.mark.parametrize("cut", ["", '{"read": {"/p/da'])
def test_a_table_cut_short_by_a_kill_is_removed(tmp_path: Path, cut: str) -> None:
    (tmp_path / "rwlock").write_text(cut)

    locks.release_stale(tmp_path)

    assert not (tmp_path / "rwlock").exists()


def test_without_a_table_there_is_nothing_to_release(tmp_path: Path) -> None:
    locks.release_stale(tmp_path)

    assert not (tmp_path / "rwlock").exists()
