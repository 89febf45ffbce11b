"""Preferences in words and on the page: who is preferred, how surely, and whether the order of the answers mattered."""

from pathlib import Path
from typing import Any

from goldmeter.reporting.summary import _summary
from goldmeter.wording.preference import preference_section
from tests.reporting.made import ROWS, inputs, section_of, written

BY = "preference|provider:openai|model:gpt|v:1"


def limits(value: float | None, low: float = 0.0, high: float = 1.0) -> dict[str, Any]:
    return {"value": value, "low": low, "high": high, "method": "m"}


def pair(a: str, b: str, *rate: float | None, **counts: Any) -> dict[str, Any]:
    counted = {"n": 100, "wins": 60, "ties": 10, "losses": 30, "identical": 0, "asked": 100, "flips": 5}
    return {"a": a, "b": b, "win_rate": limits(*rate), "p_value": 0.1, "unmeasured": {}} | counted | counts  # type: ignore[arg-type]


def preference(*pairs: dict[str, Any], first: Any = (0.52, 0.48, 0.56), **more: Any) -> Any:
    position = {"n": 100, "flips": limits(0.05, 0.02, 0.11), "first": limits(*first)}
    found = {"signature": BY, "prompt": "prompts/p.txt", "pairs": [*pairs], "position": position} | more
    return {"confidence": 0.95, "preference": found}


def rank(name: str, number: int, best: int, worst: int, low: float | None = -1.0) -> dict[str, Any]:
    strength = {"value": 0.5, "low": low, "high": 1.0}
    return {"candidate": name, "rank": number, "best": best, "worst": worst, "n": 200, "strength": strength}


def sentence(document: Any) -> str:
    section = preference_section(document)
    assert section is not None
    return section.sentence


def test_of_two_candidates_the_preferred_one_is_said_with_its_win_rate() -> None:
    figures = "win rate 65.0 %, 95 % CI 56.0 % to 73.0 %, 100 inputs, judge gpt"

    assert sentence(preference(pair("x", "y", 0.65, 0.56, 0.73))) == f"y is preferred to x ({figures})."
    assert sentence(preference(pair("x", "y", 0.35, 0.27, 0.44))) == f"x is preferred to y ({figures})."
    undecided = sentence(preference(pair("x", "y", 0.55, 0.46, 0.64)))
    assert undecided.startswith("No significant preference between y and x (y: win rate 55.0 %")
    assert sentence(preference(pair("x", "y", None))) == "No preference between y and x is measured."


def test_of_more_candidates_the_ranks_are_said() -> None:
    pairs = [pair(a, b, 0.6, 0.5, 0.7) for a, b in ("xy", "xz", "yz")]
    basis = "(judge gpt, simultaneous 95 % intervals of ranks)"

    best = preference(*pairs, ranks=[rank("z", 1, 1, 1), rank("y", 2, 2, 3), rank("x", 3, 2, 3)])
    two = preference(*pairs, ranks=[rank("z", 1, 1, 2), rank("y", 2, 1, 2), rank("x", 3, 3, 3)])
    none = preference(*pairs, ranks=[rank("z", 1, 1, 3), rank("y", 2, 1, 3), rank("x", 3, 1, 3)])
    apart = preference(*pairs, not_ranked="why")

    assert sentence(best) == f"z is preferred to all others; ranks: y 2 to 3; x 2 to 3 {basis}."
    assert sentence(two) == f"z and y lead by preference; ranks: x 3 {basis}."
    assert sentence(none) == f"No significant ranking by preference of z, y and x {basis}."
    assert sentence(apart) == "No ranking by preference (judge gpt)."
    section = preference_section(apart)
    assert section is not None
    assert section.lines[0] == "No ranks: why."


def test_position_bias_is_said_and_a_significant_one_is_marked() -> None:
    fair, biased = (
        preference_section(preference(pair("x", "y", 0.6, 0.5, 0.7), first=first))
        for first in ((0.52, 0.48, 0.56), (0.6, 0.55, 0.65))
    )

    assert fair is not None
    assert biased is not None
    assert (fair.is_biased, biased.is_biased) == (False, True)
    assert fair.lines[0].endswith("no position bias is significant.")
    assert biased.lines[0].endswith(": a position bias.")
    assert "another verdict on 5.0 %" in fair.lines[0]


def test_with_weights_preferences_are_said_to_have_none() -> None:
    weighted = preference(pair("x", "y", 0.6, 0.5, 0.7)) | {"weighting": {"option": "aggregate.mix", "column": "topic"}}

    section = preference_section(weighted)

    assert section is not None
    assert section.lines[-1] == "Every input counts once here: aggregate.mix does not weight preferences."


def test_without_a_preference_nothing_is_said(tmp_path: Path) -> None:
    assert preference_section({"confidence": 0.95}) is None  # type: ignore[typeddict-item]
    html = written(ROWS, tmp_path)["reports/index.html"]
    assert 'id="preference"' not in html


def test_the_page_and_the_summary_show_it_with_ranks_and_open_limits(tmp_path: Path) -> None:
    names = ("aurora", "borealis")
    _, documents = inputs(ROWS, tmp_path / "documents")
    report = documents["reports/metrics.json"] | {
        "preference": preference(
            pair(*names, 0.65, 0.56, 0.73, identical=2, unmeasured={"failed": 3}),
            ranks=[rank("borealis", 1, 1, 1), rank("aurora", 2, 2, 2, None)],
        )["preference"]
    }

    html = written(ROWS, tmp_path / "page", documents={"reports/metrics.json": report})["reports/index.html"]

    section = section_of(html, "preference")
    assert "borealis is preferred to aurora (win rate 65" in section
    assert "60 won, 10 tied (2 identical), 30 lost" in section
    assert "failed: 3" in section
    assert "0.500 (−∞, 1.00]" in section
    assert any(line.startswith("borealis is preferred to aurora") for line in _summary(report, []).evidence)
