"""Signals while calls are under way lose no answer that arrives."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from goldmeter.asking.budget import Budget
from goldmeter.asking.dispatch import dispatch, noted_signals
from goldmeter.ledger.verdicts import Verdicts
from goldmeter.models.chat.client import Chat
from goldmeter.models.chat.exchange import Endpoint
from goldmeter.models.chat.limits import ConcurrencyLimit
from goldmeter.pipeline.run import Limits, RunJudge
from tests.asking.test_requests import request_about
from tests.counting_judge import counting_judge
from tests.flow_project import wait_until
from tests.judge_server import NO_KEY
from tests.raw_server import raw_server
from tests.small_project import ROOT

CONCURRENCY, ROWS = 4, 40


def request(number: int) -> Any:
    return request_about(output=f"Paris {number}", ground_truth=["Paris"], input="?")


def ask(url: str, folder: Path) -> None:
    """Ask all requests."""
    unlimited = Limits(max_calls=None, max_tokens=None, max_cost=None)
    how = RunJudge(concurrency=CONCURRENCY, timeout=60, retries=3, confirm_calls=ROWS, budget=unlimited, prices={})
    endpoint, limit = Endpoint(url, "judge", NO_KEY, how.timeout, how.retries), ConcurrencyLimit(CONCURRENCY)
    with Verdicts(folder / "store") as ledger, Chat(endpoint, limit) as chat:
        dispatch(map(request, range(ROWS)), chat, ledger, Budget(unlimited, None), how, lambda _: None)


def stored(folder: Path) -> set[str]:
    """The nonces of the requests whose answers are in the store."""
    by_key = {request(number).key: request(number).nonce for number in range(ROWS)}
    with Verdicts(folder / "store") as ledger:
        return {by_key[key] for key in ledger.get(by_key)}


@contextmanager
def asking(url: str, folder: Path) -> Iterator["subprocess.Popen[str]"]:
    """A process that asks all requests."""
    code = f"from pathlib import Path; from {__name__} import ask; ask({url!r}, Path({str(folder)!r}))"
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, cwd=ROOT, env=dict(os.environ), stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_between_two_calls_loses_no_answer(tmp_path: Path, number: signal.Signals) -> None:
    def before(call: int) -> None:
        if call == 9:
            os.kill(os.getpid(), number)

    with counting_judge(before) as judge:
        with pytest.raises(KeyboardInterrupt):
            ask(judge.url, tmp_path)

        assert len(judge.asked) < ROWS
        assert stored(tmp_path) == {*judge.answered} == {*judge.asked}


@pytest.mark.exhaustive
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_answers_under_way_are_waited_for_and_nothing_else_is_asked(tmp_path: Path, number: signal.Signals) -> None:
    go = threading.Event()
    with counting_judge(lambda call: call <= 9 or go.wait(60)) as judge, asking(judge.url, tmp_path) as process:
        wait_until(lambda: len(judge.asked) == 9 + CONCURRENCY, "four calls are under way")
        process.send_signal(number)
        assert process.stderr is not None
        said = process.stderr.readline()
        go.set()
        process.communicate(timeout=60)

        assert said == f"interrupted; waiting for {CONCURRENCY} calls under way (again: end at once)\n"
        assert process.returncode != 0
        assert len(judge.answered) == len(judge.asked) == 9 + CONCURRENCY
        assert stored(tmp_path) == {*judge.answered}


@pytest.mark.exhaustive
def test_a_second_signal_ends_at_once_and_keeps_what_was_answered(tmp_path: Path) -> None:
    go = threading.Event()
    with counting_judge(lambda call: call <= 9 or go.wait(120)) as judge, asking(judge.url, tmp_path) as process:
        wait_until(lambda: len(judge.asked) == 9 + CONCURRENCY, "four calls are under way")
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        process.stderr.readline()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)

        assert process.returncode == -signal.SIGINT
        assert len(stored(tmp_path)) == len(judge.answered) == 9
        go.set()


@pytest.mark.exhaustive
def test_an_interrupted_call_is_not_tried_again(tmp_path: Path) -> None:
    """The server asks for a pause that would outlast the test."""
    go = threading.Event()

    def script(connection: socket.socket, _: threading.Event) -> None:
        go.wait(60)
        connection.sendall(b"HTTP/1.1 503 Busy\r\nRetry-After: 100\r\nContent-Length: 0\r\n\r\n")

    with raw_server(script) as server, asking(server.url, tmp_path) as process:
        wait_until(lambda: server.requests, "the first call is under way")
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        process.stderr.readline()
        go.set()
        process.communicate(timeout=60)

        assert len(server.requests) == 1
        assert stored(tmp_path) == set()


@pytest.mark.exhaustive
@pytest.mark.parametrize("moment", range(1, ROWS, 8))
def test_nothing_that_was_answered_is_lost_whenever_the_signal_comes(tmp_path: Path, moment: int) -> None:
    with counting_judge() as judge, asking(judge.url, tmp_path) as process:
        wait_until(lambda: len(judge.answered) >= moment, "some answers")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)

        assert stored(tmp_path) == {*judge.answered}


def test_signals_that_are_ignored_stay_ignored_and_handlers_come_back() -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    received: list[int] = []

    def interrupted() -> None:
        with noted_signals() as noted:
            signal.raise_signal(signal.SIGTERM)
            signal.raise_signal(signal.SIGINT)
            received.extend(noted)

    try:
        with pytest.raises(KeyboardInterrupt):
            interrupted()
        assert received == [signal.SIGINT]
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGTERM, before)


def test_another_thread_gets_no_signal() -> None:
    noted: list[list[int]] = []

    def note() -> None:
        with noted_signals() as received:
            noted.append(received)

    thread = threading.Thread(target=note)
    thread.start()
    thread.join()

    assert noted == [[]]
