"""Means and differences of weighted rows: values by hand, laws, and coverage in simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.statistics.clusters import GroupTotals
from goldmeter.statistics.estimate import NO_ROWS
from goldmeter.statistics.moments import Moments
from goldmeter.statistics.weighted import WeightedSums, weighted_difference, weighted_mean

ROWS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.25, 1.0]), st.floats(0, 1), st.integers(0, 3)), min_size=1, max_size=30
)


def sums(rows: list[tuple[float, float, int]], sign: float = 1.0, *, grouped: bool = False) -> WeightedSums:
    scores, weights, groups = (np.array(column) for column in zip(*rows, strict=True))
    return WeightedSums.of(sign * scores, weights.astype(float), groups.astype(np.intp) if grouped else None)


@given(ROWS, st.booleans(), st.integers(0, 30))
def test_sums_of_parts_in_any_order_are_those_of_all_rows(
    rows: list[tuple[float, float, int]], grouped: bool, cut: int
) -> None:
    whole = sums(rows, grouped=grouped)
    if not 0 < cut < len(rows):
        return
    parts = sums(rows[cut:][::-1], grouped=grouped) + sums(rows[:cut], grouped=grouped)

    assert parts[:3] == whole[:3]
    assert (parts.weight, *parts.above, *parts.below) == pytest.approx(
        (whole.weight, *whole.above, *whole.below), abs=1e-9
    )
    if whole.groups and parts.groups:
        assert all(np.allclose(mine, other, atol=1e-9) for mine, other in zip(parts.groups, whole.groups, strict=True))


@given(ROWS, st.booleans())
def test_limits_lie_within_the_bounds_and_contain_the_value(
    rows: list[tuple[float, float, int]], grouped: bool
) -> None:
    found = sums(rows, grouped=grouped)
    if not found.n:
        return
    mean = weighted_mean(found)
    gain, loss = weighted_difference(found), weighted_difference(sums(rows, -1.0, grouped=grouped))

    assert 0.0 <= mean.low <= mean.value <= mean.high <= 1.0
    assert -1.0 <= gain.low <= gain.value <= gain.high <= 1.0
    assert (gain.low, gain.high) == pytest.approx((-loss.high, -loss.low), abs=1e-12)
    assert (gain.low > 0.0) == (gain.p_value < 0.05)


def test_the_mean_and_its_linearised_variance_by_hand() -> None:
    scores, weights = np.array([1.0, 0.0, 1.0, 1.0]), np.array([0.5, 0.25, 0.25, 1.0])
    found = weighted_mean(WeightedSums.of(scores * 10 - 5, weights), (-np.inf, np.inf))

    value = 10 * 1.75 / 2 - 5
    error = np.sqrt(4 / 3 * ((weights / 2 * (scores * 10 - 5 - value)) ** 2).sum())
    assert found.value == pytest.approx(value)
    assert found.high - found.value == pytest.approx(3.182446 * error, rel=1e-6)  # t with 3 degrees of freedom


def test_rows_of_one_cluster_count_as_one() -> None:
    scores, weights = np.array([1.0, 0.0, 1.0, 1.0, 0.0]), np.array([0.5, 0.5, 1.0, 0.25, 0.75])
    clusters = WeightedSums.of(scores, weights, np.array([0, 0, 1, 2, 2]))
    alone = WeightedSums.of(np.array([0.5, 1.0, 0.25]), np.array([1.0, 1.0, 1.0]))

    assert weighted_mean(clusters)[:3] == pytest.approx(weighted_mean(alone)[:3])


def test_without_failures_the_heaviest_rows_limit_the_claim() -> None:
    ones = np.ones(100)
    light = weighted_mean(WeightedSums.of(ones, ones))
    heavy = weighted_mean(WeightedSums.of(ones, np.where(np.arange(100) == 0, 1.0, 0.01)))

    assert 0.95 < light.low < 0.97
    assert heavy.low < 0.3


def test_one_row_and_one_cluster_say_nothing_of_the_spread() -> None:
    one = WeightedSums.of(np.array([1.0]), np.array([0.5]))
    cluster = WeightedSums.of(np.array([1.0, 0.0]), np.array([0.5, 0.5]), np.array([3, 3]))

    assert weighted_mean(one)[1:3] == (0.0, 1.0)
    assert weighted_mean(cluster)[:3] == (0.5, 0.0, 1.0)
    assert weighted_difference(cluster)[1:3] == (-1.0, 1.0)
    assert weighted_mean(one, (-np.inf, np.inf))[1:3] == (-np.inf, np.inf)


def test_grouped_rows_of_hardly_any_weight_do_not_count() -> None:
    nothing = WeightedSums.of(np.array([1.0, 0.0]), np.array([1e-300, 1e-12]), np.array([1, 2]))

    assert nothing.n == 0
    assert weighted_mean(nothing).method == NO_ROWS


@pytest.mark.parametrize("grouped", [False, True])
def test_rows_of_one_weight_need_their_moments_alone(grouped: bool) -> None:
    scores, groups = np.array([1.0, 4.0, 2.5, 5.0, 4.0]), np.array([3, 3, 1, 2, 2])
    totals = GroupTotals.of(groups, scores[:, None]) if grouped else None

    found = WeightedSums.of_equal(Moments.of(scores, (1.0, 5.0)), (1.0, 5.0), totals).times(0.25)

    expected = WeightedSums.of((scores - 1.0) / 4.0, np.full(5, 0.25), groups if grouped else None)
    assert weighted_mean(found, (1.0, 5.0))[:4] == pytest.approx(weighted_mean(expected, (1.0, 5.0))[:4], abs=1e-12)
    assert found.n_eff == pytest.approx(5.0)
    assert found.are_equal
