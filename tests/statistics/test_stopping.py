"""The confidence sequences of a rate and of a difference: limits at any look, and coverage at all looks together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.statistics.stopping import confidence_sequence, difference_sequence

SIZES = st.lists(st.integers(1, 5).flatmap(lambda size: st.tuples(st.integers(0, size), st.just(size))), max_size=60)


@given(SIZES, st.floats(0.5, 0.999))
def test_the_limits_contain_the_rate_and_turn_with_it(clusters: list[tuple[int, int]], confidence: float) -> None:
    totals, sizes = np.array(clusters, np.float64).reshape(-1, 2).T

    low, high = confidence_sequence(totals, sizes, 5.0, confidence)

    turned = confidence_sequence(sizes - totals, sizes, 5.0, confidence)
    assert 0.0 <= low <= high <= 1.0
    assert turned == pytest.approx((1.0 - high, 1.0 - low), abs=1e-5)
    if clusters:
        assert low <= totals.sum() / sizes.sum() <= high


def test_without_rows_nothing_is_known() -> None:
    assert confidence_sequence(np.empty(0), np.empty(0), 1.0) == (0.0, 1.0)


def test_independent_rows_are_worth_more_than_rows_in_groups() -> None:
    passed = np.arange(200) % 5 > 0

    alone = confidence_sequence(passed * 1.0, np.ones(200), 1.0)
    equal = confidence_sequence(5.0 * passed[:40], np.full(40, 5.0), 5.0)

    assert equal[1] - equal[0] > 1.5 * (alone[1] - alone[0])


@pytest.mark.parametrize(("totals", "sizes"), [([2.0], [1.0]), ([-1.0], [1.0]), ([1.0], [3.0]), ([np.nan], [1.0])])
def test_impossible_counts_are_refused(totals: list[float], sizes: list[float]) -> None:
    with pytest.raises(ValueError, match="totals from 0 to the sizes"):
        confidence_sequence(np.array(totals), np.array(sizes), 2.0)


@pytest.mark.parametrize("rate", [0.5, 0.9])
def test_the_rate_is_outside_at_any_of_many_looks_in_few_sequences(rate: float) -> None:
    rng, missed, draws = np.random.default_rng(4), 0, 200
    for _ in range(draws):
        passed = (rng.random((100, 3)) < rng.beta(4 * rate, 4 - 4 * rate, (100, 1))).sum(axis=1) * 1.0
        looks = (confidence_sequence(passed[:m], np.full(m, 3.0), 3.0, 0.8) for m in range(5, 101, 5))
        missed += any(not low <= rate <= high for low, high in looks)

    assert missed / draws < 0.2


def test_a_rate_by_weights_is_outside_at_any_of_many_looks_in_few_sequences() -> None:
    rng, missed, draws = np.random.default_rng(5), 0, 200
    for _ in range(draws):
        weights = rng.beta(0.5, 1.5, (150, 2))  # heavy rows pass more often: of all weight, half is of rows that pass
        totals, sizes = (weights * (rng.random((150, 2)) < weights)).sum(axis=1), weights.sum(axis=1)
        looks = (confidence_sequence(totals[:m], sizes[:m], 2.0, 0.8) for m in range(10, 151, 10))
        missed += any(not low <= 0.5 <= high for low, high in looks)

    assert missed / draws < 0.2


CHANGES = st.lists(
    st.integers(1, 5).flatmap(lambda size: st.tuples(st.integers(-size, size), st.just(size))), max_size=60
)


@given(CHANGES, st.floats(0.5, 0.999))
def test_limits_of_a_difference_turn_with_it_and_leave_out_0_where_p_is_small(
    clusters: list[tuple[int, int]], confidence: float
) -> None:
    changes, sizes = np.array(clusters, np.float64).reshape(-1, 2).T

    low, high, p_value = difference_sequence(changes, sizes, 5.0, confidence)

    turned = difference_sequence(-changes, sizes, 5.0, confidence)
    assert turned == pytest.approx((-high, -low, p_value), abs=2e-5)
    assert -1.0 <= low <= high <= 1.0
    if min(abs(low), abs(high)) > 2e-5:
        assert (low > 0.0 or high < 0.0) == (p_value <= 1.0 - confidence)


@pytest.mark.parametrize("difference", [0.0, 0.1])
def test_the_difference_is_outside_at_any_of_many_looks_in_few_sequences(difference: float) -> None:
    rng, missed, draws = np.random.default_rng(8), 0, 200
    for _ in range(draws):
        changes = rng.choice([-1.0, 0.0, 1.0], 300, p=[0.1, 0.8 - difference, 0.1 + difference])
        looks = (difference_sequence(changes[:m], np.ones(m), 1.0, 0.8) for m in range(10, 301, 10))
        missed += any(not low <= difference <= high for low, high, _ in looks)

    assert missed / draws < 0.2
