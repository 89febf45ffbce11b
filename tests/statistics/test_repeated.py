"""pass@k, pass^k and the variance split: against all subsets of the draws, by their limits, and by simulation."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.statistics import pass_all, pass_at, question_interval, variance_split
from goldmeter.statistics.repeated import rerun_limit

pytestmark = pytest.mark.property


@given(st.lists(st.booleans(), min_size=1, max_size=7), st.integers(1, 8))
def test_a_question_has_the_share_of_the_subsets_of_k_draws_of_which_one_or_all_pass(draws: list[bool], k: int) -> None:
    subsets = list(combinations(draws, k))

    at, every = pass_at([len(draws)], [sum(draws)], k)[0], pass_all([len(draws)], [sum(draws)], k)[0]

    if not subsets:
        assert np.isnan(at)
        assert np.isnan(every)
    else:
        assert at == pytest.approx(np.mean([any(subset) for subset in subsets]))
        assert every == pytest.approx(np.mean([all(subset) for subset in subsets]))


def test_one_draw_of_many_is_the_share_of_passes_either_way() -> None:
    draws, passed = [10, 20, 3], [4, 0, 3]

    assert pass_at(draws, passed, 1).tolist() == pytest.approx([0.4, 0.0, 1.0])
    assert pass_all(draws, passed, 1).tolist() == pytest.approx([0.4, 0.0, 1.0])


def test_thousands_of_draws_do_not_overflow() -> None:
    assert pass_at([100_000], [50], 1000)[0] == pytest.approx(1.0 - 0.99**50, abs=1e-3)
    assert pass_all([100_000], [99_950], 1000)[0] == pytest.approx(0.99**50, abs=1e-3)


def test_the_estimates_are_unbiased() -> None:
    rng = np.random.default_rng(0)
    n = rng.integers(5, 15, 200_000)
    passed = rng.binomial(n, 0.3)

    assert pass_at(n, passed, 5).mean() == pytest.approx(1.0 - 0.7**5, abs=0.003)
    assert pass_all(n, passed, 2).mean() == pytest.approx(0.3**2, abs=0.003)


@pytest.mark.parametrize(
    ("draws", "passed", "k", "message"),
    [
        ([4], [5], 1, r"passed\[0\] = 5 of draws\[0\] = 4"),
        ([4], [-1], 1, r"passed\[0\] = -1"),
        ([4], [1], 0, "k = 0: expected 1 or more"),
        ([4, 4], [1], 1, "one count per question"),
    ],
)
def test_impossible_counts_are_refused(draws: list[int], passed: list[int], k: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pass_at(draws, passed, k)


def test_questions_with_too_few_draws_are_left_out_of_the_interval() -> None:
    values = pass_at([2] * 20 + [1] * 5, [1] * 25, 2)

    assert question_interval(values).n == 20


def test_without_a_usable_question_the_interval_is_everything() -> None:
    found = question_interval(pass_at([1, 1], [1, 0], 2))

    assert np.isnan(found.value)
    assert (found.low, found.high, found.n) == (0.0, 1.0, 0)


def test_questions_of_one_conversation_give_a_wider_interval() -> None:
    values = pass_at([4] * 60, [4] * 30 + [0] * 30, 2)
    loose, grouped = question_interval(values), question_interval(values, [i // 5 for i in range(60)])

    assert grouped.high - grouped.low > 1.5 * (loose.high - loose.low)


@given(st.lists(st.tuples(st.integers(1, 6), st.integers(0, 6)), min_size=1, max_size=30), st.integers(1, 6))
def test_an_interval_contains_its_value_within_0_and_1(counts: list[tuple[int, int]], k: int) -> None:
    draws, passed = [n for n, _ in counts], [min(n, c) for n, c in counts]
    for values in (pass_at(draws, passed, k), pass_all(draws, passed, k)):
        found = question_interval(values)

        assert np.isnan(found.value) or 0.0 <= found.low <= found.value <= found.high <= 1.0


def test_the_variance_is_split_as_it_was_made() -> None:
    rng = np.random.default_rng(0)
    questions = np.repeat(np.arange(4000), rng.integers(2, 8, 4000))
    scores = rng.normal(0.0, 2.0, 4000)[questions] + rng.normal(0.0, 3.0, questions.size)

    split = variance_split(scores, questions)

    assert split is not None
    assert split.between == pytest.approx(4.0, rel=0.1)
    assert split.within == pytest.approx(9.0, rel=0.05)


def test_the_standard_error_is_that_of_the_mean_over_questions() -> None:
    rng = np.random.default_rng(0)
    p = rng.beta(2.0, 2.0, (2000, 50, 1))
    means = (rng.random((2000, 50, 4)) < p).mean(axis=(1, 2))
    one = (rng.random((50, 4)) < p[0]).astype(float)
    errors = [variance_split((rng.random((50, 4)) < p[i]).ravel(), np.repeat(range(50), 4)).error for i in range(200)]

    assert variance_split(one.ravel(), np.repeat(range(50), 4)).questions == 50
    assert np.mean(errors) == pytest.approx(means.std(), rel=0.05)


@pytest.mark.parametrize(("a", "questions_first"), [(0.3, True), (300.0, False)])
def test_questions_that_differ_need_more_questions_and_equal_ones_do_not(a: float, questions_first: bool) -> None:
    rng = np.random.default_rng(1)
    p = np.repeat(rng.beta(a, a, 300), 10)
    split = variance_split(rng.random(3000) < p, np.repeat(range(300), 10))

    assert split is not None
    assert split.favours_questions is questions_first


def test_equal_scores_have_no_spread() -> None:
    split = variance_split([1.0] * 6, list("aabbcc"))

    assert split is not None
    assert not split.is_spread
    assert not split.favours_questions


@pytest.mark.parametrize("questions", ["aaaa", "abcd", ""])
def test_one_question_or_one_draw_of_each_cannot_be_split(questions: str) -> None:
    assert variance_split([1.0] * len(questions), list(questions)) is None


def test_scores_without_their_question_are_refused() -> None:
    with pytest.raises(ValueError, match="one label per score"):
        variance_split([1.0, 0.0], ["a"])


@pytest.mark.parametrize(("questions", "draws", "a"), [(30, 2, 0.5), (30, 5, 2.0), (200, 2, 0.2), (200, 3, 20.0)])
def test_two_runs_of_the_same_system_differ_by_no_more_than_the_limit_in_95_percent(
    questions: int, draws: int, a: float
) -> None:
    rng = np.random.default_rng(7)
    held = []
    for _ in range(300):
        rates = rng.beta(a, a, questions)
        pilot = rng.random((questions, draws)) < rates[:, None]
        limit = rerun_limit(pilot.ravel(), np.repeat(range(questions), draws))
        one, other = (rng.random((20, questions)) < rates, rng.random((20, questions)) < rates)
        held.append(np.mean(np.abs(one.mean(axis=1) - other.mean(axis=1)) <= limit + 1e-12))

    assert 0.94 <= np.mean(held) <= 0.985


@pytest.mark.parametrize(("questions", "limit"), [("", None), ("abc", None), ("aaa", None), ("aabb", 0.0)])
def test_runs_without_repeated_answers_have_no_limit_and_equal_ones_do_not_differ(
    questions: str, limit: float | None
) -> None:
    assert rerun_limit([1.0] * len(questions), list(questions)) == limit


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.floats(0, 1)), max_size=12))
def test_a_limit_is_finite_and_0_or_more_whatever_the_scores(rows: list[tuple[str, float]]) -> None:
    limit = rerun_limit([score for _, score in rows], [question for question, _ in rows])

    assert limit is None or 0.0 <= limit < np.inf
