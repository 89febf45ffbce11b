"""Scheduled runs: spending and the drift detector by hand, their laws and refusals."""

import json
import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldmeter.statistics.sequential import DriftState, alpha_spending, drift_detector

derandomized = settings(derandomize=True)
scores = st.lists(st.floats(0.0, 1.0), max_size=8)


def after(days: list[list[float]], floor: float = 0.8) -> DriftState:
    """Return the state after these days."""
    state = drift_detector(None, [], floor)
    for day in days:
        state = drift_detector(state, day, floor)
    return state


def test_first_looks_spend_a_half_an_eighth_a_sixteenth() -> None:
    # 1/(2.109743·m·ln²m) for m = 2, 3, 4, times 5 %
    assert [alpha_spending(t) for t in (1, 2, 3)] == pytest.approx([0.0246638, 0.0065454, 0.0030830], abs=1e-7)


def test_any_number_of_looks_spends_no_more_than_alpha() -> None:
    looks = np.arange(2.0, 2e6)
    spent = np.sum(0.05 / (2.109743 * looks * np.log(looks) ** 2))

    assert alpha_spending(1_000_000) == pytest.approx(0.05 / (2.109743 * 1_000_001 * math.log(1_000_001) ** 2))
    assert 0.0495 < spent + 0.05 / (2.109743 * math.log(2e6 - 0.5)) < 0.05


def test_one_row_by_hand() -> None:
    # x = 0 against 0.8: a stake of share s grows by 1 + 4·s; opened with w_1 = 0.4932755.
    state = drift_detector(None, [0.0], 0.8)

    growth = [1.04, 1.08, 1.16, 1.32, 1.64, 2.28, 3.56]
    assert np.exp(state.log_wealth) == pytest.approx([0.4932755 * g for g in growth], rel=1e-6)
    weights = np.array([0.01 * 2**k for k in range(7)]) ** -0.5
    assert math.exp(state.log_evidence) == pytest.approx(0.4932755 * np.average(growth, weights=weights), rel=1e-6)
    assert (state.days, state.observations, state.floor) == (1, 1, 0.8)


def test_second_day_opens_with_its_own_weight() -> None:
    state = after([[0.0], [1.0]])

    # (0.4932755·1.04 + 0.1309082)·0.99 for the smallest stake
    assert math.exp(state.log_wealth[0]) == pytest.approx((0.4932755 * 1.04 + 0.1309082) * 0.99, rel=1e-5)


@pytest.mark.parametrize("floor", [0.5, 0.75])
def test_evidence_is_at_most_one_on_average_at_the_floor(floor: float) -> None:
    # Every course of three days of two binary rows, with its probability at the floor.
    total = 0.0
    for course in product([0.0, 1.0], repeat=6):
        chance = math.prod(floor if x else 1 - floor for x in course)
        total += chance * math.exp(after([list(course[i : i + 2]) for i in (0, 2, 4)], floor).log_evidence)

    spent = sum(alpha_spending(t) / 0.05 for t in (1, 2, 3))
    assert total == pytest.approx(spent, rel=1e-9)
    assert total < 1.0


def test_alarm_stays_raised() -> None:
    state = after([[0.0] * 10] + [[1.0] * 100] * 20)

    assert state.alarm()
    assert state.log_evidence < 0.0 < math.log(20) < state.log_peak


def test_good_days_never_raise_an_alarm() -> None:
    assert not after([[1.0, 0.8, 0.9]] * 50).alarm(0.99)


def test_state_travels_as_json() -> None:
    state = after([[0.1, 1.0], [0.4]])
    travelled = DriftState(*json.loads(json.dumps(state, allow_nan=False)))

    assert drift_detector(travelled, [0.3], 0.8) == drift_detector(state, [0.3], 0.8)
    assert json.loads(json.dumps(after([]), allow_nan=False)) == [0.8, 0, 0, [], 0.0, 0.0]


def test_years_keep_the_state_small_and_finite() -> None:
    good, bad = after([[1.0] * 50] * 1500), after([[0.0] * 50] * 1500)

    assert len(json.dumps(good, allow_nan=False)) < 300
    assert len(json.dumps(bad, allow_nan=False)) < 300
    assert bad.alarm(1e-300)


def test_a_day_without_rows_changes_nothing() -> None:
    state = after([[0.5]])

    assert drift_detector(state, [], 0.8) is state


def test_a_cluster_is_one_bet_on_its_mean() -> None:
    state = drift_detector(None, [0.0, 1.0, 0.25], 0.8, clusters=["a", "a", "b"])

    assert state == drift_detector(None, [0.5, 0.25], 0.8)
    assert drift_detector(None, [0.0, 1.0], 0.8, clusters=["a", "a"]) == drift_detector(None, [0.5], 0.8)


def test_other_bounds_are_a_change_of_units() -> None:
    assert drift_detector(None, [-1.0, 3.0], 2.0, bounds=(-1, 3)) == drift_detector(None, [0.0, 1.0], 0.75)


@derandomized
@given(st.lists(scores, max_size=5), st.sampled_from([0.01, 0.5, 0.99]))
def test_worse_rows_never_lower_the_evidence(days: list[list[float]], floor: float) -> None:
    state, worse = after(days, floor), after([[x / 2 for x in day] for day in days], floor)

    assert worse.log_evidence >= state.log_evidence - 1e-9
    assert state.log_peak >= max(state.log_evidence, 0.0)
    assert all(map(math.isfinite, state.log_wealth))


@derandomized
@given(scores, st.randoms(use_true_random=False))
def test_order_within_a_day_does_not_matter(day: list[float], random) -> None:
    shuffled = random.sample(day, len(day))

    assert after([shuffled]).log_evidence == pytest.approx(after([day]).log_evidence, abs=1e-9)


@pytest.mark.parametrize(
    ("x", "floor", "message"),
    [
        ([0.5, 1.5], 0.8, r"x\[1\] = 1\.5 lies outside"),
        ([float("nan")], 0.8, r"x\[0\] = nan"),
        ([[0.5]], 0.8, r"shape \(1, 1\)"),
        ([0.5], 1.0, "floor = 1.0: expected"),
        ([0.5], 0.0, "floor = 0.0: expected"),
        ([0.5], float("nan"), "floor = nan: expected"),
    ],
)
def test_unusable_days_are_refused(x: list[float], floor: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        drift_detector(None, x, floor)


def test_another_floor_needs_a_new_state() -> None:
    with pytest.raises(ValueError, match="begin with a new state"):
        drift_detector(after([[0.5]]), [0.5], 0.7)


def test_a_state_of_other_stakes_is_refused() -> None:
    with pytest.raises(ValueError, match="has 2 numbers, expected 7"):
        drift_detector(DriftState(0.8, 1, 1, (0.0, 0.0), 0.0, 0.0), [0.5], 0.8)


def test_labels_must_match_the_rows() -> None:
    with pytest.raises(ValueError, match="2 labels for 3 rows"):
        drift_detector(None, [0.5, 0.5, 0.5], 0.8, clusters=["a", "b"])


@pytest.mark.parametrize("alpha", [0.0, 1.0, 5.0, float("nan")])
def test_levels_are_shares(alpha: float) -> None:
    with pytest.raises(ValueError, match="alpha"):
        alpha_spending(1, alpha)
    with pytest.raises(ValueError, match="alpha"):
        after([]).alarm(alpha)


def test_looks_are_counted_from_one() -> None:
    with pytest.raises(ValueError, match="counted from 1"):
        alpha_spending(0)
