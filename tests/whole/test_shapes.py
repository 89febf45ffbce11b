"""Whole runs on records of many shapes, the mapping written by hand or by `python -m flows.init` alone."""

import json
import shutil
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.whole.conftest import ROOT, Project

pytestmark = pytest.mark.long
LOGS = ROOT / "tests/dataset/readers/logs"


def configure(project: Any, **changed: dict[str, Any]) -> None:
    """Change options of sections; without any, a section is empty."""
    project.change_params(
        lambda params: params.update({name: params[name] | more if more else {} for name, more in changed.items()})
    )


def write(project: Any, name: str, rows: list[dict[str, Any]]) -> None:
    path = project.folder / "data" / name
    path.parent.mkdir(exist_ok=True, parents=True)
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

    configure(project, dataset={"path": "data/wide.jsonl"}, semantic={})
    project.evaluate()
    expected = json.loads(project.read("reports/metrics.json"))
    mapping = {"column": "model", "response": "out.text", "label": "out.ok"}
    configure(project, dataset={"path": "data/long.jsonl", "candidates": mapping}, load={"part_rows": 40})
    project.evaluate()

    assert json.loads(project.read("reports/metrics.json")) == expected
    assert len([*(project.folder / "data/load").iterdir()]) == 3
    page = project.read("reports/index.html")
    assert "aurora" in page
    assert "borealis" in page


class Shape(NamedTuple):
    """Records, and what the report must say of them.

    data: A log of the tests, or the name of a file or folder that `write_shapes` writes.
    rows: Of each candidate.
    failed: Answers of each candidate that failed.
    told: What flows.init asks; empty: the run needs nothing more.
    measures: Score → value and number of answers, of the first candidate.
    """

    data: str
    rows: dict[str, int]
    primary: str
    measures: dict[str, tuple[float, int]]
    failed: int = 0
    told: str = ""


SHAPES = [
    Shape(
        "lm_eval", {"wxrd1574": 5, "wxrd1574 (both)": 6, "wxrd1574 (first)": 3}, "meaning_match",
        {"score_exact_match": (0.0, 3), "score_acc": (1.0, 2)},
    ),
    Shape(
        "inspect.eval", {"mockllm/model": 6}, "meaning_match", {"score_match": (0.4, 5), "score_includes": (0.4, 5)},
        failed=1, told="mockllm/model has no answer in 1 of 6 rows",
    ),
    Shape("graded.jsonl", {"sample": 12}, "meaning_match", {"score_status": (0.75, 12)}),
    Shape("joined", {"gpt4": 10, "fid": 10}, "label", {"label": (1.0, 10), "exact_match": (1.0, 10)}),
]  # fmt: skip


def write_shapes(project: Any) -> None:
    for log in ("lm_eval", "inspect.eval"):
        (shutil.copytree if "." not in log else shutil.copy)(LOGS / log, project.folder / "data" / log)
    write(project, "graded.jsonl", [
        {
            "id": i, "datasource_item": {"question": f"What is {i} plus {i}?", "ideal": f"{i + i}"},
            "sample": {"output": f"It is {i + i}." if i % 4 else "no idea"}, "status": "pass" if i % 4 else "fail",
        }
        for i in range(12)
    ])  # fmt: skip
    asked = [{"question": f"What is {i} plus {i}?", "gold": f"the {i + i}"} for i in range(10)]
    said = {"gpt4": [row["gold"] for row in asked], "fid": ["nothing"] * 10}
    for name, answers in said.items():
        write(project, f"joined/{name}.jsonl", [
            {"question": row["question"], "prediction": answer} for row, answer in zip(asked, answers, strict=True)
        ])  # fmt: skip
    write(project, "joined/questions.jsonl", asked)
    write(project, "joined/human.jsonl", [
        {"question": row["question"], "model": name, "verdict": ("INCORRECT", "CORRECT")[name == "gpt4"]}
        for name in said for row in asked
    ])  # fmt: skip


LOGGED = {"lm_eval", "inspect.eval"}
"""The quick ones: logs are small."""


@pytest.fixture(scope="module")
def shapes(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A project with the data of all shapes."""
    project = Project.fresh(tmp_path_factory.mktemp("shapes"))
    write_shapes(project)
    return project


@pytest.mark.parametrize(
    "shape",
    [pytest.param(one, id=one.data, marks=() if one.data in LOGGED else pytest.mark.exhaustive) for one in SHAPES],
)
def test_from_init_to_a_report_without_editing_more_than_it_asks(shapes: Any, shape: Shape) -> None:
    shapes.run("git", "checkout", "--quiet", "params.yaml")

    out = shapes.run("python", "-m", "flows.init", f"data/{shape.data}")
    configure(shapes, semantic={}, **({"aggregate": {"max_unmeasured": 0.5}} if shape.told else {}))
    shapes.run("dvc", "add", "--quiet", f"data/{shape.data}")
    shapes.evaluate()

    assert shape.told in out
    assert ("the run stops" in out) == bool(shape.told)
    assert f"next: dvc add data/{shape.data}\n" in out
    document = json.loads(shapes.read("reports/metrics.json"))
    scores = document["candidates"]
    assert document["dataset"]["rows"] == sum(shape.rows.values())
    assert document["dataset"]["rejected"] == 0
    assert document["primary"]["measure"] == shape.primary
    counted = {name: scores[name]["exact_match"] for name in scores}
    assert {name: entry["n"] + entry["n_failed"] for name, entry in counted.items()} == shape.rows
    first = scores[next(iter(shape.rows))]
    assert first["exact_match"]["n_failed"] == shape.failed
    assert {name: (first[name]["value"], first[name]["n"]) for name in shape.measures} == shape.measures
    page = shapes.read("reports/index.html")
    assert all(name in page for name in shape.rows)
    assert ("by human labels" in page + shapes.run("python", "-m", "tasks", "summary")) == (shape.primary == "label")
