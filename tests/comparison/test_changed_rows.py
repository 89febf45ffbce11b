"""The rows that changed result: counted, worst first, with both answers."""

from pathlib import Path
from typing import Any

import pytest

from goldmeter.comparison.of_versions import CompareOptions, compare_versions
from goldmeter.wording.comparison_lines import NAMED, named_rows_line
from tests.comparison.sample import GATE, Row, answers, gate_on, row, version

HOSTILE = "[red]a|b</td><script>alert(1)</script>\n# head \x1b[31m\x00 @everyone"


def flips(tmp_path: Path, older: list[Row], newer: list[Row], limit: int = 20, primary: str = "f1", **made: Any) -> Any:
    sides = version(tmp_path / "a", older, **made), version(tmp_path / "b", newer, **made)
    found = compare_versions(*sides, gate_on(primary, max_unmeasured=1.0), CompareOptions(changed_rows=limit))
    [pair] = found["pairs"]
    return pair["flips"]


def test_rows_that_a_rate_lost_or_gained_are_counted_by_measure(tmp_path: Path) -> None:
    found = flips(tmp_path, answers("+++.."), answers("+..+."))

    assert found["rows"] == 3
    assert found["lost"] == {"bleu": 2, "exact_match": 2, "f1": 2}
    assert found["gained"] == {"bleu": 1, "exact_match": 1, "f1": 1}


def test_a_row_is_shown_with_both_answers_and_what_it_lost_and_gained(tmp_path: Path) -> None:
    older = [row(0, "right indeed", label=False)]  # f1 = 2/3
    newer = [row(0, HOSTILE, label=True)]

    found = flips(tmp_path, older, newer, metrics={"f1": {}})

    assert found["worst"] == [
        {
            "id": "q0",
            "input": "Question 0?",
            "references": ["right"],
            "base": "right indeed",
            "head": HOSTILE,
            "lost": ["f1"],
            "gained": ["label"],
        }
    ]


def test_what_the_primary_measure_calls_wrong_now_comes_first_then_what_lost_most(tmp_path: Path) -> None:
    older = [
        row(0, "something", label=False),
        row(1, "right"),
        row(2, "right more", label=True),
        row(3, "right", label=True),
        row(4, "right more"),
    ]
    newer = [
        row(0, "right", label=True),
        row(1, "wrong"),
        row(2, "right again", label=False),
        row(3, "wrong", label=False),
        row(4, "wrong"),
    ]

    found = flips(tmp_path, older, newer, primary="label")

    assert [each["id"] for each in found["worst"]] == ["q3", "q2", "q1", "q4", "q0"]


def test_no_more_rows_are_shown_than_asked_and_all_are_counted(tmp_path: Path) -> None:
    few, none = (flips(tmp_path, answers("+" * 9), answers("." * 9), limit) for limit in (4, 0))

    assert (few["rows"], len(few["worst"])) == (9, 4)
    assert (none["rows"], none["worst"]) == (9, [])


def test_an_answer_that_is_new_is_no_flip(tmp_path: Path) -> None:
    assert flips(tmp_path, answers("++-"), answers("+++"))["rows"] == 0


def test_a_right_answer_that_is_missing_now_is_lost(tmp_path: Path) -> None:
    older, newer = answers("+", label=True), answers("-", label=False)

    [shown] = flips(tmp_path, older, newer)["worst"]

    assert (shown["base"], shown["head"], shown["lost"]) == ("right", None, ["f1", "label", "exact_match", "bleu"])


def test_values_that_changed_without_a_result_are_no_flips(tmp_path: Path) -> None:
    older, newer = [row(0, "right")], [row(0, "right more")]
    made = {"metrics": {"f1": {"threshold": 0.5}}}
    found = compare_versions(
        version(tmp_path / "a", older, **made),
        version(tmp_path / "b", newer, **made),
        gate_on("f1.value"),
    )

    assert found["pairs"][0]["flips"]["rows"] == 0
    assert found["pairs"][0]["measures"]["f1.value"]["difference"]["value"] < 0


@pytest.mark.parametrize("part_rows", [1, 2, 7])
def test_answers_are_found_in_whichever_part_they_are(tmp_path: Path, part_rows: int) -> None:
    older = [row(n, "right") for n in range(7)]
    newer = [row(n, f"answer {n}") for n in range(7)]

    found = compare_versions(
        version(tmp_path / "a", older, part_rows=3), version(tmp_path / "b", newer[::-1], part_rows=part_rows), GATE
    )

    shown = found["pairs"][0]["flips"]["worst"]
    assert {each["id"]: each["head"] for each in shown} == {f"q{n}": f"answer {n}" for n in range(7)}
    assert {each["base"] for each in shown} == {"right"}


def named(tmp_path: Path, older: list[Row], newer: list[Row], limit: int = 20, primary: str = "f1") -> Any:
    sides = version(tmp_path / "a", older), version(tmp_path / "b", newer)
    found = compare_versions(*sides, gate_on(primary, max_unmeasured=1.0), CompareOptions(changed_rows=limit))
    [pair] = found["pairs"]
    return {kind: ids for kind, ids in pair.items() if kind in NAMED}, named_rows_line(pair, primary)


def test_rows_newly_wrong_and_right_and_those_left_out_are_named(tmp_path: Path) -> None:
    older = [*answers("++..+"), row(7, "right"), row(8, "right")]
    newer = [*answers("+.+.+"), row(8, "right", input="Another?"), row(9, "right")]

    ids, line = named(tmp_path, older, newer)

    said = [
        "1 newly wrong (q1)",
        "1 newly right (q2)",
        "1 only before (q7)",
        "1 only after (q9)",
        "1 data changed (q8)",
    ]
    assert line == ", ".join(said)
    assert ids == {
        "newly_wrong": ["q1"],
        "newly_right": ["q2"],
        "only_base": ["q7"],
        "only_head": ["q9"],
        "data_changed": ["q8"],
    }


@pytest.mark.parametrize(("limit", "says"), [(0, ""), (2, " (q1, q4 and 3 more)"), (20, " (q0, q1, q2 and 2 more)")])
def test_the_first_are_named_and_the_others_counted(tmp_path: Path, limit: int, says: str) -> None:
    _, line = named(tmp_path, answers("+++++"), answers("....."), limit)

    assert line == f"5 newly wrong{says}"


def test_a_score_without_a_pass_rate_calls_no_row_wrong(tmp_path: Path) -> None:
    ids, line = named(tmp_path, answers("++"), answers(".."), primary="label")

    assert (ids["newly_wrong"], line) == ([], "")
