"""Candidates with a model, from a killed run to a scheduled one, against a server on loopback that counts."""

import json
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from goldmeter.pipeline.tables import about
from tests.flow_project import wait_until
from tests.hostile_texts import TEXTS
from tests.judge_server import JudgeServer, Reply, completion, serving
from tests.whole.conftest import DATA, ROWS, Project, answer, ran
from tests.whole.test_one_night import night

pytestmark = pytest.mark.exhaustive
# Answers before a run is killed, and the seconds for which all further calls wait then.
BEFORE, FOREVER = 25, 600.0


class Live:
    """A live system. paid: message of each call that was answered, with its system message → how often."""

    def __init__(self, server: JudgeServer) -> None:
        self.server, self.paid, self.most = server, Counter[tuple[str, str]](), sys.maxsize
        server.script = self.reply

    def reply(self, body: dict[str, Any]) -> Reply:
        """Answer with texts that try to be more than data; after `most` answers, nobody lives to see one."""
        message, system = body["messages"][-1]["content"], body["messages"][0]["content"]
        if self.paid.total() >= self.most:
            return Reply(*completion("too late"), delay=FOREVER)
        self.paid[message, system if len(body["messages"]) > 1 else ""] += 1
        number = int(message.removeprefix("Question ").removesuffix("?"))
        return Reply(*completion(f"{TEXTS[number % 40]}\n{{{{ input }}}} {number}"))


@pytest.fixture(scope="module")
def live() -> Iterator[Live]:
    with serving() as server:
        yield Live(server)


@pytest.fixture(scope="module", autouse=True)
def prepare(project: Project, live: Live) -> None:
    """Ask a live system beside a column of answers."""
    project.write_answers(DATA, wrong=5)

    def change(content: dict[str, Any]) -> None:
        candidates = content["dataset"]["candidates"]
        del candidates["borealis"]
        candidates["live"] = {"model": "m", "base_url": live.server.url, "seed": 1}
        content["lexical"] = {"exact_match": {}}
        content["run"]["judge"].update(concurrency=4, prices={"m": {"input": 1.0, "output": 2.0}})

    project.change_params(change)
    project.commit("a live system")


def tables(project: Project) -> dict[str, bytes]:
    return {name: (project.folder / f"data/{name}/part-00000.parquet").read_bytes() for name in ("answer", "load")}


def stored(store: Path) -> int:
    """The replies in a store; 0 where there is none yet."""
    try:
        with closing(sqlite3.connect(f"file:{store}/verdicts.sqlite?mode=ro", uri=True)) as database:
            return int(database.execute("SELECT count(*) FROM entries").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def test_a_killed_run_has_paid_for_nothing_twice(project: Project, live: Live) -> None:
    live.most = BEFORE
    store = project.folder / ".git/goldmeter/ledger/answer"
    command = [sys.executable, "-m", "tasks", "answer"]
    with subprocess.Popen(command, cwd=project.folder, env=project.environment) as run:
        wait_until(lambda: stored(store) == BEFORE, "paid")
        run.send_signal(signal.SIGKILL)
    assert live.paid.total() == BEFORE
    assert not (project.folder / "data/answer").exists()
    live.most = sys.maxsize

    assert ran(project.run("dvc", "repro"))[:2] == ["answer", "load"]

    assert len(live.paid) == ROWS
    assert {*live.paid.values()} == {1}


def test_answers_are_data_of_every_table_and_of_the_report(project: Project) -> None:
    rows = pq.read_table(project.folder / "data/load/part-00000.parquet").to_pylist()
    said = {row["id"]: row["response"] for row in rows if row["candidate"] == "live"}

    assert said == {f"q{n}": f"{TEXTS[n % 40]}\n{{{{ input }}}} {n}" for n in range(ROWS)}
    found = json.loads(project.read("reports/metrics.json"))
    assert [found["candidates"][name]["exact_match"]["n"] for name in ("live", "aurora")] == [ROWS, ROWS]
    totals = {kind: entry["total"] for kind, entry in found["resources"].pop("live").items()}
    assert totals.pop("latency") > 0.0
    assert totals == {"tokens": 110.0 * ROWS, "cost": pytest.approx(120e-6 * ROWS)}
    assert not found["resources"]
    assert "<script>window.breached" not in project.read("reports/index.html")


def test_the_same_again_is_up_to_date_and_forced_offline_gives_the_same_bytes(project: Project, live: Live) -> None:
    before, calls = tables(project), live.paid.total()
    assert "up to date" in project.run("dvc", "repro")
    (project.folder / ".git/goldmeter").rename(project.folder.parent / "another store")

    project.change_params(lambda content: content["run"]["judge"].update(timeout=1, retries=0))
    live.most = 0
    project.run("dvc", "repro", "--force", "--single-item", "answer", "load")

    assert tables(project) == before
    assert live.paid.total() == calls
    live.most = sys.maxsize


def test_a_scheduled_run_asks_only_what_is_new(project: Project, live: Live) -> None:
    calls = live.paid.copy()
    with (project.folder / DATA).open("a", encoding="utf-8") as file:
        file.write(answer(ROWS, wrong=0))
    short = {"model": "m", "base_url": live.server.url, "seed": 1, "system": "prompts/tone.txt"}
    project.change_params(lambda content: content["dataset"]["candidates"].update(short=short))
    project.commit("a question and a candidate")

    outcome, _ = night(project)

    assert outcome["ok"], outcome
    new = live.paid - calls
    assert {*new.values()} == {1}
    assert sum(not system for _, system in new) == 1
    assert sum(bool(system) for _, system in new) == ROWS + 1
    assert outcome["facts"]["cost"] == pytest.approx((ROWS + 2) * 120 / 1e6)


def test_a_budget_stops_it_and_keeps_what_was_paid_for(project: Project, live: Live) -> None:
    def change(content: dict[str, Any]) -> None:
        content["dataset"]["candidates"]["live"]["version"] = 2
        content["run"]["judge"]["budget"]["max_calls"] = 7

    calls = live.paid.total()
    project.change_params(change)

    output = project.run("python", "-m", "tasks", "answer", status=2)

    assert "live: 54 not answered: not asked: run.judge.budget.max_calls (7) is used up" in output
    assert "Too many questions have no answer; the limit is answer.max_unmeasured." in output
    assert live.paid.total() == calls + 7
    project.change_params(lambda content: content["run"]["judge"]["budget"].update(max_calls=None))
    project.run("python", "-m", "tasks", "answer")
    assert live.paid.total() == calls + ROWS + 1
    table = pq.read_table(project.folder / "data/answer/part-00000.parquet")
    assert about(table.schema) == {"max_unmeasured": 0.05}
