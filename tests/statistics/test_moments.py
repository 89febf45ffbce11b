"""Sums of scores against fractions: of parts, of slices taken out, far from 0; equal parts give equal bits."""

from fractions import Fraction
from math import fsum, inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldmeter.statistics import mean_interval
from goldmeter.statistics.gaffke import GRID, Distribution
from goldmeter.statistics.mean import interval_of_moments
from goldmeter.statistics.moments import Moments

ANY = (-inf, inf)
UNIT = (0.0, 1.0)
SCORES = st.one_of(st.sampled_from([0.0, 1.0, 0.5, 1.0 - 2**-53]), st.floats(0.0, 1.0))
CLOSE = 1e-12


def variance(numbers: list[float]) -> float:
    exact = [Fraction(each) for each in numbers]
    mean = sum(exact) / len(exact)
    return float(sum((each - mean) ** 2 for each in exact) / (len(exact) - 1))


def test_integers_are_numbers() -> None:
    assert Moments.of(np.array([1, 2, 3]), ANY).mean == 2.0  # type: ignore[arg-type]


@given(st.lists(SCORES, min_size=2, max_size=40))
def test_mean_and_variance_are_those_of_fractions(numbers: list[float]) -> None:
    found = Moments.of(np.array(numbers), UNIT)

    assert found.mean == pytest.approx(float(sum(map(Fraction, numbers)) / len(numbers)), abs=CLOSE)
    assert found.variance == pytest.approx(variance(numbers), abs=CLOSE)
    assert found.is_constant == (len(set(numbers)) == 1)
    assert found.is_binary == all(each in {0.0, 1.0} for each in numbers)


@pytest.mark.parametrize("shift", [1e4, -3e6])
def test_scores_far_from_zero_keep_their_spread(shift: float) -> None:
    rows = np.random.default_rng(3).random(300) + shift
    first, second = Moments.of(rows[:100], ANY), Moments.of(rows[100:], ANY)

    assert (first + second).variance == pytest.approx(variance(rows.tolist()), rel=1e-9)
    assert (first + second - second).variance == pytest.approx(variance(rows[:100].tolist()), rel=1e-6)


@given(st.lists(SCORES, min_size=1, max_size=40), st.data())
def test_parts_add_up_and_can_be_taken_out(numbers: list[float], data: Any) -> None:
    codes = np.array(data.draw(st.lists(st.integers(0, 4), min_size=len(numbers), max_size=len(numbers))), np.intp)
    scores = np.array(numbers)

    parts = Moments.by_code(scores, codes, 5, UNIT)

    whole, rest = sum(parts, Moments()), Moments.of(scores[codes != 0], UNIT)
    for found, expected in ((whole, Moments.of(scores, UNIT)), (whole - parts[0], rest)):
        assert (found.n, found.at_low, found.at_high) == (expected.n, expected.at_low, expected.at_high)
        assert (found.total, found.squares) == pytest.approx((expected.total, expected.squares), abs=CLOSE)
    assert (whole.least, whole.most) == (min(numbers), max(numbers))


def test_equal_parts_in_their_order_give_equal_bits() -> None:
    parts = np.split(np.random.default_rng(0).random(9_000), 9)

    first, second = (sum((Moments.of(part, UNIT) for part in parts), Moments()) for _ in range(2))

    assert first == second


def test_the_rest_of_a_slice_is_constant_where_its_rows_are() -> None:
    scores, codes = np.array([0.3] * 50 + [0.1, 0.7, 0.2]), np.repeat([0, 1], [50, 3])
    whole, inside = Moments.of(scores, UNIT), Moments.by_code(scores, codes, 2, UNIT)[1]

    assert (whole - inside).is_constant
    assert not (whole - Moments.by_code(scores, codes, 2, UNIT)[0]).is_constant


def test_a_sum_of_many_rows_is_that_of_fsum() -> None:
    scores = np.random.default_rng(0).random(100_000)

    assert Moments.of(scores, UNIT).total == pytest.approx(fsum(scores), rel=1e-13)


@pytest.mark.parametrize("passed", [0, 7, 12])
def test_verdicts_have_the_moments_of_ones_and_zeros(passed: int) -> None:
    scores = np.repeat([1.0, 0.0], [passed, 12 - passed])

    found, expected = Moments.of_passes(12, passed), Moments.of(scores, UNIT)

    assert found.squares == pytest.approx(expected.squares, abs=CLOSE)
    assert (found.n, found.total, found.least, found.most) == (12, passed, expected.least, expected.most)


def test_scores_that_are_not_finite_are_refused() -> None:
    with pytest.raises(ValueError, match="not finite"):
        Moments.of(np.array([0.0, np.nan]), ANY)


@settings(max_examples=25)
@given(st.lists(SCORES, min_size=1, max_size=40), st.integers(0, 40), st.booleans())
def test_the_interval_from_parts_is_that_of_all_rows(numbers: list[float], cut: int, guarantee: bool) -> None:
    parts = [part for part in (np.array(numbers[:cut]), np.array(numbers[cut:])) if part.size]

    moments = sum((Moments.of(part, UNIT) for part in parts), Moments())
    spreads = [Distribution.of(part, UNIT) for part in parts] if guarantee else [None]
    spread = spreads[0] if len(spreads) == 1 else spreads[0] + spreads[1]  # type: ignore[operator]

    found, expected = (
        interval_of_moments(moments, guaranteed=spread),
        mean_interval(np.array(numbers), guarantee=guarantee),
    )
    assert found[:3] == pytest.approx(expected[:3], abs=1e-7)
    assert found[3:] == expected[3:]


def test_a_distribution_of_many_scores_does_not_depend_on_its_parts() -> None:
    scores = np.random.default_rng(0).random(GRID + 10)

    whole, parts = (
        Distribution.of(scores, UNIT),
        [Distribution.of(part, UNIT) for part in np.split(scores, [5, 900])],
    )

    added = parts[2] + (parts[0] + parts[1])
    assert all(
        np.array_equal(*pair) for pair in zip(whole.scores + whole.mirrored, added.scores + added.mirrored, strict=True)
    )
