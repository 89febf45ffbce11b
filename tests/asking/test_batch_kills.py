"""A judge by batches that is killed at any moment: no request is sent twice, and the tables do not differ."""

import signal
import sys
import time
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any

import pytest

from goldmeter.asking import batch_dispatch
from goldmeter.console.terminal import TRY_LATER
from goldmeter.errors import ServerError
from goldmeter.pipeline.tables import Parts
from tests.asking.test_batches import BATCH, bytes_of, states
from tests.judge_server import completion, verdict
from tests.test_judge import judged, params, rows, server

__all__ = ["server"]
pytestmark = [pytest.mark.exhaustive, pytest.mark.timeout(1800)]
ROWS = [(f"q{i}", "Paris" if i % 2 else "London") for i in range(24)]
KILLS, MOST = 20, 4


def ask(url: str, folder: Path) -> Any:
    """Judge all rows in batches of a few."""
    for name, value in {"FIRST_PAUSE": 0.02, "LONGEST_PAUSE": 0.05, "CERTAIN": 2.0, "MOST_REQUESTS": MOST}.items():
        setattr(batch_dispatch, name, value)
    try:
        return judged(Parts(folder / "rows"), params(base_url=url), folder / "store", how=BATCH)
    except ServerError:  # a server that is slow on a busy machine: the next run goes on
        sys.exit(TRY_LATER)


def exchanges(server: Any) -> int:
    """Exchanges with the server so far, of any kind."""
    return len(server.calls) + int(server.batches.exchanges.total())


def test_a_run_that_is_killed_at_random_moments_sends_nothing_twice(server: Any, tmp_path: Path) -> None:
    """Every seventh request gets no verdict at first, so that there are rounds."""
    server.script = lambda body: completion(
        "no" if body["seed"] == 1 and "q7" in body["messages"][1]["content"] else verdict(body)
    )
    server.batches.looks, server.batches.page = 3, 2
    rows(tmp_path / "rows", ROWS)
    rng, kills = Random(22), 0  # noqa: S311 (moments of kills, no secret)
    context = get_context("forkserver")  # imports once
    context.set_forkserver_preload([__name__])
    while True:
        moment, late = exchanges(server) + rng.randint(1, 5), rng.uniform(0, 0.02)
        process = context.Process(target=ask, args=(server.url, tmp_path))
        process.start()
        while process.is_alive():
            if kills < KILLS and exchanges(server) >= moment:
                time.sleep(late)
                process.kill()
                kills += 1
                break
            time.sleep(0.001)
        process.join()
        assert process.exitcode in {0, -signal.SIGKILL, TRY_LATER}
        if process.exitcode == 0:
            break

    assert kills >= KILLS // 2
    assert max(server.batches.asked.values()) == 1
    assert states(tmp_path) == []
    single = judged(Parts(tmp_path / "rows"), params(base_url=server.url), tmp_path / "other")
    again = judged(Parts(tmp_path / "rows"), params(base_url=server.url), tmp_path / "store", how=BATCH)
    assert bytes_of(again) == bytes_of(single)
