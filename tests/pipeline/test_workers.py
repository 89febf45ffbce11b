"""Worker processes of this machine: results in order, and a killed one."""

import os
import signal
import time
from functools import partial
from pathlib import Path

import pytest

from goldmeter.errors import DataError, ParamsError
from goldmeter.pipeline.workers import Crew, Processes, crew_of


def doubled(number: int) -> int:
    return 2 * number


def killed_once(marks: Path, number: int) -> int:
    """Kill this process at the first call with 5; later calls return."""
    if number == 5:
        try:
            (marks / "killed").touch(exist_ok=False)
        except FileExistsError:
            return number
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def killed_at(marks: Path, number: int) -> int:
    """Kill this process at the first calls with 1 and with 4; the others take their time."""
    if number in {1, 4} and not (marks / str(number)).exists():
        (marks / str(number)).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.2)
    return number


def slow_while_others_die(marks: Path, number: int) -> int:
    """The first call waits while those with 1 and 2 each kill their process once."""
    if number == 0:
        while not (marks / "2").exists():
            time.sleep(0.01)
        time.sleep(0.5)
        return number
    if not (marks / str(number)).exists():
        (marks / str(number)).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def killed(_: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def refused(number: int) -> int:
    raise DataError(f"row {number}")


def slow_at_first(number: int) -> int:
    time.sleep(0.2 if number == 0 else 0)
    return number


def test_without_an_engine_calls_are_made_here() -> None:
    crew = Crew()

    assert list(crew.map(doubled, [1, 2, 3])) == [2, 4, 6]
    assert crew.call(doubled, 4) == 8


def test_nothing_starts_before_there_is_work() -> None:
    def start(_: int) -> Processes:
        raise AssertionError("started")

    with crew_of(start, 2) as crew:
        assert crew.call(doubled, 4) == 8


def test_processes_give_results_in_order_survive_a_kill_and_pass_errors_on(tmp_path: Path) -> None:
    with crew_of(partial(Processes, []), 2) as crew:
        assert list(crew.map(slow_at_first, range(30))) == [*range(30)]
        assert list(crew.map(killed_once, [tmp_path] * 20, range(20))) == [*range(20)]
        assert crew.call(doubled, 4) == 8
        with pytest.raises(DataError, match="row 3"):
            list(crew.map(refused, [3, 4]))


def test_work_that_waited_twice_for_killed_processes_is_done(tmp_path: Path) -> None:
    with crew_of(partial(Processes, []), 2) as crew:
        assert list(crew.map(killed_at, [tmp_path] * 8, range(8))) == [*range(8)]


def test_work_that_was_under_way_at_two_kills_is_done(tmp_path: Path) -> None:
    with crew_of(partial(Processes, []), 2) as crew:
        assert list(crew.map(slow_while_others_die, [tmp_path] * 3, range(3))) == [0, 1, 2]


def test_work_that_is_killed_again_and_again_is_a_sentence() -> None:
    with crew_of(partial(Processes, []), 2) as crew, pytest.raises(ParamsError, match=r"run\.workers: of 2 .* times"):
        list(crew.map(killed, [1]))


def test_processes_that_can_not_be_started_are_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def ended(*_: object) -> None:
        raise EOFError("unexpected EOF")  # as after the kill of the fork server

    monkeypatch.setattr("goldmeter.pipeline.workers.ProcessPoolExecutor.submit", ended)

    with crew_of(partial(Processes, []), 2, 2) as crew, pytest.raises(ParamsError, match=r"^run\.workers: 2 processes"):
        list(crew.map(abs, [-1, -2]))
