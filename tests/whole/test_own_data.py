"""One's own data: by `python -m flows.init` loaded for real, and then all the guides in one project, step by step."""

import csv
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from goldmeter.pipeline.yaml import dump_yaml, load_yaml, parse_yaml
from tests.whole.conftest import Project
from tests.whole.test_one_night import night

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


GOLDMETER = (sys.executable, "-m", "goldmeter")


def write_answers(project: Project, *, wrong: int) -> None:
    """Write 40 questions with the answers of two systems; the first `wrong` answers of v2 are wrong."""
    lines = ["question,gold,answer_v1,answer_v2,topic"]
    for i in range(40):
        answer = "Nobody knows" if i < wrong else f"It is City {i}"
        lines.append(f"Where is tower {i}?,Town {i} / City {i},Town {i},{answer},{'ab'[i % 2]}")
    (project.folder / "data/mine.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def label(sheet: Path, filled: Path) -> None:
    """Fill the column `label` of a sheet."""
    rows = [*csv.DictReader(sheet.read_text(encoding="utf-8-sig").splitlines())]
    with filled.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0]])
        writer.writeheader()
        writer.writerows({**row, "label": str(int(row["response"] != "Nobody knows"))} for row in rows)


def follow(project: Project, said: str) -> None:
    """Type the commands that a command printed last, behind `next: `."""
    for command in said.rpartition("next: ")[2].splitlines():
        project.run("bash", "-c", command)


DECISIONS = {
    "lexical": {"exact_match": {}, "f1": {"threshold": 0.5}},
    "semantic": {},
    "judge": {"aliases": "data/aliases.csv", "provider": "none"},
    "gate": {"primary": "f1"},
    "schedule": {"nightly": {"cron": "0 2 * * *", "baseline": "ours"}},
}


@pytest.mark.exhaustive
def test_the_guides_meet_in_one_project(tmp_path: Path) -> None:
    """Own data, labels, a comparison, a scheduled run, an upgrade; between them what the commands say is next."""
    project = Project.empty(tmp_path)
    project.folder.mkdir()
    project.run(*GOLDMETER, "init")
    project.change_params(lambda params: params.update(DECISIONS))
    project.commit("settings")
    write_answers(project, wrong=4)
    filled = tmp_path / "anna.csv"

    follow(project, project.run(*INIT, "data/mine.csv"))
    project.commit("our data")
    project.run("python", "-m", "flows.label", "--rows", "60", "--by", "random")
    assert project.run("git", "status", "--porcelain") == ""
    label(*(project.folder / "reports/label").glob("*.csv"), filled)
    follow(project, project.run("python", "-m", "flows.label", "--take", str(filled)))
    project.commit("labels")
    project.run("git", "tag", "ours")
    systems = json.loads(project.read("reports/metrics.json"))["candidates"]
    assert sum(one["label"]["n"] for one in systems.values()) == 60

    write_answers(project, wrong=30)
    project.run("dvc", "add", "data/mine.csv")
    assert "lexical" in project.repro()
    assert project.run("python", "-m", "flows.compare", "ours", status=1).startswith("Do not ship: worse")
    project.commit("a worse v2")

    outcome, _ = night(project, status=1)
    assert "v2" in outcome["sentence"]
    assert project.experiments() == [outcome["experiment"]]

    mine = [project.read(name) for name in ("params.yaml", "data/labels/labels.jsonl", "data/mine.csv")]
    older = load_yaml(project.folder / "goldmeter.yaml")
    older["revisions"]["lexical"] -= 1
    (project.folder / "goldmeter.yaml").write_text(dump_yaml(older), encoding="utf-8")
    project.commit("as an older library made it")
    assert "changes the numbers of lexical; run `python -m flows upgrade`" in project.run(*GOLDMETER, "run", status=2)
    project.run(*GOLDMETER, "upgrade")
    assert project.repro() == []  # the numbers are those that the committed run has
    assert [project.read(name) for name in ("params.yaml", "data/labels/labels.jsonl", "data/mine.csv")] == mine
    project.require_stayed_here()
