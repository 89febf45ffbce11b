"""A command ends with its output told, in time, and together with whoever started it."""

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from goldmeter.system import processes
from goldmeter.system.command_supervisor import STOPPED, TIMED_OUT

ROOT = Path(__file__).parents[2]
Until = Callable[..., None]
IsRunning = Callable[[int], bool]

# Starts a child that starts a grandchild and waits; both write down their process number.
FAMILY = """
import subprocess, sys
from pathlib import Path
{before}
child = subprocess.Popen([sys.executable, "-c", "{in_child}import time; time.sleep(600)"]{session})
Path("{folder}", "pids").write_text(f"{{__import__('os').getpid()}} {{child.pid}}")
child.wait()
"""


def family(folder: Path, before: str = "", in_child: str = "", session: str = "") -> list[str]:
    return [sys.executable, "-c", FAMILY.format(folder=folder, before=before, in_child=in_child, session=session)]


def pids(folder: Path, until: Until) -> list[int]:
    file = folder / "pids"
    until(lambda: file.exists() and len(file.read_text().split()) == 2, "the family starts")
    return [int(number) for number in file.read_text().split()]


def run(code: str, timeout: float = 60) -> tuple[int, list[tuple[str, str]]]:
    lines: list[tuple[str, str]] = []
    command = [sys.executable, "-c", textwrap.dedent(code)]
    return processes.run(command, os.environ, timeout, lambda *line: lines.append(line)), lines


def test_lines_of_both_streams_are_told_apart() -> None:
    status, lines = run("import sys; print('one\\ntwo'); print('three', file=sys.stderr)")

    assert status == 0
    assert [line for stream, line in lines if stream == "stdout"] == ["one", "two"]
    assert [line for stream, line in lines if stream == "stderr"] == ["three"]


def test_a_line_without_end_comes_in_pieces_and_nothing_is_lost() -> None:
    status, lines = run("import sys; sys.stdout.write('x' * 5_000_000)")

    assert status == 0
    assert sum(len(line) for _, line in lines) == 5_000_000
    assert max(len(line) for _, line in lines) <= processes._LONGEST_LINE + 65536


def test_a_command_runs_where_it_is_told_to(tmp_path: Path) -> None:
    lines: list[str] = []

    processes.run(["pwd", "-P"], os.environ, 60, lambda _, line: lines.append(line), cwd=tmp_path)

    assert lines == [str(tmp_path.resolve())]


def test_a_command_of_peoples_finds_this_python_first() -> None:
    environment = processes.environment()

    assert environment["PATH"].startswith(f"{Path(sys.executable).parent}{os.pathsep}")
    assert environment["HOME"] == os.environ["HOME"]


def test_a_line_is_told_before_the_command_ends(tmp_path: Path) -> None:
    code = f"""
        import pathlib, time
        print("early", flush=True)
        while not pathlib.Path({str(tmp_path)!r}, "heard").exists():
            time.sleep(0.01)
    """

    status = processes.run(
        [sys.executable, "-c", textwrap.dedent(code)], os.environ, 60, lambda *_: (tmp_path / "heard").touch()
    )

    assert status == 0


def test_a_last_line_without_an_end_and_broken_utf8_are_told() -> None:
    _, lines = run("import os; os.write(1, b'caf\\xc3\\xa9 \\xff')")

    assert lines == [("stdout", "café �")]


def test_of_a_progress_bar_the_last_state_is_told() -> None:
    _, lines = run("import sys; sys.stderr.write('1%\\r50%\\r100%\\r\\n')")

    assert lines == [("stderr", "100%")]


def test_colours_are_left_out_and_what_could_move_the_cursor_is_spelled_out() -> None:
    _, lines = run("print('\\x1b[1;31mred\\x1b[0m \\x1b]0;title\\x07 \\x1b[2J \u202e')")

    assert lines == [("stdout", "red ⟨U+001B⟩]0;title⟨U+0007⟩ ⟨U+001B⟩[2J ⟨U+202E⟩")]


@pytest.mark.parametrize(("code", "status"), [("raise SystemExit(3)", 3), ("import os; os.kill(os.getpid(), 9)", 137)])
def test_the_exit_status_is_the_commands(code: str, status: int) -> None:
    assert run(code)[0] == status


def test_a_command_that_is_not_there_fails_with_its_name() -> None:
    lines: list[str] = []

    status = processes.run(["/no/such/command"], os.environ, 60, lambda _, line: lines.append(line))

    assert status == 1
    assert "/no/such/command" in lines[-1]


def test_when_time_is_up_the_whole_group_ends(tmp_path: Path, until: Until, is_running: IsRunning) -> None:
    status = processes.run(family(tmp_path), os.environ, 2, lambda *_: None)

    assert status == TIMED_OUT
    assert not any(map(is_running, pids(tmp_path, until)))


def test_a_command_has_time_to_finish(tmp_path: Path) -> None:
    code = f"""
        import pathlib, signal, sys, time
        def finish(*_):
            print("finishing", flush=True)
            while not pathlib.Path({str(tmp_path)!r}, "go").exists():
                time.sleep(0.01)
            sys.exit(print("finished"))
        signal.signal(signal.SIGTERM, finish)
        print("up", flush=True)
        time.sleep(600)
    """
    lines: list[str] = []

    def each_line(_stream: str, line: str) -> None:
        lines.append(line)
        if line == "up":
            processes.stop()
        elif line == "finishing":
            (tmp_path / "go").touch()

    status = processes.run([sys.executable, "-c", textwrap.dedent(code)], os.environ, 60, each_line, grace=60)

    assert status == STOPPED
    assert lines == ["up", "finishing", "finished"]


@pytest.mark.exhaustive
def test_who_ignores_sigterm_is_killed(tmp_path: Path, until: Until, is_running: IsRunning) -> None:
    ignore = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); "

    status = processes.run(family(tmp_path, before=ignore, in_child=ignore), os.environ, 2, lambda *_: None)

    assert status == TIMED_OUT
    assert not any(map(is_running, pids(tmp_path, until)))


def test_what_a_command_left_running_ends_with_it(is_running: IsRunning) -> None:
    status, lines = run("""
        import subprocess, sys
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        print(child.pid)
    """)

    assert status == 0
    assert not is_running(int(lines[0][1]))


def test_a_process_outside_the_group_does_not_hold_up_the_end() -> None:
    status, lines = run("""
        import subprocess, sys
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
        print(child.pid)
    """)

    psutil.Process(int(lines[0][1])).kill()
    assert status == 0


def test_stop_ends_what_runs(tmp_path: Path, until: Until, is_running: IsRunning) -> None:
    def started(_stream: str, _line: str) -> None:
        assert all(map(is_running, pids(tmp_path, until)))
        processes.stop()

    status = processes.run(family(tmp_path, before="print('up', flush=True)"), os.environ, 60, started)

    assert status == STOPPED
    assert not any(map(is_running, pids(tmp_path, until)))


def parent(code: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        start_new_session=True,
    )


def test_a_group_ends_with_a_killed_parent(tmp_path: Path, until: Until, is_running: IsRunning) -> None:
    with parent(
        "import os; from goldmeter.system import processes\n"
        f"processes.run({family(tmp_path)!r}, os.environ, 600, lambda *_: None)"
    ) as starter:
        started = pids(tmp_path, until)
        assert all(map(is_running, started))

        starter.kill()

    until(lambda: not any(map(is_running, started)), "the group ends")


def test_the_guard_ends_what_left_its_group_when_the_parent_is_killed(
    tmp_path: Path, until: Until, is_running: IsRunning
) -> None:
    with parent(
        f"import subprocess; from goldmeter.system import processes\nprocesses.end_marked_with_us()\n"
        f"subprocess.run({family(tmp_path, session=', start_new_session=True')!r})"
    ) as starter:
        started = pids(tmp_path, until)
        assert all(map(is_running, started))

        starter.kill()

    until(lambda: not any(map(is_running, started)), "all that carry the mark end")
