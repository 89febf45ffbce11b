"""Only one flow works in a checkout."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from goldmeter.errors import GoldmeterError
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
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])},
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

    assert told == [locks.WAITING, "holds"]


def test_locks_are_those_of_the_repository_around(tmp_path: Path) -> None:
    (tmp_path / ".dvc").mkdir()
    (tmp_path / "below").mkdir()

    assert locks.dvc_tmp(tmp_path / "below") == tmp_path / ".dvc/tmp"


def test_outside_of_a_repository_the_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(GoldmeterError, match=str(tmp_path)):
        locks.dvc_tmp(tmp_path)
