"""Exact sums against fractions, and that their order and grouping change no bit."""

from fractions import Fraction
from math import fsum
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.statistics import mean_interval
from tasks.statistics.gaffke import GRID, Distribution
from tasks.statistics.mean import interval_of_moments
from tasks.statistics.moments import SQUARE_UNIT, UNIT, Moments, exact_floats, exact_product

ANY = (-np.inf, np.inf)
# Subnormal numbers and the largest ones included.
FLOATS = st.floats(allow_nan=False, allow_infinity=False, width=64)
SCORES = st.one_of(st.sampled_from([0.0, 1.0, 0.5, 1e-320, 1.0 - 2**-53]), st.floats(0.0, 1.0))


def test_sums_beyond_the_largest_double_are_infinite_and_integers_are_numbers() -> None:
    assert Moments.of(np.array([1.0, 3e160]), ANY).variance == np.inf
    assert exact_floats([10**700, -(10**700)]).tolist() == [np.inf, -np.inf]
    assert Moments.of(np.array([1, 2, 3]), ANY).mean == 2.0  # type: ignore[arg-type]


@given(st.lists(FLOATS, max_size=30))
def test_sums_and_squares_are_those_of_fractions(numbers: list[float]) -> None:
    found = Moments.of(np.array(numbers, np.float64), ANY)

    assert Fraction(found.total, 2**UNIT) == sum(map(Fraction, numbers))
    assert Fraction(found.square, 2**SQUARE_UNIT) == sum(Fraction(each) ** 2 for each in numbers)


@given(st.lists(st.tuples(FLOATS, FLOATS), max_size=30))
def test_products_are_those_of_fractions(pairs: list[tuple[float, float]]) -> None:
    left, right = np.array(pairs, np.float64).reshape(-1, 2).T

    expected = sum(Fraction(a) * Fraction(b) for a, b in pairs)
    assert Fraction(exact_product(left, right), 2**SQUARE_UNIT) == expected


@given(st.lists(SCORES, min_size=1, max_size=40), st.data())
def test_any_order_and_grouping_of_rows_gives_the_same_moments(numbers: list[float], data: Any) -> None:
    scores = np.array(data.draw(st.permutations(numbers)), np.float64)
    codes = np.array(data.draw(st.lists(st.integers(0, 4), min_size=len(scores), max_size=len(scores))), np.intp)

    parts = Moments.by_code(scores, codes, 5, (0.0, 1.0))

    whole = Moments.of(np.array(numbers), (0.0, 1.0))
    assert sum(parts, Moments()) == whole
    assert whole - parts[0] == sum(parts[1:], Moments())


@given(st.lists(SCORES, min_size=2, max_size=40))
def test_mean_and_variance_are_rounded_once(numbers: list[float]) -> None:
    found, n = Moments.of(np.array(numbers), (0.0, 1.0)), len(numbers)

    mean = sum(map(Fraction, numbers)) / n
    assert found.mean == float(mean)
    assert found.variance == float(sum((Fraction(each) - mean) ** 2 for each in numbers) / (n - 1))
    assert found.is_constant == (len(set(numbers)) == 1)
    assert found.is_binary == all(each in {0.0, 1.0} for each in numbers)


def test_a_sum_of_many_rows_is_that_of_fsum() -> None:
    scores = np.random.default_rng(0).random(100_000)

    assert Moments.of(scores, (0.0, 1.0)).total / 2**UNIT == fsum(scores)


def test_verdicts_have_the_moments_of_ones_and_zeros() -> None:
    scores = np.repeat([1.0, 0.0], [7, 5])

    assert Moments.of_passes(12, 7) == Moments.of(scores, (0.0, 1.0))


def test_scores_that_are_not_finite_are_refused() -> None:
    with pytest.raises(ValueError, match="not finite"):
        Moments.of(np.array([0.0, np.nan]), ANY)


@settings(max_examples=25)
@given(st.lists(SCORES, min_size=1, max_size=40), st.integers(0, 40), st.booleans())
def test_the_interval_from_parts_is_that_of_all_rows(numbers: list[float], cut: int, guarantee: bool) -> None:
    parts = [part for part in (np.array(numbers[:cut]), np.array(numbers[cut:])) if part.size]

    moments = sum((Moments.of(part, (0.0, 1.0)) for part in parts), Moments())
    spreads = [Distribution.of(part, (0.0, 1.0)) for part in parts] if guarantee else [None]
    spread = spreads[0] if len(spreads) == 1 else spreads[0] + spreads[1]  # type: ignore[operator]

    found = interval_of_moments(moments, guaranteed=spread)
    assert found == mean_interval(np.array(numbers), guarantee=guarantee)


def test_a_distribution_of_many_scores_does_not_depend_on_its_parts() -> None:
    scores = np.random.default_rng(0).random(GRID + 10)

    whole, parts = (
        Distribution.of(scores, (0.0, 1.0)),
        [Distribution.of(part, (0.0, 1.0)) for part in np.split(scores, [5, 900])],
    )

    added = parts[2] + (parts[0] + parts[1])
    assert all(
        np.array_equal(*pair) for pair in zip(whole.scores + whole.mirrored, added.scores + added.mirrored, strict=True)
    )
