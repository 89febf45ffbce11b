"""`dataset.expect`: what runs with the load stage's own checks, and what is refused before any stage runs."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.dataset.own_expectations import own_expectations
from goldmeter.errors import ContractError, ParamsError
from goldmeter.pipeline import params
from goldmeter.pipeline.yaml import parse_yaml
from goldmeter.runner import run
from tests.documents import blocks
from tests.small_project import ROOT, edit

BETWEEN, UNIQUE = "expect_column_values_to_be_between", "expect_column_values_to_be_unique"
LENGTHS = "expect_column_value_lengths_to_be_between"


def state(*expect: dict[str, Any], part_rows: int = 20) -> None:
    def change(content: dict[str, Any]) -> None:
        content["dataset"] |= {"expect": [*expect]}
        content["load"]["part_rows"] = part_rows

    edit(change)


@pytest.mark.usefixtures("project")
def test_they_are_among_the_checks_of_load() -> None:
    state({LENGTHS: {"column": "response", "max_value": 12}}, {UNIQUE: {"column": "id"}}, part_rows=10)

    with pytest.raises(ContractError) as raised:
        run("load")

    report = json.loads(Path("reports/validation/load.json").read_text(encoding="utf-8"))
    failed = {check["expectation"]: check["failed"] for check in report["checks"] if check["failed"]}
    assert failed == {LENGTHS: 10, UNIQUE: 20}  # "The answer 0." has 13 characters; an id has a row per candidate
    assert "q0/borealis" in str(raised.value)
    assert not Path("data/load").exists()


@pytest.mark.usefixtures("project")
def test_a_table_that_meets_them_is_written() -> None:
    state(
        {LENGTHS: {"column": "response", "max_value": 13}},
        {"expect_column_values_to_match_regex": {"column": "input", "regex": r"\?$", "notes": "questions only"}},
    )

    run("load")

    checks = json.loads(Path("reports/validation/load.json").read_text(encoding="utf-8"))["checks"]
    [own] = [check for check in checks if check["advice"] == "questions only"]
    assert (own["checked"], own["failed"]) == (20, 0)


@pytest.mark.usefixtures("project")
def test_a_column_that_is_not_there_stops_the_run() -> None:
    state({BETWEEN: {"column": "score_ms", "min_value": 0}})

    with pytest.raises(ContractError, match='column "score_ms" in BatchData does not exist'):
        run("load")


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("expect", "says"),
    [
        ({"expect_column_values_to_be_betwen": {}}, "dataset.expect.1: expect_column_values_to_be_betwen: no exp"),
        ({"expect_column_values_to_be_betwen": {}}, f"; did you mean {BETWEEN}"),
        ({"expect_column_mean_to_be_between": {"column": "id"}}, "expect_column_mean_to_be_between: no expectation"),
        ({"expect_column_values_to_be_of_type": {"column": "id"}}, "expect_column_values_to_be_of_type: no"),
        ({BETWEEN: {"column": "id", "max": 1}}, f"dataset.expect.1.{BETWEEN}: max: can't be used here; "),
        ({BETWEEN: {"column": "id", "mostly": 0.9, "max_value": 1}}, f"dataset.expect.1.{BETWEEN}: mostly: can't be"),
        ({BETWEEN: {"max_value": 1}}, f"dataset.expect.1.{BETWEEN}: column: field required"),
        ({BETWEEN: {}, UNIQUE: {}}, "dataset.expect.1: expected one expectation with its arguments, found 2"),
        ({BETWEEN: 3}, f"dataset.expect.1.{BETWEEN}: "),
    ],
)  # fmt: skip
def test_what_is_refused_before_any_stage_runs(expect: dict[str, Any], says: str) -> None:
    state({UNIQUE: {"column": "content"}}, expect)

    with pytest.raises(ParamsError) as raised:
        params.check()

    assert says in str(raised.value)
    assert "\n" not in str(raised.value)


@given(
    name=st.sampled_from([BETWEEN, UNIQUE, LENGTHS]) | st.text(),
    arguments=st.dictionaries(
        st.sampled_from(["column", "min_value", "max_value", "notes", "severity"]) | st.text(),
        st.none() | st.integers() | st.text() | st.lists(st.text()),
        max_size=4,
    ),
)
def test_anything_else_is_an_error_of_ours(name: str, arguments: dict[str, Any]) -> None:
    with suppress(ParamsError):
        found = own_expectations([{name: arguments}])

        assert len(found.rows) + len(found.keys) == 1


def test_without_any_great_expectations_is_not_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goldmeter.dataset.own_expectations.load_gx", None)

    assert own_expectations([]) == ([], [])


def test_those_of_the_page_can_be_used() -> None:
    [settings] = [
        parse_yaml(one.text) for one in blocks(ROOT / "docs/how-to/great-expectations.md") if one.kind == "yaml"
    ]

    assert len(own_expectations(settings["dataset"]["expect"]).rows) == 2
