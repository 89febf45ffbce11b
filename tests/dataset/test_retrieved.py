"""Contexts and relevant ones of the data set reach the metrics of retrieval."""

from pathlib import Path

import pytest

from goldmeter.pipeline.tables import Parts
from goldmeter.runner import run
from tests.small_project import ROWS, edit, write

RETRIEVED = [["d1", "d2"], '["d1"]', "d1", [], None, ["d1"]]
GOLD = [["d2"], ["d1"], ["d3"], ["d1"], ["d1"], None]
EXPECTED = [1.0, 1.0, 0.0, 0.0, None, None]


@pytest.fixture
def retrieved(project: Path) -> Path:
    rows = [row | {"found": found, "gold": gold} for row, found, gold in zip(ROWS, RETRIEVED, GOLD, strict=False)]
    write(project, rows)
    edit(lambda params: params["dataset"].update(contexts="found", relevant="gold"))
    edit(lambda params: params.update(lexical={"context_recall": {}}))
    return project


def test_contexts_are_loaded_and_scored(retrieved: Path) -> None:
    for stage in ("load", "normalize", "lexical"):
        run(stage)

    load = Parts(retrieved / "data/load").whole(["candidate", "contexts", "relevant"]).to_pylist()
    scored = Parts(retrieved / "data/lexical").whole().to_pylist()
    assert [row["contexts"] for row in load if row["candidate"] == "aurora"] == [
        ["d1", "d2"], ["d1"], ["d1"], [], None, ["d1"],
    ]  # fmt: skip
    assert [row["context_recall"] for row in scored if row["candidate"] == "aurora"] == EXPECTED
    assert scored[-1]["context_recall_details"] == '{"unmeasured": "not applicable"}'


def test_without_the_mapping_the_tables_have_no_such_column(project: Path) -> None:
    run("load")

    assert not {"contexts", "relevant"} & {*Parts(project / "data/load").schema.names}
