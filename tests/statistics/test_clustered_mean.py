"""The mean of clustered rows: CR2 and its degrees of freedom against plain matrices."""

import warnings

import numpy as np
import pytest
from scipy.linalg import block_diag, inv, sqrtm

from goldmeter.statistics import mean_interval, score_interval
from goldmeter.statistics.clusters import cluster_codes, clustered_n
from goldmeter.statistics.estimate import NO_ROWS


def cr2_by_matrices(x: np.ndarray, codes: np.ndarray) -> tuple[float, float]:
    """Return variance and degrees of freedom as Bell and McCaffrey write them, for a regression on 1."""
    n = x.size
    members = [np.flatnonzero(codes == g) for g in range(codes.max() + 1)]
    residual_maker = np.eye(n) - np.ones((n, n)) / n
    adjust = [sqrtm(inv(residual_maker[np.ix_(m, m)])).real for m in members]
    assert np.allclose(block_diag(*adjust), block_diag(*adjust).T)
    vectors = np.stack([residual_maker[:, m] @ a @ np.ones(m.size) / n for m, a in zip(members, adjust, strict=True)])
    gram = vectors @ vectors.T
    return float(((vectors @ x) ** 2).sum()), float(np.trace(gram) ** 2 / (gram**2).sum())


@pytest.mark.parametrize("sizes", [[2] * 10, [1, 2, 3, 4, 5, 6], [30, 1, 1, 1], [1] * 12])
def test_variance_and_df_are_those_of_the_matrices(sizes: list[int]) -> None:
    codes = np.repeat(np.arange(len(sizes)), sizes)
    x = (np.random.default_rng(3).random(codes.size) < 0.6).astype(float)
    variance, df = cr2_by_matrices(x, codes)
    n, p = x.size, x.mean()
    touched = [
        sum(x[codes == g].any() for g in set(codes)),
        sum((1 - x[codes == g]).any() for g in set(codes)),
    ]
    events, r_max = min(touched), sum(s * s for s in sizes) / n

    n_eff, measured_df = clustered_n(x, codes)

    r = (n / n_eff * (events + 1) - r_max) / events
    assert r == pytest.approx(variance * n / (p * (1 - p)))
    assert measured_df == pytest.approx(df)


def test_equal_clusters_by_hand() -> None:
    # Ten clusters of two, half all right, half all wrong: V = 10/0.9/400, r = 2.2222, e = 5, r_max = 2.
    x, clusters = np.repeat([1.0, 0.0], 10), np.repeat(np.arange(10), 2)

    estimate = mean_interval(x, clusters)

    assert clustered_n(x, clusters) == pytest.approx((120 / (100 / 9 + 2), 9))
    assert estimate[:4] == pytest.approx((0.5, 0.2005789333, 0.7994210667, 20), abs=1e-9)
    assert str(estimate.method) == "cr2"


def test_rows_all_alike_are_worth_what_whole_clusters_are() -> None:
    clusters = np.repeat(np.arange(12), 5)

    estimate = mean_interval(np.ones(60), clusters)

    assert clustered_n(np.ones(60), clusters) == pytest.approx((12, 11))
    assert estimate[1:3] == pytest.approx(score_interval(1.0, 12, df=11), abs=1e-12)


def test_clusters_never_make_rows_worth_more_than_alone() -> None:
    rng = np.random.default_rng(8)
    for x in ((rng.random(60) < 0.5).astype(float), rng.random(60), np.tile([1.0, 0.0], 30)):
        alone, together = mean_interval(x), mean_interval(x, np.repeat(np.arange(30), 2))

        assert together.high - together.low > alone.high - alone.low


def test_copies_of_a_row_add_little_but_do_not_narrow() -> None:
    x = (np.random.default_rng(9).random(80) < 0.7).astype(float)
    once = mean_interval(x)
    copied = mean_interval(np.repeat(x, 20), np.repeat(np.arange(80), 20))

    assert 1.0 < (copied.high - copied.low) / (once.high - once.low) < 1.1


def test_labels_may_be_anything_hashable() -> None:
    x = [1.0, 0.0, 1.0, 1.0] * 10
    numbers = np.tile(np.arange(20), 2)
    expected = mean_interval(x, numbers)

    for labels in (
        numbers.tolist(),
        [f"conversation {i}" for i in numbers],
        np.array([f"c{i}" for i in numbers]),
        [("doc", int(i)) for i in numbers],
        numbers * 10**12 - 5,
        numbers.astype(np.uint8),
        numbers * 3,
        numbers / 7,
    ):
        assert mean_interval(x, labels)[:4] == pytest.approx(expected[:4], rel=1e-12)


def test_ten_clusters_do_not_warn() -> None:
    with warnings.catch_warnings(action="error"):
        mean_interval([1.0, 0.0] * 10, list(range(10)) * 2)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a", "a", "a"], "one cluster"),
        (["a", "b"], "2 labels for 3 rows"),
        (["a", "b", None], r"clusters\[2\] is missing"),
        ([1.0, float("nan"), 2.0], r"clusters\[1\] is missing"),
        (np.array([float("nan"), 1.0, 2.0]), r"clusters\[0\] is missing"),
    ],
)
def test_unusable_labels_are_refused(labels: list[object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mean_interval([1.0, 0.0, 1.0], labels)


def test_no_guarantee_is_given_for_clusters() -> None:
    with pytest.raises(ValueError, match="no interval guarantees"):
        mean_interval([1.0, 0.0], ["a", "b"], guarantee=True)


def test_no_rows_need_no_cluster() -> None:
    assert mean_interval([], []).method == NO_ROWS


def test_codes_number_clusters_from_zero_without_gaps() -> None:
    assert sorted(set(cluster_codes(np.array([7, 3, 11, 3, *range(20, 30)]), 14).tolist())) == list(range(13))
