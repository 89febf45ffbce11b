"""The rows of the next run are those that the stage load will make, and what it refuses is refused."""

from pathlib import Path

import pytest

from goldmeter.dataset import preflight
from goldmeter.errors import DataError
from tests.small_project import edit

pytestmark = pytest.mark.usefixtures("project")


def test_every_answer_is_a_row() -> None:
    assert sum(len(part) for part in preflight.parts()) == 20


def test_a_joined_file_that_is_one_of_the_questions_is_refused_as_by_load() -> None:
    joined = {"response": "aurora", "path": "qa.jsonl"}
    edit(lambda content: content["dataset"].update({"path": Path("data/examples").as_posix(), "pattern": "qa.jsonl"}))
    edit(lambda content: content["dataset"]["candidates"].update({"aurora": joined}))

    with pytest.raises(DataError, match="which is joined to the questions"):
        list(preflight.parts())
