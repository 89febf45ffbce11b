"""Intervals that hold together: exact limits, laws, and what they refuse."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from tasks.statistics.clusters import ClusterTotals
from tasks.statistics.estimate import NO_ROWS
from tasks.statistics.moments import Moments
from tasks.statistics.multiplicity import simultaneous_interval
from tasks.statistics.wilson import exact_interval

CLOSE = 1e-9


@pytest.mark.parametrize(("passed", "n"), [(0, 5), (3, 5), (5, 5), (49, 50), (480, 500)])
@pytest.mark.parametrize("tests", [1, 2, 60])
def test_the_limits_of_rates_are_clopper_and_pearsons_at_sidaks_level(passed: int, n: int, tests: int) -> None:
    expected = proportion_confint(passed, n, alpha=1 - 0.95 ** (1 / tests), method="beta")

    assert simultaneous_interval(Moments.of_passes(n, passed), tests=tests)[1:3] == pytest.approx(expected, abs=CLOSE)


def test_degrees_of_freedom_cost_effective_rows() -> None:
    t, z = 2.262157, 1.959964  # quantiles of t(9) and the normal distribution

    assert exact_interval(0.8, 50, df=9) == pytest.approx(exact_interval(0.8, 50 * (z / t) ** 2), abs=1e-6)


def test_bands_in_other_bounds_are_those_in_0_to_1_rescaled() -> None:
    scores = np.array([1.0, 2.0, 4.0, 5.0, 5.0, 5.0])
    unit = simultaneous_interval(Moments.of((scores - 1) / 4, (0.0, 1.0)), tests=3)
    band = simultaneous_interval(Moments.of(scores, (1.0, 5.0)), None, (1.0, 5.0), 3)

    assert band[:3] == pytest.approx([1 + 4 * limit for limit in unit[:3]], abs=CLOSE)


def test_one_cluster_and_no_rows_have_no_limits_but_the_bounds() -> None:
    one = ClusterTotals(np.array([8.0]), np.array([6.0]))

    assert simultaneous_interval(Moments.of_passes(8, 6), one, tests=2)[:3] == (0.75, 0.0, 1.0)
    assert simultaneous_interval(Moments(), tests=2)[1:] == (0.0, 1.0, 0, NO_ROWS)


@pytest.mark.parametrize(("tests", "confidence"), [(0, 0.95), (-1, 0.95), (2, 1.0), (2, 0.0), (2, float("nan"))])
def test_what_is_no_family_is_refused(tests: int, confidence: float) -> None:
    with pytest.raises(ValueError, match="expected"):
        simultaneous_interval(Moments.of_passes(8, 6), tests=tests, confidence=confidence)


@given(
    st.lists(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]) | st.floats(0, 1), min_size=1, max_size=40),
    st.integers(1, 10_000),
    st.integers(1, 9),
)
def test_more_slices_widen_a_band_and_it_holds_its_value(values: list[float], tests: int, groups: int) -> None:
    scores = np.array(values)
    codes = np.arange(len(scores)) % groups
    clusters = ClusterTotals(np.bincount(codes).astype(float), np.bincount(codes, weights=scores))
    for own in (None, clusters):
        narrow, wide = (
            simultaneous_interval(Moments.of(scores, (0.0, 1.0)), own, tests=count) for count in (tests, tests + 1)
        )
        assert 0.0 <= wide.low <= narrow.low + CLOSE
        assert narrow.low <= narrow.value <= narrow.high
        assert narrow.high - CLOSE <= wide.high <= 1.0
