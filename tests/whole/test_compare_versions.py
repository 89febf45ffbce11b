"""`python -m flows.compare` on versions that git and DVC made; tests run in order on one copy."""

import json
import shutil
import sqlite3
from typing import Any

import pytest

from tests.whole.conftest import DATA, Project

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def project(v2: Project) -> Project:
    return v2


def compare(project: Any, *arguments: str, status: int = 0) -> Any:
    """The comparison as JSON."""
    path = project.folder.parent / "comparison.json"
    project.run("python", "-m", "flows.compare", *arguments, "--json", str(path), status=status)
    return json.loads(path.read_text(encoding="utf-8"))


def verdicts(document: Any, candidate: str) -> set[str]:
    [pair] = [pair for pair in document["pairs"] if pair["base"] == candidate]
    return {measure["verdict"] for measure in pair["measures"].values()}


def test_two_tags(project: Any) -> None:
    found = compare(project, "v1", "v2", status=1)

    assert "worse" in verdicts(found, "aurora")
    assert verdicts(found, "borealis") == {"unchanged"}
    assert "25 rows changed result" in project.run("python", "-m", "flows.compare", "v1", "v2", status=1)


def test_two_experiments(project: Any) -> None:
    project.run("dvc", "exp", "run", "--name", "characters", "--set-param", "+lexical.bleu.tokenizer=char")
    project.run("git", "checkout", "--quiet", ".")
    project.run("git", "checkout", "--quiet", "v1", "--", DATA)
    project.run("dvc", "exp", "run", "--name", "reverted")

    reverted = compare(project, "v2", "reverted")
    characters = compare(project, "v2", "characters")
    again = compare(project, "v2", "characters", "--rescore")

    assert reverted["head"]["name"] == "reverted"
    assert "better" in verdicts(reverted, "aurora")
    reasons = {each["measure"]: each["reason"] for each in characters["pairs"][0]["refused"]}
    assert reasons["bleu"].startswith("measured differently: tok was 13a+cjk, is char")
    assert "f1" not in reasons
    assert verdicts(again, "aurora") == {"unchanged"}


def test_a_tag_and_the_workspace_which_is_the_last_experiment(project: Any) -> None:
    workspace, experiment = compare(project, "v2"), compare(project, "v2", "reverted")

    assert workspace["head"] == {"name": "workspace", "commit": None}
    assert workspace["pairs"] == experiment["pairs"]
    assert workspace["pairs"][0]["flips"]["worst"][0]["head"].startswith("The answer is ")
    project.run("git", "reset", "--quiet", "--hard", "v2")
    project.run("dvc", "checkout", "--force")


def test_the_report_of_a_tag_has_the_comparison(project: Any) -> None:
    project.run("python", "-m", "flows.compare", "v1", "v2", "--html", status=1)

    page = project.read("reports/comparison.html")
    assert 'id="comparison"' in page
    assert "Nobody knows" in page
    assert "<b>[red]" not in page


def test_the_flow_keeps_the_table_as_an_artifact(project: Any) -> None:
    project.run("python", "-m", "flows.compare", "v1", "v2", "--flow", status=1)

    database = project.folder.parent / "prefect/prefect.db"
    with sqlite3.connect(database) as connection:
        [data] = connection.execute("SELECT data FROM artifact WHERE key = 'comparison'").fetchone()
    table = json.loads(data)
    assert table.startswith("### goldmeter: v1 → v2\n")
    assert "25 rows changed result" in table


def test_what_answers_took_reaches_the_report_the_summary_and_the_gate(project: Any) -> None:
    lines = project.read(DATA).splitlines()
    rows = [json.loads(line) | {"aurora_s": 0.25 * (1 + n % 8)} for n, line in enumerate(lines)]
    (project.folder / DATA).write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    project.edit("params.yaml", "label: aurora_correct\n", "label: aurora_correct\n      latency: aurora_s\n")
    project.edit("params.yaml", "  targets: {} ", "  targets: {latency_p95: {max: 0.5}} ")
    project.edit("params.yaml", "  metrics: {} ", "  metrics: {latency_p50: 0.1} ")

    ran = project.repro()
    summary = project.run("python", "-m", "tasks", "summary")

    assert "lexical" not in ran
    assert json.loads(project.read("reports/metrics.json"))["resources"]["aurora"]["latency"]["n"] == len(rows)
    assert "aurora: latency 1.00 s (median), 2.00 s (95th percentile" in summary
    assert "Target latency_p95 ≤ 0.500 seconds: not met: aurora; undecided: borealis" in summary
    assert "Time and cost" in project.read("reports/index.html")
    [pair, _] = compare(project, "main", status=2)["pairs"]
    assert {"measure": "latency_p50", "role": "guard", "reason": "only there after", "blocks": True} in pair["refused"]
    project.run("git", "reset", "--quiet", "--hard")
    project.run("dvc", "checkout", "--force")


def test_tables_that_are_only_in_a_remote(project: Any) -> None:
    before = compare(project, "v1", "v2", status=1)
    project.run("dvc", "remote", "add", "--default", "shared", str(project.folder.parent / "remote"))
    project.commit("a remote")
    for tag in ("v1", "v2"):  # `dvc push --all-tags` looks for the remote in the tags, which are older
        project.run("git", "checkout", "--quiet", tag, "--", "dvc.lock")
        project.run("dvc", "push")
    shutil.rmtree(project.folder / ".dvc/cache")
    shutil.rmtree(project.folder / "data/load")

    assert compare(project, "v1", "v2", status=1) == before


def test_nothing_left_this_machine(project: Any) -> None:
    assert not project.log.exists()
