"""What stands beside the conclusion: the worst slices, the kinds of failure, and the agreement of the judge."""

from typing import Any

from goldmeter.wording.evidence import (
    lost_votes,
    most_frequent_failures,
    panel,
    raters,
    recalibration,
    trust,
    worst_slices,
)
from tests.wording.test_conclusion import OFFLINE, document, headline

TWO = {"aurora": headline(0.7), "borealis": headline(0.8)}


def agreement(value: float, kappa: float, *, baseline: float, is_judge: bool, **more: Any) -> dict[str, Any]:
    return {
        "accuracy": {"value": value, "low": value - 0.05, "high": value + 0.05},
        "kappa": {"value": kappa},
        "false_pass": 4,
        "false_fail": 50,
        "baseline": {"value": baseline, "rule": "passing everything"},
        "is_judge": is_judge,
    } | more


def judged(**agreements: Any) -> dict[str, Any]:
    entry = {"n": 200, "signature": "meaning_match|provider:offline"}
    return {name: {"meaning_match": entry | ({"agreement": one} if one else {})} for name, one in agreements.items()}


def one_slice(candidate: str, *, worse: bool) -> dict[str, Any]:
    difference = {"value": -0.2, "low": -0.3, "high": -0.1 if worse else 0.1}
    return {"candidate": candidate, "n": 40, "rate": 0.5, "rest": 0.7, "difference": difference, "worse": worse}


def slices(*parts: list[dict[str, Any]], left_out: int = 0) -> dict[str, Any]:
    named = [{"column": "topic", "value": f"t{n}", "candidates": part} for n, part in enumerate(parts)]
    return {"measure": "label", "tests": 12, "left_out": left_out, "slices": named}


def test_the_judge_stands_beside_one_verdict_for_every_answer() -> None:
    agreements = judged(
        a=agreement(0.75, 0.4, baseline=0.787, is_judge=False), b=agreement(0.9, 0.7, baseline=0.858, is_judge=True)
    )
    two = {"a": headline(0.7), "b": headline(0.8)}

    agrees, *others = trust(document(two, candidates=agreements, outside_domain={"a": 0.25, "b": 0.0}))
    assert agrees == (
        "Agreement of the offline judge with human labels: "
        "b 90.0 % [85.0, 95.0], kappa 0.70; a 75.0 % [70.0, 80.0], kappa 0.40."
    )
    assert others == [
        "Passing everything would agree: b 85.8 %; a 78.7 %; on a the verdicts do not significantly more often.",
        "It passes 8 wrong answers and fails 100 right answers.",
        "Answers outside its domain: b 0 %; a 25.0 %.",
        (
            "Its agreement on EVOUNA-NQ, cross-validated, by question who 95.8 %, what or which 88.8 %, when 91.1 %, "
            "where 89.2 %, other 88.9 %, how many 93.2 %; by reference name 95.1 %, phrase 86.2 %, date 92.0 %, "
            "number 89.6 %, list 88.8 %."
        ),
    ]


def test_agreement_with_labels_that_trained_the_judge_is_said_to_be_no_check() -> None:
    seen = {"share": 1.0, "data": "NQ", "cross_validated": 0.914}
    one = agreement(0.95, 0.8, baseline=0.8, is_judge=True, in_sample=seen)

    assert trust(document({"aurora": headline(0.7)}, candidates=judged(aurora=one)))[-1] == (
        "This is no check on new questions: it was trained on 100 % of these (NQ). "
        "On questions that it was not trained on it agrees on 91.4 %."
    )


def interval(value: float, half: float = 0.05) -> dict[str, Any]:
    return {"value": value, "low": value - half, "high": value + half, "method": "bounded"}


def test_people_stand_beside_the_judge() -> None:
    same = {"n": 40, "value": interval(0.8), "difference": interval(-0.07)}
    one = {"pair": interval(0.87), "alpha": interval(0.73), "adjudicators": [3], "metrics": {"meaning_match": same}}
    agreed = judged(aurora=agreement(0.81, 0.6, baseline=0.5, is_judge=True))
    labelled = document({"aurora": headline(0.7)}, candidates=agreed, raters={"aurora": one})

    expected = [
        "Person against person: 87.0 % [82.0, 92.0], alpha 0.73 [0.68, 0.78].",
        "The offline judge against one person: 80.0 % [75.0, 85.0], −7.0 points [−12.0, −2.0] to another person.",
    ]
    assert raters(labelled) == expected
    assert trust(labelled)[-3:] == [
        *expected,
        "Rater 3 of aurora was asked mostly where others differ, and is left out.",
    ]
    assert raters(document({"aurora": headline(0.7)}, candidates=agreed)) == []


def test_of_a_cascade_it_is_said_how_many_answers_each_judge_decided_and_which_one_was_trained_on_them() -> None:
    seen = {"share": 1.0, "data": "NQ", "cross_validated": 0.914}
    own = judged(a=agreement(0.95, 0.8, baseline=0.8, is_judge=True, in_sample=seen))
    own["a"]["meaning_match"]["signature"] = "meaning_match|provider:cascade|model:m"

    first, *_, trained, decided = trust(
        document({"a": headline(0.7)}, candidates=own, outside_domain={}, by_offline_judge={"a": 0.58})
    )

    assert first.startswith("Agreement of the cascade of the offline judge and m with human labels: 95.0 %")
    assert trained == (
        "This is no check on new questions: the offline judge was trained on 100 % of these (NQ). "
        "On questions that it was not trained on it alone agrees on 91.4 %."
    )
    assert decided == "Answers that the offline judge decided: 58.0 %; a language model judged the others."
    del own["a"]["meaning_match"]["agreement"]
    unknown = {"a": headline(0.7, status="unknown")}
    assert trust(document(unknown, candidates=own, by_offline_judge={"a": 0.58})) == [decided]
    own["a"]["meaning_match"]["signature"] += "|band:0.02-0.93|offline:0"
    [decided] = trust(document(unknown, candidates=own, by_offline_judge={"a": 0.58}))
    assert decided.startswith("Answers that the offline judge decided (probability below 0.02 or above 0.93): 58.0 %; ")


def test_probabilities_that_labels_reject_are_said_to_be_off() -> None:
    own = judged(a=agreement(0.95, 0.8, baseline=0.8, is_judge=True))
    found = {"n": 400, "tested": 200, "p_value": 0.001, "expected": 0.612, "right": 0.72}
    found |= {"error": 0.1436, "error_recalibrated": 0.1238, "intercept": 0.5, "slope": 0.5}

    assert trust(document({"a": headline(0.7)}, candidates=own, calibration=found))[-1] == (
        "The probabilities of the offline judge do not fit 400 labels (p = 0.001): they expect 61.2 % right answers, "
        "and 72.0 % are. By the labels, 27.4 % are right where it says 5 %, and 87.8 % where it says 95 %."
    )
    by_overlap = document({"a": headline(0.7)}, candidates={}, calibration=found, primary={"measure": "f1"})
    assert [*recalibration(by_overlap)] == []  # of no interest without the judge


def test_without_labels_the_headline_says_what_is_known_of_the_judge() -> None:
    estimated = headline(0.8, by=OFFLINE, status="estimated", note="by the offline judge; not checked on your data.")

    assert trust(document({"aurora": estimated}, candidates=judged(aurora=None))) == [
        "By the offline judge; not checked on your data."
    ]


def test_without_a_verdict_nothing_is_said_of_a_judge() -> None:
    assert trust(document(TWO, candidates={"aurora": {}, "borealis": {"meaning_match": {"n": 0}}})) == []


def test_only_significantly_worse_slices_are_listed_if_there_are_any() -> None:
    other = one_slice("borealis", worse=False)

    found = worst_slices(document(TWO, worst_slices=slices([one_slice("aurora", worse=True), other], [other])))

    assert found.are_significant
    assert (
        found.sentence
        == "These are significantly below the other answers (12 comparisons, corrected for their number)."
    )
    assert found.lines == ["topic = t0: aurora 50.0 % of 40 answers, −20.0 points [−30.0, −10.0] to the others"]


def test_slices_that_differ_by_chance_are_said_to() -> None:
    parts = slices([one_slice("aurora", worse=False), one_slice("borealis", worse=False)], left_out=2)

    found = worst_slices(document(TWO, worst_slices=parts))

    assert found.sentence == (
        "None is significantly below the other answers (12 comparisons, corrected for their number). "
        "2 slices are left out: outside the judge's domain."
    )
    assert found.lines == ["topic = t0: aurora 50.0 % of 40 answers, −20.0 points [−30.0, +10.0] to the others"]


def test_kinds_of_failure_are_added_up_over_the_candidates() -> None:
    kinds = [{"kind": "hedge", "n": 2}, {"kind": "refusal", "n": 3}]
    failures = {"aurora": {"kinds": kinds}, "borealis": {"kinds": [{"kind": "hedge", "n": 9}]}}

    assert most_frequent_failures(document(TWO, failures=failures)) == "hedge 11, refusal 3"
    assert most_frequent_failures(document(TWO)) == ""


def test_kinds_of_failure_that_are_not_named_are_counted_as_kinds() -> None:
    kinds = [{"kind": f"kind {n}", "n": n, "share": 0.1} for n in range(5, 0, -1)]
    failures = {"a": {"n": 20, "wrong": 15, "kinds": kinds}}

    assert most_frequent_failures(document(TWO, failures=failures)).endswith(" and 2 more kinds")


def vote_entry(accuracy: float | None, missing: int = 0) -> dict[str, Any]:
    limits = None if accuracy is None else {"value": accuracy, "low": accuracy - 0.1, "high": accuracy + 0.1}
    return {"votes": 0 if missing == 200 else 200 - missing, "missing": missing, "mean": 0.5, "accuracy": limits}


def test_the_judges_of_a_panel_stand_beside_each_other_and_who_is_missing_comes_first() -> None:
    votes = {
        "n": 200,
        "not_unanimous": 0.25,
        "ties": 3,
        "pair": {"value": 0.8, "low": 0.7, "high": 0.9},
        "alpha": {"value": 0.5, "low": 0.4, "high": 0.6},
        "jurors": [vote_entry(0.9), vote_entry(None, missing=200), vote_entry(0.7, missing=50)],
    }
    found = {"jurors": ["m0", "m1", "m2"], "candidates": {"aurora": {"meaning_match": votes}}}
    lost = [
        "m1 of the panel gave no vote: the other judges decided alone.",
        "50 of 200 votes of m2 are missing: the other judges decided alone.",
    ]
    told = [
        "Meaning_match by a panel of 3: m0, m1 and m2; their votes count equally.",
        "Answers on which their votes differ: 25.0 %, 3 ties.",
        "Two of them say the same: 80.0 % [70.0, 90.0], alpha 0.50 [0.40, 0.60].",
        "m0 alone agrees with human labels: 90.0 % [80.0, 100].",
        "m2 alone agrees with human labels: 70.0 % [60.0, 80.0].",
    ]

    measured = document({"aurora": headline(0.7)}, candidates=judged(aurora=None), panel=found)
    assert trust(measured)[:2] == lost_votes(measured) == lost
    assert panel(measured) == told
    mixed = measured | {"weighting": {"option": "aggregate.mix", "column": "topic"}}
    assert panel(mixed) == [*told, "Intervals of numbers by aggregate.mix are over rows alone, not over judges."]
