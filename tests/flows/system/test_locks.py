"""Nothing of a process that is gone holds up the next run; what lives keeps its locks."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from flows.system import locks
from tasks.errors import GoldmeterError


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


def test_a_second_flow_is_told_that_it_waits(tmp_path: Path) -> None:
    told: list[str] = []
    holder = """
        import sys
        from pathlib import Path
        from flows.system.locks import one_at_a_time
        with one_at_a_time(Path(sys.argv[1]), print):
            print("held", flush=True)
            sys.stdin.read()
    """.replace("\n        ", "\n")
    with subprocess.Popen(
        [sys.executable, "-c", holder, str(tmp_path)],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as first:
        assert first.stdout is not None
        assert first.stdin is not None
        assert first.stdout.readline() == b"held\n"

        def waiting() -> None:
            told.append("waits")
            first.kill()  # the kernel frees what it held

        with locks.one_at_a_time(tmp_path, waiting):
            told.append("holds")

    assert told == ["waits", "holds"]


def test_locks_are_those_of_the_repository_around(tmp_path: Path) -> None:
    (tmp_path / ".dvc").mkdir()
    (tmp_path / "below").mkdir()

    assert locks.dvc_tmp(tmp_path / "below") == tmp_path / ".dvc/tmp"


def test_outside_of_a_repository_the_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(GoldmeterError, match=str(tmp_path)):
        locks.dvc_tmp(tmp_path)
