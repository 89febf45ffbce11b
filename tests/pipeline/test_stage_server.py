"""Stages that are forked from the server of a run: their streams, exit status, signals and kills."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from goldmeter.pipeline import stage_server

ROOT = Path(__file__).parents[2]
# A server whose stages are these, and that imports nothing.
SERVER = """
import os, sys, time
from pathlib import Path
from goldmeter.pipeline import stage_server

stage_server._modules = list
[stage] = stage_server.serve(int(sys.argv[1]), Path(sys.argv[2]))
if stage == "echo":
    print(os.environ["SAID"], os.getcwd(), sys.stdin.read())
    print("an error", file=sys.stderr)
    sys.exit(3)
try:
    print(os.getpid(), flush=True)
    for _ in range(1000):  # a signal just before one long sleep would not end it
        time.sleep(0.1)
except KeyboardInterrupt:
    sys.exit(130)
"""
CLIENT = "import sys; from goldmeter.pipeline import stage_server; sys.exit(stage_server.delegate(sys.argv[1:]))"
# Its signals come to another thread, and interrupt no call of the main thread.
THREADED = f"""
import signal, threading
threading.Thread(target=signal.pause, daemon=True).start()
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
{CLIENT}
"""
Process = subprocess.Popen  # of text


@pytest.fixture
def run(tmp_path: Path) -> Iterator["Process[str]"]:
    """What the server ends with."""
    (tmp_path / ".dvc/tmp").mkdir(parents=True)
    with subprocess.Popen(["sleep", "100"], text=True) as process:
        yield process
        process.kill()


@pytest.fixture
def server(run: "Process[str]", tmp_path: Path) -> Iterator["Process[str]"]:
    place = f".dvc/tmp/stages-{run.pid}"
    process = start(tmp_path, SERVER, str(run.pid), place)
    wait_until((tmp_path / place).exists)
    yield process
    process.kill()
    process.communicate()


def start(folder: Path, code: str, *arguments: str, **environment: str) -> "Process[str]":
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def delegated(run: "Process[str]", folder: Path, stage: str, code: str = CLIENT, **environment: str) -> "Process[str]":
    marks = {"DVC_STAGE": stage, stage_server.RUN: str(run.pid)}
    return start(folder, code, stage, **marks, **environment)


def waiting(run: "Process[str]", folder: Path, code: str = CLIENT) -> tuple["Process[str]", int]:
    """A stage that waits, and its process id."""
    client = delegated(run, folder, "wait", code)
    assert client.stdout
    return client, int(client.stdout.readline())


def wait_until(true: object) -> None:
    for _ in range(2000):
        if true():  # type: ignore[operator]
            return
        time.sleep(0.01)
    raise AssertionError("too late")


def lives(process: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


@pytest.mark.usefixtures("server")
def test_a_stage_has_the_streams_environment_folder_and_status_of_its_command(run, tmp_path):
    client = delegated(run, tmp_path, "echo", SAID="so")

    output, error = client.communicate("given")

    assert (output, error) == (f"so {tmp_path} given\n", "an error\n")
    assert client.returncode == 3


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)])
def test_a_signal_reaches_the_stage_and_the_command_ends_as_it_does(number, status, run, tmp_path):
    client, stage = waiting(run, tmp_path)

    client.send_signal(number)

    assert client.wait(20) == status
    assert not lives(stage)


@pytest.mark.usefixtures("server")
def test_a_signal_that_interrupts_no_call_reaches_the_stage_too(run, tmp_path):
    client, stage = waiting(run, tmp_path, THREADED)

    client.send_signal(signal.SIGINT)

    assert client.wait(20) == 130
    assert not lives(stage)


@pytest.mark.usefixtures("server")
def test_a_stage_is_killed_with_its_command(run, tmp_path):
    client, stage = waiting(run, tmp_path)

    client.kill()

    wait_until(lambda: not lives(stage))


@pytest.mark.usefixtures("server")
def test_a_command_is_killed_with_its_stage(run, tmp_path):
    client, stage = waiting(run, tmp_path)

    os.kill(stage, signal.SIGKILL)

    assert client.wait(20) == -signal.SIGKILL


def test_a_stage_goes_on_when_the_server_is_killed(run, server, tmp_path):
    client, stage = waiting(run, tmp_path)

    server.kill()
    server.wait()

    assert lives(stage)
    client.send_signal(signal.SIGINT)
    assert client.wait(20) == 130


@pytest.fixture
def in_run(run, tmp_path, monkeypatch):
    """Make this process the stage load of the run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DVC_STAGE", "load")
    monkeypatch.setenv(stage_server.RUN, str(run.pid))


@pytest.mark.usefixtures("in_run")
def test_without_a_server_a_stage_runs_by_itself_and_starts_one(run, monkeypatch):
    started = []
    monkeypatch.setattr(stage_server, "_start", lambda *of: started.append(of))

    assert stage_server.delegate(["load"]) is None
    assert started == [(run.pid, Path(f".dvc/tmp/stages-{run.pid}"))]


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.usefixtures("in_run")
def test_after_a_server_was_killed_a_stage_runs_by_itself(end, server, monkeypatch):
    server.send_signal(end)
    server.wait()
    monkeypatch.setattr(stage_server, "_start", lambda *_: None)

    assert stage_server.delegate(["load"]) is None


@pytest.mark.usefixtures("in_run")
def test_a_server_that_does_not_answer_is_not_waited_for_long(server, monkeypatch):
    server.send_signal(signal.SIGSTOP)
    monkeypatch.setattr(stage_server, "PATIENCE", 0.1)

    assert stage_server.delegate(["load"]) is None


@pytest.mark.parametrize(("arguments", "stage"), [(["load"], None), (["judge", "--plan"], "judge")])
def test_a_command_by_hand_needs_no_server(arguments, stage, monkeypatch):
    monkeypatch.setattr(stage_server, "_start", None)
    monkeypatch.delenv("DVC_STAGE", raising=False)
    if stage:
        monkeypatch.setenv("DVC_STAGE", stage)

    assert stage_server.delegate(arguments) is None


def test_the_server_ends_with_its_run(run, server, tmp_path):
    run.kill()
    run.wait()

    assert server.wait(20) == 0
    assert not list((tmp_path / ".dvc/tmp").iterdir())


def test_a_server_of_older_code_takes_no_stage(run, tmp_path):
    code = SERVER.replace(
        "stage_server._modules = list", "stage_server._modules = list; stage_server.CODE = [Path('code')]"
    )
    (tmp_path / "code").mkdir()
    (tmp_path / "code/stage.py").write_text("")
    place = tmp_path / f".dvc/tmp/stages-{run.pid}"
    server = start(tmp_path, code, str(run.pid), str(place))
    wait_until(place.exists)
    (tmp_path / "code/stage.py").write_text("changed")

    client = delegated(run, tmp_path, "echo")

    assert client.wait(20) == 0  # `sys.exit(None)`: it was not accepted
    assert server.wait(20) == 0
    assert not place.exists()
    for process in (client, server):
        process.communicate()
