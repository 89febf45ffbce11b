"""Whole runs on records of other shapes than one record a question: long tables, files joined, repeated answers."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tasks.pipeline.yaml import dump_yaml, load_yaml

pytestmark = pytest.mark.long
NQ301 = Path(__file__).parents[3] / "shared" / "data" / "nq301"


def configure(project: Any, **changed: dict[str, Any]) -> None:
    path = project.folder / "params.yaml"
    params = load_yaml(path)
    for section, options in changed.items():
        params[section] |= options
    path.write_text(dump_yaml(params), encoding="utf-8")


def write(project: Any, name: str, rows: list[dict[str, Any]]) -> None:
    path = project.folder / "data" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def test_a_shuffled_long_table_in_many_parts_gives_the_numbers_of_the_wide_one(project: Any) -> None:
    wide = [json.loads(line) for line in project.read("data/examples/qa.jsonl").splitlines()][:60]
    shared = ("id", "question", "references", "thread", "topic", "language")
    long = [
        {name: row[name] for name in shared} | {"model": name, "out": {"text": row[name], "ok": row[f"{name}_correct"]}}
        for row in wide
        for name in ("aurora", "borealis")
    ]
    long = [long[position] for position in np.random.default_rng(7).permutation(len(long))]
    write(project, "wide.jsonl", wide)
    write(project, "long.jsonl", long)

    configure(project, dataset={"path": "data/wide.jsonl"})
    project.run("dvc", "repro")
    expected = json.loads(project.read("reports/metrics.json"))
    mapping = {"column": "model", "response": "out.text", "label": "out.ok"}
    configure(project, dataset={"path": "data/long.jsonl", "candidates": mapping}, load={"part_rows": 13})
    project.run("dvc", "repro")

    assert json.loads(project.read("reports/metrics.json")) == expected
    assert len([*(project.folder / "data/load").iterdir()]) == 10
    page = project.read("reports/index.html")
    assert "aurora" in page
    assert "borealis" in page


@pytest.mark.skipif(not NQ301.exists(), reason="the NQ301 data are not here")
def test_twelve_systems_of_twelve_files_with_verdicts_of_a_thirteenth(project: Any) -> None:
    shutil.copytree(NQ301, project.folder / "data/nq301")
    first = "NQ301_text-davinci-003_zeroshot"
    files = sorted((project.folder / "data/nq301").glob("NQ*.jsonl"))
    candidates: dict[str, Any] = {path.stem: {"response": "prediction", "path": path.name} for path in files}
    del candidates[first]["path"]
    configure(
        project,
        dataset={
            "path": "data/nq301", "pattern": f"{first}.jsonl", "id": None, "input": "question", "references": "answer",
            "candidates": candidates, "other_questions": "leave_out", "lists": "join", "group": None, "slices": [],
            "label_file": {
                "path": "NQ301_human.tsv", "input": "Question", "response": "Model answer", "label": "Acceptable?"
            },
        },
    )  # fmt: skip

    project.run("dvc", "repro")

    document = json.loads(project.read("reports/metrics.json"))
    assert document["dataset"]["rows"] == 12 * 301
    assert sorted(document["candidates"]) == sorted(candidates)
    assert all(metrics["label"]["n"] >= 260 for metrics in document["candidates"].values())
