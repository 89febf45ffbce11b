"""A judge that is killed at any moment has lost nothing it was paid for, but what was under way."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.judge_server import Reply, completion, question, serving, verdict
from tests.test_judge import KEY

pytestmark = pytest.mark.exhaustive
ROOT = Path(__file__).parents[2]
CONCURRENCY, ROWS, KILLS = 8, 400, 20
CHILD = f"""
import sys
from pathlib import Path
import pyarrow.parquet as pq
from tests.test_judge import HOW, judged, params, rows
url, folder, store = sys.argv[1:]
many = [(f"q{{i}}", "Paris" if i % 3 else "London") for i in range({ROWS})]
options = params(base_url=url)
how = HOW.model_copy(update={{"concurrency": {CONCURRENCY}}})
table = judged(rows(Path(folder, "rows"), many[:150], many[150:]), options, Path(store), how=how)
pq.write_table(table, Path(folder, "table.parquet"))
"""


def start(url: str, folder: Path, store: Path, environment: dict[str, str]) -> "subprocess.Popen[bytes]":
    folder.mkdir()
    return subprocess.Popen([sys.executable, "-c", CHILD, url, str(folder), str(store)], cwd=ROOT, env=environment)


def test_killed_at_random_moments_and_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_KEY", KEY)
    environment, random = dict(os.environ), Random(3)  # noqa: S311
    answered: Counter[str] = Counter()

    def script(body: dict[str, Any]) -> Reply:
        answered[question(body)[0]] += 1
        return Reply(*completion(verdict(body)), delay=0.02)

    with serving() as server:
        server.script = script
        for kill in range(KILLS):
            limit = len(server.calls) + random.randint(1, ROWS // KILLS)
            child = start(server.url, tmp_path / f"killed {kill}", tmp_path / "store", environment)
            while child.poll() is None and len(server.calls) < limit:
                time.sleep(0.001)
            time.sleep(random.random() * 0.02)
            child.send_signal(signal.SIGKILL)
            child.wait()
        assert start(server.url, tmp_path / "resumed", tmp_path / "store", environment).wait() == 0
        repeated = answered.total() - ROWS

        assert start(server.url, tmp_path / "undisturbed", tmp_path / "another store", environment).wait() == 0

    assert len(answered) == ROWS
    assert 0 < repeated <= KILLS * CONCURRENCY
    resumed, undisturbed = (tmp_path / name / "table.parquet" for name in ("resumed", "undisturbed"))
    assert resumed.read_bytes() == undisturbed.read_bytes()
