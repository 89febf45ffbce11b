"""The band outside of which a judge is seldom wrong: on which side labels show it, and with how many."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from tasks.statistics.threshold import DISTANCES, fewest_decided, risk_band

EVEN = np.linspace(0.0, 1.0, 2001)


def test_both_sides_grow_until_too_many_are_wrong() -> None:
    right = EVEN > 0.1
    right[1700:1800] = False

    band = risk_band(EVEN, right, 0.05)

    assert (band.low, band.fails.n, band.fails.wrong) == (0.1, 200, 0)
    assert (band.high, band.passes.n, band.passes.wrong) == (0.9, 200, 0)
    assert risk_band(EVEN, right, 0.15).high == 0.5  # 100 of 1,000


def test_an_error_at_the_strictest_limit_does_not_end_the_search() -> None:
    right = EVEN > 0.0
    right[-60::20] = False  # 3 of the 60 surest, and none of the 940 others that pass

    band = risk_band(EVEN, right, 0.06)

    assert (band.high, band.passes.n, band.passes.wrong) == (0.5, 1000, 3)


def test_too_many_errors_leave_the_side_to_the_language_model() -> None:
    band = risk_band(EVEN, np.arange(EVEN.size) % 3 > 0, 0.05)

    assert (band.low, band.high, band.passes.high) == (0.0, 1.0, 1.0)
    assert 0 < band.passes.wrong < band.passes.n < 250


def test_the_bound_is_that_of_clopper_and_pearson() -> None:
    p, right = np.full(600, 0.999), np.arange(600) >= 2

    found = risk_band(p, right, 0.02).passes

    assert (found.n, found.wrong) == (600, 2)
    assert binom.cdf(2, 600, found.high) == pytest.approx(0.025)  # all twelve limits have the same rows


@pytest.mark.parametrize("share", [0.01, 0.02, 0.1])
def test_as_many_labels_as_are_said_to_be_needed_are_enough_and_one_less_is_not(share: float) -> None:
    needed = fewest_decided(share)

    for n, high in ((needed, 0.5), (needed - 2, 1.0)):
        assert risk_band(np.append(np.full(n, 0.999), 0.6), np.ones(n + 1), share).high == high


def test_copies_of_an_answer_are_no_evidence() -> None:
    p, questions = np.full(1200, 0.999), np.repeat(np.arange(200), 6)

    assert risk_band(p, np.ones(1200), 0.02).high == 0.5
    assert risk_band(p, np.ones(1200), 0.02, questions).high == 1.0
    assert risk_band(p, np.ones(1200), 0.02, np.zeros(1200)).high == 1.0
    alone, pairs = (risk_band(p, np.ones(1200), 0.02, np.arange(1200) // size).passes.high for size in (1, 2))
    assert alone < pairs < 0.02


@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 0.004, 0.93, 0.95, 1.0]) | st.floats(0, 1), st.booleans()),
        max_size=60,
    ),
    st.floats(0.01, 0.49),
    st.integers(1, 4),
)
def test_what_is_decided_is_shown_to_be_right_and_counted_as_a_cascade_divides_rows(
    rows: list[tuple[float, bool]], share: float, size: int
) -> None:
    p, right = np.array([p for p, _ in rows]), np.array([right for _, right in rows], np.bool_)

    band = risk_band(p, right, share, np.arange(len(rows)) // size)

    assert 0.0 <= band.low <= 0.5 <= band.high <= 1.0
    assert band.low in {0.0, *DISTANCES}
    for limit, none, side, decided, wrong in (
        (band.low, 0.0, band.fails, p < band.low, right),
        (band.high, 1.0, band.passes, p > band.high, ~right),
    ):
        if limit != none:
            assert side.high <= share
            assert (side.n, side.wrong) == (decided.sum(), (decided & wrong).sum())
        else:
            assert side.high == 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.5, np.nan], [0, 1], 0.02), "p"),
        (([0.5, 1.5], [0, 1], 0.02), r"p\[1\] = 1.5 lies outside"),
        (([0.5, 0.5], [0, 2], 0.02), r"labels\[1\] = 2"),
        (([0.5, 0.5], [0, 1, 1], 0.02), "one label per row"),
        (([0.5], [1], 0.5), "share = 0.5"),
        (([0.5], [1], 0.0), "share = 0.0"),
    ],
)
def test_unusable_arguments_are_refused(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        risk_band(*arguments)
