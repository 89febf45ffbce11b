"""Human labels: agreement of metrics with them, fitted thresholds, and estimates from few of them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.estimates import human_labels, labelled_rate
from goldmeter.estimates.column_facts import ColumnFacts
from goldmeter.estimates.columns import Candidate, ScoreColumn, Slices
from goldmeter.estimates.metrics_report import fitted_thresholds
from goldmeter.estimates.repeated_answers import by_question
from goldmeter.models.offline.measured import question_hash
from goldmeter.statistics import mean_interval

NAN = np.nan
FACTS = ColumnFacts("f1", "lexical", "f1|v:1", (0.0, 1.0))
GATED = replace(FACTS, threshold=0.5, rate_signature="f1|v:1|thr:0.5")
UNFITTED = replace(FACTS, rate_signature="f1|v:1|thr:learnt", awaits_threshold=True)
BINARY = replace(FACTS, metric="exact_match", rate_signature="exact_match|v:1|pass:1")
LABEL = replace(FACTS, metric="label", family="dataset", rate_signature="label|v:1|pass:1")


def column(name, values, facts):
    values = np.asarray(values, dtype=np.float64)
    passed = facts.passes(values) if facts.has_pass_rate else None
    return ScoreColumn(name, values, np.isnan(values) & (name == "label"), passed, None, facts)


def candidate(*columns, name="a", groups=None):
    n = len(columns[0].values)
    keys = np.arange(n, dtype=np.uint64)
    return Candidate(name, keys, np.arange(n), list(columns), None if groups is None else np.asarray(groups), {})


def test_agreement_counts_what_passes_wrongly_and_what_fails_wrongly():
    label = column("label", [1, 1, 1, 1, 0, 0, 0, 0, 1, 0, NAN, 1], LABEL)
    f1 = column("f1", [0.9, 0.8, 0.7, 0.1, 0.2, 0.6, 0.7, 0.3, 0.5, 0.4, 0.9, NAN], GATED)

    found = human_labels.agreement(candidate(label, f1), f1, 0.95)

    assert (found["n"], found["false_pass"], found["false_fail"]) == (10, 2, 1)
    assert found["accuracy"]["value"] == 0.7
    # Right answers score .9 .8 .7 .1 .5, wrong ones .2 .6 .7 .3 .4: 5, 5, 4.5, 0 and 3 of 25 pairs are in order
    assert found["auc"]["value"] == pytest.approx(17.5 / 25)


def test_a_cluster_is_the_same_one_in_all_candidates():
    one, other = column("label", [1, 0, 1], LABEL), column("label", [1, 0], LABEL)

    found = human_labels.joined(
        [[candidate(one, name="a", groups=[50, 70, 90]), candidate(other, name="b", groups=[70, 90])]]
    )

    assert [each.groups.tolist() for each in found] == [[50, 70, 90], [70, 90]]


def test_rows_of_several_parts_can_be_chosen():
    parts = [
        replace(
            candidate(column("label", [1, 0, 1], LABEL)), probabilities=np.ones((3, 2)), answers=np.ones(3, np.uint64)
        )
        for _ in range(2)
    ]

    [found] = human_labels.joined([[part] for part in parts])

    assert found.rows(np.arange(6) > 3).columns[0].n_rows == 2


def test_agreement_of_a_score_where_less_is_better_looks_at_it_upside_down():
    label = column("label", [1, 0] * 10, LABEL)
    errors = column("score_errors", [0.1, 0.9] * 10, replace(GATED, higher_is_better=False))

    found = human_labels.agreement(candidate(label, errors), errors, 0.95)

    assert (found["accuracy"]["value"], found["auc"]["value"]) == (1.0, 1.0)


def test_a_binary_metric_has_no_auc():
    label, exact = column("label", [1, 0] * 10, LABEL), column("exact_match", [1, 1] * 10, BINARY)

    assert human_labels.agreement(candidate(label, exact), exact, 0.95)["auc"] is None


@pytest.mark.parametrize(
    "labels",
    [[1] * 5 + [0] * 4, [NAN] * 40, []],
    ids=["nine labels", "none", "no rows"],
)
def test_too_few_labels_say_nothing(labels):
    label, f1 = column("label", labels, LABEL), column("f1", [0.7] * len(labels), GATED)
    one = candidate(label, f1)

    assert human_labels.agreement(one, f1, 0.95) is None
    assert human_labels.thresholds([one], 0.95) == {}
    assert labelled_rate.prediction_powered(one, np.zeros(len(labels)), 0.95, random=True) is None


def test_a_metric_beside_no_label_column_has_no_agreement():
    f1 = column("f1", [0.7] * 40, GATED)

    assert human_labels.agreement(candidate(f1), f1, 0.95) is None


def test_one_cluster_of_labels_says_nothing():
    label, f1 = column("label", [1, 0] * 10, LABEL), column("f1", [0.7] * 20, GATED)
    one = candidate(label, f1, groups=[3] * 20)

    assert human_labels.agreement(one, f1, 0.95) is None
    assert human_labels.thresholds([one], 0.95) == {}
    part = candidate(column("label", [1, 0] * 10 + [NAN] * 20, LABEL), column("f1", [0.7] * 40, GATED), groups=[3] * 40)
    assert labelled_rate.prediction_powered(part, np.zeros(40), 0.95, random=True) is None


def test_a_threshold_is_fitted_on_all_candidates_and_used_where_params_ask_for_it():
    label = column("label", [0, 0, 0, 1, 1, 1] * 5, LABEL)
    low, high = [0.1, 0.2, 0.3, 0.7, 0.8, 0.9] * 5, [0.1, 0.2, 0.35, 0.4, 0.8, 0.9] * 5

    both = [candidate(label, column("f1", scores, UNFITTED), name=name) for name, scores in (("a", low), ("b", high))]
    used = human_labels.thresholds(both, 0.95)
    only_shown = human_labels.thresholds([candidate(label, column("f1", low, GATED))], 0.95)

    assert (used["f1"]["learnt"], used["f1"]["used"], used["f1"]["threshold"]) == (0.375, True, None)
    assert used["f1"]["n"] == 60
    assert fitted_thresholds(used) == {"f1": 0.375}
    assert (only_shown["f1"]["learnt"], only_shown["f1"]["used"], only_shown["f1"]["threshold"]) == (0.5, False, 0.5)
    assert fitted_thresholds(only_shown) == {}


def test_a_fitted_threshold_of_a_score_where_less_is_better_keeps_its_sign():
    label = column("label", [1, 0] * 10, LABEL)
    errors = column("score_errors", [0.25, 0.75] * 10, replace(GATED, higher_is_better=False))

    assert human_labels.thresholds([candidate(label, errors)], 0.95)["score_errors"]["learnt"] == 0.5


def test_where_nothing_should_pass_no_threshold_is_used():
    label, f1 = column("label", [0] * 20, LABEL), column("f1", [0.1, 0.9] * 10, UNFITTED)

    found = human_labels.thresholds([candidate(label, f1)], 0.95)["f1"]

    assert (found["learnt"], found["used"]) == (None, False)


def test_a_column_passes_by_its_fitted_threshold_and_its_signature_says_so():
    f1 = column("f1", [0.1, 0.4, NAN], UNFITTED).with_fitted({"f1": 0.375})

    assert f1.passed.tolist() == [False, True, False]
    assert f1.facts.rate_signature == "f1|v:1|thr:learnt=0.375"
    assert not f1.facts.awaits_threshold


def labelled_in_part(n=400, labels=100):
    rng = np.random.default_rng(7)
    right = rng.random(n) < 0.7
    scores = np.clip(0.6 * right + 0.4 * rng.random(n), 0, 1)
    label = column("label", np.where(np.arange(n) < labels, right, NAN), LABEL)
    return right, label, scores


def test_few_labels_and_a_cheap_score_narrow_the_interval():
    right, label, scores = labelled_in_part()
    one = candidate(label, column("f1", scores, GATED), column("bleu", scores**2, GATED))

    found = labelled_rate.prediction_powered(one, scores, 0.95, random=True)
    alone = mean_interval(right[:100])

    assert (found["n"], found["n_rest"], found["score"]) == (100, 300, "3 scores, cross-fitted")
    assert found["high"] - found["low"] < 0.75 * (alone.high - alone.low)
    assert found["worth"] > 100
    assert found["low"] <= right.mean() <= found["high"]


def test_labels_that_were_not_chosen_at_random_get_no_help():
    _, label, scores = labelled_in_part()
    one = candidate(label, column("f1", scores, GATED))

    assert labelled_rate.prediction_powered(one, scores, 0.95, random=False) is None


def test_all_rows_labelled_need_no_help():
    _, label, scores = labelled_in_part(labels=400)

    assert (
        labelled_rate.prediction_powered(candidate(label, column("f1", scores, GATED)), scores, 0.95, random=True)
        is None
    )


def test_a_score_that_some_rows_lack_still_helps_and_one_that_many_lack_does_not_count():
    _, label, scores = labelled_in_part()
    some, many = scores.copy(), scores.copy()
    some[::20], many[::3] = NAN, NAN
    one = candidate(label, column("f1", some, GATED), column("bleu", many, GATED))

    assert (
        labelled_rate.prediction_powered(one, np.full(400, NAN), 0.95, random=True)["score"] == "1 score, cross-fitted"
    )


def test_the_probabilities_of_two_judges_are_a_score_each():
    _, label, scores = labelled_in_part()
    one, both = candidate(label, column("f1", scores, GATED)), np.column_stack([1.0 - scores, scores])

    assert labelled_rate.prediction_powered(one, both, 0.95, random=True)["score"] == "3 scores, cross-fitted"


def test_without_any_cheap_score_there_is_no_estimate():
    _, label, _ = labelled_in_part()

    assert labelled_rate.prediction_powered(candidate(label), np.full(400, NAN), 0.95, random=True) is None


def test_grouped_labels_are_counted_by_group():
    _, label, scores = labelled_in_part()
    one = candidate(label, column("f1", scores, GATED), groups=np.arange(400) // 4)

    found = labelled_rate.prediction_powered(one, scores, 0.95, random=True)

    assert found["n"] == 100
    assert found["low"] < found["value"] < found["high"]


def test_verdicts_on_a_sample_and_the_offline_judge_on_all_rows():
    right, _, scores = labelled_in_part()
    sampled = np.arange(400) % 4 == 0
    verdicts = column("meaning_match", np.where(sampled, right, NAN), BINARY)
    one = candidate(verdicts)

    found = human_labels.prediction_powered_judge(one, verdicts, scores, ~sampled, 0.95)

    assert (found["n"], found["n_rest"], found["score"]) == (100, 300, "offline_match")
    assert found["low"] <= right.mean() <= found["high"]
    assert human_labels.prediction_powered_judge(one, verdicts, scores, np.zeros(400, bool), 0.95) is None


@pytest.mark.parametrize("higher_is_better", [True, False])
def test_rows_that_a_threshold_was_fitted_on_pass_it_however_many_digits_it_has(higher_is_better):
    score = column("f1", [2 / 3] * 20, replace(UNFITTED, higher_is_better=higher_is_better))
    one = candidate(column("label", [1] * 20, LABEL), score)

    thresholds = fitted_thresholds(human_labels.thresholds([one], 0.95))
    judged = score.with_fitted(thresholds)

    assert thresholds == {"f1": 2 / 3}
    assert judged.passed.all()
    assert judged.facts.threshold == 2 / 3
    assert judged.facts.rate_signature == "f1|v:1|thr:learnt=0.6666666666666666"


def test_agreement_states_what_one_verdict_for_every_row_would_reach():
    label = column("label", [1] * 16 + [0] * 4, LABEL)
    coin = column("f1", [0.9, 0.1] * 10, GATED)
    judge = column("f1", [0.9] * 16 + [0.1] * 4, GATED)

    poor, good = (human_labels.agreement(candidate(label, scores), scores, 0.95) for scores in (coin, judge))

    assert poor["baseline"] == good["baseline"] == {"value": 0.8, "rule": "passing everything"}
    assert (poor["is_judge"], good["is_judge"]) == (False, True)


def test_a_fitted_threshold_has_kappa_and_the_baseline_beside_its_accuracy():
    label = column("label", [0] * 30 + [1] * 10, LABEL)
    exact = column("f1", [0.1] * 30 + [0.9] * 10, GATED)
    constant = column("f1", [0.5] * 40, GATED)

    found, useless = (human_labels.thresholds([candidate(label, scores)], 0.95)["f1"] for scores in (exact, constant))

    assert found["baseline"] == {"value": 0.75, "rule": "failing everything"}
    assert (found["kappa"], found["is_judge"]) == (pytest.approx(1.0, abs=0.01), True)
    assert (useless["kappa"], useless["is_judge"]) == (pytest.approx(0.0, abs=0.05), False)


def test_labels_that_the_offline_judge_was_trained_on_are_recognised_by_their_questions(monkeypatch):
    facts = {"set": "S", "cross_validated": 0.9, "n": 4, "questions": " ".join(map(question_hash, ["Who? ", "When?"]))}
    monkeypatch.setattr("goldmeter.models.offline.measured.measured", lambda: {"trained_on": facts})
    monkeypatch.setattr("goldmeter.estimates.human_labels.measured", lambda: {"trained_on": facts})

    assert human_labels.in_sample(["who", "WHEN", "Where?", None]) == {
        "share": pytest.approx(2 / 3), "data": "S", "cross_validated": 0.9,
    }  # fmt: skip
    assert human_labels.in_sample(["Where?"] * 30) is None
    assert human_labels.in_sample([]) is None


# labels that a design chose


def designed(groups=None, slices=None, chances=None):
    """Rows 0 to 99 are sure and right, 100 to 199 unsure and right in every second one; 10 and 50 are labelled."""
    right = np.where(np.arange(200) < 100, 1.0, np.arange(200) % 2)
    chosen = np.r_[0:100:10, 100:150]
    known = np.full(200, NAN)
    known[chosen] = np.where(chosen < 100, 0.1, 0.5) if chances is None else chances
    label = column("label", np.where(np.isnan(known), NAN, right), LABEL)
    one = candidate(label, groups=groups)
    sure = Slices(["sure", "unsure"], np.repeat([0, 1], 100))
    return replace(
        one, labels_random=True, label_probability=known, slices={"kind": sure} if slices is None else slices
    )


def test_labels_of_a_design_count_by_their_probabilities_over_all_rows_and_in_slices():
    judged = np.repeat([0.99, 0.5], 100)
    found = {part[:2]: part[2] for part in labelled_rate.designed_estimates(designed(), judged, 0.95)}

    assert [round(one.value, 2) for one in found.values()] == [0.75, 1.0, 0.5]
    assert [*found] == [(None, None), ("kind", "sure"), ("kind", "unsure")]
    assert [one.n for one in found.values()] == [60, 10, 50]
    entry = labelled_rate.prediction_powered(designed(), judged, 0.95, random=True)
    assert (entry["value"], entry["n"], entry["n_rest"]) == (found[None, None].value, 60, 140)


def test_labels_of_a_design_need_no_score_and_may_be_of_all_rows():
    nothing = np.full(200, NAN)
    entry = labelled_rate.prediction_powered(designed(), nothing, 0.95, random=True)
    everything = replace(designed(), columns=[column("label", [1.0, 0.0] * 100, LABEL)], label_probability=np.ones(200))

    assert (entry["value"], entry["method"]) == (pytest.approx(0.75), "designed, labels alone")
    assert labelled_rate.prediction_powered(everything, nothing, 0.95, random=True)["value"] == pytest.approx(0.5)


def test_a_slice_without_labels_of_a_design_or_with_those_of_one_group_has_no_value():
    empty = Slices(["chosen", "others"], (np.isnan(designed().label_probability)).astype(int))
    judged = np.repeat([0.99, 0.5], 100)
    groups = np.repeat([0, 1, 2], [100, 50, 50])

    without = [part[2] for part in labelled_rate.designed_estimates(designed(slices={"kind": empty}), judged, 0.95)]
    of_one = [part[2] for part in labelled_rate.designed_estimates(designed(groups=groups), judged, 0.95)]

    assert np.isnan(without[2].value)
    assert without[2][1:4] == (0.0, 1.0, 0)
    assert of_one[0].value == pytest.approx(0.75, abs=0.05)
    assert [np.isnan(one.value) for one in of_one[1:]] == [True, True]


def test_questions_with_several_answers_keep_no_probabilities_of_single_rows():
    one = replace(designed(), questions=np.arange(200, dtype=np.uint64) // np.uint64(2))

    assert len(by_question(one, (1,), {"label"}).rows(np.ones(100, np.bool_)).keys) == 100


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([1.0, 0.5, 1e-9, 5e-324])), min_size=1, max_size=30))
def test_any_labels_of_a_design_give_a_value_in_its_interval(rows):
    n = 2 * len(rows)
    label, chances = np.full(n, NAN), np.full(n, NAN)
    label[::2], chances[::2] = zip(*rows, strict=True)
    one = replace(candidate(column("label", label, LABEL)), labels_random=True, label_probability=chances)

    [(_, _, found)] = labelled_rate.designed_estimates(one, np.linspace(0, 1, n), 0.95)

    assert 0.0 <= found.low <= found.value <= found.high <= 1.0
