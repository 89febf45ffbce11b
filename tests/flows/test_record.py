"""`python -m flows.evaluate --record` on a small project: what is kept of a run, and when nothing is."""

import json
import sqlite3
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pyarrow.parquet as pq
import pytest

from goldmeter.errors import GoldmeterError
from goldmeter.serving import record

Make = Callable[..., Any]
NOISE = "started.log\npid.*\nconnections.log\nwatch/__pycache__/\n"
METRIC = {"value": 0.25, "low": 0.0, "high": 1.0, "n": 4, "n_not_asked": 0, "n_failed": 0, "signature": "exact|v:1"}
DATASET = {"rows": 4, "rejected": 0, "rejected_reasons": {}, "truncated_texts": 0}


class Recorded:
    """A project under git, and what its runs leave there."""

    def __init__(self, project: Any) -> None:
        self.project = project
        (project.folder / "reports").mkdir()
        (project.folder / "reports/index.html").write_text("")
        (project.folder / "reports/metrics.json").write_text(
            json.dumps({"confidence": 0.95, "dataset": DATASET, "candidates": {"small": {"exact_match": METRIC}}})
        )
        (project.folder / ".gitignore").write_text(NOISE)
        self.git("config", "user.name", "n")
        self.git("config", "user.email", "e@x")

    def git(self, *command: str) -> str:
        done = subprocess.run(["git", *command], cwd=self.project.folder, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "all")

    @property
    def experiments(self) -> list[str]:
        return self.git("for-each-ref", "--format=%(refname:lstrip=4)", "refs/exps").split()

    @property
    def history(self) -> Path:
        folder: Path = self.project.folder
        return folder / ".git/goldmeter/history.parquet"


@pytest.fixture(scope="module")
def recorded(make_project: Make) -> Recorded:
    return Recorded(make_project({"load": [], "report": ["load"]}))


Keep = Callable[[str | None, Callable[[], str | None]], record.Recorded]


@pytest.fixture
def keep(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> Keep:
    """Records a run of this name, which does what is given, without a flow."""
    monkeypatch.chdir(recorded.project.folder)

    def kept(name: str | None, run: Callable[[], str | None]) -> record.Recorded:
        return record.kept_in_history(record.recorded("run", name, lambda: (run(), "id of the flow run")))

    return kept


def never() -> str | None:
    raise AssertionError


def test_without_a_commit_nothing_runs(keep: Keep) -> None:
    with pytest.raises(GoldmeterError, match="HEAD: no commit yet, so a run can't be recorded"):
        keep(None, never)


@pytest.mark.long
def test_a_run_is_recorded_under_the_time_it_started(recorded: Recorded) -> None:
    recorded.commit()
    began = datetime.now(UTC)

    status, output = recorded.project.evaluate("--record")

    assert status == 0, output
    [name] = recorded.experiments
    assert began.replace(microsecond=0) <= datetime.strptime(f"{name} +0000", "run-%Y-%m-%d-%H%M%S %z")
    assert output.splitlines()[-1] == f"experiment: {name} (dvc exp show, flows.compare {name})"
    head = recorded.git("rev-parse", "HEAD")
    commit = recorded.git("rev-parse", f"refs/exps/{head[:2]}/{head[2:]}/{name}")
    said = dict(
        line.split(": ") for line in recorded.git("log", "-1", "--format=%(trailers:only)", commit).splitlines()
    )
    assert [*said] == ["Params", "Code", "Started", "Duration", "Cost", "Prefect-Run"]
    assert said["Code"] == head
    assert said["Params"] == recorded.git("rev-parse", "HEAD:params.yaml")
    assert said["Cost"] == "0.000000 USD"
    assert "data/report" in recorded.git("show", f"{commit}:dvc.lock")
    [row] = pq.read_table(recorded.history).to_pylist()
    assert (row["run"], row["commit"], row["flow_run"]) == (name, commit, said["Prefect-Run"])
    with sqlite3.connect(recorded.project.folder.parent / "prefect/prefect.db") as database:
        query = "SELECT flow_run_id, data FROM artifact WHERE key = 'experiment'"
        [(flow_run, kept)] = database.execute(query).fetchall()
    assert UUID(flow_run) == UUID(row["flow_run"])
    assert json.loads(kept).startswith(f"Experiment **{name}**, commit {commit}: ")


def test_a_name_that_is_there_is_refused_before_anything_runs(recorded: Recorded, keep: Keep) -> None:
    recorded.commit()
    recorded.git("tag", "-f", "v1")

    with pytest.raises(
        GoldmeterError, match=r"^v1: a version of this name already exists; choose another \(`dvc exp show`\)$"
    ):
        keep("v1", never)


@pytest.mark.exhaustive
def test_two_runs_at_once_wait_for_each_other_and_are_both_recorded(recorded: Recorded) -> None:
    recorded.project.mode("load", "until go")
    recorded.commit()
    (recorded.project.folder / "pid.load").unlink(missing_ok=True)

    with recorded.project.start("--record", "one") as one:
        recorded.project.pid("load")
        with recorded.project.start("--record", "two") as two:
            for line in two.stdout:
                if "waiting for its end" in line:
                    break
            (recorded.project.folder / "go").write_text("")
            ended = [process.communicate(timeout=240)[0] for process in (one, two)]

    assert {"one", "two"} <= set(recorded.experiments), ended
    assert [one.returncode, two.returncode] == [0, 0]


def test_a_failed_run_is_not_recorded(recorded: Recorded, keep: Keep) -> None:
    recorded.commit()
    before = recorded.experiments

    assert keep("failed", lambda: "stage load: exit status 1") == ("stage load: exit status 1", None, None)
    assert recorded.experiments == before


def test_a_run_during_which_somebody_edits_is_not_recorded(recorded: Recorded, keep: Keep) -> None:
    recorded.commit()
    before = recorded.experiments

    run = keep("edited-meanwhile", lambda: recorded.project.mode("report", "edited"))

    assert run.failure == (
        "error: workspace: changed while the run went on: modes/report. Its numbers may come from either version, "
        "so it is not recorded: run again."
    )
    assert recorded.experiments == before


def test_a_history_that_cannot_be_written_leaves_the_experiment(recorded: Recorded, keep: Keep) -> None:
    recorded.history.parent.mkdir(parents=True, exist_ok=True)
    recorded.history.write_text("not a table")
    recorded.project.mode("load", "")
    recorded.commit()

    run = keep("not-in-the-history", lambda: recorded.project.dvc("repro") and None)

    assert run.experiment.name == "not-in-the-history"
    assert run.failure.startswith("error: not-in-the-history is recorded, but not in the history: ")
    assert "not-in-the-history" in recorded.experiments
    assert recorded.history.read_text() == "not a table"
