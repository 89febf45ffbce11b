"""Power: rows and differences by formula and oracle, and the laws that hold between them."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.power import TTestPower

from benchmarks.coverage.arrays import detectable_difference
from goldmeter.statistics.power import required_rows

derandomized = settings(derandomize=True)
D = np.repeat([1.0, -1.0, 0.0], [20, 10, 270])


def connor(difference: float, discordance: float) -> float:
    """Return the rows by the formula, for 80 % power at 95 % confidence."""
    root = 1.959964 * math.sqrt(discordance) + 0.8416212 * math.sqrt(discordance - difference**2)
    return (root / difference) ** 2


@pytest.mark.parametrize(("difference", "discordance"), [(0.01, 0.05), (0.01, 0.2), (0.02, 0.5)])
def test_many_binary_rows_are_connors(difference: float, discordance: float) -> None:
    n = required_rows(difference, discordance=discordance)

    assert n == pytest.approx(connor(difference, discordance), rel=0.02)


def test_five_rows_that_all_win_show_a_sure_difference() -> None:
    # mid-p of 5 wins and no loss is 1/32, of 4 it is 1/16
    assert required_rows(1.0, discordance=1.0) == 5
    assert required_rows(1.0, discordance=1.0, confidence=0.999) == 10  # 2⁻¹⁰ < 0.001


def test_unbounded_rows_are_the_paired_t_test() -> None:
    oracle = TTestPower().solve_power(effect_size=0.3, power=0.8, alpha=0.05)

    assert required_rows(30, sd=100, width=math.inf) == math.ceil(oracle)


def test_many_bounded_rows_are_normal_theory() -> None:
    assert required_rows(0.01, sd=0.3) == pytest.approx((2.801585 * 0.3 / 0.01) ** 2, rel=0.005)


def test_more_is_asked_for_more() -> None:
    n = required_rows(0.05, discordance=0.2)

    assert required_rows(0.04, discordance=0.2) > n
    assert required_rows(0.05, discordance=0.3) > n
    assert required_rows(0.05, discordance=0.2, power=0.9) > n
    assert required_rows(0.05, discordance=0.2, confidence=0.9973) > n
    assert required_rows(0.05, discordance=0.2, design_effect=2.0) == 2 * n


def test_units_and_signs_do_not_matter() -> None:
    n = required_rows(0.05, sd=0.2)

    assert required_rows(-0.05, sd=0.2) == n
    assert required_rows(5, sd=20, width=100) == n
    assert detectable_difference(100 * D, bounds=(0, 100)) == pytest.approx(100 * detectable_difference(D))


def test_the_detectable_difference_needs_the_rows_there_are() -> None:
    some, seconds = np.random.default_rng(1).uniform(-0.3, 0.3, 200), np.random.default_rng(1).normal(0, 50, 80)
    unbounded = (0.0, math.inf)
    of_seconds = required_rows(detectable_difference(seconds, bounds=unbounded), sd=seconds.std(), width=math.inf)

    assert required_rows(detectable_difference(D), discordance=0.1) == pytest.approx(D.size, rel=0.02)
    assert required_rows(detectable_difference(some), sd=some.std()) == pytest.approx(some.size, rel=0.02)
    assert of_seconds == pytest.approx(seconds.size, rel=0.02)


@derandomized
@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0]), min_size=1, max_size=60))
def test_a_detectable_difference_is_within_the_bounds_or_infinite(d: list[float]) -> None:
    smallest = detectable_difference(d)

    assert 0.0 < smallest <= 1.0 or smallest == math.inf
    assert detectable_difference(d, confidence=0.9973) >= smallest


def test_dependent_rows_find_less() -> None:
    sure = np.repeat(D[::3], 3)
    clusters = np.repeat(np.arange(100), 3)

    assert detectable_difference(sure, clusters) > 1.4 * detectable_difference(sure)


def test_too_few_rows_find_nothing() -> None:
    for d in ([], [1.0], [0.0] * 4):
        assert detectable_difference(d) == math.inf
    assert detectable_difference([3.0], bounds=(0, math.inf)) == math.inf


def test_unbounded_rows_all_alike_find_anything() -> None:
    assert detectable_difference([3.0] * 10, bounds=(0, math.inf)) < 1e-6
    assert detectable_difference([3.0] * 5, bounds=(0, math.inf)) == math.inf


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"difference": 0.0, "sd": 0.1}, "difference = 0.0"),
        ({"difference": 2.0, "sd": 0.1}, "difference = 2.0"),
        ({"difference": math.nan, "sd": 0.1}, "difference = nan"),
        ({"difference": 0.1}, "give one of them"),
        ({"difference": 0.1, "sd": 0.1, "discordance": 0.2}, "give one of them"),
        ({"difference": 0.1, "discordance": 0.05}, "discordance = 0.05"),
        ({"difference": 0.1, "discordance": 1.1}, "discordance = 1.1"),
        ({"difference": 0.1, "discordance": 0.5, "width": math.inf}, "discordance = 0.5"),
        ({"difference": 0.1, "sd": 0.0}, "sd = 0.0"),
        ({"difference": 0.1, "sd": math.nan}, "sd = nan"),
        ({"difference": 0.1, "sd": 0.1, "width": 0.0}, "width = 0.0"),
        ({"difference": 0.1, "sd": 0.1, "design_effect": 0.0}, "design_effect = 0.0"),
        ({"difference": 0.1, "sd": 0.1, "power": 1.0}, "power = 1.0"),
        ({"difference": 0.1, "sd": 0.1, "power": 0.01}, "power = 0.01"),
        ({"difference": 0.1, "sd": 0.1, "confidence": 0.0}, "confidence = 0.0"),
        ({"difference": 1e-12, "sd": 0.5}, "takes more than"),
    ],
)
def test_unusable_plans_are_refused(arguments: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        required_rows(**arguments)
