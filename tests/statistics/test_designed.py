"""Means from labels that a design chose: by hand, against an equal-probability sample, at the edges, and laws."""

import math
import warnings

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldmeter.statistics.clusters import FewClusters
from goldmeter.statistics.designed import designed_mean
from goldmeter.statistics.estimate import NO_ROWS
from goldmeter.statistics.mean import mean_interval
from goldmeter.statistics.ppi import PpiEstimate, ppi_mean

Floats = npt.NDArray[np.float64]

derandomized = settings(derandomize=True)
unit = st.floats(0.0, 1.0) | st.sampled_from([0.0, 1.0])
score = st.floats(-1e300, 1e300) | st.sampled_from([0.0, 1.0, 5e-324, 1e9])
chance = st.floats(0.0, 1.0, exclude_min=True) | st.sampled_from([1.0, 1e-9, 5e-324, 0.25])
labelled_rows = st.lists(st.tuples(unit, score, chance), max_size=20)
rest_rows = st.lists(score, max_size=20)
# Half of the rows, on which the judge is unsure, are labelled with probability 1/2, the others with 1/10.
Y, F, PI = [1, 0, 1, 0, 1, 1], [0.5, 0.5, 0.5, 0.5, 1.0, 1.0], [0.5, 0.5, 0.5, 0.5, 0.1, 0.1]
REST = [0.5] * 4 + [1.0] * 18


def test_labels_count_for_as_many_rows_as_their_probability_says() -> None:
    # 8 unsure rows of which half are right, 20 sure ones that are right; without scores (24 of 28), and with them.
    alone = designed_mean(Y, [0.0] * 6, [0.0] * 22, PI)
    helped = designed_mean(Y, F, REST, PI)

    assert alone.value == pytest.approx(24 / 28)
    assert str(alone.method) == "designed, labels alone"
    assert (alone.n, alone.n_rest, alone.weight) == (6, 22, 0.0)
    assert helped.value == pytest.approx(24 / 28)
    assert helped.low < helped.value < helped.high


def test_interval_by_hand() -> None:
    estimate = designed_mean([1, 1, 0, 1] * 5, [0] * 20, [0] * 40, [0.5, 0.5, 0.5, 0.25] * 5)
    # Shares .04 and .08, mean .8; influences .008 (10 labels), -.032 (5) and .016 (5), whose squares add up to .00704.
    # Variance 19/18 · .00704; r = .0074311 · 20 / .16. Without a score, events are the fewer of 20 · .2 wrong labels
    # and .00704² / 5.61152e-6 = 8.8 equal influences, and the worst case is 20 · .08.
    r = (4 * 0.928889 + 1.6) / 5
    n_eff, z2 = 20 / r, 1.959964**2
    centre, half = 0.8 + z2 / (2 * n_eff), math.sqrt(z2 * (0.16 / n_eff + z2 / (4 * n_eff**2)))

    assert estimate.value == pytest.approx(0.8)
    assert estimate[1:3] == pytest.approx([(centre - half) / (1 + z2 / n_eff), (centre + half) / (1 + z2 / n_eff)])


def test_equal_probabilities_are_a_random_sample() -> None:
    rng = np.random.default_rng(3)
    y = (rng.random(2000) < 0.7).astype(float)
    f = y + rng.standard_normal(2000)

    designed, random = designed_mean(y[:200], f[:200], f[200:], [0.1] * 200), ppi_mean(y[:200], f[:200], f[200:])

    assert designed.value == pytest.approx(random.value, abs=1e-12)
    assert designed.high - designed.low == pytest.approx(random.high - random.low, rel=0.05)


def test_labels_of_all_rows_are_their_mean() -> None:
    y = [1.0] * 60 + [0.0] * 40
    everything = designed_mean(y, y, [], [1.0] * 100)

    assert everything[:3] == pytest.approx(mean_interval(y)[:3], abs=0.002)


def test_a_sure_judge_that_is_wrong_once_is_believed_less() -> None:
    y, f = [1.0, 0.0] * 20 + [1.0] * 20, [0.5] * 40 + [1.0] * 20
    chances, rest = [0.5] * 40 + [0.1] * 20, [0.5] * 40 + [1.0] * 180
    right = designed_mean(y, f, rest, chances)
    wrong = designed_mean([*y[:-1], 0.0], f, rest, chances)

    assert wrong.value < right.value
    assert wrong.high - wrong.low > 1.3 * (right.high - right.low)


def test_no_labels_leave_everything_open() -> None:
    estimate = designed_mean([], [], [0.5, 0.6], [])

    assert math.isnan(estimate.value)
    assert (estimate.low, estimate.high, estimate.n, estimate.method) == (0.0, 1.0, 0, NO_ROWS)


def test_a_single_label_leaves_nearly_everything_open() -> None:
    estimate = designed_mean([1.0], [1.0], [1.0] * 99, [0.01])

    assert estimate.value == 1.0
    assert estimate.low < 0.1


def test_labels_that_are_all_equal_are_worth_no_more_than_the_largest_counts() -> None:
    # The interval of as many independent right rows as the label that counts most would be one of: 4 of .25 each.
    estimate = designed_mean([1.0] * 14, [1.0] * 14, [1.0] * 40, [0.1] * 3 + [1.0] * 11)

    assert estimate.low == pytest.approx(mean_interval([1.0] * 4).low, abs=0.03)


def test_clusters_of_one_row_are_nearly_independent_rows() -> None:
    rng = np.random.default_rng(5)
    y = (rng.random(400) < 0.8).astype(float)
    f, chances = y + rng.standard_normal(400), rng.uniform(0.1, 1.0, 100)
    rows = designed_mean(y[:100], f[:100], f[100:], chances)
    clustered = designed_mean(y[:100], f[:100], f[100:], chances, [*range(100)], [*range(100, 400)])

    assert clustered.value == rows.value
    assert clustered.high - clustered.low == pytest.approx(rows.high - rows.low, rel=0.1)  # t instead of z


def test_copies_of_rows_in_clusters_add_nothing() -> None:
    rng = np.random.default_rng(6)
    y = (rng.random(100) < 0.7).astype(float)
    chances = np.tile([0.5, 0.1], 50)
    once = designed_mean(y, [0] * 100, [], chances, [*range(100)], [])
    copied = designed_mean(np.repeat(y, 4), [0] * 400, [], np.repeat(chances, 4), np.repeat(range(100), 4), [])

    assert copied.value == pytest.approx(once.value)
    assert copied.high - copied.low == pytest.approx(once.high - once.low, rel=0.02)


def test_bounds_are_units() -> None:
    one, five = designed_mean(Y, F, REST, PI), designed_mean([5 * v for v in Y], F, REST, PI, bounds=(0, 5))

    assert five[:3] == pytest.approx([5 * v for v in one[:3]])


@pytest.mark.parametrize(
    ("probability", "message"),
    [
        ([0.5] * 5 + [0.0], r"probability\[5\] = 0.0: expected a number above 0 and at most 1"),
        ([0.5] * 5 + [1.1], r"probability\[5\] = 1.1"),
        ([0.5] * 5 + [float("nan")], r"probability\[5\] = nan is not finite"),
        ([0.5] * 5, "y has 6 rows, probability 5"),
    ],
)
def test_unusable_probabilities_are_refused(probability: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        designed_mean(Y, F, REST, probability)


@derandomized
@given(labelled_rows, rest_rows)
def test_never_raises_and_contains_its_value(rows: list[tuple[float, float, float]], rest: list[float]) -> None:
    y, f, chances = zip(*rows, strict=True) if rows else ((), (), ())
    with warnings.catch_warnings(action="error"):
        estimate = designed_mean(y, f, rest, chances)

    check(estimate, len(rows))


@derandomized
@given(labelled_rows.filter(lambda rows: len(rows) > 1), rest_rows, st.data())
def test_never_raises_with_clusters_either(
    rows: list[tuple[float, float, float]], rest: list[float], data: st.DataObject
) -> None:
    y, f, chances = zip(*rows, strict=True)
    codes = [0, 1, *data.draw(st.lists(st.integers(0, 20), min_size=len(rows) - 2, max_size=len(rows) - 2))]
    others = data.draw(st.lists(st.integers(0, 20), min_size=len(rest), max_size=len(rest)))
    with warnings.catch_warnings(action="error"):
        warnings.simplefilter("ignore", FewClusters)
        estimate = designed_mean(y, f, rest, chances, codes, others)

    check(estimate, len(rows))


def check(estimate: PpiEstimate, n: int) -> None:
    if n:
        assert 0.0 <= estimate.low <= estimate.value <= estimate.high <= 1.0
        assert estimate.labels_worth >= 0.0


@derandomized
@given(st.integers(1, 40), st.integers(0, 40), st.integers(0, 1000))
def test_wrong_is_the_mirror_of_right(n: int, n_rest: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    y, f, rest = (rng.random(n) < 0.7).astype(float), rng.random(n), rng.random(n_rest)
    chances = rng.uniform(0.05, 1.0, n)

    right, wrong = designed_mean(y, f, rest, chances), designed_mean(1 - y, 1 - f, 1 - rest, chances)

    assert wrong[:3] == pytest.approx([1 - right.value, 1 - right.high, 1 - right.low], abs=1e-9)
