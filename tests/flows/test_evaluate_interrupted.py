"""However a flow is interrupted, nothing of it goes on, and the next run finds its way free."""

import fcntl
import json
import os
import pty
import signal
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from goldmeter.pipeline.yaml import dump_yaml, load_yaml
from tests.asking.test_signals import CONCURRENCY, stored
from tests.counting_judge import CountingJudge, counting_judge
from tests.flows.served import free_port, prefect_server

pytestmark = pytest.mark.exhaustive

Make = Callable[..., Any]
Until = Callable[..., None]
IsRunning = Callable[[int], bool]


@pytest.fixture
def project(make_project: Make) -> Any:
    return make_project({"load": [], "report": ["load"]})


def succeeds(project: Any, *stages: str) -> None:
    project.started()
    for stage in stages:
        project.mode(stage, "again")
    status, output = project.evaluate()
    assert status == 0, output
    assert [line.split()[0] for line in project.started()] == list(stages)


def test_a_stage_over_its_time_is_ended_and_fails_the_run(project: Any, is_running: IsRunning) -> None:
    project.mode("load", "hang")
    project.write_params(timeouts={"default": 300, "load": 5})

    status, output = project.evaluate()

    assert status == 75
    assert output.endswith("load: stopped after 5 s (params.yaml: run.timeouts.load, or default)\n")
    assert not is_running(project.pid("load"))
    assert not is_running(project.pid("grandchild"))
    project.write_params(timeouts={"default": 300})
    succeeds(project, "load", "report")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_signal_to_the_flow_ends_all_of_it(project: Any, number: signal.Signals, until: Until) -> None:
    project.mode("load", "hang")
    with project.start() as flow:
        project.pid("grandchild")
        assert len(project.processes()) > 4  # the flow, Prefect's server, DVC, the stage and its child

        flow.send_signal(number)
        flow.wait(60)
        until(lambda: not project.processes(), "all of the flow ends")

    assert flow.returncode != 0
    succeeds(project, "load", "report")


# Calls that are answered at once; the others take longer than a command that has nothing to finish gets to end.
AT_ONCE = 6
SLOW = 7.0
JUDGE = "from pathlib import Path; from tests.asking.test_signals import ask; ask('{url}', Path())"


@pytest.fixture
def judging(make_project: Make) -> Iterator[tuple[Any, CountingJudge]]:
    """A project whose only stage asks a judge."""
    project, ended = make_project({"judge": []}), threading.Event()
    with counting_judge(lambda call: call <= AT_ONCE or ended.wait(SLOW)) as judge:
        judges(project, judge.url)
        yield project, judge
        ended.set()


@pytest.mark.parametrize(
    ("number", "moment"),
    [(signal.SIGINT, AT_ONCE + 2), (signal.SIGTERM, AT_ONCE), (signal.SIGKILL, AT_ONCE + 1)],
)
def test_no_answer_of_a_judge_is_lost_when_a_flow_ends_early(
    judging: tuple[Any, CountingJudge], number: signal.Signals, moment: int, until: Until
) -> None:
    project, judge = judging
    with project.start() as flow:
        until(lambda: len(judge.asked) >= moment, "calls are under way")

        flow.send_signal(number)
        flow.communicate(timeout=120)
        until(lambda: not project.processes(), "all of the flow ends")

    assert flow.returncode != 0
    assert stored(project.folder) == {*judge.answered} == {*judge.asked}


def test_a_second_ctrl_c_ends_a_judge_at_once(make_project: Make, until: Until) -> None:
    project, ended = make_project({"judge": []}), threading.Event()
    with counting_judge(lambda call: call <= AT_ONCE or ended.wait(120)) as judge:
        judges(project, judge.url)
        with project.start() as flow:
            assert flow.stdout is not None
            until(lambda: len(judge.asked) == AT_ONCE + CONCURRENCY, "calls are under way")
            flow.send_signal(signal.SIGINT)
            until(lambda: "waiting for 4 calls under way" in flow.stdout.readline(), "the judge waits")
            flow.send_signal(signal.SIGINT)
            flow.communicate(timeout=120)
            until(lambda: not project.processes(), "all of the flow ends")

        assert flow.returncode == 130
        assert len(judge.answered) == AT_ONCE
        assert stored(project.folder) == {*judge.answered}
        ended.set()


def judges(project: Any, url: str) -> None:
    """Let the only stage of a project ask a judge."""
    stage = {"cmd": f'python -c "{JUDGE.format(url=url)}"', "always_changed": True}
    (project.folder / "dvc.yaml").write_text(dump_yaml({"stages": {"judge": stage}}))


def test_a_dvc_lock_that_is_none_is_put_aside_and_written_again(project: Any) -> None:
    lock = project.folder / "dvc.lock"
    lock.write_bytes(bytes(range(256)))

    status, output = project.evaluate()

    assert (status, len(project.started())) == (0, 2)
    assert "dvc.lock: not readable, likely cut short by a kill; kept as " in output
    assert "dvc.lock.damaged; HEAD has none\n" in output
    assert (project.folder / ".dvc/tmp/dvc.lock.damaged").read_bytes() == bytes(range(256))
    assert sorted(load_yaml(lock)["stages"]) == ["load", "report"]


def test_a_run_ends_soon_after_its_temporary_server(project: Any, until: Until) -> None:
    project.mode("load", "hang")
    with project.start() as flow:
        project.pid("grandchild")
        [server] = [process for process in project.processes() if "uvicorn" in process.cmdline()]
        server.kill()
        output, _ = flow.communicate(timeout=30)  # Prefect's own retries take minutes

    assert flow.returncode == 75
    assert output.splitlines()[-1].startswith("error: Prefect's temporary server ended before the run")
    assert not (project.folder / "data/load").exists()
    until(lambda: not project.processes(), "all of the flow ends")
    succeeds(project, "load", "report")


def in_a_terminal(project: Any) -> tuple["subprocess.Popen[bytes]", int]:
    """A flow in the foreground of a terminal of its own, and the keyboard and screen of that."""
    ours, theirs = pty.openpty()
    flow = subprocess.Popen(
        [sys.executable, "-m", "flows.evaluate"],
        cwd=project.folder,
        env=project.environment,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 (this test has no threads)
    )
    os.close(theirs)
    return flow, ours


def screen(terminal: int) -> Iterator[str]:
    """What comes on the screen, until nobody has the terminal."""
    with suppress(OSError):  # how Linux tells the end of a terminal
        while piece := os.read(terminal, 65536):
            yield piece.decode(errors="replace")


@pytest.fixture
def waiting(make_project: Make) -> Any:
    """A project of two stages that hang; the second waits for the first."""
    made = make_project({"load": [], "judge": []}, parallel_stages=1, retries={"default": 2})
    for stage in ("load", "judge"):
        made.mode(stage, "hang")
    return made


def test_ctrl_c_pressed_twice_in_a_terminal_ends_all_with_one_line(waiting: Any, until: Until) -> None:
    flow, terminal = in_a_terminal(waiting)
    shown, moments = "", ["works on it", "stopped with the flow"]
    for piece in screen(terminal):
        shown += piece
        if moments and moments[0] in shown:
            moments.pop(0)
            os.write(terminal, b"\x03")

    assert flow.wait(60) == 130
    assert "error: interrupted; the running stages changed no table" in shown
    assert "Traceback" not in shown
    assert "Unable to connect" not in shown
    assert len(waiting.started()) == 1
    until(lambda: not waiting.processes(), "all of the flow ends")


def test_sigterm_to_the_whole_group_ends_all_without_a_trace(waiting: Any, until: Until) -> None:
    flow, terminal = in_a_terminal(waiting)
    shown = ""
    for piece in screen(terminal):
        shown += piece
        if "works on it" in shown and flow.poll() is None and "Failed" not in shown:
            os.killpg(flow.pid, signal.SIGTERM)

    assert flow.wait(60) == -signal.SIGTERM
    assert "Traceback" not in shown
    assert "Unable to connect" not in shown
    until(lambda: not waiting.processes(), "all of the flow ends")


def test_two_flows_at_the_same_time_both_end_well(project: Any, until: Until) -> None:
    project.mode("load", "until go")
    with project.start() as first:
        project.pid("load")
        with project.start() as second:
            assert second.stdout is not None
            until(lambda: "Another flow runs in this checkout" in second.stdout.readline(), "the second waits")
            (project.folder / "go").touch()
            outputs = [process.communicate(timeout=240)[0] for process in (first, second)]

    assert [first.returncode, second.returncode] == [0, 0], outputs
    assert project.started() == ["load -", "report -"]


def test_a_flow_waits_for_somebodys_dvc_repro(project: Any, until: Until) -> None:
    project.mode("load", "until go")
    command = [sys.executable, "-m", "dvc", "repro", "load"]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with subprocess.Popen(command, cwd=project.folder, env=project.environment | {"PATH": path}) as by_hand:
        project.pid("load")
        with project.start() as flow:
            assert flow.stdout is not None
            until(lambda: "is busy" in flow.stdout.readline(), "the flow finds the path busy")
            (project.folder / "go").touch()
            output, _ = flow.communicate(timeout=240)

    assert [by_hand.returncode, flow.returncode] == [0, 0], output
    assert project.started() == ["load -", "report -"]


def test_stages_wait_longer_than_dvc_does_by_itself_for_its_lock(project: Any, until: Until) -> None:
    lock = project.folder / ".dvc/tmp/lock"
    lock.parent.mkdir(exist_ok=True)
    with lock.open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with project.start() as flow:
            until(lambda: any(_waits_long(process) for process in project.processes()), "DVC waits for 6 s")
            fcntl.flock(held, fcntl.LOCK_UN)
            output, _ = flow.communicate(timeout=240)

    assert flow.returncode == 0, output


def _waits_long(process: psutil.Process) -> bool:
    try:
        return "--single-item" in process.cmdline() and time.time() - process.create_time() > 6
    except psutil.NoSuchProcess:
        return False


@pytest.fixture
def server(project: Any) -> Iterator[str]:
    environment = project.environment | {"DO_NOT_TRACK": "1", "PREFECT_SERVER_ANALYTICS_ENABLED": "false"}
    environment["PREFECT_SERVER_CSRF_PROTECTION_ENABLED"] = "false"  # no token for what the test asks
    with prefect_server(project.folder, environment, free_port()) as url:
        yield url


def test_a_running_server_gets_the_log_and_the_metrics(project: Any, server: str, until: Until) -> None:
    (project.folder / "reports").mkdir()
    scores = {"value": 0.25, "low": 0.0, "high": 1.0, "n": 4, "n_not_asked": 0, "n_failed": 0}
    dataset = {"rows": 4, "rejected": 0, "rejected_reasons": {}, "truncated_texts": 0}
    metrics = {"confidence": 0.95, "dataset": dataset, "candidates": {"small": {"exact_match": scores}}}
    (project.folder / "reports/metrics.json").write_text(json.dumps(metrics))

    status, output = project.evaluate(PREFECT_API_URL=server)

    assert status == 0, output
    assert "temporary server" not in output
    artifacts = {one["key"]: one["data"] for one in httpx.post(f"{server}/artifacts/filter", json={}).json()}
    assert "0.250" in artifacts["summary"]
    newest = {"sort": "START_TIME_DESC", "limit": 1}
    [run] = [one["id"] for one in httpx.post(f"{server}/flow_runs/filter", json=newest).json()]
    of_run = {"flow_runs": {"id": {"any_": [run]}}}
    tasks = httpx.post(f"{server}/task_runs/filter", json=of_run).json()
    assert sorted((one["name"], one["state_type"]) for one in tasks) == [("load", "COMPLETED"), ("report", "COMPLETED")]
    until(lambda: "load works on it" in httpx.post(f"{server}/logs/filter", json={}).text, "the log arrives", 30)
