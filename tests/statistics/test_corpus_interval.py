"""The jackknife of a corpus score: values by hand, edges and refusals."""

import math
import warnings

import numpy as np
import numpy.typing as npt
import pytest

from benchmarks.coverage.arrays import corpus_interval
from goldmeter.statistics import FewRows
from goldmeter.statistics.estimate import NO_ROWS, Method

Floats = npt.NDArray[np.float64]


def ratio(stats: Floats) -> Floats:
    """Return the corpus score: matches over length."""
    with np.errstate(invalid="ignore"):
        return np.asarray(stats[..., 0] / stats[..., 1])


def test_of_a_mean_is_the_t_interval() -> None:
    x = np.tile([0.1, 0.2, 0.9, 0.4], 15)
    # mean 0.4, s² = 60·0.095/59, t(59) = 2.0009953781
    half = 2.000995378 * math.sqrt(0.095 / 59)

    estimate = corpus_interval(np.column_stack([x, np.ones(60)]), ratio)

    assert estimate[:4] == pytest.approx((0.4, 0.4 - half, 0.4 + half, 60), abs=1e-9)
    assert str(estimate.method) == "jackknife"


def test_of_two_rows_by_hand() -> None:
    # 1/1 and 0/3: corpus 1/4; without the first 0, without the second 1; t(1) = 12.706
    with pytest.warns(FewRows, match="2 rows"):
        estimate = corpus_interval([[1, 1], [0, 3]], ratio, bounds=(-100, 100))

    assert estimate[:3] == pytest.approx((0.25, 0.25 - 12.7062 * 0.5, 0.25 + 12.7062 * 0.5), abs=1e-4)


def test_deletes_whole_clusters() -> None:
    stats = np.array([[1.0, 1.0], [0.0, 1.0], [1.0, 1.0]] * 20)
    doubled = np.repeat(stats, 2, axis=0)

    once = corpus_interval(stats, ratio)
    twice = corpus_interval(doubled, ratio, clusters=np.repeat(np.arange(60), 2))

    assert twice[:3] == pytest.approx(once[:3], abs=1e-12)
    assert twice.n == 120


def test_limits_stay_within_the_bounds() -> None:
    stats = np.ones((60, 2))
    stats[0, 0] = 0.0

    assert corpus_interval(stats, ratio).high == 1.0
    assert corpus_interval(100 * stats, lambda s: 100 * ratio(s), bounds=(0, 100)).high == 100.0


def test_fifty_rows_do_not_warn() -> None:
    with warnings.catch_warnings(action="error"):
        corpus_interval(np.ones((50, 2)), ratio)


@pytest.mark.filterwarnings("ignore::goldmeter.statistics.FewRows")
def test_one_row_has_a_value_but_no_spread() -> None:
    assert corpus_interval([[1, 2]], ratio) == (0.5, 0.0, 1.0, 1, Method("jackknife undefined"))


@pytest.mark.filterwarnings("ignore::goldmeter.statistics.FewRows")
def test_a_score_that_hangs_on_one_row_has_no_spread() -> None:
    assert corpus_interval([[1, 2], [0, 0], [0, 0]], ratio)[1:] == (0.0, 1.0, 3, Method("jackknife undefined"))


@pytest.mark.filterwarnings("ignore::goldmeter.statistics.FewRows")
def test_an_undefined_score_is_not_a_number() -> None:
    estimate = corpus_interval([[0, 0], [0, 0]], ratio)

    assert math.isnan(estimate.value)
    assert estimate[1:] == (0.0, 1.0, 2, Method("undefined score"))


def test_no_rows() -> None:
    estimate = corpus_interval(np.empty((0, 2)), ratio)

    assert math.isnan(estimate.value)
    assert estimate[1:] == (0.0, 1.0, 0, NO_ROWS)


@pytest.mark.parametrize(("bounds", "outside"), [((0.0, 1.0), (True, False)), ((0.0, np.inf), (True, False))])
def test_rows_that_all_score_alike_leave_room_for_others(bounds, outside):
    rows = np.tile([2.0, 2.0], (50, 1))

    estimate = corpus_interval(rows, lambda sums: sums[..., 0] / sums[..., 1], bounds=bounds)

    assert (estimate.low < estimate.value, estimate.high > estimate.value) == outside
    assert 0.9 < estimate.low < 0.95
