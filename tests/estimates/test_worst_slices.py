"""The worst slices of the primary measure: found where they are, and not where they are not."""

import numpy as np
import pytest

from goldmeter.estimates.column_facts import ColumnFacts
from goldmeter.estimates.columns import Candidate, ScoreColumn, Slices
from goldmeter.estimates.sums import candidate_sums
from goldmeter.estimates.worst_slices import worst_slices
from tests.reporting.made import column

FACTS = ColumnFacts.from_json(column("meaning_match", "judge", None))
SCORE = ColumnFacts.from_json(column("f1", "lexical", None) | {"rate_signature": None})


def candidate(values, codes, names, *, groups=None, outside=None, facts=FACTS, name="aurora"):
    n = len(values)
    scores = np.asarray(values, np.float64)
    passed = None if facts.rate_signature is None else scores >= 1.0
    one = ScoreColumn(facts.metric, scores, np.zeros(n, bool), passed, None, facts)
    keys, places = np.arange(n, dtype=np.uint64), np.arange(n)
    made = Candidate(name, keys, places, [one], groups, {"topic": Slices(names, codes)}, outside=outside)
    return candidate_sums(made)


def drawn(seed, rates, n=60, **more):
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(len(rates)), n)
    values = rng.random(len(codes)) < np.asarray(rates)[codes]
    return candidate(values, codes, [f"t{i}" for i in range(len(rates))], **more)


def test_the_worst_slice_stands_first_and_says_how_far_it_lies_below_the_rest():
    found = worst_slices([drawn(0, [0.9, 0.9, 0.4, 0.9])], "meaning_match", 0.95, by_judge=False)

    first = found["slices"][0]
    [entry] = first["candidates"]
    assert (first["value"], entry["worse"], entry["n"], found["tests"]) == ("t2", True, 60, 4)
    assert entry["difference"]["high"] < -0.2
    assert entry["difference"]["value"] == pytest.approx(entry["rate"] - entry["rest"])


def test_slices_that_differ_by_chance_alone_are_rarely_called_worse():
    runs = [worst_slices([drawn(seed, [0.8] * 10)], "meaning_match", 0.95, by_judge=False) for seed in range(200)]
    alarms = sum(any(one["worse"] for part in run["slices"] for one in part["candidates"]) for run in runs)

    assert alarms <= 12  # 5 % and three standard errors would be 19


def test_one_bad_slice_of_very_many_is_found_and_all_count_as_tests():
    rates = [0.9] * 100 + [0.3] + [0.9] * 100

    found = worst_slices([drawn(0, rates, n=30)], "meaning_match", 0.95, by_judge=False)

    assert (found["tests"], found["slices"][0]["value"]) == (201, "t100")
    assert [part["candidates"][0]["worse"] for part in found["slices"]] == [True, False, False]


def test_slices_that_are_equally_bad_stand_in_the_order_of_their_names_however_their_rows_are_added():
    rng = np.random.default_rng(0)
    values = np.repeat([1, 2, 3, 6, 7], 4) / 7
    for _ in range(20):
        rows = np.concatenate([rng.permutation(values), rng.permutation(values), np.ones(40)])
        one = candidate(rows, np.repeat([0, 1, 2], [20, 20, 40]), ["a", "b", "c"], facts=SCORE)

        found = worst_slices([one], SCORE.metric, 0.95, by_judge=False)

        assert [part["value"] for part in found["slices"]] == ["a", "b", "c"]


def test_a_slice_with_few_rows_is_not_tested():
    values, codes = [1] * 50 + [0] * 4, np.array([0] * 50 + [1] * 4)

    assert worst_slices([candidate(values, codes, ["a", "b"])], "meaning_match", 0.95, by_judge=False)["tests"] == 0


def test_slices_outside_the_judges_domain_are_left_out_if_a_judge_gave_the_verdicts():
    outside = np.repeat([False, True, False], 60)
    one = drawn(0, [0.9, 0.1, 0.9], outside=outside)

    by_judge = worst_slices([one], "meaning_match", 0.95, by_judge=True)
    by_label = worst_slices([one], "meaning_match", 0.95, by_judge=False)

    assert (by_judge["left_out"], by_judge["tests"]) == (1, 2)
    assert "t1" not in [part["value"] for part in by_judge["slices"]]
    assert by_label["slices"][0]["value"] == "t1"


def test_of_a_score_that_is_better_when_lower_the_highest_slice_is_the_worst():
    facts = ColumnFacts.from_json(
        {**column("errors", "lexical", None), "higher_is_better": False, "rate_signature": None}
    )
    codes = np.repeat([0, 1, 2], 50)
    values = np.where(codes == 1, 0.8, 0.1)

    found = worst_slices([candidate(values, codes, list("abc"), facts=facts)], "errors", 0.95, by_judge=False)

    assert (found["slices"][0]["value"], found["slices"][0]["candidates"][0]["worse"]) == ("b", True)


def test_all_candidates_of_a_slice_stand_together_and_are_one_family():
    both = [drawn(0, [0.9, 0.5], name="aurora"), drawn(1, [0.9, 0.9], name="borealis")]

    found = worst_slices(both, "meaning_match", 0.95, by_judge=False)

    assert found["tests"] == 4
    assert [one["candidate"] for one in found["slices"][0]["candidates"]] == ["aurora", "borealis"]
    assert len(found["slices"]) == 2


@pytest.mark.parametrize("measure", ["bleu", "meaning_match.value"])
def test_a_measure_that_is_not_there_has_no_slices_and_its_value_is_a_score(measure):
    found = worst_slices([drawn(0, [0.9, 0.5])], measure, 0.95, by_judge=False)

    assert found["tests"] == (0 if measure == "bleu" else 2)


def test_without_candidates_there_is_nothing():
    assert worst_slices([], "label", 0.95, by_judge=False) == {
        "measure": "label", "tests": 0, "left_out": 0, "slices": [],
    }  # fmt: skip
