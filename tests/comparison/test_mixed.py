"""Differences by the shares of aggregate.mix, where the rows as they are conclude the opposite."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from tasks.comparison.compare import CompareOptions, compare_versions
from tasks.comparison.gate import Gate
from tasks.scores.weighting import Mix, Mixing
from tasks.wording.comparison_document import ComparisonDocument
from tasks.wording.notes import notes
from tasks.wording.verdicts import Decision
from tests.comparison.sample import answers, gate_on, version

GATE: Gate = gate_on("exact_match")


def compared(folder: Path, mix: Mix | None) -> ComparisonDocument:
    """Of 100 rows, 80 of topic x lose a little and 20 of topic y gain much."""
    topics = ["x"] * 80 + ["y"] * 20
    found = []
    for name, text in (("a", "+" * 80 + "." * 20), ("b", "+" * 48 + "." * 32 + "+" * 18 + "..")):
        rows = [one | {"topic": topic} for one, topic in zip(answers(text), topics, strict=True)]
        found.append(version(folder / name, rows))
    return compare_versions(*found, GATE, CompareOptions(mix=mix))


def test_the_gate_decides_by_the_mix_and_says_what_the_rows_say(tmp_path: Path) -> None:
    plain = compared(tmp_path / "plain", None)
    mixed = compared(tmp_path / "mixed", Mix("topic", {"x": 0.1, "y": 0.9}))

    assert plain["decision"]["verdict"] == Decision.DO_NOT_SHIP
    assert mixed["decision"]["verdict"] == Decision.SHIP
    one = mixed["pairs"][0]["measures"]["exact_match"]
    assert one["difference"]["value"] == pytest.approx(0.1 * -0.4 + 0.9 * 0.9)
    assert (one["base"], one["head"]) == pytest.approx((0.1, 0.1 * 0.6 + 0.9 * 0.9))
    assert one["plain"]["difference"]["value"] == pytest.approx(-0.14)
    assert "without it" in mixed["decision"]["reasons"][0]
    assert any("of the rows as they are" in note for note in notes(mixed["pairs"][0]))


def test_shares_as_of_the_rows_change_no_difference(tmp_path: Path) -> None:
    found = compared(tmp_path, Mix("topic", {"x": 0.8, "y": 0.2}))["pairs"][0]["measures"]["exact_match"]

    assert found["difference"]["value"] == pytest.approx(found["plain"]["difference"]["value"])


@pytest.mark.parametrize(
    ("shares", "says"), [({"x": 0.5, "y": 0.4, "z": 0.1}, "no measured row"), ({"x": 1.0}, "no share for y")]
)
def test_shares_that_do_not_fit_the_rows_block_the_gate(tmp_path: Path, shares: dict[str, float], says: str) -> None:
    found = compared(tmp_path, Mix("topic", shares))

    assert found["blocked"]
    assert says in found["pairs"][0]["refused"][0]["reason"]


def test_shares_are_of_one_column_and_add_up_to_1() -> None:
    assert Mixing.model_validate({"mix": {"year": {2024: 0.5, 2025: 0.5}}}).chosen_mix == Mix(
        "year", {"2024": 0.5, "2025": 0.5}
    )
    for wrong in ({"a": {"x": 0.5}}, {"a": {"x": 1.0}, "b": {"y": 1.0}}, {"a": {"x": -1.0, "y": 2.0}}):
        with pytest.raises(ValidationError):
            Mixing.model_validate({"mix": wrong})
