"""How many more items decide: conditional power of undecided runs, and what no evidence asks for."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldmeter.statistics import paired_difference
from goldmeter.statistics.more_data import Evidence, More, more_to_decide

RUNS = 300
derandomized = settings(derandomize=True)
SIZES = st.integers(0, 10_000)


def differences(rng: np.random.Generator, n: int, truth: float) -> np.ndarray:
    """Differences of n rows, of which 20 % change, by 1 each."""
    places = rng.random(n)
    return np.where(places < (0.2 + truth) / 2, 1.0, np.where(places < 0.2, -1.0, 0.0))


@pytest.mark.parametrize(("margin", "truths"), [(0.0, (-0.02, 0.02, 0.03)), (0.02, (0.0, -0.04, 0.01))])
def test_as_many_more_rows_as_it_says_decide_three_of_four_undecided_runs(
    margin: float, truths: tuple[float, ...]
) -> None:
    rng, decided = np.random.default_rng(5), np.zeros(3)
    runs = 0
    while runs < RUNS:
        n, truth = int(rng.choice([100, 300, 1000])), truths[runs % 3]
        d = differences(rng, n, truth)
        first = paired_difference(d)
        if first.high < -margin or first.low > -margin:
            continue
        runs += 1
        evidence = Evidence(first.value + margin, float(d.var(ddof=1)), n, np.count_nonzero(d))
        more = more_to_decide(evidence, margin or 0.02)
        assert more is not None
        for i, rows in enumerate((more.low, (more.low + more.high) // 2, more.high)):
            every = paired_difference(np.concatenate([d, differences(rng, rows, truth)]))
            decided[i] += every.high < -margin or every.low > -margin

    low, middle, high = decided / RUNS
    assert low >= 0.7
    assert middle >= 0.8
    assert high >= 0.85


def test_without_items_it_is_the_power_of_a_normal_mean() -> None:
    assert more_to_decide(Evidence(0.0, 0.25, 0, 10**9), 0.05) == More(785, 785)  # (1.960 + 0.842)²·0.25/0.05²


def test_nothing_that_changed_allows_for_changes_not_seen() -> None:
    few, many = (more_to_decide(Evidence(0.0, 0.0, n, 0), 0.02) for n in (50, 5000))

    assert few is not None
    assert many is not None
    assert few.high > 1.5 * few.low  # 2.3 changes of 50 rows are 4.6 %
    assert many.high == many.low  # a difference of 2 points needs 2 % of the rows to change


@derandomized
@given(st.floats(-1.0, 1.0), st.floats(0.0, 1.0), SIZES, SIZES, st.floats(0.001, 1.0))
def test_the_range_is_ordered_and_at_least_one(
    away: float, variance: float, n: int, changed: int, matters: float
) -> None:
    more = more_to_decide(Evidence(away, variance, n, min(changed, n)), matters)

    assert more is None or 1 <= more.low <= more.high


def test_what_no_data_set_decides_has_no_number() -> None:
    assert more_to_decide(Evidence(0.0, 1.0, 100, 100), 1e-9) is None


@pytest.mark.parametrize(("matters", "power"), [(0.0, 0.8), (-0.1, 0.8), (math.nan, 0.8), (0.1, 0.0), (0.1, 1.0)])
def test_arguments_outside_of_their_ranges_are_refused(matters: float, power: float) -> None:
    with pytest.raises(ValueError, match="expected a difference above 0"):
        more_to_decide(Evidence(0.0, 0.1, 10, 1), matters, power)
