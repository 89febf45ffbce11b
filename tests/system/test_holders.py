"""The process that has a path open is named, with its start."""

import subprocess
import sys
from pathlib import Path

import pytest

from goldmeter.system.locks import holder_of

OPEN = "import os, sys; os.open(sys.argv[1], os.O_RDONLY); print('open', flush=True); sys.stdin.read()"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("is_folder", [True, False])
def test_the_process_that_has_a_path_open_is_named(tmp_path: Path, is_folder: bool) -> None:
    path = tmp_path if is_folder else tmp_path / "a.lock"
    if not is_folder:
        path.touch()
    command = [sys.executable, "-c", OPEN, str(path)]

    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        named = holder_of(path)
        process.communicate(b"")

    assert named.startswith(f"process {process.pid}, started 2")


def test_of_a_path_that_nobody_has_open_nothing_is_said(tmp_path: Path) -> None:
    assert holder_of(tmp_path / "none") == ""
