"""One's own data by `python -m flows.init`, in a copy of the project: loaded for real, and shown as understood."""

import json
from pathlib import Path
from typing import Any

import pytest

from goldmeter.pipeline.yaml import parse_yaml

pytestmark = pytest.mark.long

INIT = ("python", "-m", "flows.init")


def dataset(project: Any) -> Any:
    return parse_yaml(project.read("params.yaml"))["dataset"]


def test_a_csv_file_is_loaded_as_it_was_understood(project: Any) -> None:
    lines = ["question,gold,answer_fid,answer_gpt4,human_gpt4,topic"]
    lines += [f"Question {i}?,answer {i} / the answer {i},{i},it is {i},{i % 2},{'ab'[i % 2]}" for i in range(200)]
    lines += ["Question?,,nobody,nobody,1,a"]
    (project.folder / "data/mine.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")

    out = project.run(*INIT, "data/mine.csv")

    assert dataset(project)["candidates"] == {
        "fid": {"response": "answer_fid"},
        "gpt4": {"response": "answer_gpt4", "label": "human_gpt4"},
    }
    assert "400 rows: 2 systems, 200 labelled\n" in out
    assert "2 rejected, all in data/load_rejected; the first:\n" in out
    assert "data/mine.csv, line 202, fid: gold: no reference that is not blank" in out
    shown = [" ".join(line.split()) for line in out.splitlines()]
    at = shown.index("input Question 1?")
    assert shown[at + 1 : at + 6] == ["references answer 1", "the answer 1", "slices topic: b", "fid 1",
                                      "gpt4 it is 1 label: right"]  # fmt: skip
    assert shown[-2:] == ["next: dvc add data/mine.csv", "python -m flows.evaluate"]
    assert "Stage 'load' didn't change" in project.run("dvc", "repro", "--single-item", "load")


def test_hostile_names_of_columns_and_of_the_file(project: Any) -> None:
    names = ["\x1b[31m question", "{reference}: [", "a\nresponse '\"", "null: {", "${topic}", "no", "# it's"]
    rows = [dict.fromkeys(names, f"\x1b[2J\u202e{i // 2}") | {names[0]: f"q{i}"} for i in range(8)]
    path = project.folder / "data/h: #${x} [1].jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    out = project.run(*INIT, str(path))

    assert all(line.isprintable() for line in out.splitlines())
    assert "8 rows: 1 system, 0 labelled\n" in out
    found = dataset(project)
    assert (found["input"], found["references"]) == tuple(names[:2])
    assert found["candidates"] == {"a": {"response": "a\nresponse '\""}}
    assert found["slices"] == names[3:]


def test_what_load_refuses_is_shown_and_the_proposal_stays(project: Any) -> None:
    rows = [f"{i},q{i},an answer,a response\n" for i in [*range(1_200), *[3] * 20]]
    (project.folder / "data/twice.csv").write_text("id,question,reference,response\n" + "".join(rows), encoding="utf-8")

    out = project.run(*INIT, "data/twice.csv", status=2)

    after = out.splitlines()[-1]
    assert "  data/twice.csv, line 1202, model: the id '3' (dataset.id: id) is also in data/twice.csv, line 5" in out
    assert after.endswith("holds the proposal: correct its section dataset, or the data, then `dvc repro load`")
    assert dataset(project)["id"] == "id"


def test_data_outside_of_the_project_are_loaded_too(project: Any) -> None:
    Path(project.folder.parent, "out.csv").write_text("question,reference,response\na,b,c\n", encoding="utf-8")

    assert "1 row: 1 system, 0 labelled" in project.run(*INIT, "../out.csv")
