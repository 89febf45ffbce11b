"""Prediction-powered means: against ppi-python, by hand, at the edges, and laws."""

import math
import warnings

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from goldmeter.statistics.clusters import FewClusters
from goldmeter.statistics.cross_fit import cross_fitted
from goldmeter.statistics.estimate import NO_ROWS, Method
from goldmeter.statistics.mean import mean_interval
from goldmeter.statistics.ppi import PpiEstimate, ppi_mean

Floats = npt.NDArray[np.float64]

derandomized = settings(derandomize=True)
unit = st.floats(0.0, 1.0) | st.sampled_from([0.0, 1.0])
score = st.floats(-1e300, 1e300) | st.sampled_from([0.0, 1.0, 5e-324, 1e9, 1e9 + 1e-6])
labelled_rows = st.lists(st.tuples(unit, score), max_size=30)
rest_rows = st.lists(score, max_size=30)


def example(n: int, n_rest: int, *, noise: float = 0.5, seed: int = 1) -> tuple[Floats, Floats, Floats]:
    """Binary labels and a noisy score of them."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n + n_rest) < 0.6).astype(np.float64)
    f = y + noise * rng.standard_normal(y.size)
    return y[:n], f[:n], f[n:]


def width(estimate: PpiEstimate) -> float:
    return estimate.high - estimate.low


def test_agrees_with_ppi_python_on_many_rows() -> None:
    estimate = ppi_mean(*example(5000, 20_000))

    # ppi-python 0.2.3: ppi_mean_pointestimate with our weight, ppi_mean_ci with its own (Wald's). A constant, as its
    # package would install a second `tests`.
    assert estimate.value == pytest.approx(0.60397233, abs=1e-8)
    assert estimate[1:3] == pytest.approx((0.59338453, 0.61456102), abs=1e-4)
    assert width(estimate) == pytest.approx(0.61456102 - 0.59338453, rel=1e-3)
    assert estimate.weight == pytest.approx(0.39, abs=0.01)  # 0.24 / (0.24 + 0.25) / 1.25


def test_weight_value_and_interval_by_hand() -> None:
    # 24 of 40 labels right, 16 scored 1, both in all of these; of all 1040 scores 516 are 1
    slope = ((0.4 - 0.6 * 0.4) * 40 / 39) / ((516 * 524 / 1040) / 1039)
    weight = slope * 1000 / 1040
    # y - weight·f: 1 - weight twice, 1, 0 twice
    spread = (2 * (1 - weight) ** 2 + 1) / 5 - ((3 - 2 * weight) / 5) ** 2
    variance = (spread * 40 / 39 / 40 + weight**2 * 0.25 * 1000 / 999 / 1000) * 39 / 38
    value = 0.6 + weight * 0.1
    n_eff = 40 * (16 + 2) / (16 * variance * 40 / (value * (1 - value)) + 2)
    z = 1.959963984540054
    centre = (value + z**2 / (2 * n_eff)) / (1 + z**2 / n_eff)
    half = z * math.sqrt(value * (1 - value) / n_eff + z**2 / (4 * n_eff**2)) / (1 + z**2 / n_eff)

    estimate = ppi_mean([1, 1, 1, 0, 0] * 8, [1, 1, 0, 0, 0] * 8, [1, 0] * 500)

    assert estimate[:4] == pytest.approx((value, centre - half, centre + half, 40), abs=1e-12)
    assert str(estimate.method) == "ppi"
    assert estimate.n_rest == 1000
    assert estimate.weight == pytest.approx(weight, abs=1e-12)


def test_labels_worth_are_the_labels_alone_that_are_as_narrow() -> None:
    y, f, rest = example(400, 40_000)

    estimate = ppi_mean(y, f, rest)
    share, worth = estimate.value, round(estimate.labels_worth)
    alone = mean_interval(np.arange(worth) < share * worth)

    assert 650 < worth < 850
    assert width(estimate) == pytest.approx(alone.high - alone.low, rel=0.02)


def test_a_score_that_says_nothing_costs_nothing() -> None:
    y, _, _ = example(60, 0)
    for f, rest in ((np.ones(60), np.ones(300)), (1.0 - y, np.zeros(300)), (np.full(60, 0.1), np.full(300, 0.1))):
        estimate = ppi_mean(y, f, rest)

        assert estimate[:4] == mean_interval(y)[:4]
        assert estimate[4:] == (Method("labels alone"), 300, 0.0, 60.0)


@pytest.mark.parametrize("label", [0.0, 0.3, 1.0])
def test_constant_labels_are_labels_alone(label: float) -> None:
    y = np.full(30, label)
    _, f, rest = example(30, 200)

    assert ppi_mean(y, f, rest)[1:3] == mean_interval(y)[1:3]


@pytest.mark.parametrize(("n", "n_rest"), [(1, 50), (2, 50), (30, 0), (30, 1), (1, 0)])
def test_too_few_rows_are_labels_alone(n: int, n_rest: int) -> None:
    y, f, rest = example(n, n_rest)

    estimate = ppi_mean(y, f, rest)

    assert estimate[:4] == mean_interval(y)[:4]
    assert estimate[4:] == (Method("labels alone"), n_rest, 0.0, float(n))


def test_no_labels_leave_everything_open() -> None:
    estimate = ppi_mean([], [], [0.5, 0.7], clusters=[], rest_clusters=["a", "b"], bounds=(-1, 1))

    assert math.isnan(estimate.value)
    assert estimate[1:] == (-1.0, 1.0, 0, NO_ROWS, 2, 0.0, 0.0)


@pytest.mark.parametrize(("factor", "shift"), [(1e-9, 0.0), (250.0, -7.0), (1e200, 0.0)])
def test_the_scale_of_the_score_does_not_matter(factor: float, shift: float) -> None:
    y, f, rest = example(50, 300)
    plain, scaled = ppi_mean(y, f, rest), ppi_mean(y, factor * f + shift, factor * rest + shift)

    assert scaled[:3] == pytest.approx(plain[:3], abs=1e-9)
    assert scaled.weight * factor == pytest.approx(plain.weight, rel=1e-9)


def test_bounds_are_units() -> None:
    y, f, rest = example(50, 300)
    plain, grades = ppi_mean(y, f, rest), ppi_mean(1 + 4 * y, f, rest, bounds=(1, 5))

    assert grades[:3] == pytest.approx([1 + 4 * x for x in plain[:3]], abs=1e-12)
    assert grades.weight == pytest.approx(4 * plain.weight)
    assert grades.labels_worth == pytest.approx(plain.labels_worth)


def test_clusters_of_one_row_are_nearly_independent_rows() -> None:
    y, f, rest = example(300, 900)
    rows, ones = ppi_mean(y, f, rest), ppi_mean(y, f, rest, np.arange(300), 300 + np.arange(900))

    assert ones.value == rows.value
    assert 1.0 <= width(ones) / width(rows) < 1.01  # t(299)


def test_copies_of_rows_add_nothing() -> None:
    y, f, rest = example(100, 400)
    clusters, rest_clusters = [f"c{i}" for i in range(100)], [f"r{i}" for i in range(400)]
    once = ppi_mean(y, f, rest, clusters, rest_clusters)
    copied = ppi_mean(np.repeat(y, 5), np.repeat(f, 5), np.repeat(rest, 5), clusters * 5, rest_clusters * 5)
    in_order = ppi_mean(
        np.repeat(y, 5), np.repeat(f, 5), np.repeat(rest, 5), np.repeat(clusters, 5), np.repeat(rest_clusters, 5)
    )

    assert str(once.method) == str(in_order.method) == "ppi"
    assert width(in_order) == pytest.approx(width(once), rel=0.02)
    assert copied.n == 500


def test_clusters_that_both_parts_share_are_less_than_their_sum() -> None:
    rng = np.random.default_rng(4)
    codes = rng.permutation(np.repeat(np.arange(60), 20))
    f = rng.standard_normal(60)[codes] + 0.3 * rng.standard_normal(1200)
    y = (f + 0.5 * rng.standard_normal(1200) > 0).astype(float)
    shared = ppi_mean(y[:300], f[:300], f[300:], codes[:300], codes[300:])
    apart = ppi_mean(y[:300], f[:300], f[300:], codes[:300], codes[300:] + 100)

    assert width(shared) > width(apart)


def test_few_clusters_warn_in_the_name_of_the_caller() -> None:
    y, f, rest = example(27, 90)
    with pytest.warns(FewClusters, match="9 clusters") as caught:
        ppi_mean(y, f, rest, np.arange(27) % 9, np.arange(90))

    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize("groups", [2, 3])
@pytest.mark.filterwarnings("ignore::goldmeter.statistics.FewClusters")
def test_two_clusters_or_a_single_one_of_the_rest_leave_the_labels_alone(groups: int) -> None:
    y, f, rest = example(30, 90)
    codes = np.arange(30) % groups
    rest_codes = np.zeros(90, dtype=int) if groups == 3 else np.arange(90)

    estimate = ppi_mean(y, f, rest, codes, rest_codes)

    assert estimate[:3] == mean_interval(y, codes)[:3]
    assert str(estimate.method) == "labels alone"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, math.nan], [1, 2], [1, 2]), r"y\[1\] = nan"),
        (([0, 1], [1, math.nan], [1, 2]), r"f_labelled\[1\] = nan"),
        (([0, 1], [1, 2], [math.inf, 2]), r"f_rest\[0\] = inf"),
        (([0, 2], [1, 2], [1, 2]), r"y\[1\] = 2.0 lies outside \(0.0, 1.0\)"),
        (([0, 1], [1], [1, 2]), "y has 2 rows, f_labelled 1"),
        (([[0, 1]], [1, 2], [1, 2]), r"y has shape \(1, 2\)"),
        (([0, 1], [[1, 2]], [1, 2]), r"f_labelled has shape \(1, 2\)"),
        (([0, 1], [1, 2], [1, 2], ["a", "b"]), "rest_clusters is missing"),
        (([0, 1], [1, 2], [1, 2], None, ["a", "b"]), "clusters is missing"),
        (([0, 1], [1, 2], [1, 2], ["a", "b"], ["a"]), "rest_clusters has 1 labels for 2 rows"),
        (([0, 1], [1, 2], [1, 2], ["a", "a"], ["a", "b"]), "in one cluster"),
        (([0, 1], [1, 2], [1, 2], None, None, (1, 0)), "lower < upper"),
        (([0, 1], [1, 2], [1, 2], None, None, (0, math.inf)), "finite bounds"),
        (([0, 1], [1, 2], [1, 2], None, None, (0, 1), 1.0), "confidence = 1.0"),
    ],
)
@pytest.mark.filterwarnings("ignore::goldmeter.statistics.FewClusters")
def test_unusable_arguments_are_refused_by_name(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ppi_mean(*arguments)  # type: ignore[arg-type]


def test_a_missing_cluster_of_the_rest_is_named() -> None:
    y, f, rest = example(20, 3)
    with pytest.raises(ValueError, match=r"rest_clusters\[2\] is missing"):
        ppi_mean(y, f, rest, list(range(20)), ["a", "b", None])


@derandomized
@given(labelled_rows, rest_rows, st.sampled_from([0.5, 0.95, 0.999]))
def test_never_raises_warns_or_is_wider_than_the_labels_alone(
    labelled: list[tuple[float, float]], rest: list[float], confidence: float
) -> None:
    y, f = [row[0] for row in labelled], [row[1] for row in labelled]
    with warnings.catch_warnings(action="error"):
        estimate = ppi_mean(y, f, rest, confidence=confidence)
    alone = mean_interval(y, confidence=confidence)

    assert width(estimate) <= alone.high - alone.low
    assert estimate.labels_worth >= estimate.n == len(y)
    assert estimate.weight >= 0.0
    if y:
        assert 0.0 <= estimate.low <= estimate.value <= estimate.high <= 1.0


@derandomized
@given(labelled_rows.filter(lambda rows: len(rows) > 1), rest_rows, st.integers(1, 6))
@pytest.mark.filterwarnings("ignore::goldmeter.statistics.FewClusters")
def test_never_raises_with_clusters_either(labelled: list[tuple[float, float]], rest: list[float], size: int) -> None:
    y, f = [row[0] for row in labelled], [row[1] for row in labelled]
    clusters = [i // size for i in range(len(y) - 1)] + [-1]
    estimate = ppi_mean(y, f, rest, clusters, [i // 3 for i in range(len(rest))])
    alone = mean_interval(y, clusters)

    assert width(estimate) <= alone.high - alone.low
    assert 0.0 <= estimate.low <= estimate.value <= estimate.high <= 1.0


@derandomized
@given(st.integers(3, 40), st.integers(2, 60), st.integers(0, 1000))
def test_wrong_is_the_mirror_of_right(n: int, n_rest: int, seed: int) -> None:
    y, f, rest = example(n, n_rest, seed=seed)
    right, wrong = ppi_mean(y, f, rest), ppi_mean(1 - y, -f, -rest)

    assert wrong[:3] == pytest.approx((1 - right.value, 1 - right.high, 1 - right.low), abs=1e-7)


def table(n: int, n_rest: int, columns: int = 4) -> tuple[Floats, Floats, Floats]:
    """Binary labels and several noisy scores of them, one of them constant."""
    rng = np.random.default_rng(7)
    y = (rng.random(n + n_rest) < 0.7).astype(np.float64)
    x = np.column_stack([y[:, None] + rng.standard_normal((y.size, columns - 1)), np.full(y.size, 3.0)])
    return y[:n], x[:n], x[n:]


def test_cross_fitted_is_the_regression_of_scikit_learn_without_the_fold() -> None:
    y, x, rest = table(100, 50)
    inside, outside = cross_fitted(y, x, rest)
    both = np.concatenate([x, rest])[:, :3]
    both = (both - both.mean(axis=0)) / both.std(axis=0)
    order = np.lexsort([y, *x.T[::-1]])
    expected, mean = np.empty(100), np.zeros(50)
    for first in range(5):
        held = order[first::5]
        seen = np.setdiff1d(order, held)
        model = LogisticRegression(C=1.0, tol=1e-10, max_iter=1000).fit(both[seen], y[seen])
        expected[held] = model.predict_proba(both[held])[:, 1]
        mean += model.predict_proba(both[100:])[:, 1] / 5

    assert inside == pytest.approx(expected, abs=2e-3)  # our intercept has a weak prior, theirs none
    assert outside == pytest.approx(mean, abs=2e-3)


def test_several_scores_are_worth_more_than_one() -> None:
    y, x, rest = table(150, 2000)
    one, several = ppi_mean(y, x[:, 0], rest[:, 0]), ppi_mean(y, *cross_fitted(y, x, rest))

    assert several.labels_worth > 1.2 * one.labels_worth


def test_the_order_of_rows_does_not_matter() -> None:
    y, x, rest = table(80, 200)
    order = np.random.default_rng(1).permutation(80)
    inside, outside = cross_fitted(y, x, rest)
    shuffled, same = cross_fitted(y[order], x[order], rest)

    assert shuffled == pytest.approx(inside[order], abs=1e-7)
    assert same == pytest.approx(outside, abs=1e-7)


def test_no_row_is_scored_by_a_model_that_has_seen_its_label_or_its_cluster() -> None:
    y, x, rest = table(60, 5)
    clusters = np.arange(60) // 6
    inside, _ = cross_fitted(y, x, rest, clusters)
    changed = y.copy()
    changed[:6] = 1.0 - y[:6]
    again, _ = cross_fitted(changed, x, rest, clusters)

    # the scores decide the folds before the labels do, so they stay
    assert again[:6] == pytest.approx(inside[:6], abs=1e-9)
    assert np.abs(again[6:] - inside[6:]).max() > 1e-3


def test_scores_stay_within_the_bounds() -> None:
    y, x, rest = table(60, 100)
    inside, outside = cross_fitted(1 + 4 * y, x, rest, bounds=(1, 5))
    units = cross_fitted(y, x, rest)

    assert inside == pytest.approx(1 + 4 * units[0])
    assert outside == pytest.approx(1 + 4 * units[1])
    assert 1.0 < outside.min() < outside.max() < 5.0


@pytest.mark.parametrize(
    ("y", "columns"), [([], 2), ([1.0], 2), ([1.0] * 9, 2), ([0.0, 1.0] * 9, 0), ([0.5] * 4, 1), ([0, 1, 1], 3)]
)
def test_few_or_constant_labels_give_scores_all_the_same(y: list[float], columns: int) -> None:
    rng = np.random.default_rng(2)
    inside, outside = cross_fitted(y, rng.random((len(y), columns)), rng.random((40, columns)))
    estimate = ppi_mean(y, inside, outside)

    assert inside.shape == (len(y),)
    assert outside.shape == (40,)
    assert np.isfinite(inside).all()
    assert width(estimate) <= mean_interval(y).high - mean_interval(y).low


@derandomized
@given(
    st.lists(st.tuples(unit, score, score), max_size=20), st.lists(st.tuples(score, score), max_size=20), st.booleans()
)
def test_cross_fitting_never_raises_or_warns(
    labelled: list[tuple[float, float, float]], rest: list[tuple[float, float]], grouped: bool
) -> None:
    y = [row[0] for row in labelled]
    x = np.array([row[1:] for row in labelled], dtype=float).reshape(-1, 2)
    clusters = list(range(len(y))) if grouped and len(y) > 1 else None
    with warnings.catch_warnings(action="error"):
        inside, outside = cross_fitted(y, x, np.array(rest, dtype=float).reshape(-1, 2), clusters)

    assert ((inside >= 0.0) & (inside <= 1.0)).all()
    assert ((outside >= 0.0) & (outside <= 1.0)).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [[1.0], [math.nan]], [[1.0]]), r"x_labelled\[1\] = \[nan\]"),
        (([0, 1], [[1.0], [2.0]], [[math.inf]]), r"x_rest\[0\] = \[inf\]"),
        (([0, 3], [[1.0], [2.0]], [[1.0]]), r"y\[1\] = 3.0 lies outside"),
        (([0, 1], [1.0, 2.0], [[1.0]]), r"x_labelled has shape \(2,\)"),
        (([0, 1], [[1.0]], [[1.0]]), "y has 2 rows, x_labelled 1"),
        (([0, 1], [[1.0], [2.0]], [[1.0, 2.0]]), "x_labelled has 1 columns, x_rest 2"),
    ],
)
def test_unusable_tables_are_refused_by_name(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cross_fitted(*arguments)  # type: ignore[arg-type]
