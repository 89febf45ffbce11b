"""The mean of independent rows: values written out, edges and refusals."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldmeter.statistics import mean_interval
from goldmeter.statistics.estimate import NO_ROWS, Method
from goldmeter.statistics.mean import interval_of_moments, may_be_steady
from goldmeter.statistics.moments import Deviations, Moments


def test_binary_rows() -> None:
    estimate = mean_interval([1.0] * 98 + [0.0] * 2)

    assert estimate[:4] == pytest.approx((0.98, 0.929988209, 0.996633056, 100), abs=1e-9)
    assert str(estimate.method) == "wilson+midp"


def test_booleans_and_integers_are_binary_rows() -> None:
    assert mean_interval([True, False, True]) == mean_interval([1, 0, 1]) == mean_interval([1.0, 0.0, 1.0])


def test_bounded_rows_by_hand() -> None:
    # s² = 0.2/3, r = 0.2667, e = 2: r~ = (2·0.2667 + 1)/3, n_eff = 4/0.5111 = 7.826
    n_eff = 4 / ((2 * (0.2 / 3) / 0.25 + 1) / 3)
    z = 1.959963984540054
    half = 0.5 * z / math.sqrt(n_eff + z**2)

    estimate = mean_interval([0.2, 0.4, 0.6, 0.8])

    assert estimate[:4] == pytest.approx((0.5, 0.5 - half, 0.5 + half, 4), abs=1e-12)
    assert str(estimate.method) == "bounded"


def test_steady_rows_by_hand() -> None:
    # p = 0.5, s² = 0.01·100/99; u = 0.2 on both sides: S = 100·(0.2·0.96)² = 3.6864
    unseen = 2.4 * (1 - (3.6864 / 5) ** 0.4) * (0.5 / 100) ** 2
    half = math.hypot(1.9842169515864165 * math.sqrt(0.01 / 99), 1.959963984540054 * math.sqrt(unseen))

    estimate = mean_interval([0.4, 0.6] * 50)

    assert estimate[:4] == pytest.approx((0.5, 0.5 - half, 0.5 + half, 100), abs=1e-12)
    assert str(estimate.method) == "steady"


@pytest.mark.parametrize("x", [[0.4, 0.6] * 14, [0.0, 1.0, 0.5] * 40, [0.97] * 99 + [0.0]])
def test_few_rows_wide_ones_and_skewed_ones_are_not_steady(x: list[float]) -> None:
    assert mean_interval(x).method == Method("bounded")


@settings(derandomize=True, deadline=None)
@given(st.lists(st.floats(0.9, 1.0), min_size=30, max_size=80), st.integers(0, 80))
def test_steady_rows_add_up_and_never_widen(x: list[float], cut: int) -> None:
    rows, moments = np.array(x), Moments.of(np.array(x), (0.0, 1.0))
    parts = (Deviations.of(some, moments.mean, (0.0, 1.0)) for some in (rows[cut:], rows[:cut]))
    usual = interval_of_moments(moments)
    found = interval_of_moments(moments, deviations=sum(parts, Deviations()))

    if may_be_steady(moments, (0.0, 1.0)):
        assert found == mean_interval(x)
    assert found.high - found.low <= usual.high - usual.low
    assert 0.0 <= found.low <= found.value <= found.high <= 1.0


def test_rows_that_do_not_vary_are_not_taken_as_certain() -> None:
    # r = 0, e = 2: worth 4·(2 + 1)/1 = 12 binary rows
    z = 1.959963984540054
    half = 0.5 * z / math.sqrt(12 + z**2)

    assert mean_interval([0.5] * 4)[1:3] == pytest.approx((0.5 - half, 0.5 + half), abs=1e-12)


def test_rows_that_do_not_vary_may_hide_failures() -> None:
    assert mean_interval([0.975] * 100).low == pytest.approx(0.9389, abs=5e-5)  # 0.975·100/(100 + z²)


def test_guarantee_of_binary_rows_is_blaker() -> None:
    estimate = mean_interval([1.0] * 3 + [0.0] * 7, guarantee=True)

    assert estimate[:4] == pytest.approx((0.3, 0.08726443, 0.61941066, 10), abs=1e-8)
    assert str(estimate.method) == "blaker"


def test_no_rows_leave_everything_open() -> None:
    estimate = mean_interval([], bounds=(-1, 1))

    assert math.isnan(estimate.value)
    assert estimate[1:] == (-1.0, 1.0, 0, NO_ROWS)


@pytest.mark.parametrize(("x", "method"), [(0.0, "wilson+midp"), (0.3, "bounded"), (1.0, "wilson+midp")])
def test_one_row_says_little(x: float, method: str) -> None:
    estimate = mean_interval([x])

    assert estimate.low <= x <= estimate.high
    assert estimate.high - estimate.low > 0.75
    assert (estimate.n, str(estimate.method)) == (1, method)


def test_the_mean_of_equal_rows_is_their_value() -> None:
    assert mean_interval([0.1] * 1001).value == 0.1


@pytest.mark.parametrize(
    ("x", "bounds", "message"),
    [
        ([0.5, 0.2, 1.5, 2.0], (0, 1), r"x\[2\] = 1\.5 lies outside \(0, 1\)"),
        ([0.5, float("nan")], (0, 1), r"x\[1\] = nan"),
        ([-2.0], (-1, 1), r"x\[0\] = -2\.0"),
        ([[0.5]], (0, 1), r"shape \(1, 1\)"),
        ([0.5], (1, 0), "lower < upper"),
        ([0.5], (0, math.inf), "finite bounds"),
        ([0.5], (0, math.nan), "lower < upper"),
    ],
)
def test_unusable_scores_are_refused_by_name(x: list[float], bounds: tuple[float, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mean_interval(x, bounds=bounds)
