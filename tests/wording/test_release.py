"""A comparison in words: one sentence, an exit status, cells and notes."""

from typing import Any

import pytest

from goldmeter.comparison.gate import decision
from goldmeter.console.format import cut, listed
from goldmeter.estimates.primary import Primary
from goldmeter.wording import comparison_lines, notes
from goldmeter.wording.comparison_document import JudgeError
from goldmeter.wording.comparison_lines import GateOutcome
from goldmeter.wording.more_data import most_needed
from tests.comparison.sample import gate

LOSS = {"value": -0.05, "low": -0.11, "high": -0.02, "p_value": 0.01, "method": "m"}
GAIN = LOSS | {"value": 0.05, "low": 0.02, "high": 0.11}
LAW = {"value": -0.2, "low": -0.3, "high": -0.1, "p_value": 0.001}
UNLIMITED = {"low": None, "high": None}
SIZE = "−5.0 points [−11.0, +2.0]"
UNDECIDED = "Undecided: 3,300 to 5,700 more rows could detect a difference of 2 points"
NOTHING_LEFT = {"not_asked": 0, "failed_base": 0, "failed_head": 0, "worst": None, "best": None}


def measure(verdict: str = "cannot tell", **changed: Any) -> dict[str, Any]:
    return {
        "role": "primary",
        "unit": "points",
        "base": 0.8,
        "head": 0.75,
        "difference": {"value": -0.05, "low": -0.11, "high": 0.02, "p_value": 0.2, "method": "m"},
        "verdict": verdict,
        "n": 1234,
        "margin": 0.0,
        "higher_is_better": True,
        "unmeasured": NOTHING_LEFT,
        "split": {"base": 0.8, "head": 0.75, "shared": -0.05, "composition": 0.0},
        "detectable": 0.08,
        "needed": {"unit": "row", "difference": 0.02, "low": 3210, "high": 5678},
        "signature": "f1|v:1",
    } | changed


def pair(measures: dict[str, Any], **changed: Any) -> dict[str, Any]:
    rows = {"shared": 1234, "only_base": 0, "only_head": 0, "data_changed": 0}
    about = {"crossed": None, "duplicates": [], "refused": []}
    return {"base": "a", "head": "a", "rows": rows, "measures": measures} | about | changed


def document(*verdicts: str, blocked: bool = False, fail_on: str = "worse", **changed: Any) -> dict[str, Any]:
    """A comparison of one pair; the first verdict is that of the primary measure, the others are those of guards."""
    roles = ["primary", *["guard"] * len(verdicts)]
    found = pair({f"m{n}": measure(verdict, role=roles[n]) for n, verdict in enumerate(verdicts)})
    options = gate(primary="m0", metrics={}, fail_on=fail_on)
    about = {
        "base": {"name": "v1", "commit": None},
        "head": {"name": "workspace", "commit": None},
        "gate": options.model_dump(mode="json"),
        "primary": {"measure": "m0", "reason": "named in gate.primary"},
        "failed": options.fails(verdicts),
        "blocked": blocked or not verdicts,
        "candidates": {"only_base": [], "only_head": []},
        "pairs": [found],
    }
    about |= changed
    chosen = Primary("m0", "named in gate.primary")
    return about | {"decision": decision(about["pairs"], chosen, options, blocked=about["blocked"])}


@pytest.mark.parametrize(
    ("found", "sentence", "status"),
    [
        (document("better"), f"Ship: better by m0, {SIZE}.", 0),
        (document("better", "cannot tell"), f"Ship: better by m0, {SIZE}.", 0),
        (document("no worse", "unchanged"), f"Ship: no worse by m0, {SIZE}.", 0),
        (document("unchanged"), "Ship: unchanged by m0.", 0),
        (document("worse", "better"), f"Do not ship: worse by m0, {SIZE}.", 1),
        (document("better", "worse"), f"Do not ship: worse by the guard m1, {SIZE}.", 1),
        (
            document("worse", blocked=True),
            f"Do not ship: worse by m0, {SIZE}; something else could not be compared.",
            1,
        ),
        (
            document("cannot tell", "better"),
            "Undecided: 3,300 to 5,700 more rows could detect a difference of 2 points.",
            0,
        ),
        (
            document("cannot tell", fail_on="cannot_tell"),
            f"{UNDECIDED}. gate.fail_on stops it.",
            1,
        ),
        (
            document("better", "cannot tell", fail_on="cannot_tell"),
            f"{UNDECIDED}. gate.fail_on stops it.",
            1,
        ),
        (document(), "Undecided: the primary measure could not be compared.", 2),
        (document(pairs=[]), "Undecided: the primary measure could not be compared.", 2),
    ],
)
def test_one_sentence_and_the_exit_status_of_it(found: dict[str, Any], sentence: str, status: int) -> None:
    assert comparison_lines.outcome(found) == GateOutcome(sentence, status)


def test_what_the_error_of_a_judge_hides_is_decided_by_labels() -> None:
    by_judge = measure(
        difference={**measure()["difference"], "notes": [JudgeError.ELSEWHERE]},
        needed={
            "unit": "label",
            "difference": 0.02,
            "low": 1900,
            "high": 2100,
            "labelled": 100,
            "lacking": 1234,
            "all_show": 0.031,
        },
    )

    found = document("cannot tell", pairs=[pair({"m0": by_judge})])["decision"]

    assert found["sentence"] == "Undecided: labels on 1,900 to 2,100 more inputs could detect a difference of 2 points."
    assert found["reasons"][0].endswith(
        " Labels on the 1,234 inputs without one (python -m flows.label) could detect a difference of 3 points; labels "
        "on 1,900 to 2,100 more inputs could detect a difference of 2 points. Choose how many before you look again: "
        "looking often is not free. Intervals include the judge's error."
    )


@pytest.mark.parametrize("verdicts", [["better"], ["unchanged"], ["cannot tell"]])
def test_what_could_not_be_compared_leaves_the_gate_undecided(verdicts: list[str]) -> None:
    found = comparison_lines.outcome(document(*verdicts, blocked=True))

    assert found == GateOutcome("Undecided: something that the gate asks for could not be compared.", 2)


def test_a_renamed_candidate_is_shown_by_both_names() -> None:
    found = document("better")

    assert comparison_lines.title(found, pair({})) == "a: v1 → workspace"
    assert comparison_lines.title(found, pair({}, head="b")) == "a → b: v1 → workspace"


def test_rows_that_were_not_compared_are_counted() -> None:
    rows = {"shared": 1234, "only_base": 1, "only_head": 0, "data_changed": 20}

    assert comparison_lines.rows_line(pair({})) == "1,234 shared rows"
    assert comparison_lines.rows_line(pair({}, rows=rows)) == "1,234 shared rows, 1 only before, 20 data changed"


def test_the_rows_of_a_measure_are_those_that_have_it() -> None:
    found = pair({"label": measure(n=120), "f1": measure(n=1234)})

    assert comparison_lines.rows_line(found, "label") == "120 of 1,234 shared rows"
    assert comparison_lines.rows_line(found, "f1") == "1,234 shared rows"


def test_the_cells_of_a_measure() -> None:
    assert comparison_lines.measure_cells("f1", measure()) == [
        "f1 (primary)", "80.0 %", "75.0 %", "−5.0 [−11.0, +2.0]", "cannot tell", "1,234", "5,700", "±8.0",
    ]  # fmt: skip


def test_an_unchanged_measure_shows_no_limits() -> None:
    cells = comparison_lines.measure_cells("f1", measure("unchanged", needed=None, detectable=None))

    assert cells[3:] == ["0", "unchanged", "1,234", "", ""]


def test_a_difference_without_limits_is_shown_without_them() -> None:
    unlimited = {"value": 2.5, "low": None, "high": None}

    assert comparison_lines.measure_cells("ms", measure(difference=unlimited, unit="score"))[3] == "+2.50"


def test_only_a_pair_with_measures_is_unchanged() -> None:
    assert comparison_lines.is_unchanged(pair({"f1": measure("unchanged")}))
    assert not comparison_lines.is_unchanged(pair({"f1": measure("unchanged"), "f2": measure("better")}))
    assert not comparison_lines.is_unchanged(pair({}))


def test_nothing_to_note_is_noted_by_nothing() -> None:
    assert list(notes.notes(pair({"f1": measure()}))) == []


def test_what_was_refused_is_noted_and_how_to_help_it() -> None:
    refused = [
        {"measure": "f1", "reason": "measured differently: tok was 13a, is char", "blocks": True, "differing": ["tok"]},
        {"measure": "gleu", "reason": "only there after", "blocks": False},
    ]

    assert list(notes.notes(pair({}, refused=refused))) == [
        "f1 not compared: measured differently: tok was 13a, is char; the gate asks for it",
        "gleu not compared: only there after",
        "--rescore scores BASE again by HEAD's settings, where that needs no model",
    ]


def test_measures_that_failed_on_as_many_rows_are_noted_together() -> None:
    failed = {"not_asked": 3, "failed_base": 0, "failed_head": 2, "worst": -0.1, "best": 0.0}
    unbounded = failed | {"worst": None, "best": None}
    measures = {
        "f1": measure(unmeasured=failed),
        "bleu": measure(unmeasured=failed),
        "ms": measure(unmeasured=unbounded),
        "gleu": measure(unmeasured=failed | {"failed_base": 1}),
    }

    assert list(notes.notes(pair(measures))) == [
        "rows that could not be measured, before 0, after 2; with them f1, bleu −10.0 to 0.0; ms",
        "rows that could not be measured, before 1, after 2; with them gleu −10.0 to 0.0",
    ]


def test_other_rows_are_noted_when_they_move_the_mean() -> None:
    moved = {"base": 0.5, "head": 0.7, "shared": 0.05, "composition": 0.15}
    undefined = {"base": None, "head": 0.7, "shared": None, "composition": None}

    assert list(notes.notes(pair({"f1": measure(split=moved), "bleu.value": measure(split=undefined)}))) == [
        "over all rows of either side, not only shared ones: f1 +20.0 (+15.0 by other rows)"
    ]


def test_notable_slices_are_noted_as_exploratory() -> None:
    slices = [
        {"slice": "topic", "value": value, "measure": "f1", "n": 40, "difference": LAW, "notable": notable}
        | {"q_value": 0.01}
        for value, notable in (("law", True), ("art", False))
    ]

    assert "exploratory: f1 where topic = law: −20.0 points [−30.0, −10.0], 40 rows" in list(
        notes.notes(pair({"f1": measure()}, slices=slices))
    )


def test_slices_of_measures_that_decide_nothing_are_only_counted() -> None:
    part = {"slice": "topic", "value": "law", "measure": "bleu", "n": 40, "difference": LAW, "notable": True}
    found = pair({"f1": measure(), "bleu": measure(role="secondary")}, slices=[part | {"q_value": 0.01}])

    assert list(notes.notes(found)) == ["exploratory: 1 more slice stands out (--json)"]


def test_of_many_slices_that_stand_out_the_surest_are_told() -> None:
    slices = [
        {"slice": "topic", "value": f"t{i}", "measure": "f1", "n": 40, "difference": LAW, "notable": True}
        | {"q_value": 0.04 - i / 1000}
        for i in range(8)
    ]

    told = list(notes.notes(pair({}, slices=slices)))

    assert [note.partition("= ")[2][:2] for note in told[:5]] == ["t7", "t6", "t5", "t4", "t3"]
    assert told[5:] == ["exploratory: 3 more slices stand out (--json)"]


def test_candidates_of_one_side_are_noted() -> None:
    found = document("better", candidates={"only_base": ["x", "y"], "only_head": ["z"]})

    assert list(notes.candidates_notes(found)) == [
        "only before, not compared: x, y (--map OLD=NEW pairs renamed ones, --map OLD= says that one was dropped)",
        "only after, not compared: z (--map OLD=NEW pairs renamed ones)",
    ]


def decided(**changed: Any) -> str:
    chosen, options = Primary("m0", "named in gate.primary"), gate(primary="m0", metrics={})
    return decision([pair({"m0": measure(**changed)})], chosen, options, blocked=False)["sentence"]


def test_where_the_difference_that_matters_is_excluded_the_sentence_says_so() -> None:
    excluded = {"unit": "row", "difference": 0.02, "low": None, "high": None}

    assert (
        decided(needed=excluded)
        == "Undecided: no difference reaches 2 points; set gate.margin to the loss that matters."
    )
    assert decided(needed=excluded, margin=0.02) == "Undecided: the loss is near gate.margin, 2 points."


def test_with_a_margin_more_rows_show_or_exclude_a_loss_of_it() -> None:
    needed = {"unit": "group", "difference": 0.01, "low": 57, "high": 900}

    sentence = decided(needed=needed, margin=0.01)

    assert sentence == "Undecided: 57 to 900 more groups of rows could detect or exclude a loss of 1 point."


def test_an_undecided_measure_of_unknown_spread_names_no_number() -> None:
    assert decided(needed=None) == "Undecided: no significant difference by m0."


@pytest.mark.parametrize(
    ("lost", "gained", "line"),
    [
        ({}, {}, "0 rows changed result by some measure"),
        (
            {"f1": 1200, "gleu": 3},
            {"f1": 1},
            "1,204 rows changed result by some measure; lost: f1 1,200, gleu 3; gained: f1 1",
        ),
        ({"bleu": 3}, {"f1": 1}, "4 rows changed result by some measure; gained: f1 1"),
    ],
)
def test_flips_in_one_line(lost: dict[str, int], gained: dict[str, int], line: str) -> None:
    rows = sum(lost.values()) + sum(gained.values())

    measures = {"f1": measure(), "gleu": measure(role="guard"), "bleu": measure(role="secondary")}
    found = pair(measures, flips={"rows": rows, "lost": lost, "gained": gained, "worst": []})

    assert comparison_lines.changed_rows_line(found) == line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (None, "–"),
        ("", ""),
        ("a\n\n b\tc\r\n", "a b c"),
        ("x" * 10, "x" * 10),
        ("x" * 11, "x" * 9 + "…"),
        ("x" * 100_000, "x" * 9 + "…"),
    ],
)
def test_a_text_on_one_line(text: str | None, line: str) -> None:
    assert cut(text, 10) == line


def test_a_long_list_is_counted() -> None:
    assert listed(["a", "b", "c"]) == "a, b, c"
    assert listed(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"
    assert listed([]) == ""


@pytest.mark.parametrize(
    ("found", "end"),
    [
        (measure("worse", difference=LOSS, needed=None), " by 5.0 points [2.0, 11.0]"),
        (measure("better", difference=LOSS, needed=None), " by 5.0 points [2.0, 11.0]"),  # of what should be low
        (measure("better", difference=GAIN | UNLIMITED, needed=None), " by 5.0 points"),
        (measure("better", difference=GAIN, needed=None), " by 5.0 points [2.0, 11.0]"),
        (measure(), ": −5.0 points [−11.0, +2.0]; 3,300 to 5,700 more rows could detect a difference of 2 points"),
        (measure("no worse", needed=None), ": −5.0 points [−11.0, +2.0]"),
        (measure("unchanged"), ""),
    ],
)
def test_by_how_much_ends_a_sentence(found: dict[str, Any], end: str) -> None:
    assert comparison_lines.by(pair({"f1": found}), "f1") == end


def test_measures_are_told_by_their_verdicts_the_surest_first() -> None:
    found = pair({"f1": measure(), "bleu": measure("worse"), "label": measure("better"), "gleu": measure("worse")})

    assert [*comparison_lines.tally(found["measures"]).items()] == [
        ("better", ["label"]),
        ("worse", ["bleu", "gleu"]),
        ("cannot tell", ["f1"]),
    ]


def test_a_table_that_says_what_failed_rows_could_change_has_no_note_of_it() -> None:
    left = NOTHING_LEFT | {"failed_base": 2, "worst": -0.1, "best": 0.1}
    found = pair({"f1": measure(unmeasured=left)})

    assert "could not be measured" in " ".join(notes.notes(found))
    assert "could not be measured" not in " ".join(notes.notes(found, bounds=False))


def test_another_candidate_is_no_other_measure() -> None:
    chosen, options = Primary("m0", "named in gate.primary"), gate(primary="m0", metrics={})
    pairs = [pair({"m0": measure("worse")}, head=name) for name in ("a", "b")]

    assert decision(pairs, chosen, options, blocked=False)["sentence"] == (
        f"Do not ship: worse by m0, a {SIZE}, and 1 other candidate."
    )


def test_what_no_number_of_rows_decides_comes_before_any_number() -> None:
    excluded = {"unit": "row", "difference": 0.02, "low": None, "high": None}

    assert most_needed([measure()["needed"], excluded]) == excluded
    assert most_needed([measure()["needed"], None]) is None
    assert most_needed([]) is None
