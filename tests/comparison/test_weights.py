"""Differences by the weights of HEAD's rows or by aggregate.mix, where the rows as they are conclude the opposite."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from goldmeter.comparison import blocks as version_blocks
from goldmeter.comparison.gate import Gate
from goldmeter.comparison.of_versions import CompareOptions, compare_versions
from goldmeter.estimates.weighting import Mix, Mixing
from goldmeter.wording.comparison_document import ComparisonDocument
from goldmeter.wording.notes import notes
from goldmeter.wording.verdicts import Decision
from tests.comparison.sample import answers, gate_on, version

GATE: Gate = gate_on("exact_match")


def compared(folder: Path, older: Any, newer: Any, mix: Mix | None = None) -> ComparisonDocument:
    """Of 100 rows, 80 of topic x lose a little and 20 of topic y gain much; older, newer: weights, None without."""
    found = []
    texts = ("+" * 80 + "." * 20, "+" * 48 + "." * 32 + "+" * 18 + "..")
    for name, text, weights in zip("ab", texts, (older, newer), strict=True):
        own: list[Mapping[str, Any]] = [{} if weights is None else {"weight": weights(i)} for i in range(len(text))]
        rows = [one | {"topic": "x" if i < 80 else "y"} | own[i] for i, one in enumerate(answers(text))]
        found.append(version(folder / name, rows))
    return compare_versions(*found, GATE, CompareOptions(mix=mix))


def heavy_end(row: int) -> float:
    return 36.0 if row >= 80 else 1.0


@pytest.mark.parametrize(
    ("weights", "mix", "without"),
    [
        (heavy_end, None, "by dataset.weight; −14.0 without it"),
        (None, Mix("topic", {"x": 0.1, "y": 0.9}), "without it"),
    ],
)
def test_the_gate_decides_by_the_weights_of_head_or_the_mix_and_says_what_the_rows_say(
    tmp_path: Path, weights: Any, mix: Mix | None, without: str
) -> None:
    plain = compared(tmp_path / "plain", weights, None)
    weighted = compared(tmp_path / "weighted", None, weights, mix)

    assert plain["decision"]["verdict"] == Decision.DO_NOT_SHIP
    assert weighted["decision"]["verdict"] == Decision.SHIP
    if mix is None:
        assert weighted["weighting"] == {"option": "dataset.weight", "column": "w"}
    one = weighted["pairs"][0]["measures"]["exact_match"]
    assert one["difference"]["value"] == pytest.approx(0.1 * -0.4 + 0.9 * 0.9)
    assert (one["base"], one["head"]) == pytest.approx((0.1, 0.1 * 0.6 + 0.9 * 0.9))
    assert one["plain"]["difference"]["value"] == pytest.approx(-0.14)
    assert without in weighted["decision"]["reasons"][0]
    assert any("of the rows as they are" in note for note in notes(weighted["pairs"][0]))


@pytest.mark.parametrize(("weights", "mix"), [(lambda _: 0.3, None), (None, Mix("topic", {"x": 0.8, "y": 0.2}))])
def test_equal_weights_and_shares_as_of_the_rows_change_no_difference(
    tmp_path: Path, weights: Any, mix: Mix | None
) -> None:
    one = compared(tmp_path, None, weights, mix)["pairs"][0]["measures"]["exact_match"]

    names = ("value", "low", "high", "p_value") if mix is None else ("value",)
    assert [one["difference"][name] for name in names] == pytest.approx(
        [one["plain"]["difference"][name] for name in names]
    )


@pytest.mark.parametrize(
    ("weights", "mix", "says"),
    [
        (lambda _: 0.0, None, "every measured row has weight 0"),
        (None, Mix("topic", {"x": 0.5, "y": 0.4, "z": 0.1}), "no measured row"),
        (None, Mix("topic", {"x": 1.0}), "no share for y"),
    ],
)
def test_weights_of_0_alone_and_shares_that_do_not_fit_the_rows_block_the_gate(
    tmp_path: Path, weights: Any, mix: Mix | None, says: str
) -> None:
    found = compared(tmp_path, None, weights, mix)

    assert found["blocked"]
    assert says in found["pairs"][0]["refused"][0]["reason"]


def test_shares_are_of_one_column_and_add_up_to_1() -> None:
    assert Mixing.model_validate({"mix": {"year": {2024: 0.5, 2025: 0.5}}}).chosen_mix == Mix(
        "year", {"2024": 0.5, "2025": 0.5}
    )
    for wrong in ({"a": {"x": 0.5}}, {"a": {"x": 1.0}, "b": {"y": 1.0}}, {"a": {"x": -1.0, "y": 2.0}}):
        with pytest.raises(ValidationError):
            Mixing.model_validate({"mix": wrong})


def test_blocks_change_no_weighted_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def found(name: str, part_rows: int) -> ComparisonDocument:
        versions = []
        for side, text in zip("ab", ("+" * 60 + "." * 40, "+." * 50), strict=True):
            rows = [
                one | {"weight": 0.1 * (i % 9), "group": f"g{i // 4}" if i % 5 else None}
                for i, one in enumerate(answers(text))
            ]
            versions.append(version(tmp_path / name / side, rows, part_rows=part_rows))
        return compare_versions(*versions, GATE)

    whole = found("whole", 1000)
    monkeypatch.setattr(version_blocks, "BLOCK_ROWS", 10)

    assert found("blocks", 9)["pairs"] == whole["pairs"]
    assert whole["pairs"][0]["measures"]["exact_match"]["difference"]["method"].startswith("weighted")
