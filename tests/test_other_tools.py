"""The comparison with other tools: every cell names what proves it."""

import re
from pathlib import Path

import pytest

from goldmeter.pipeline.yaml import dump_yaml
from scripts.reference import other_tools
from tests.documents import anchors
from tests.small_project import ROOT

PAGE = ROOT / "docs/explanation/other-tools.md"


@pytest.mark.parametrize("question", other_tools.questions(), ids=lambda one: one.asks)
def test_each_of_our_answers_names_a_page_and_a_test_that_exist(question: other_tools.Question) -> None:
    page, _, anchor = question.ours.page.partition("#")
    path = (PAGE.parent / page).resolve()
    file, _, name = question.ours.test.partition("::")

    assert path.is_file()
    assert not anchor or anchor in anchors(path)
    assert not file or re.search(rf"^def {name}\(", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)
    assert file or question.ours.answer == "no"


def test_each_of_their_answers_names_a_version_and_a_place() -> None:
    versions = {name: tool.version for name, tool in other_tools.tools().items()}
    seen = [(name, cell) for one in other_tools.questions() for name, cell in one.theirs.items()]

    assert {name for name, _ in seen} == {*versions}
    assert all(versions.values())
    assert all(cell.places and all(cell.places) for _, cell in seen)


def test_no_answer_is_unknown() -> None:
    answers = [cell.answer for one in other_tools.questions() for cell in (one.ours, *one.theirs.values())]

    assert not any("?" in answer for answer in answers)
    assert len(other_tools.questions()) <= 14


def test_what_was_not_seen_is_said_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = {"version": "1.0", "group": "platforms", "read": "https://a.test"}
    rows = [
        {"asks": "One", "goldmeter": ["yes", "a.md", "t.py::test_a"], "A": ["part", "a.py, b.py"]},
        {"asks": "Two", "goldmeter": ["no", "a.md"]},
    ]
    table = tmp_path / "table.yaml"
    table.write_text(dump_yaml({"tools": {"A": tool}, "questions": rows}), encoding="utf-8")
    monkeypatch.setattr(other_tools, "TABLE", table)

    assert other_tools.comparison("platforms").splitlines()[2:] == [
        "| One | [yes](a.md) | part |",
        "| Two | [no](a.md) | not found |",
    ]
    assert other_tools.sources().splitlines()[2:] == ["| [A, 1.0](https://a.test) | `a.py`, `b.py` |"]
    assert other_tools.proofs().splitlines()[2:] == ["| One | `t.py::test_a` |"]


def test_a_tool_that_is_not_listed_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tmp_path / "table.yaml"
    row = {"asks": "One", "goldmeter": ["no", "a.md"], "B": ["yes", "b.py"]}
    table.write_text(dump_yaml({"tools": {}, "questions": [row]}), encoding="utf-8")
    monkeypatch.setattr(other_tools, "TABLE", table)

    with pytest.raises(KeyError, match="B"):
        other_tools.questions()
