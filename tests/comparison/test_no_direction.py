"""Measures of which neither more nor less is better: different, never better or worse, and no part of the gate."""

from pathlib import Path
from typing import Any

import pytest

from goldmeter.comparison.gate import verdict
from goldmeter.comparison.of_versions import compare_versions
from goldmeter.comparison.render import STYLES, to_markdown
from goldmeter.estimates.column_facts import ColumnFacts
from goldmeter.metrics.catalogue import configure
from goldmeter.reporting.page import verdict_class
from goldmeter.reporting.score_tables import _mirrored
from goldmeter.wording.comparison_document import ComparisonDocument, MeasureEntry
from goldmeter.wording.verdicts import RELATIONS, Verdict
from tests.comparison.sample import gate, row, version

METRICS: dict[str, Any] = {"f1": {"threshold": 0.5}, "length_ratio": {}, "chrf": {}}
LONGER: dict[str, Any] = {"length_ratio": {"threshold": 1.5}, "f1": {"threshold": 0.5}}


def compared(folder: Path, metrics: dict[str, Any] = METRICS, primary: str = "f1") -> ComparisonDocument:
    said = {"base": "right", "head": "it is right, I do think so"}
    made = [version(folder / name, [row(i, text) for i in range(60)], metrics=metrics) for name, text in said.items()]
    return compare_versions(made[0], made[1], gate(primary=primary, metrics={}))


def measure(found: ComparisonDocument, name: str) -> MeasureEntry:
    [pair] = found["pairs"]
    return pair["measures"][name]


def test_more_of_it_is_different_and_not_better(tmp_path: Path) -> None:
    found = compared(tmp_path)

    one = measure(found, "length_ratio")
    assert (one["verdict"], one["no_direction"]) == ("different", True)
    assert one["difference"]["low"] is not None
    assert one["difference"]["low"] > 0.0
    assert "no_direction" not in measure(found, "chrf")
    assert _mirrored(one).verdict == Verdict.DIFFERENT
    assert "| length_ratio | 1.00 |" in to_markdown(found)
    assert "| different |" in to_markdown(found)


def test_its_pass_rate_has_a_direction_and_its_value_has_none(tmp_path: Path) -> None:
    found = compared(tmp_path, LONGER)

    assert "no_direction" not in measure(found, "length_ratio")
    assert measure(found, "length_ratio")["verdict"] == "better"


@pytest.mark.parametrize(
    ("low", "high", "margin", "expected"),
    [(0.1, 0.2, 0.0, "different"), (-0.2, -0.1, 0.0, "different"), (-0.1, 0.1, 0.0, "cannot tell"),
     (0.1, 0.2, 0.1, "cannot tell")],
)  # fmt: skip
@pytest.mark.parametrize("higher", [True, False])
def test_the_verdict_is_the_same_on_either_side(
    low: float, high: float, margin: float, expected: str, higher: bool
) -> None:
    assert verdict(low, high, margin, higher_is_better=higher, unchanged=False, has_direction=False) == expected


def test_it_has_no_colour() -> None:
    assert Verdict.DIFFERENT not in STYLES
    assert verdict_class(Verdict.DIFFERENT) == "open"
    assert {*RELATIONS} == {*Verdict}


def test_a_release_is_not_decided_by_it(tmp_path: Path) -> None:
    assert compared(tmp_path, METRICS, "length_ratio")["decision"]["verdict"] == "undecided"


@pytest.mark.parametrize("name", ["length_ratio", "extractive"])
def test_the_facts_of_a_column_say_so(name: str) -> None:
    from goldmeter.estimates.tables import facts_of

    for facts in facts_of(configure("lexical", name, {}), {}).values():
        assert not facts.has_direction
        assert ColumnFacts.from_json(facts.to_json()) == facts
    assert "has_direction" not in facts_of(configure("lexical", "ter", {}), {})["ter"].to_json()
