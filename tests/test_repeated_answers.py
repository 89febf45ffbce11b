"""Repeated answers through the real stages: from records whose ids repeat to the numbers, the page and a comparison."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from goldmeter.comparison.of_versions import compare_versions
from goldmeter.errors import GoldmeterError
from goldmeter.pipeline.yaml import load_yaml
from goldmeter.runner import run
from goldmeter.versions.version import Version
from tests.comparison.sample import gate_on
from tests.small_project import ROWS, edit, only_words, write

STAGES = ("load", "normalize", "lexical", "embed", "semantic", "judge", "aggregate", "report")


def ask(folder: Path, draws: int, right: int) -> None:
    """Ask each question so often; the first `right` answers of aurora are the reference, of even questions all are."""
    rows = [
        {
            **one,
            "aurora": one["references"][0] if number < right or i % 2 == 0 else "nobody knows",
            "aurora_correct": number < right or i % 2 == 0,
        }
        for number in range(draws)
        for i, one in enumerate(ROWS)
    ]
    write(folder, rows)


def drawn(params: dict[str, Any]) -> None:
    only_words(params)
    params["dataset"].update(draw=True, group=None)
    params["aggregate"]["pass_at"] = [1, 2, 5]


def evaluate(stages: Sequence[str] = STAGES) -> Any:
    for stage in stages:
        run(stage)
    return json.loads(Path("reports/metrics.json").read_text(encoding="utf-8"))


def test_repeated_ids_become_pass_at_k_on_the_page_and_in_metrics_json(project: Path) -> None:
    ask(project, draws=4, right=2)
    edit(drawn)

    document = evaluate()

    rows = pq.read_table("data/load").to_pydict()
    assert rows["id"][:2] == ["q0#1", "q0#1"]
    assert set(rows["question"]) == {f"q{i}" for i in range(10)}
    label = document["candidates"]["aurora"]["label"]
    assert (document["dataset"]["questions"], document["dataset"]["draws_each"]) == (10, [4, 4])
    assert label["method"].startswith("cr2")  # the question is the cluster
    assert label["value"] == label["pass_at"]["1"]["value"] == 0.75
    assert label["pass_at"]["2"]["value"] == pytest.approx((1 + 1 - 1 / 6) / 2, abs=1e-6)
    assert label["pass_all"]["2"]["value"] == pytest.approx((1 + 1 / 6) / 2, abs=1e-6)
    assert label["pass_at"]["5"]["n_left_out"] == 10
    assert document["candidates"]["aurora"]["exact_match"]["pass_at"]["1"]["value"] == 0.75
    [pair] = document["comparisons"]
    assert pair["measures"]["label.pass^2"]["n"] == 10
    assert '<h2 id="draws-title">Repeated answers</h2>' in Path("reports/index.html").read_text(encoding="utf-8")


def test_versions_with_other_numbers_of_draws_are_compared_by_question(project: Path) -> None:
    edit(drawn)
    sides = []
    for name, draws, right in (("base", 2, 2), ("head", 4, 2)):
        ask(project, draws, right)
        evaluate(STAGES[:-1])
        shutil.copytree("data", project / name / "data", ignore=shutil.ignore_patterns("examples"))
        shutil.copytree("reports", project / name / "reports")
        sides.append(Version(name, project / name, None))

    found = compare_versions(*sides, gate_on("label", "exact_match.pass^2"))["pairs"][0]

    assert found["rows"]["draws"] == {"base": [2, 2], "head": [4, 4]}
    assert found["measures"]["label"]["verdict"] == "unchanged"  # the two shared answers
    assert found["measures"]["label.pass@1"]["difference"]["value"] == -0.25
    assert found["measures"]["exact_match.pass^2"]["role"] == "guard"
    assert found["measures"]["exact_match.pass^2"]["difference"]["value"] == pytest.approx(-5 / 12, abs=1e-6)


@pytest.mark.parametrize(("option", "name"), [("metrics", "label.pass@3"), ("primary", "label.pass@2")])
def test_a_measure_by_question_that_nobody_computes_is_refused(project: Path, option: str, name: str) -> None:
    ask(project, draws=2, right=1)
    edit(drawn)
    edit(lambda p: p["gate"].update({option: {name: 0.0} if option == "metrics" else name}))

    with pytest.raises(GoldmeterError, match=rf"gate\.{option}: unknown measure '{name}'"):
        run("aggregate")

    assert load_yaml(Path("params.yaml"))["aggregate"]["pass_at"] == [1, 2, 5]
