"""Whether the judge prefers long answers, by human labels."""

from dataclasses import replace

import numpy as np
import pytest

from goldmeter.estimates.judge_bias import length_bias
from goldmeter.wording.evidence import length_bias as sentences
from tests.estimates.test_human_labels import BINARY, LABEL, NAN, candidate, column

QUESTIONS = 100


def system(right, verdicts, lengths, name="a", groups=None):
    answers = candidate(
        column("label", right, LABEL), column("meaning_match", verdicts, BINARY), name=name, groups=groups
    )
    return replace(answers, lengths=np.column_stack([lengths, lengths[::-1]]))


def drawn(rng, preference=0.0, systems=1, questions=QUESTIONS):
    """Systems whose judge errs on 10 % of the answers, and passes a share of the wrong ones more per doubling.

    Long answers are more often wrong, answers of later systems are longer, and difficult questions get longer ones.
    """
    difficulty = rng.normal(size=questions)
    found = []
    for number in range(systems):
        doublings = 6.0 + number / systems + 0.5 * difficulty + rng.normal(size=questions)
        right = (rng.random(questions) < 1 / (1 + np.exp(0.8 * difficulty + 0.6 * (doublings - 6) - 1))).astype(float)
        verdicts = np.where(rng.random(questions) < 0.1, 1 - right, right)
        liked = rng.random(questions) < preference * (doublings - 5)
        lengths = np.maximum(np.exp2(doublings), 1).astype(np.int64)
        found.append(system(right, np.where(liked, 1.0, verdicts), lengths, "abcdefgh"[number]))
    return found


def is_accused(found):
    return found is not None and not found["all"]["low"] <= 0.0 <= found["all"]["high"]


def test_the_slope_is_that_of_least_squares_with_an_intercept_for_each_system_and_label():
    rng = np.random.default_rng(1)
    systems = drawn(rng, 0.1, systems=2)

    found = length_bias(systems, 0.95)

    errors = np.concatenate([one.columns[1].values - one.columns[0].values for one in systems])
    strata = np.concatenate([2 * i + one.columns[0].values for i, one in enumerate(systems)])
    design = np.stack(
        [np.log2(np.concatenate([one.lengths[:, 0] for one in systems])), *(strata == np.arange(4)[:, None])]
    )
    assert found["all"]["value"] == pytest.approx(np.linalg.lstsq(design.T, errors)[0][0])
    assert found["all"]["n"] == 2 * QUESTIONS
    assert [*found["systems"]] == ["a", "b"]
    assert found["systems"]["b"] == length_bias(systems[1:], 0.95)["all"]


def test_a_judge_that_passes_long_wrong_answers_is_found():
    rng = np.random.default_rng(2)

    found = [length_bias(drawn(rng, 0.2, systems=3), 0.95) for _ in range(50)]

    assert sum(is_accused(one) and one["all"]["value"] > 0 for one in found) >= 45


@pytest.mark.parametrize(("systems", "questions"), [(1, 40), (1, 200), (4, 60)])
def test_a_judge_that_errs_alike_on_short_and_long_answers_is_rarely_accused(systems, questions):
    """Although long answers are more often wrong, which alone makes verdict less label grow with length."""
    rng = np.random.default_rng(3)

    accused = sum(is_accused(length_bias(drawn(rng, 0.0, systems, questions), 0.95)) for _ in range(400))

    assert accused <= 0.05 * 400 + 9  # two standard deviations


def test_without_an_intercept_for_each_label_it_would_be_accused():
    systems = drawn(np.random.default_rng(4), questions=5_000)
    [one] = systems

    errors = one.columns[1].values - one.columns[0].values

    assert np.polyfit(np.log2(one.lengths[:, 0]), errors, 1)[0] > 0.02
    assert not is_accused(length_bias(systems, 0.95))


def test_the_length_of_the_longest_reference_is_taken_alike():
    systems = drawn(np.random.default_rng(2), 0.2, systems=3)

    turned = [replace(one, lengths=one.lengths[:, ::-1]) for one in systems]

    assert length_bias(turned, 0.95, of_references=True) == length_bias(systems, 0.95)
    [said] = sentences({"reference_length_bias": length_bias(systems, 0.95)})
    assert said.startswith("The judge is milder where references are long: +")


def test_the_answers_of_all_systems_to_one_question_count_as_one():
    rng = np.random.default_rng(5)
    [one] = drawn(rng, 0.1)

    twice = length_bias([one, replace(one, name="b")], 0.95)
    once = length_bias([one], 0.95)

    assert twice["all"] == pytest.approx({**once["all"], "n": 2 * QUESTIONS})


def test_groups_are_clusters():
    rng = np.random.default_rng(6)
    [one] = drawn(rng, 0.1)
    copied = one.rows(np.repeat(np.arange(QUESTIONS), 3))

    grouped = replace(copied, keys=np.arange(3 * QUESTIONS, dtype=np.uint64), groups=np.repeat(np.arange(QUESTIONS), 3))

    assert length_bias([grouped], 0.95)["all"] == pytest.approx({**length_bias([one], 0.95)["all"], "n": 300})


def test_nothing_is_said_without_errors_lengths_labels_or_enough_of_them():
    right, lengths = np.array([1.0, 0.0] * 20), np.arange(1, 41)
    wrong = 1 - right

    assert length_bias([], 0.95) is None
    assert length_bias([system(right, right, lengths)], 0.95) is None
    assert length_bias([system(right, wrong, np.full(40, 7))], 0.95) is None
    assert length_bias([system(right[:9], wrong[:9], lengths[:9])], 0.95) is None
    assert length_bias([system(right, wrong, lengths, groups=[1] * 40)], 0.95) is None
    assert length_bias([replace(system(right, wrong, lengths), lengths=None)], 0.95) is None
    assert length_bias([system(np.full(40, NAN), right, lengths)], 0.95) is None


def test_blank_answers_and_a_single_very_long_one_accuse_nobody():
    rng = np.random.default_rng(7)
    [one] = drawn(rng)
    lengths = one.lengths.copy()
    lengths[:30], lengths[30] = 0, 100_000

    found = length_bias([replace(one, lengths=lengths)], 0.95)

    assert found["all"]["n"] == QUESTIONS - 30
    assert not is_accused(found)


def test_the_page_says_it_only_of_a_judge_that_prefers_some():
    rng = np.random.default_rng(8)
    long, none = length_bias(drawn(rng, 0.2, 3), 0.95), length_bias(drawn(rng, 0.0, 3), 0.95)
    short = {"all": {"value": -0.05, "low": -0.08, "high": -0.02, "n": 100}, "systems": {}}

    [sentence], [opposite] = sentences({"length_bias": long}), sentences({"length_bias": short})

    assert sentence.startswith("The judge prefers long answers: +")
    assert opposite == (
        "The judge prefers short answers: −5.0 [−8.0, −2.0] points for twice the length, among answers with the same "
        "label."
    )
    assert [*sentences({"length_bias": none})] == [*sentences({})] == []
