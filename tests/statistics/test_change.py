"""Change of fresh rows: rare false alarms, a fall that is found, weekdays, and an alarm that ends."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldmeter.statistics.change import FEWEST, Change, Night, change

ROWS = 500
NIGHTS = st.builds(
    Night, st.floats(0.0, 1.0), st.floats(1e-4, 1.0), st.integers(1, 10_000), st.integers(0, 6)
)  # fmt: skip


def night(rng: np.random.Generator, number: int, rate: float, rows: int = ROWS) -> Night:
    right = rng.binomial(rows, rate)
    mean = right / rows
    return Night(mean, np.sqrt(rows * mean * (1.0 - mean) + 1.0) / rows, rows, number % 7)


def first_alarm(rng: np.random.Generator, rates: list[float]) -> int | None:
    """The first night with an alarm."""
    nights: list[Night] = []
    for number, rate in enumerate(rates):
        nights.append(night(rng, number, rate))
        if change(nights) is not None:
            return number
    return None


def test_ninety_nights_without_a_change_seldom_raise_an_alarm() -> None:
    rng = np.random.default_rng(1)

    alarms = [first_alarm(rng, [0.8] * 90) for _ in range(40)]

    assert sum(alarm is not None for alarm in alarms) <= 2


def test_a_fall_of_five_points_is_found_in_two_weeks() -> None:
    rng = np.random.default_rng(2)

    found = [first_alarm(rng, [0.8] * 28 + [0.75] * 14) for _ in range(40)]

    assert sum(alarm is not None and alarm >= 28 for alarm in found) >= 36


def test_a_weekly_rhythm_is_no_change() -> None:
    rng = np.random.default_rng(3)
    week = [0.85] * 5 + [0.7] * 2

    assert [first_alarm(rng, week * 13) for _ in range(10)] == [None] * 10


def test_a_fall_on_a_weekend_that_is_always_low_is_compared_with_weekends() -> None:
    rng = np.random.default_rng(4)
    nights = [night(rng, number, 0.7 if number % 7 > 4 else 0.9, 3000) for number in range(27)]
    calm, low = ([*nights, night(rng, 27, rate, 3000)] for rate in (0.7, 0.55))

    found = change(low)

    assert change(calm) is None
    assert found is not None
    assert found.nights == 1
    assert 0.68 < found.first < 0.72


def test_a_missed_weekday_leaves_the_others_known() -> None:
    rng = np.random.default_rng(6)
    numbers = [number for number in range(60) if number != 9]
    nights = [night(rng, number, 0.7 if number % 7 > 4 else 0.9, 1000) for number in numbers]

    assert change(nights) is None
    assert change([*nights, *[night(rng, number, 0.8, 1000) for number in (63, 64, 65)]]) is not None


def test_too_few_nights_say_nothing() -> None:
    nights = [Night(0.9, 0.01, 100, 0)] * FEWEST

    assert change(nights) is None
    assert change([*nights, Night(0.1, 0.01, 100, 0)]) is not None


def test_a_standing_alarm_ends_when_the_last_week_is_as_the_first_nights_were() -> None:
    nights = [Night(0.8, 0.01, 1000, number % 7) for number in range(21)]
    fallen = [*nights, *[Night(0.75, 0.01, 1000, number % 7) for number in range(14)]]
    back = [*fallen, *[Night(0.8, 0.01, 1000, number % 7) for number in range(7)]]

    assert change(fallen, standing=True) is not None
    assert change(back[:-3], standing=True) is not None
    assert change([*back, *back[-7:]], standing=True) is None


@settings(derandomize=True)
@given(st.lists(NIGHTS, max_size=60), st.booleans())
def test_every_history_gives_a_change_or_none(nights: list[Night], standing: bool) -> None:
    found = change(nights, standing=standing)

    assert found is None or (isinstance(found, Change) and 0.0 <= found.p_value <= 1.0 and found.rows > 0)


@pytest.mark.parametrize("alpha", [0.0, 1.0, -1.0])
def test_a_probability_outside_of_its_range_is_refused(alpha: float) -> None:
    with pytest.raises(ValueError, match="alpha"):
        change([], alpha=alpha)
