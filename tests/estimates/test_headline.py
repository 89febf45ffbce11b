"""Headlines: who says what a candidate's rate is, how far it is known, and which candidates lead."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.estimates import labelled_rate
from goldmeter.estimates.column_facts import ColumnFacts
from goldmeter.estimates.columns import Candidate, ScoreColumn
from goldmeter.estimates.headline import deciding, headlines, leaders, rates
from goldmeter.estimates.primary import Primary, decided
from goldmeter.estimates.signature import VerdictSource
from goldmeter.estimates.sums import CandidateSums, candidate_sums
from goldmeter.models import offline
from goldmeter.statistics import mean_interval
from tests.small_project import ROOT

FACTS = ColumnFacts("label", "dataset", "label|v:1", (0.0, 1.0), rate_signature="label|v:1|pass:1")
MATCH = replace(FACTS, metric="meaning_match", family="judge")
OFFLINE = "meaning_match|provider:offline|model:x|offline_v:1|v:1"
ON_LABELS, ON_VERDICTS = Primary("label", "human labels"), Primary("meaning_match", "no human labels")
N = 400


def candidate(name: str = "a", **columns: Any) -> Candidate:
    values = {key: np.asarray(column, dtype=np.float64) for key, column in columns.items()}
    n = len(next(iter(values.values())))
    made = [
        ScoreColumn(key, column, np.isnan(column), FACTS.passes(column), None, FACTS if key == "label" else MATCH)
        for key, column in values.items()
    ]
    return Candidate(name, np.arange(n, dtype=np.uint64), np.arange(n), made, None, {})


def entries(one: Candidate, probabilities: Any = None) -> dict[str, Any]:
    """What the stage aggregate writes of a candidate."""
    found: dict[str, Any] = {}
    for column in one.columns:
        measured = column.values[~np.isnan(column.values)]
        estimate = mean_interval(measured)
        found[column.name] = estimate._asdict() | {"n": len(measured)}
    if probabilities is not None:
        powered = labelled_rate.prediction_powered(one, np.asarray(probabilities), 0.95, random=True)
        found["label"]["ppi"] = powered
    return found


def headline(primary: Primary, one: Candidate, signature: str = OFFLINE, outside: Any = None, **more: Any) -> Any:
    sums = summed(one, [reason for reason in outside or () if reason])
    return headlines(primary, [sums], {one.name: entries(one, **more)}, VerdictSource.of(signature), 0.95)[one.name]


def summed(one: Candidate, outside: Sequence[str] = ()) -> CandidateSums:
    """The sums of a candidate all of whose rows are judged; outside: why some of them lie outside of the domain."""
    return replace(candidate_sums(one), judged=len(one.keys), outside=Counter(outside))


def pair(base: str, head: str, low: float, high: float, measure: str = "label") -> Mapping[str, Any]:
    difference = {"value": (low + high) / 2, "low": low, "high": high}
    return {"base": base, "head": head, "measures": {measure: {"difference": difference, "higher_is_better": True}}}


def test_labels_of_all_rows_are_the_headline() -> None:
    shown = headline(ON_LABELS, candidate(label=[1] * 300 + [0] * 100, meaning_match=[1] * N))

    assert (shown["measure"], shown["by"], shown["status"], shown["n"]) == ("label", "human labels", "measured", N)
    assert (shown["value"], shown["note"]) == (0.75, "by human labels")
    assert shown["low"] < 0.75 < shown["high"]


def test_labels_of_a_random_part_are_combined_with_the_judge() -> None:
    truth = np.arange(N) % 4 > 0
    labels = np.where(np.arange(N) % 5 == 0, truth, np.nan)
    one = candidate(label=labels, meaning_match=truth)

    shown = headline(ON_LABELS, one, probabilities=np.where(truth, 0.9, 0.1))

    assert (shown["by"], shown["status"], shown["n"]) == ("human labels and the offline judge", "measured", 80)
    by_model = headline(
        ON_LABELS, one, "meaning_match|provider:openai|model:m", probabilities=np.where(truth, 0.9, 0.1)
    )
    assert by_model["by"] == "human labels and m"
    assert shown["note"].startswith("by human labels of 80 of 400 rows, chosen at random; with scores of all rows")
    assert shown["high"] - shown["low"] < mean_interval(labels[~np.isnan(labels)]).high - 0.65


def test_the_error_of_the_judge_on_other_systems_narrows_the_interval_of_few_labels() -> None:
    truth = np.arange(N) % 4 > 0
    verdicts = np.where(np.arange(N) % 11 == 0, ~truth, truth)
    one = candidate(label=np.where(np.arange(N) % 10 == 0, truth, np.nan), meaning_match=verdicts)
    blind = candidate(label=one.columns[0].values)
    scores = np.full(N, 0.5)

    shown, without = headline(ON_LABELS, one, probabilities=scores), headline(ON_LABELS, blind, probabilities=scores)

    assert shown["note"].endswith("; the interval also uses the error stated for judges like a judge")
    assert shown["high"] - shown["low"] < 0.9 * (without["high"] - without["low"])


def test_a_gate_by_labels_without_labels_says_what_to_do() -> None:
    shown = headline(ON_LABELS, candidate(meaning_match=np.ones(N)))

    assert (shown["value"], shown["status"]) == (None, "unknown")
    assert "leave gate.primary empty" in shown["note"]


def test_the_offline_judge_without_labels_has_an_interval_that_includes_its_error() -> None:
    shown = headline(ON_VERDICTS, candidate(meaning_match=[1] * 280 + [0] * 120))

    alone = mean_interval([1] * 280 + [0] * 120)
    assert (shown["by"], shown["status"], shown["value"]) == ("the offline judge", "estimated", 0.7)
    assert shown["low"] < alone.low - 0.05
    assert shown["high"] > alone.high + 0.05
    assert "not checked on your data" in shown["note"]
    assert shown["proposal"].startswith("50 human labels")


def test_labels_that_do_not_correct_the_judge_are_not_hidden() -> None:
    some = np.full(N, np.nan)
    some[:300] = 1.0
    shown = headline(ON_VERDICTS, candidate(label=some, meaning_match=[1] * 280 + [0] * 120))

    assert (shown["measure"], shown["status"]) == ("meaning_match", "estimated")
    assert (
        "; 300 human labels do not correct it: they are not of all answers, and not chosen at random." in shown["note"]
    )


@pytest.mark.parametrize("verdicts", [[1], [0], [1] * 40, [0] * 40])
def test_the_judges_error_narrows_no_interval_of_equal_verdicts_on_few_rows(
    verdicts: list[float],
) -> None:
    shown, alone = headline(ON_VERDICTS, candidate(meaning_match=verdicts)), mean_interval(verdicts)

    # The mean bias moves one limit against the bound.
    assert shown["high"] - shown["low"] > 0.97 * (alone.high - alone.low)


def test_rows_outside_the_domain_count_as_all_wrong_and_as_all_right() -> None:
    one = candidate(meaning_match=[1] * 280 + [0] * 120)

    inside, some = (
        headline(ON_VERDICTS, one),
        headline(ON_VERDICTS, one, outside=["another script"] * 40 + [None] * 360),
    )

    assert some["low"] == pytest.approx(0.9 * inside["low"])
    assert some["high"] == pytest.approx(0.9 * inside["high"] + 0.1)


def test_too_many_rows_outside_the_domain_allow_no_claim() -> None:
    one = candidate(meaning_match=[1] * 280 + [0] * 120)

    shown = headline(ON_VERDICTS, one, outside=["another script"] * 41 + [None] * 359)

    assert (shown["value"], shown["low"], shown["high"], shown["status"]) == (0.7, None, None, "unknown")
    assert "10% of the answers lie outside its domain (another script: 10%)" in shown["note"]


@pytest.mark.parametrize(
    ("judge", "named"),
    [
        ("openai|model:m", "m"),
        ("cascade|model:m|band:0.05-0.95|v:1", "the cascade of the offline judge and m"),
        ("openai|panel:2|model:m+n", "the panel of m and n"),
    ],
)
def test_a_judge_that_was_not_measured_has_a_stated_error(judge: str, named: str) -> None:
    one = candidate(meaning_match=[1] * 200 + [0] * 200)

    shown = headline(ON_VERDICTS, one, f"meaning_match|provider:{judge}")

    assert (shown["by"], shown["status"], shown["value"]) == (named, "estimated", 0.5)
    assert 0.5 - shown["low"] == pytest.approx(shown["high"] - 0.5)
    assert 0.139 < 0.5 - shown["low"] < 0.16
    assert shown["note"] == (
        f"by {named}; not checked on your data. The interval includes its error, assumed to be like that of "
        "language models on other data: up to 14 points."
    )
    assert shown["proposal"] == (
        "50 human labels of randomly chosen rows (dataset.labels: random) would give each rate to ±13 points or closer."
    )


def test_another_model_than_was_measured_makes_no_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goldmeter.estimates.judge_bias.measured", lambda: None)

    assert headline(ON_VERDICTS, candidate(meaning_match=[1, 0] * 200))["status"] == "unknown"


def test_the_example_without_labels_is_unknown_and_its_english_rows_contain_the_human_rate() -> None:
    records = [json.loads(line) for line in (ROOT / "data/examples/qa.jsonl").open(encoding="utf-8")]
    for name in ("aurora", "borealis"):
        for languages, status in ((None, "unknown"), ({"en"}, "estimated")):
            asked = [r for r in records if r[name] is not None and (not languages or r["language"] in languages)]
            verdicts = offline.judge(
                [r["question"] for r in asked], [r["references"] for r in asked], [r[name] for r in asked]
            )
            one = candidate(name, meaning_match=verdicts.probabilities >= offline.RIGHT)

            shown = headline(ON_VERDICTS, one, outside=verdicts.outside)

            assert shown["status"] == status
            human = float(np.mean([r[f"{name}_correct"] for r in asked]))
            assert status == "unknown" or shown["low"] <= human <= shown["high"]


def test_candidates_that_cannot_be_told_apart_from_the_best_lead_together() -> None:
    ones = [candidate(name, label=[1, 0] * 50) for name in "abc"]
    shown = headlines(
        ON_LABELS,
        [summed(one) for one in ones],
        {one.name: entries(one) for one in ones},
        VerdictSource.of(""),
        0.95,
    )
    pairs = [pair("a", "b", -0.02, 0.03), pair("a", "c", -0.2, -0.1), pair("b", "c", -0.21, -0.1)]

    together, alone = (
        leaders(ON_LABELS, shown, pairs),
        leaders(ON_LABELS, shown, [pair("b", "a", 0.1, 0.2), *pairs[1:]]),
    )

    assert (together["names"], together["decided"]) == (["a", "b"], False)
    assert (alone["names"], alone["decided"]) == (["a"], True)


def test_candidates_that_could_not_be_compared_are_not_said_to_be_alike() -> None:
    ones = [candidate(name, label=[1, 0] * 50) for name in "abc"]
    shown = headlines(
        ON_LABELS, [*map(summed, ones)], {one.name: entries(one) for one in ones}, VerdictSource.of(""), 0.95
    )
    reason = "40 of 100 rows could not be measured"
    refused = {"measure": "label", "role": "primary", "reason": reason, "blocks": True}
    pairs = [{"base": "a", "head": "b", "measures": {}, "refused": [refused]}, pair("a", "c", -0.2, -0.1)]

    best = leaders(ON_LABELS, shown, [*pairs, pair("b", "c", -0.2, -0.1)])

    assert (best["names"], best["decided"]) == (["a", "b"], False)
    assert best["note"] == f"not all could be compared: a and b: {reason}"
    alone = leaders(ON_LABELS, shown, [pairs[0], pair("b", "c", 0.1, 0.2), pair("a", "c", 0.1, 0.2)])
    assert (alone["names"], alone["note"]) == (["c"], "better than every other candidate")


def test_nobody_leads_by_a_judge_whose_error_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goldmeter.estimates.judge_bias.measured", lambda: None)
    ones = [candidate(name, meaning_match=[1, 0] * 50) for name in "ab"]
    model = VerdictSource.of("meaning_match|provider:offline|model:m")
    shown = headlines(ON_VERDICTS, [*map(summed, ones)], {one.name: entries(one) for one in ones}, model, 0.95)

    best = leaders(ON_VERDICTS, shown, [pair("a", "b", 0.1, 0.2, "meaning_match")])

    assert (best["names"], best["decided"]) == (["a", "b"], False)


def test_a_target_is_decided_by_the_interval_of_the_headline() -> None:
    one = candidate(meaning_match=[1] * 360 + [0] * 40)
    numbers = {"a": entries(one)}

    found = targets({"meaning_match": 0.86}, ON_VERDICTS, one, numbers)

    assert numbers["a"]["meaning_match"]["low"] > 0.86
    assert found["meaning_match"] == "undecided"


def targets(
    least: Mapping[str, float], decides: Primary, one: Candidate, numbers: Any, signature: str = OFFLINE
) -> dict[str, str]:
    """Measure → the verdict on its target."""
    judge, sums = VerdictSource.of(signature), summed(one)
    shown = headlines(decides, [sums], numbers, judge, 0.95)
    found = decided(least, rates(decides, [sums], shown, numbers, judge, 0.95))
    return {measure: entry["verdict"] for measure, entry in found[one.name].items()}


@pytest.mark.parametrize("signature", [OFFLINE, "meaning_match|provider:openai|model:m"])
@pytest.mark.parametrize("decides", [ON_LABELS, Primary("f1", "named in gate.primary")])
def test_a_target_of_a_judge_beside_the_primary_measure_includes_its_error(decides: Primary, signature: str) -> None:
    one = candidate(label=[1] * 320 + [0] * 80, meaning_match=[1] * 360 + [0] * 40, f1=[1] * 200 + [0] * 200)
    numbers = {"a": entries(one)}

    found = targets({"meaning_match": 0.86, "label": 0.7}, decides, one, numbers, signature)

    assert numbers["a"]["meaning_match"]["low"] > 0.86
    assert found == {"meaning_match": "undecided", "label": "met"}


def test_a_target_of_labels_of_selected_rows_is_undecided() -> None:
    labels = np.where(np.arange(N) < 100, 1.0, np.nan)
    one = candidate(label=labels, meaning_match=[1] * 360 + [0] * 40)
    numbers = {"a": entries(one)}

    assert targets({"label": 0.5}, ON_VERDICTS, one, numbers) == {"label": "undecided"}
    assert targets({"label": 0.5}, ON_VERDICTS, replace(one, labels_random=True), numbers) == {"label": "met"}
    assert targets({"label": 0.5}, ON_LABELS, one, numbers) == {"label": "met"}


def test_a_target_may_name_the_score_beside_a_pass_rate() -> None:
    one = graded(threshold=0.5)
    numbers = {"a": entries(one)}
    numbers["a"]["f1"]["pass_rate"] = {"value": 1.0, "low": 0.99, "high": 1.0}

    found = targets({"f1": 0.8, "f1.value": 0.8}, ON_LABELS, one, numbers)

    assert found == {"f1": "met", "f1.value": "not met"}


def test_a_pass_rate_whose_threshold_is_not_fitted_is_unknown_and_no_score_takes_its_place() -> None:
    one = graded(awaits_threshold=True)
    numbers, decides = {"a": entries(one)}, Primary("f1", "named in gate.primary")

    shown = headline(decides, one)

    assert (shown["value"], shown["status"]) == (None, "unknown")
    assert "threshold of f1 is not fitted" in shown["note"]
    assert targets({"f1": 0.4, "f1.value": 0.4}, decides, one, numbers) == {"f1": "undecided", "f1.value": "met"}


def graded(**facts: Any) -> Candidate:
    """A candidate whose answers all have an F1 of 0.6."""
    one = candidate(f1=[0.6] * N)
    [scores] = one.columns
    return replace(one, columns=[replace(scores, facts=replace(MATCH, metric="f1", family="lexical", **facts))])


@given(st.text(st.characters(), max_size=40))
def test_any_signature_names_a_judge(signature: str) -> None:
    assert VerdictSource.of(signature).name


def test_a_pair_whose_primary_measure_was_refused_is_decided_by_no_other() -> None:
    entry = {"role": "secondary", "difference": {"value": 0.1, "low": 0.02, "high": 0.2}, "higher_is_better": True}
    refused = {"measure": "label", "role": "primary", "reason": "no row is measured both before and after"}
    compared = {"base": "a", "head": "b", "measures": {"meaning_match": entry}, "refused": [refused]}

    assert deciding(compared, "meaning_match") is None
    assert deciding(compared | {"refused": []}, "meaning_match") == ("meaning_match", entry)
