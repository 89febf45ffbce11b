"""The pipeline as a user runs it, on the bundled example; tests run in order on one copy."""

import json
import random
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from goldmeter.pipeline.dvc_yaml import stages
from goldmeter.pipeline.yaml import load_yaml
from scripts import golden_stages
from tests.whole.conftest import ROOT, Project, ran

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def project(example: Project, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    project = example.copy(tmp_path_factory.mktemp("whole"))
    yield project
    project.require_stayed_here()


def metrics(project: Any) -> Any:
    return json.loads(project.read("reports/metrics.json"))["candidates"]


def test_a_fresh_copy_runs_every_stage(project: Any, example: Project) -> None:
    assert sorted(ran((example.folder.parent / "repro").read_text(encoding="utf-8"))) == sorted(stages())
    assert metrics(project)["aurora"]["label"]["n"] == 258
    assert (project.folder / "reports/index.html").exists()


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="validation reports state the version of Python")
def test_it_is_the_committed_run_but_for_the_last_bits_of_vectors(project: Any) -> None:
    of_vectors = {out for name in ("embed", "semantic", "aggregate", "report") for out in stages()[name].outs}

    committed, now = (
        {
            (name, kind, entry["path"]): entry["md5"]
            for name, stage in load_yaml(folder / "dvc.lock")["stages"].items()
            for kind in ("deps", "outs")
            for entry in stage[kind]
            if entry["path"] not in of_vectors - {"reports/summary.json"}
        }
        for folder in (ROOT, project.folder)
    )
    assert now == committed, "dvc.lock is behind: make example, then commit it"


def test_no_number_changes_without_the_revision_of_its_stage(project: Any) -> None:
    assert (
        golden_stages.changed_without_revision(golden_stages.read(), golden_stages.of_tables(project.folder)) == []
    ), golden_stages.HOW


def test_dvc_says_something_useful(project: Any) -> None:
    assert "bleu" in project.run("dvc", "metrics", "show")
    assert "index.html" in project.run("dvc", "plots", "show")
    project.commit("first run")


def test_a_threshold_re_runs_what_sees_it_and_dvc_tells_the_difference(project: Any) -> None:
    project.edit("params.yaml", "gleu: {threshold: 0.5}", "gleu: {threshold: 0.6}")

    assert project.repro() == ["lexical", "aggregate", "report"]
    assert "lexical.gleu.threshold" in project.run("dvc", "params", "diff")


def test_parts_workers_and_row_order_change_no_number(project: Any) -> None:
    before = project.read("reports/metrics.json")
    path = project.folder / "data/examples/qa.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    random.Random(7).shuffle(lines)  # noqa: S311
    path.write_text("".join(lines), encoding="utf-8")
    project.edit("params.yaml", "part_rows: 50000", "part_rows: 200")
    project.edit("params.yaml", "  workers:  ", "  workers: 2")

    project.evaluate()

    assert len(list((project.folder / "data/lexical").iterdir())) == 3
    assert project.read("reports/metrics.json") == before
