"""Roles of measures: one decides, guards can stop a release, the others are shown; each role is a family of its own."""

from typing import Any

import numpy as np
import pytest

from goldmeter.comparison.compared import Compared, duplicates
from goldmeter.comparison.gate import Gate
from goldmeter.comparison.pairing import pair
from goldmeter.estimates.column_facts import ColumnFacts
from goldmeter.estimates.columns import Candidate, ScoreColumn
from goldmeter.wording.verdicts import Decision
from tests.comparison.sample import answers, gate, gate_on, row
from tests.comparison.test_document import compared, measures, verdicts


def roles(document: Any) -> dict[str, str]:
    return {name: one["role"] for name, one in measures(document).items()}


def labelled(signs: str, labels: str) -> list[Any]:
    said = {"+": True, ".": False, "?": None}
    return [each | {"label": said[label]} for each, label in zip(answers(signs), labels, strict=True)]


def test_a_measure_is_primary_a_guard_or_secondary() -> None:
    found = compared(answers("+" * 40), answers("+" * 40), gate(primary="bleu.value", metrics={"f1": 0.1}))

    assert roles(found) == {"bleu.value": "primary", "f1": "guard", "exact_match": "secondary", "bleu": "secondary"}
    assert found["primary"] == {"measure": "bleu.value", "reason": "named in gate.primary"}


def test_a_metric_without_a_pass_rate_is_compared_by_its_score() -> None:
    plain: Any = {"exact_match": {}, "f1": {"threshold": 0.5}, "bleu": {"threshold": "none"}}

    found = compared(answers("+" * 40), answers("+" * 40), gate(primary="f1", metrics={}), metrics=plain)

    assert roles(found) == {"f1": "primary", "exact_match": "secondary", "bleu": "secondary"}


def test_a_secondary_measure_stops_no_release_however_much_it_loses() -> None:
    older = [row(n, "right") for n in range(60)]
    newer = [row(n, "right and more") for n in range(60)]

    gates = gate_on("f1", margin=0.1), gate_on("f1", "exact_match", margin=0.1)
    shown, guarded = (compared(older, newer, one) for one in gates)

    assert verdicts(shown)["exact_match"] == verdicts(guarded)["exact_match"] == "worse"
    assert (shown["decision"]["verdict"], shown["failed"]) == (Decision.SHIP, False)
    assert (guarded["decision"]["verdict"], guarded["failed"]) == (Decision.DO_NOT_SHIP, True)


def test_a_loss_by_the_labels_stops_a_release_whatever_its_words_gain() -> None:
    older, newer = labelled("." * 60, "+" * 60), labelled("+" * 60, "+" * 40 + "." * 20)

    found = compared(older, newer, gate(primary=None, metrics={}))

    assert verdicts(found)["bleu"] == verdicts(found)["f1"] == "better"
    assert (
        found["decision"]["sentence"]
        == f"{Decision.DO_NOT_SHIP.capitalize()}: worse by human labels, −33.3 points [−45.9, −19.8]."
    )


def test_a_guard_may_lose_its_margin_and_no_more() -> None:
    older, newer = answers("+" * 300), answers("+" * 294 + "." * 6)

    allowed, not_allowed = (
        compared(older, newer, gate(primary="f1", margin=0.1, metrics={"exact_match": margin}))
        for margin in (0.05, 0.0)
    )

    assert verdicts(allowed)["exact_match"] == "no worse"
    assert allowed["decision"]["verdict"] == Decision.SHIP
    assert verdicts(not_allowed)["exact_match"] == "worse"
    assert not_allowed["decision"]["verdict"] == Decision.DO_NOT_SHIP


def test_measures_beside_the_primary_one_do_not_widen_its_interval() -> None:
    older = answers("+" * 60)
    newer = [row(n, "right" if n % 5 else "right and more of it" if n % 2 else "something") for n in range(60)]

    alone, beside = compared(older, newer, gate_on("f1")), compared(older, newer, gate_on("f1", "f1.value", "bleu"))

    assert alone["critical_value"] == beside["critical_value"] == pytest.approx(1.959964, abs=1e-6)
    assert measures(alone)["f1"]["difference"] == measures(beside)["f1"]["difference"]


def test_human_labels_of_both_versions_decide() -> None:
    found = compared(
        labelled("+" * 40, "." * 20 + "+" * 20), labelled("." * 40, "+" * 40), gate(primary=None, metrics={})
    )

    assert found["primary"]["measure"] == "label"
    assert (found["decision"]["verdict"], verdicts(found)["f1"]) == ("ship", "worse")


VERDICTS = {"meaning_match": {"metric": "meaning_match", "family": "judge", "options": {}, "bounds": [0.0, 1.0],
            "higher_is_better": True, "corpus_is_mean": True, "signature": "meaning_match|provider:offline",
            "threshold": None, "rate_signature": "meaning_match|provider:offline|pass:1"}}  # fmt: skip


def test_a_candidate_with_labels_is_compared_by_them_though_another_one_has_none() -> None:
    def rows(signs: str, labels: str) -> list[Any]:
        both = labelled(signs, labels) + answers(signs, "borealis")
        return [each | {"meaning_match": 1.0} for each in both]

    found = compared(
        rows("+" * 40, "+" * 40), rows("." * 40, "+" * 20 + "." * 20), gate(primary=None, metrics={}), scores=VERDICTS
    )

    roles = [[name for name, one in pair["measures"].items() if one["role"] == "primary"] for pair in found["pairs"]]
    assert roles == [["label"], ["meaning_match"]]
    assert found["decision"]["sentence"] == "Do not ship: worse by human labels, aurora −50.0 points [−65.2, −31.1]."


@pytest.mark.parametrize("left", [0, 20, 39])
def test_labels_that_the_new_answers_lack_do_not_decide(left: int) -> None:
    """The rows that keep their labels are those whose answers did not change: nothing changed on them."""
    scores = VERDICTS
    older = [each | {"meaning_match": 1.0} for each in labelled("+" * 40, "+" * 40)]
    newer = [each | {"meaning_match": 1.0 if n < left else 0.0} for n, each in enumerate(
        labelled("+" * 40, "+" * left + "?" * (40 - left)))]  # fmt: skip

    found = compared(older, newer, gate(primary=None, metrics={}), scores=scores)

    assert found["primary"] == {"measure": "meaning_match", "reason": "the new answers have no human labels"}
    assert found["decision"]["verdict"] != Decision.SHIP


@pytest.mark.parametrize("named", [gate_on("label"), gate_on("f1", "label")])
def test_named_labels_that_the_new_answers_lack_do_not_let_a_release_pass(named: Gate) -> None:
    older = labelled("+" * 100, "+" * 100)
    newer = labelled("+" * 100, "?" * 60 + "+" * 40)
    for each in newer[:60]:
        each["response"] = "right indeed"

    found = compared(older, newer, named)

    assert (found["blocked"], found["decision"]["verdict"]) == (True, "undecided")
    [refused] = [each for each in found["pairs"][0]["refused"] if each["measure"] == "label"]
    assert refused["reason"].startswith("60 of 100 rows could not be measured")


@pytest.mark.parametrize(("changed", "decision"), [(0, "ship"), (30, "undecided")])
def test_equal_labels_on_a_part_of_the_rows_do_not_say_that_the_others_are_unchanged(
    changed: int, decision: str
) -> None:
    older = labelled("+" * 60, "+" * 20 + "?" * 40)
    newer = labelled("+" * (60 - changed) + "." * changed, "+" * 20 + "?" * 40)

    found = compared(older, newer, gate_on("label"))

    assert found["decision"]["verdict"] == decision
    assert verdicts(found)["label"] == ("cannot tell" if changed else "unchanged")


def test_versions_whose_questions_all_changed_are_undecided_and_no_error() -> None:
    older = labelled("+" * 40, "+" * 40)
    newer = [each | {"input": "Another question?"} for each in older]

    found = compared(older, newer, gate(primary=None, metrics={}))

    assert (found["blocked"], found["decision"]["verdict"]) == (True, "undecided")
    assert "no row is measured" in found["decision"]["reasons"][0]


def test_a_primary_measure_with_lost_answers_blocks_the_gate() -> None:
    found = compared(answers("+" * 40), answers("+" * 20 + "-" * 20), gate_on("f1"))

    assert (found["blocked"], found["decision"]["verdict"]) == (True, "undecided")
    assert found["decision"]["reasons"][0].startswith("f1 could not be compared: 20 of 40 rows could not be measured")


def test_the_mcnemar_table_counts_every_compared_row_once() -> None:
    [pair] = compared(answers("++++..."), answers("++.+.+-"), gate_on("f1", max_unmeasured=1.0))["pairs"]

    assert pair["crossed"] == {"both": 3, "lost": 1, "gained": 1, "neither": 1}


def test_measures_that_agree_on_every_row_are_named_together() -> None:
    [pair] = compared(answers("+" * 30 + "." * 30), answers("." * 10 + "+" * 50), gate_on("f1"))["pairs"]

    assert pair["duplicates"] == [["f1", "exact_match", "bleu"]]


@pytest.mark.filterwarnings("error")
def test_a_measure_that_never_varies_duplicates_nothing() -> None:
    rows = np.array([1.0, 0.0, np.nan, 1.0])

    scores = {"a": rows, "b": 3 * rows, "c": -rows, "constant": np.ones(4), "none": np.full(4, np.nan)}
    facts = ColumnFacts("m", "dataset", "m", None)
    columns = [ScoreColumn(name, one, np.zeros(4, np.bool_), None, None, facts) for name, one in scores.items()]
    sides = (Candidate(name, np.arange(4, dtype=np.uint64), np.arange(4), columns, None, {}) for name in "ab")
    pairing = pair(*sides)

    found = duplicates([Compared([pairing], name) for name in scores])

    assert found == [["a", "b"]]


def test_the_worst_slice_is_one_that_lost() -> None:
    wrong, right = ([row(n, said, topic="ab"[n % 2]) for n in range(40)] for said in ("wrong", "right"))

    gained, lost = (compared(*pair, gate_on("f1"))["decision"] for pair in ((wrong, right), (right, wrong)))

    assert gained["worst_slice"] is None
    assert lost["worst_slice"] is not None
    assert lost["worst_slice"]["value"] in {"a", "b"}
