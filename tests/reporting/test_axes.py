"""The axis of a forest plot: round numbers that hold everything, and places within the drawing."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from goldmeter.reporting.axes import SHARES, Scale, around, around_zero, scale, shares

NUMBERS = st.floats(-1e9, 1e9, allow_subnormal=False).map(lambda value: 0.0 if abs(value) < 1e-9 else value)


def estimate(value, low, high):
    return {"value": value, "low": low, "high": high}


def part(place):
    return float(place.removesuffix("%"))


def test_bounds_are_the_axis_with_the_middle_between_them():
    assert scale((1.0, 5.0), [], 3.0) == Scale(1.0, 5.0, (1.0, 3.0, 5.0))


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (213.0, 340.0, (200, 250, 300, 350)),
        (0.31, 0.36, (0.3, 0.32, 0.34, 0.36)),
        (-4.0, 7.0, (-5, 0, 5, 10)),
        (1e-4, 3e-4, (0.0001, 0.0002, 0.0003)),
    ],
)
def test_without_bounds_the_axis_lies_between_round_numbers(low, high, ticks):
    assert scale(None, [estimate(low, low, high)]).ticks == ticks


def test_the_threshold_is_on_an_axis_without_bounds_too():
    assert scale(None, [estimate(2.0, 1.0, 3.0)], 9.0).high >= 9.0


def test_bounds_without_an_end_are_none():
    assert scale((0.0, float("inf")), [estimate(40.0, 30.0, 50.0)]).ticks == (30, 40, 50)


def test_nothing_known_is_not_drawn():
    assert scale(None, []) is None
    assert scale(None, [estimate(None, None, None)]) is None


def test_a_value_without_an_interval_is_drawn():
    found = scale(None, [estimate(0.5, None, None)])

    assert (found.low, found.high) == (0, 1)


@given(st.lists(st.floats(0.0, 1.0), min_size=1))
def test_rates_have_an_axis_of_shares_at_least_20_points_wide(values):
    found = shares([estimate(value, None, None) for value in values])

    assert 0.0 <= found.low <= min(values) + 1e-9
    assert max(values) - 1e-9 <= found.high <= 1.0
    assert found.high - found.low > 0.2 - 1e-9
    assert [float(found.text(tick).rstrip("%")) / 100 for tick in found.ticks] == pytest.approx(found.ticks)


@given(st.lists(NUMBERS, min_size=1))
def test_every_value_is_between_the_first_and_the_last_tick(values):
    found = around(values)

    assert found.low <= min(values) + 1e-6 * (found.high - found.low)
    assert found.high >= max(values) - 1e-6 * (found.high - found.low)
    assert list(found.ticks) == sorted(set(found.ticks))
    assert 2 <= len(found.ticks) <= 7


@given(st.lists(NUMBERS, min_size=1))
def test_differences_have_nothing_in_the_middle(values):
    found = around_zero([estimate(value, None, None) for value in values])

    assert found.low == -found.high
    assert found.place(0.0) == "50%"
    assert found.high >= max(map(abs, values)) * (1 - 1e-6)
    assert found.high <= max(0.01, 2 * max(map(abs, values)))


@given(NUMBERS, NUMBERS, NUMBERS, NUMBERS)
def test_places_are_within_the_drawing_and_in_order(low, high, one, other):
    assume(high - low > 1e-6)
    axis = Scale(low, high, ())
    first, second = (part(axis.place(value)) for value in sorted((one, other)))

    assert 0 <= first <= second <= 100
    assert part(axis.width(*sorted((one, other)))) == pytest.approx(second - first, abs=0.02)


def test_shares_are_percentages():
    assert [SHARES.text(tick) for tick in SHARES.ticks] == ["0%", "50%", "100%"]
