"""What a killed flow leaves is ended, and what finishes something is given its time."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from goldmeter.system import command_supervisor, flow_reaper
from goldmeter.system.processes import MARK

# Starts a child that counts the signals it gets, and ends a second after the first; does not survive one itself.
LEADER = """
import subprocess, sys
subprocess.run([sys.executable, "-c", '''
import signal, time
from pathlib import Path
signals = []
signal.signal(signal.SIGTERM, lambda number, _: signals.append(number))
Path("ready").touch()
while not signals:
    time.sleep(.01)
Path("finishing").touch()
time.sleep(1)
Path("signals").write_text(str(len(signals)))
'''])
"""

HANG = """
import os, time
from pathlib import Path
Path("hangs.part").write_text(str(os.getpid()))
Path("hangs.part").rename("hangs")
time.sleep(600)
"""
# Ignores SIGTERM, and holds the supervisor that it starts.
HOLDER = """
import signal, subprocess, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE).wait()
"""


def test_who_finishes_something_gets_no_second_signal_when_its_parent_is_gone(
    tmp_path: Path, until: Callable[..., None]
) -> None:
    command = [sys.executable, "-I", "-S", command_supervisor.__file__, "60", "60", sys.executable, "-c", LEADER]
    marked = os.environ | {MARK: tmp_path.name}
    with subprocess.Popen(command, stdin=subprocess.PIPE, cwd=tmp_path, env=marked) as supervisor:
        until((tmp_path / "ready").exists, "the child is ready")
        assert supervisor.stdin is not None
        supervisor.stdin.close()
        until((tmp_path / "finishing").exists, "the child got its signal, and so did its parent")

        reaper = [sys.executable, flow_reaper.__file__, MARK, tmp_path.name]
        subprocess.run(reaper, stdin=subprocess.DEVNULL, check=True)

        assert supervisor.wait(0) == command_supervisor.STOPPED
    assert (tmp_path / "signals").read_text() == "1"


def test_what_no_supervisor_ends_does_not_wait_for_what_one_ends(tmp_path: Path, until: Callable[..., None]) -> None:
    leader = LEADER.replace("time.sleep(1)", 'while not Path("gone").exists(): time.sleep(.01)')
    command = [sys.executable, "-I", "-S", command_supervisor.__file__, "60", "60", sys.executable, "-c", leader]
    marked = os.environ | {MARK: tmp_path.name}
    with (
        subprocess.Popen([sys.executable, "-c", HANG], cwd=tmp_path, env=marked, start_new_session=True) as server,
        subprocess.Popen(command, stdin=subprocess.PIPE, cwd=tmp_path, env=marked) as supervisor,
    ):
        until((tmp_path / "ready").exists, "the child is ready")
        assert supervisor.stdin is not None
        supervisor.stdin.close()
        with subprocess.Popen([sys.executable, flow_reaper.__file__, MARK, tmp_path.name], stdin=subprocess.DEVNULL):
            try:
                assert server.wait(30) == -signal.SIGTERM
            finally:
                (tmp_path / "gone").touch()

    assert (tmp_path / "signals").read_text() == "1"


@pytest.mark.exhaustive
def test_what_holds_a_supervisor_and_ignores_its_end_is_killed(
    tmp_path: Path, until: Callable[..., None], is_running: Callable[[int], bool]
) -> None:
    command = [sys.executable, "-I", "-S", command_supervisor.__file__, "600", "60", sys.executable, "-c", HANG]
    marked = os.environ | {MARK: f"{tmp_path.name} of-a-flow-below"}
    with subprocess.Popen([sys.executable, "-c", HOLDER, *command], cwd=tmp_path, env=marked) as holder:
        until((tmp_path / "hangs").exists, "the command runs")

        reaper = [sys.executable, flow_reaper.__file__, MARK, tmp_path.name]
        subprocess.run(reaper, stdin=subprocess.DEVNULL, check=True, timeout=60)

        assert holder.wait(0) == -signal.SIGKILL
        assert not is_running(int((tmp_path / "hangs").read_text()))
