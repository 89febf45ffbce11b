"""Strengths, ranks and win rates: a slow definition, laws, separation, and what is refused."""

from itertools import combinations
from math import exp, inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.statistics.bradley_terry import PairSums, Strength, components, strengths, win_rate
from goldmeter.statistics.clusters import cluster_totals
from goldmeter.statistics.paired import mcnemar_midp

PAIRS = [*combinations(range(3), 2)]


def outcomes(n: int = 40, seed: int = 3) -> np.ndarray:
    points = np.random.default_rng(seed).choice([0.0, 0.5, 1.0], p=[0.2, 0.2, 0.6], size=(n, len(PAIRS)))
    points[::5, 1] = np.nan
    return points


def slow(points: np.ndarray, k: int, pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    """Strengths by the iteration of Hunter (2004), and standard errors by the sandwich, question by question."""
    questions = [(dict(enumerate(row)), 1.0) for row in points]
    for pair in range(len(pairs)):
        questions += [({pair: 1.0}, 1.0 / (k - 1)), ({pair: 0.0}, 1.0 / (k - 1))]
    games = [(pairs[p], y, weight) for row, weight in questions for p, y in row.items() if not np.isnan(y)]
    ability = np.ones(k)
    for _ in range(200):
        won, met = np.zeros(k), np.zeros(k)
        for (a, b), y, weight in games:
            won[b] += weight * y
            won[a] += weight * (1.0 - y)
            met[[a, b]] += weight / (ability[a] + ability[b])
        ability = won / met
        ability /= exp(np.log(ability).mean())
    strength = np.log(ability)

    def chance(a: int, b: int) -> float:
        return 1.0 / (1.0 + exp(strength[a] - strength[b]))

    information, spread = np.zeros((k, k)), np.zeros((k, k))
    for row, weight in questions:
        score = np.zeros(k)
        for p, y in row.items():
            if np.isnan(y):
                continue
            (a, b), contrast = pairs[p], np.zeros(k)
            contrast[a], contrast[b] = -1.0, 1.0
            information += weight * chance(a, b) * chance(b, a) * np.outer(contrast, contrast)
            score += (y - chance(a, b)) * contrast
        spread += weight * np.outer(score, score)
    inverse = np.linalg.pinv(information)
    return strength, np.sqrt(np.diagonal(inverse @ spread @ inverse) * len(points) / (len(points) - 1))


def test_strengths_and_errors_are_their_definition() -> None:
    from scipy.stats import t

    points = outcomes(20)

    found = strengths(3, PAIRS, PairSums.of(points))

    values, errors = slow(points, 3, PAIRS)
    assert [one.estimate.value for one in found] == pytest.approx(values, abs=1e-6)
    reach = t.ppf(0.975, len(points) - 1) * errors
    assert [one.estimate.high - one.estimate.value for one in found] == pytest.approx(reach, abs=1e-6)
    assert [one.estimate.n for one in found] == [36, 40, 36]


def test_sums_of_parts_add_up_and_groups_may_be_in_one_part_only() -> None:
    points, groups = outcomes(), np.repeat(np.arange(10), 4)
    first = PairSums.of(points[:20], groups[:20]) + PairSums.of(points[20:], groups[20:])

    whole = PairSums.of(points, groups)

    assert (first.clusters, whole.clusters) == (10, 10)
    assert np.array_equal(first.products, whole.products)
    assert strengths(3, PAIRS, first) == strengths(3, PAIRS, whole)


def test_questions_that_are_copies_in_a_group_say_no_more_than_one() -> None:
    points = outcomes(30)
    copies, groups = np.repeat(points, 4, axis=0), np.repeat(np.arange(30), 4)

    once, copied = strengths(3, PAIRS, PairSums.of(points)), strengths(3, PAIRS, PairSums.of(copies, groups))

    for one, other in zip(once, copied, strict=True):
        assert other.estimate.value == pytest.approx(one.estimate.value)
        assert other.estimate.high == pytest.approx(one.estimate.high)


def numbered(found: list[Strength]) -> list[tuple[int, int, int]]:
    return [(one.best, one.rank, one.worst) for one in found]


def test_many_questions_tell_the_ranks_and_few_do_not() -> None:
    points = np.tile([[1.0, 1.0, 1.0], [1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0]], (100, 1))

    assert numbered(strengths(3, PAIRS, PairSums.of(points))) == [(3, 3, 3), (2, 2, 2), (1, 1, 1)]
    assert numbered(strengths(3, PAIRS, PairSums.of(points[:4]))) == [(1, 3, 3), (1, 2, 3), (1, 1, 3)]


def test_a_candidate_that_always_wins_has_no_upper_limit_and_ranks_first() -> None:
    points = outcomes(60)
    points[:, 1:] = 1.0  # the third one wins whenever it is compared

    first, second, third = strengths(3, PAIRS, PairSums.of(points))

    assert third.estimate.high == inf
    assert 0.0 < third.estimate.low < third.estimate.value < 10.0
    assert (third.best, third.worst) == (1, 1)
    assert first.estimate.low == second.estimate.low == -inf
    assert first.estimate.high < third.estimate.low


def test_ties_alone_make_all_equal_but_not_certainly() -> None:
    found = strengths(3, PAIRS, PairSums.of(np.full((20, 3), 0.5)))

    assert [one.estimate.value for one in found] == [0.0, 0.0, 0.0]
    assert all(one.estimate.high > 0.05 for one in found)
    assert {(one.best, one.worst) for one in found} == {(1, 3)}


def test_a_single_question_has_no_limits() -> None:
    found = strengths(3, PAIRS, PairSums.of([[1.0, 1.0, 1.0]]))

    assert {(one.estimate.low, one.estimate.high) for one in found} == {(-inf, inf)}
    assert {(one.best, one.worst) for one in found} == {(1, 3)}


def test_candidates_without_a_chain_of_comparisons_have_no_common_scale() -> None:
    sums = PairSums.of([[1.0, 0.0]] * 5)

    assert components(4, [(0, 1), (2, 3)], sums.counts) == [[0, 1], [2, 3]]
    with pytest.raises(ValueError, match="no common scale"):
        strengths(4, [(0, 1), (2, 3)], sums)
    chained = strengths(3, [(0, 1), (1, 2)], sums)
    assert [one.rank for one in chained] == [2, 1, 3]


def test_what_is_no_outcome_is_refused() -> None:
    with pytest.raises(ValueError, match="shape"):
        PairSums.of([0.5, 1.0])
    with pytest.raises(ValueError, match="from 0 to 1"):
        PairSums.of([[2.0]])


COUNT = st.integers(0, 60)


@given(COUNT, COUNT, COUNT)
def test_a_win_rate_lies_in_its_interval_which_turns_with_the_sides(wins: int, ties: int, losses: int) -> None:
    if not wins + ties + losses:
        return
    found, turned = win_rate(wins, ties, losses), win_rate(losses, ties, wins)

    assert found.value == pytest.approx((wins + ties / 2) / (wins + ties + losses))
    assert 0.0 <= found.low <= found.value <= found.high <= 1.0
    assert (turned.low, turned.high) == pytest.approx((1.0 - found.high, 1.0 - found.low))
    assert found.p_value == mcnemar_midp(wins, losses)
    assert (found.p_value < 0.05) == (not found.low <= 0.5 <= found.high)


def test_groups_count_as_one_item_each() -> None:
    points = np.repeat([1.0, -1.0, 0.0], [40, 20, 20])
    alone = win_rate(40, 20, 20)
    grouped = win_rate(40, 20, 20, cluster_totals(points, np.repeat(np.arange(16), 5)))

    assert grouped.value == alone.value
    assert str(grouped.method) == "clustered"
    assert grouped.high - grouped.low > alone.high - alone.low


def test_no_row_says_nothing() -> None:
    found = win_rate(0, 0, 0)

    assert np.isnan(found.value)
    assert (found.low, found.high, found.n, found.p_value) == (0.0, 1.0, 0, 1.0)


def test_negative_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="counts of 0 or more"):
        win_rate(1, -1, 0)
