"""From a run without labels to an interval by them: choose, label by keyboard in a browser, take back, evaluate."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

from goldmeter.pipeline.yaml import load_yaml
from tests.browser import chromium, visit
from tests.whole.conftest import DATA, Project

__all__ = ["chromium", "visit"]
pytestmark = pytest.mark.long

ROWS = 100
CANDIDATES = ("aurora", "borealis")


@pytest.fixture(scope="module")
def unlabelled(project: Project) -> Project:
    """The bundled example as it would be if nobody had labelled it, evaluated."""

    def change(params: dict[str, Any]) -> None:
        params["semantic"] = {}
        for candidate in params["dataset"]["candidates"].values():
            del candidate["label"]

    project.change_params(change)
    project.commit("no labels")
    project.evaluate()
    return project


def truth(project: Project) -> dict[tuple[str, str], bool]:
    """What people said of each answer of the example; what nobody labelled is wrong."""
    records = [json.loads(line) for line in project.read(DATA).splitlines()]
    return {(one["id"], name): bool(one[f"{name}_correct"]) for one in records for name in CANDIDATES}


def label(visit: Any, sheet: Path, right: dict[tuple[str, str], bool]) -> Path:
    """Label every row of a sheet by keyboard; returns the saved file."""
    rows = [*csv.DictReader(sheet.with_suffix(".csv").read_text(encoding="utf-8-sig").splitlines(keepends=True))]
    page = visit(sheet)
    for row in rows:
        page.keyboard.press(str(int(right[row["id"], row["candidate"]])))
    assert page.locator("#progress").inner_text() == f"{ROWS} of {ROWS} labelled"
    with page.expect_download() as found:
        page.keyboard.press("s")
    file = sheet.parent / "saved.csv"
    found.value.save_as(file)
    return file


def require_covers_truth(report: dict[str, Any], project: Project) -> None:
    """Each candidate's interval of the rate of right answers has the rate of all its labels in it."""
    right = truth(project)
    for name in CANDIDATES:
        powered = report["candidates"][name]["label"]["ppi"]
        rate = sum(right[key] for key in right if key[1] == name) / (len(right) / 2)
        assert powered["low"] < rate < powered["high"]


def test_chosen_labels_promise_and_give_an_interval(unlabelled: Project, visit: Any, tmp_path: Path) -> None:
    """One draw may be wider than one random draw; on average it is narrower: benchmarks.coverage, section designed."""
    choose = ("python", "-m", "flows.label", "--rows", str(ROWS), "--by", "active", "--output", str(tmp_path))
    planned = unlabelled.run(*choose)
    file = label(visit, next(tmp_path.glob("active*.html")), truth(unlabelled))
    said = unlabelled.run("python", "-m", "flows.label", "--take", str(file))
    unlabelled.evaluate("load", "normalize", "lexical", "judge", "aggregate")

    half_widths = re.findall(r"±(\S+) points; as many random ones ±(\S+)", " ".join(planned.split()))
    assert len(half_widths) == len(CANDIDATES)
    assert all(float(own) < float(random) for own, random in half_widths)
    assert f"{ROWS} labels added; {ROWS} answers of the present run have one" in said
    assert load_yaml(unlabelled.folder / "params.yaml")["dataset"]["labels"] == "designed"
    require_covers_truth(json.loads(unlabelled.read("reports/metrics.json")), unlabelled)
