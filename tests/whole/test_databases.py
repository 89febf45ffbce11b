"""docs/how-to/databases.md, typed as it stands: a query of SQLite by `dvc import-db`, mapped, loaded, updated."""

import sqlite3
from typing import Any

import pytest

from tests.documents import blocks, commands
from tests.small_project import ROOT

pytestmark = pytest.mark.exhaustive

PAGE = ROOT / "docs/how-to/databases.md"


def test_the_page_works_as_it_stands(project: Any) -> None:
    seen = ""
    for block in blocks(PAGE):
        if block.mark.startswith("file: "):
            (project.folder / block.mark.removeprefix("file: ")).write_text(block.text, encoding="utf-8")
        elif block.runs:
            seen += "".join(project.run("sh", "-c", command.line) for command in commands(block))
        elif block.kind == "text":
            assert block.text in seen

    assert "Stage 'load' didn't change" in seen


def test_new_rows_are_loaded_after_an_update(project: Any) -> None:
    with sqlite3.connect(project.folder / "answers.db") as database:
        database.execute("INSERT INTO answers VALUES ('Why?', 'so', 'v1', 'so', 1), ('Why?', 'so', 'v2', 'no', 0)")

    before = project.run("dvc", "repro", "load")
    project.run("dvc", "update", "data/answers.csv.dvc")
    after = project.run("dvc", "repro", "load")

    assert "Stage 'load' didn't change" in before
    assert "Running stage 'load'" in after
