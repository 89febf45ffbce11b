"""Laws that hold for every interval of a mean, whatever the rows."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldmeter.statistics import Estimate, mean_interval

binary = st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=40)
levels = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=40)
free = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=40)
rows = binary | levels | free
confidences = st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
pytestmark = pytest.mark.filterwarnings("ignore::goldmeter.statistics.FewClusters")
derandomized = settings(derandomize=True)


def estimates(x: list[float], confidence: float = 0.95) -> list[Estimate]:
    """Every kind of interval these rows can have."""
    found = [mean_interval(x, confidence=confidence), mean_interval(x, confidence=confidence, guarantee=True)]
    if len(x) > 1:
        found.append(mean_interval(x, [i // 3 for i in range(len(x) - 1)] + [-1], confidence=confidence))
    return found


@derandomized
@given(rows, confidences)
def test_value_is_the_mean_inside_its_limits_inside_the_bounds(x: list[float], confidence: float) -> None:
    for estimate in estimates(x, confidence):
        assert estimate.value == pytest.approx(np.mean(x), abs=1e-12)
        assert 0.0 <= estimate.low <= estimate.value <= estimate.high <= 1.0
        assert estimate.n == len(x)


@derandomized
@given(rows)
def test_more_confidence_never_narrows(x: list[float]) -> None:
    for narrow, wide in zip(estimates(x, 0.9), estimates(x, 0.99), strict=True):
        assert wide.low <= narrow.low + 1e-9
        assert wide.high >= narrow.high - 1e-9


@derandomized
@given(rows, st.sampled_from([(-1.0, 1.0), (0.0, 100.0), (2.0, 2.5)]))
def test_bounds_are_units(x: list[float], bounds: tuple[float, float]) -> None:
    lower, width = bounds[0], bounds[1] - bounds[0]
    scaled = mean_interval([min(lower + width * v, bounds[1]) for v in x], bounds=bounds)
    expected = [lower + width * v for v in mean_interval(x)[:3]]

    assert scaled[:3] == pytest.approx(expected, abs=1e-6 * width)


@derandomized
@given(rows)
def test_wrong_is_the_mirror_of_right(x: list[float]) -> None:
    x = [round(v * 2**40) / 2**40 for v in x]  # 1 - v is exact: of 1e-300 it would be 1, and binary
    for estimate, mirror in zip(estimates(x), estimates([1.0 - v for v in x]), strict=True):
        assert mirror[:3] == pytest.approx((1 - estimate.value, 1 - estimate.high, 1 - estimate.low), abs=1e-7)


@derandomized
@given(rows, st.randoms(use_true_random=False))
def test_order_of_rows_does_not_matter(x: list[float], random: st.DrawFn) -> None:
    order = list(range(len(x)))
    random.shuffle(order)  # type: ignore[attr-defined]
    shuffled = [x[i] for i in order]

    assert mean_interval(shuffled)[:3] == pytest.approx(mean_interval(x)[:3], abs=1e-9)


@derandomized
@given(rows)
def test_a_guarantee_contains_the_value_and_covers_a_constant_truth(x: list[float]) -> None:
    estimate = mean_interval(x, guarantee=True)

    assert estimate.high - estimate.low > 0.0
    assert str(estimate.method) == ("blaker" if set(x) <= {0.0, 1.0} else "gaffke")


@derandomized
@given(binary.filter(lambda x: 3 not in (sum(x), len(x) - sum(x))))  # the tail ends at three events
def test_a_nearly_binary_score_is_treated_nearly_as_binary(x: list[float]) -> None:
    nearly = mean_interval([min(v + 1e-7, 1.0) for v in x])

    assert nearly[:3] == pytest.approx(mean_interval(x)[:3], abs=2e-3)


def test_no_warning_but_ours_escapes() -> None:
    with warnings.catch_warnings(action="error"):
        for x in ([0.0] * 30, [1.0] * 30, [0.5] * 30, [1e-300] * 30, [1.0 - 1e-16] * 29 + [1.0]):
            mean_interval(x)
            mean_interval(x, guarantee=True)
            mean_interval(x, [i // 2 for i in range(30)])
