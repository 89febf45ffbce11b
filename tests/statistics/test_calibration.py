"""Whether probabilities fit labels: an exact test, and Platt scaling."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from goldmeter.statistics.calibration import calibration

ROWS = st.lists(st.tuples(st.sampled_from([0.0, 1.0, 0.5, 1e-300, 0.02, 0.97]) | st.floats(0, 1), st.booleans()))


@given(ROWS, st.randoms(use_true_random=False))
def test_any_rows_have_a_p_value_and_probabilities_that_do_not_depend_on_their_order(
    rows: list[tuple[float, bool]], random: Any
) -> None:
    p, right = np.array([p for p, _ in rows]), np.array([right for _, right in rows], np.bool_)
    order = np.array(random.sample(range(len(rows)), len(rows)), np.intp)

    found, shuffled = calibration(p, right), calibration(p[order], right[order])

    assert 0.001 <= found.p_value <= 1.0
    assert found.p_value == shuffled.p_value
    assert found.recalibrated.shape == p.shape
    assert ((found.recalibrated >= 0.0) & (found.recalibrated <= 1.0)).all()


@pytest.mark.parametrize("right", [38, 42, 47, 50])
def test_of_equal_probabilities_it_is_the_binomial_test(right: int) -> None:
    p_value = calibration([0.9] * 50, [1] * right + [0] * (50 - right)).p_value

    as_far = [k for k in range(51) if abs(k - 45) >= abs(right - 45)]
    assert p_value == pytest.approx(binom.pmf(as_far, 50, 0.9).sum(), abs=0.05)  # of 999 draws


def test_platt_scaling_recovers_the_curve_that_the_labels_follow() -> None:
    rng = np.random.default_rng(3)
    logits = rng.normal(1.0, 2.0, 3000)
    truth = 1.0 / (1.0 + np.exp(-(0.5 * logits + 0.7)))

    found = calibration(1.0 / (1.0 + np.exp(-logits)), rng.random(3000) < truth)

    assert found.p_value == 0.001
    assert np.abs(found.recalibrated - truth).mean() < 0.02


@pytest.mark.parametrize("certain", [0.0, 1.0])
def test_labels_against_certainty_reject_it(certain: float) -> None:
    assert calibration([certain] * 50, [certain] * 49 + [1.0 - certain]).p_value == 0.001
    assert calibration([certain] * 50, [certain] * 50).p_value == 1.0


def test_copies_of_a_row_are_no_evidence() -> None:
    rng = np.random.default_rng(5)
    p = rng.random(60)
    right = rng.random(60) < p
    once = calibration(p, right)

    copied = calibration(np.tile(p, 20), np.tile(right, 20), np.tile(np.arange(60), 20))

    assert copied.p_value == once.p_value


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.5, np.nan], [0, 1]), "p"),
        (([0.5, 1.5], [0, 1]), r"p\[1\] = 1.5 lies outside"),
        (([0.5, 0.5], [0, 2]), r"labels\[1\] = 2"),
        (([0.5, 0.5], [0, 1, 1]), "one label per row"),
        (([0.5, 0.5], [0, 1], [7, 7]), "cluster"),
    ],
)
def test_unusable_rows_are_refused(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        calibration(*arguments)
