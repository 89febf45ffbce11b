"""Differences by the weights of HEAD's rows, where the rows as they are conclude the opposite."""

from pathlib import Path
from typing import Any

import pytest

from tasks.comparison import blocks as version_blocks
from tasks.comparison.compare import compare_versions
from tasks.comparison.gate import Gate
from tasks.wording.comparison_document import ComparisonDocument
from tasks.wording.notes import notes
from tasks.wording.verdicts import Decision
from tests.comparison.sample import answers, gate_on, version

GATE: Gate = gate_on("exact_match")


def compared(folder: Path, older: Any, newer: Any, gate: Gate = GATE, **options: Any) -> ComparisonDocument:
    """Of 100 rows, 80 lose a little and 20 gain much; older, newer: weights of both, None without."""
    found = []
    texts = ("+" * 80 + "." * 20, "+" * 48 + "." * 32 + "+" * 18 + "..")
    for name, text, weights in zip("ab", texts, (older, newer), strict=True):
        rows = [one | ({} if weights is None else {"weight": weights(i)}) for i, one in enumerate(answers(text))]
        found.append(version(folder / name, rows, **options))
    return compare_versions(*found, gate)


def heavy_end(row: int) -> float:
    return 36.0 if row >= 80 else 1.0


def test_the_gate_decides_by_the_weights_of_head_and_says_what_the_rows_say(tmp_path: Path) -> None:
    plain = compared(tmp_path / "plain", heavy_end, None)
    weighted = compared(tmp_path / "weighted", None, heavy_end)

    assert plain["decision"]["verdict"] == Decision.DO_NOT_SHIP
    assert weighted["decision"]["verdict"] == Decision.SHIP
    assert weighted["weighting"] == {"option": "dataset.weight", "column": "w"}
    one = weighted["pairs"][0]["measures"]["exact_match"]
    assert one["difference"]["value"] == pytest.approx(0.1 * -0.4 + 0.9 * 0.9)
    assert (one["base"], one["head"]) == pytest.approx((0.1, 0.1 * 0.6 + 0.9 * 0.9))
    assert one["plain"]["difference"]["value"] == pytest.approx(-0.14)
    assert "by dataset.weight; −14.0 without it" in weighted["decision"]["reasons"][0]
    assert any("differences by dataset.weight; of the rows" in note for note in notes(weighted["pairs"][0]))


def test_equal_weights_change_no_difference(tmp_path: Path) -> None:
    one = compared(tmp_path, None, lambda _: 0.3)["pairs"][0]["measures"]["exact_match"]

    shown = {name: one["difference"][name] for name in ("value", "low", "high", "p_value")}
    assert shown == one["plain"]["difference"]


def test_weights_of_0_alone_block_the_gate(tmp_path: Path) -> None:
    found = compared(tmp_path, None, lambda _: 0.0)

    assert found["blocked"]
    assert "every measured row has weight 0" in found["pairs"][0]["refused"][0]["reason"]


@pytest.mark.parametrize("group", [None, "g"])
def test_blocks_change_no_weighted_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group: str | None
) -> None:
    def found(name: str, part_rows: int) -> ComparisonDocument:
        texts = ("+" * 60 + "." * 40, "+." * 50)
        versions = []
        for side, text in zip("ab", texts, strict=True):
            rows = [
                one | {"weight": 0.1 * (i % 9), "group": group and f"{group}{i // 4}"}
                for i, one in enumerate(answers(text))
            ]
            versions.append(version(tmp_path / name / side, rows, part_rows=part_rows))
        return compare_versions(*versions, GATE)

    whole = found("whole", 1000)
    monkeypatch.setattr(version_blocks, "BLOCK_ROWS", 10)

    assert found("blocks", 9)["pairs"] == whole["pairs"]
    assert whole["pairs"][0]["measures"]["exact_match"]["difference"]["method"].startswith("weighted")
