"""`python -m flows.evaluate --record` on the real project; tests run in order on one copy."""

import csv
import io
import json
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.whole.conftest import DATA, Project

pytestmark = [pytest.mark.long, pytest.mark.exhaustive]


@pytest.fixture(scope="module")
def project(v1: Project) -> Project:
    return v1


def status(project: Any) -> str:
    """What git says of the working tree, but for dvc.lock, which each run writes."""
    asked = ("status", "--porcelain=v2", "--branch", "--", ".", ":!dvc.lock")
    return project.run("git", "--no-optional-locks", *asked)  # type: ignore[no-any-return]


def shown(project: Any) -> dict[str, dict[str, str]]:
    """What `dvc exp show` says of each experiment."""
    said = project.run("dvc", "exp", "show", "--csv")
    table = said[said.index("Experiment,") :]
    return {row["Experiment"]: row for row in csv.DictReader(io.StringIO(table)) if row["Experiment"]}


def test_two_runs_are_two_experiments_that_compare_and_edits_stay(project: Any) -> None:
    project.run("python", "-m", "flows.evaluate", "--record", "exp-a")
    project.edit("README.md", "# An evaluation", "# staged")
    project.run("git", "add", "README.md")
    project.edit("README.md", "# staged", "# not staged")
    project.write_answers(DATA, wrong=25)
    before = status(project)
    said = project.run("python", "-m", "flows.evaluate", "--record", "exp-b")

    assert said.splitlines()[-1] == "experiment: exp-b (dvc exp show, flows.compare exp-b)"
    assert status(project) == before
    found = project.folder.parent / "comparison.json"
    project.run("python", "-m", "flows.compare", "exp-a", "exp-b", "--json", str(found), status=1)
    [aurora] = [pair for pair in json.loads(found.read_text(encoding="utf-8"))["pairs"] if pair["base"] == "aurora"]
    assert aurora["measures"]["exact_match"]["verdict"] == "worse"
    experiments = shown(project)
    assert float(experiments["exp-a"]["aurora.exact_match"]) > float(experiments["exp-b"]["aurora.exact_match"])


def test_the_run_is_recorded_with_its_data_and_cost(project: Any) -> None:
    said = project.run("git", "for-each-ref", "--format=%(contents)", "refs/exps")

    data = [line.removeprefix("Data: ") for line in said.splitlines() if line.startswith("Data: ")]
    assert [each in project.read("dvc.lock") for each in data] == [False, True]
    assert [line for line in said.splitlines() if line.startswith("Cost: ")] == ["Cost: 0.000000 USD"] * 2


def test_applied_again_nothing_has_to_run(project: Any) -> None:
    project.run("git", "checkout", "--quiet", "--force", "main")
    project.run("dvc", "exp", "apply", "exp-a")

    assert project.repro() == []


def test_each_candidate_and_metric_is_in_the_history(project: Any) -> None:
    rows = pq.read_table(project.folder / ".git/goldmeter/history.parquet").to_pylist()
    metrics = json.loads(project.read("reports/metrics.json"))["candidates"]

    expected = {(run, name, metric) for run in ("exp-a", "exp-b") for name, each in metrics.items() for metric in each}
    assert {(row["run"], row["candidate"], row["metric"]) for row in rows} == expected
