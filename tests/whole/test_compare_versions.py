"""`python -m flows.compare` on versions that git and DVC made; tests run in order on one copy."""

import json
import shutil
from typing import Any

import pytest

from tests.whole.conftest import DATA, Project

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def project(v2: Project) -> Project:
    return v2


def compare(project: Any, *arguments: str, status: int) -> Any:
    """The comparison as JSON; also written as a page."""
    path = project.folder.parent / "comparison.json"
    project.run("python", "-m", "flows.compare", *arguments, "--json", str(path), "--html", status=status)
    return json.loads(path.read_text(encoding="utf-8"))


def test_two_tags_whose_tables_are_only_in_a_remote(project: Any) -> None:
    project.run("dvc", "remote", "add", "--default", "shared", str(project.folder.parent / "remote"))
    project.commit("a remote")
    for tag in ("v1", "v2"):  # `dvc push --all-tags` looks for the remote in the tags, which are older
        project.run("git", "checkout", "--quiet", tag, "--", "dvc.lock")
        project.run("dvc", "push")
    for tables in (".dvc/cache", "data/load"):
        shutil.rmtree(project.folder / tables)

    found = compare(project, "v1", "v2", status=1)

    verdicts = {pair["base"]: {each["verdict"] for each in pair["measures"].values()} for pair in found["pairs"]}
    assert "worse" in verdicts["aurora"]
    assert verdicts["borealis"] == {"unchanged"}
    page = project.read("reports/comparison.html")
    assert 'id="comparison"' in page
    assert "Nobody knows" in page
    assert "<b>[red]" not in page


def test_what_answers_took_reaches_the_report_the_summary_and_the_gate(project: Any) -> None:
    project.run("dvc", "fetch")  # the cache is gone, and what is not in it is made again
    lines = project.read(DATA).splitlines()
    rows = [json.loads(line) | {"aurora_s": 0.25 * (1 + n % 8)} for n, line in enumerate(lines)]
    (project.folder / DATA).write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    project.edit("params.yaml", "label: aurora_correct, ", "label: aurora_correct, latency: aurora_s, ")
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
