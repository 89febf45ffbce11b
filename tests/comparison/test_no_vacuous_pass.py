"""A gate passes by what was compared: whatever could not be, or was left out, is told, and stops it where it counts."""

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

from goldmeter import compare
from goldmeter.comparison.compared import Compared, critical_value
from goldmeter.comparison.of_versions import CompareOptions, pairings, scores_of
from goldmeter.wording import notes
from tests.comparison.sample import COST, LATENCY, Row, answers, gate, gate_on, row, version
from tests.comparison.test_document import compared, measures, refused, status, verdicts

RATES = {"bleu", "exact_match", "f1"}
CAPPED = COST | {"metric": "cap", "threshold": 1.0, "rate_signature": "score|name:cost|v:1|thr:<=1"}
"""Numbers from elsewhere with a pass rate."""


def grouped(rows: list[Row], size: int) -> list[Row]:
    return [each | {"group": f"g{n // size}"} for n, each in enumerate(rows)]


# rows that could not be measured


def test_answers_that_are_all_but_lost_pass_no_gate() -> None:
    found = compared(answers("+" * 40), answers("+" + "-" * 39))

    assert "unchanged" not in verdicts(found).values()
    assert (found["blocked"], status(found)) == (True, 2)
    told = refused(found)
    assert set(told) == RATES
    for reason, blocks in told.values():
        assert blocks
        assert re.search(r"\b39\b", reason)
        assert "gate.max_unmeasured" in reason


def test_answers_that_were_missing_before_leave_as_little_to_compare() -> None:
    found = compared(answers("+" + "-" * 39), answers("+" * 40))

    assert (found["blocked"], status(found)) == (True, 2)
    assert all("gate.max_unmeasured" in reason for reason, _ in refused(found).values())


@pytest.mark.parametrize(("lost", "limit", "blocked"), [(2, 0.05, False), (3, 0.05, True), (3, 0.5, False)])
def test_the_share_of_rows_that_may_be_lost_is_a_setting(lost: int, limit: float, *, blocked: bool) -> None:
    newer = answers("-" * lost + "+" * (40 - lost))

    found = compared(answers("+" * 40), newer, gate(max_unmeasured=limit))

    assert (found["blocked"], status(found)) == (blocked, 2 if blocked else 0)


def test_a_single_lost_answer_is_a_flip_and_neither_unchanged_nor_a_reason_to_stop() -> None:
    found = compared(answers("+" * 40), answers("-" + "+" * 39))

    [pair] = found["pairs"]
    assert set(verdicts(found)) == RATES
    assert "unchanged" not in verdicts(found).values()
    assert (found["blocked"], status(found)) == (False, 0)
    assert pair["flips"]["rows"] == 1
    assert pair["flips"]["lost"] == {"bleu": 1, "exact_match": 1, "f1": 1}
    [shown] = pair["flips"]["worst"]
    assert (shown["id"], shown["base"], shown["head"]) == ("q0", "right", None)
    assert set(shown["lost"]) == RATES


def test_a_lost_answer_that_was_wrong_lost_nothing() -> None:
    found = compared(answers("." + "+" * 39), answers("-" + "+" * 39))

    assert found["pairs"][0]["flips"]["lost"] == {}
    assert "unchanged" not in verdicts(found).values()


def test_rows_that_were_not_to_be_measured_count_as_no_loss() -> None:
    older = answers("+" * 40, label=True)
    newer = [each | {"label": True if n < 10 else None} for n, each in enumerate(answers("+" * 40))]

    found = compared(older, newer, gate(max_unmeasured=0.0))

    assert measures(found)["label"]["n"] == 10
    assert (found["blocked"], status(found)) == (False, 0)


@pytest.mark.parametrize(("answers_changed", "decision"), [(True, "undecided"), (False, "ship")])
def test_new_answers_without_a_label_count_against_them(answers_changed: bool, decision: str) -> None:
    """Half of the new answers have no label: perhaps those that are wrong."""
    base = pd.DataFrame({"id": range(40), "response": [f"a{n}" for n in range(40)], "label": [True] * 40})
    head = base.assign(label=[True] * 20 + [None] * 20)
    if answers_changed:
        head["response"] = [f"b{n}" for n in range(40)]

    found = compare(base, head, primary="label")

    assert found.verdict == decision
    assert bool(found.refused) == answers_changed


@pytest.mark.parametrize("randomly", [True, False])
def test_failed_labels_of_a_random_part_are_not_filled_in(randomly: bool) -> None:
    rng = np.random.default_rng(1)
    base = pd.DataFrame({"id": range(2000), "response": [f"a{n}" for n in range(2000)]})
    chosen = rng.permutation(2000) < 1000
    base["label"] = [bool(n % 5) if some else None for n, some in enumerate(chosen)]
    changed = rng.permutation(2000) < 400
    head = base.assign(
        response=[
            f"b{n}" if some else text for n, (some, text) in enumerate(zip(changed, base["response"], strict=True))
        ],
        label=[None if some else label for some, label in zip(changed, base["label"], strict=True)],
    )

    found = compare(base, head, primary="label", margin=0.05, labels="random" if randomly else "other")

    assert randomly or (found.verdict == "undecided" and found.refused)
    assert not randomly or found.measures.loc["label", "verdict"] in {"unchanged", "no worse"}


def test_verdicts_of_a_tool_that_the_new_answers_lack_count_against_them() -> None:
    tool = CAPPED | {"metric": "tool", "bounds": [0.0, 1.0], "signature": "verdicts|by:tool|v:1", "by": "tool"}
    tool |= {"rate_signature": "verdicts|by:tool|v:1|pass:1", "threshold": None}
    older = [each | {"score_tool": 1.0} for each in answers("+" * 40)]
    newer = [each | ({"response": "new", "score_tool": None} if n < 12 else {}) for n, each in enumerate(older)]

    found = compared(older, newer, gate_on("score_tool"), scores={"score_tool": tool})

    assert found["decision"]["verdict"] == "undecided"
    assert refused(found)


@pytest.mark.parametrize(("lost", "decision"), [(35, "do not ship"), (3, "undecided")])
def test_rows_that_failed_stop_no_verdict_that_they_cannot_change(lost: int, decision: str) -> None:
    base = pd.DataFrame({"id": range(60), "ok": [1.0] * 60})
    head = base.assign(ok=[None] * 6 + [0.0] * lost + [1.0] * (54 - lost))

    found = compare(base, head, primary="ok", bounds={"ok": (0, 1)})

    assert found.verdict == decision
    assert bool(found.refused) == (decision == "undecided")


# measures that nobody measured, and thresholds that nobody taught


def test_a_measure_of_the_gate_that_neither_side_measured_blocks_it() -> None:
    rows = answers("+" * 40)

    named = compared(rows, rows, gate_on("f1", "score_cap"), scores={"score_cap": CAPPED})
    every = compared(rows, rows, scores={"score_cap": CAPPED})

    assert refused(named) == {"score_cap": ("not measured before or after", True)}
    assert (verdicts(named)["f1"], status(named)) == ("unchanged", 2)
    assert refused(every) == {"score_cap": ("not measured before or after", False)}
    assert status(every) == 0


def test_a_threshold_that_no_labels_taught_is_refused_and_the_value_still_compares() -> None:
    older, newer = answers("+" * 40), answers("+" * 20 + "." * 20)
    made = {"metrics": {"exact_match": {}, "f1": {"threshold": "learnt"}}}

    guard = compared(older, older, gate_on("exact_match", "f1"), **made)
    named = compared(older, older, gate_on("f1"), **made)
    value = compared(older, newer, gate_on("f1.value"), **made)

    for found in (guard, named):
        reason, blocks = refused(found)["f1"]
        assert "not learnt" in reason
        assert (blocks, found["blocked"], status(found)) == (True, True, 2)
        assert verdicts(found) == {"exact_match": "unchanged"}
    assert refused(value)["f1"][1] is False
    assert (verdicts(value)["f1.value"], status(value)) == ("worse", 1)
    assert measures(value)["f1.value"]["difference"]["value"] == -0.5


# labels


def test_new_answers_that_nobody_labelled_yet_stop_no_release_unless_the_gate_names_labels() -> None:
    older, newer = answers("+" * 40, label=True), answers("+" * 40)

    default, named = compared(older, newer), compared(older, newer, gate_on("f1", "label"))

    reason, blocks = refused(default)["label"]
    assert not blocks
    assert any(note.startswith(f"label not compared: {reason}") for note in notes.notes(default["pairs"][0]))
    assert (default["blocked"], status(default)) == (False, 0)
    assert refused(named)["label"][1]
    assert (named["blocked"], status(named)) == (True, 2)


def test_labels_of_another_candidate_alone_are_labels_that_one_does_not_have_yet() -> None:
    older = answers("+" * 40, label=True) + answers("+" * 40, "borealis", label=True)
    newer = answers("+" * 40) + answers("+" * 40, "borealis", label=True)

    found = compared(older, newer)

    assert [each["blocks"] for pair in found["pairs"] for each in pair["refused"]] == [False]
    assert found["pairs"][0]["refused"][0]["measure"] == "label"
    assert status(found) == 0


# candidates


def test_a_candidate_that_is_gone_stops_a_release_unless_it_was_dropped_on_purpose() -> None:
    older, newer = answers("+" * 40) + answers("+" * 40, "borealis"), answers("+" * 40)

    gone = compared(older, newer)
    dropped, added = compared(older, newer, request=CompareOptions({"borealis": ""})), compared(newer, older)

    assert (gone["blocked"], status(gone)) == (True, 2)
    assert gone["candidates"]["only_base"] == ["borealis"]
    assert any("borealis" in note for note in notes.candidates_notes(gone))
    assert (dropped["blocked"], status(dropped)) == (added["blocked"], status(added)) == (False, 0)
    assert [(pair["base"], pair["head"]) for pair in dropped["pairs"]] == [("aurora", "aurora")]


# rows that changed, clusters, scales


def test_rows_that_changed_result_are_found_whatever_the_gate_compares() -> None:
    older, newer = answers("+" * 40), answers("+" * 20 + "." * 20)

    value, every = (compared(older, newer, options)["pairs"][0]["flips"] for options in (gate_on("f1.value"), gate()))

    assert value["rows"] == 20
    assert value["lost"] == {"bleu": 20, "exact_match": 20, "f1": 20}
    assert value == every


def test_rows_that_belonged_together_before_still_do_when_head_has_no_groups() -> None:
    older, newer = answers("+" * 96), answers("+" * 72 + "." * 24)

    lost, kept = compared(grouped(older, 8), newer), compared(grouped(older, 8), grouped(newer, 8))
    loose = compared(older, newer)

    assert measures(lost)["f1"]["difference"] == measures(kept)["f1"]["difference"]
    assert lost["critical_value"] == kept["critical_value"]
    assert measures(lost)["f1"]["difference"] != measures(loose)["f1"]["difference"]


def test_a_measure_in_a_large_unit_leaves_the_others_in_the_family(tmp_path: Any) -> None:
    def critical(unit: float) -> float:
        one, other = [1.0, -1.0] * 20, [unit, unit, -unit, -unit] * 10  # unrelated: 2·Φ(2.2365) - 1 = 0.95^½
        newer = [row(n, "x", score_a=a, score_b=b) for n, (a, b) in enumerate(zip(one, other, strict=True))]
        older = [row(n, "x", score_a=0.0, score_b=0.0) for n in range(40)]
        scores = {name: LATENCY | {"metric": name} for name in ("score_a", "score_b")}
        sides = [
            scores_of(version(tmp_path / name, rows, scores=scores)) for name, rows in (("a", older), ("b", newer))
        ]
        [[pairing]] = pairings(*sides, [("aurora", "aurora")], tmp_path / "blocks")
        return critical_value([Compared([pairing], name) for name in scores], 0.95)

    found = [critical(unit) for unit in (1.0, 1e12, 1e-12)]

    assert found == pytest.approx([2.2365] * 3, abs=0.003)
    assert np.ptp(found) < 1e-9
