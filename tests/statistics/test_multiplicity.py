"""Families of tests: critical values against integrals, simultaneous intervals, laws and refusals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import ndtr
from scipy.stats import norm
from statsmodels.stats.proportion import proportion_confint

from benchmarks.coverage.arrays import max_t
from goldmeter.statistics.clusters import ClusterTotals
from goldmeter.statistics.estimate import NO_ROWS
from goldmeter.statistics.moments import Moments
from goldmeter.statistics.multiplicity import sidak, simultaneous_interval
from goldmeter.statistics.wilson import exact_interval

derandomized = settings(derandomize=True)
cells = st.floats(-1.0, 1.0, allow_subnormal=False).map(lambda v: round(v, 3))
tables = st.integers(1, 4).flatmap(
    lambda k: st.lists(st.lists(cells, min_size=k, max_size=k), min_size=1, max_size=12).map(np.array)
)


def correlated(metrics: int, correlation: float) -> np.ndarray:
    """Rows whose columns have exactly this correlation."""
    target = np.full((metrics, metrics), correlation)
    np.fill_diagonal(target, 1.0)
    return np.linalg.cholesky(target).T


def equicorrelated(metrics: int, correlation: float, alpha: float) -> float:
    """Return the quantile by integrating over the part that all metrics share."""

    def excess(c: float) -> float:
        def beyond(u: float) -> float:
            shift, scale = correlation**0.5 * u, (1 - correlation) ** 0.5
            inside = ndtr((c - shift) / scale) - ndtr((-c - shift) / scale)
            return float(norm.pdf(u) * -np.expm1(metrics * np.log(max(inside, 1e-300))))

        return float(quad(beyond, -10, 10, points=[-4, 0, 4], limit=200, epsabs=1e-12)[0]) - alpha

    return float(brentq(excess, 1.0, 8.0, xtol=1e-6))


@pytest.mark.parametrize(
    ("metrics", "correlation", "alpha"),
    [(2, 0.95, 0.001), (15, 0.3, 1.3e-5), (60, 0.8, 0.05)],
)
def test_critical_value_is_that_of_the_integral(metrics: int, correlation: float, alpha: float) -> None:
    c = max_t(correlated(metrics, correlation), confidence=1 - alpha)

    assert c == pytest.approx(equicorrelated(metrics, correlation, alpha), abs=0.01)


def test_unrelated_metrics_need_sidaks_value() -> None:
    assert max_t(np.eye(15)) == pytest.approx(2.9277, abs=0.005)  # 2·Φ(2.9277) - 1 = 0.95^(1/15)


@pytest.mark.parametrize("copies", [2, 5, 30])
def test_copies_of_a_metric_cost_nothing(copies: int) -> None:
    rows = np.tile([[0.3], [-0.1], [-0.2]], (1, copies))

    assert max_t(rows) == pytest.approx(1.95996, abs=0.01)


def test_metrics_that_depend_on_each_other_have_a_value() -> None:
    basis = np.random.default_rng(0).normal(size=(300, 20))
    rows = np.column_stack([basis, basis[:, :1] - basis[:, 1:], basis @ basis[:20]])

    assert 3.0 < max_t(rows) < 3.34  # 59 metrics; Šidák's value is 3.33


def test_one_metric_has_the_normal_quantile_exactly() -> None:
    assert max_t([[0.2], [-0.2]]) == pytest.approx(1.959963984540054, abs=1e-15)


def test_metrics_without_spread_leave_the_family() -> None:
    rows = np.array([[1.0, 0.0, 1e-17], [-1.0, 0.0, -1e-17]])

    assert max_t(rows) == max_t(rows[:, :1])
    assert max_t(np.zeros((4, 3))) == max_t(np.zeros((0, 3))) == max_t(rows[:, :1])


def test_neither_order_of_rows_nor_scale_matters() -> None:
    rows = np.random.default_rng(1).normal(size=(400, 6)) @ np.random.default_rng(2).normal(size=(6, 6))

    assert max_t(rows[::-1]) == max_t(rows) == max_t(rows * [1, 10, 100, 0.1, 5, 3])


def test_clusters_are_summed() -> None:
    # Within a pair of rows the second metric repeats the first; the sums are equal, the rows unrelated.
    pairs = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]] * 6)
    clusters = np.repeat(np.arange(12), 2)

    assert max_t(pairs) == pytest.approx(2.2365, abs=0.003)
    assert max_t(pairs, clusters) == pytest.approx(1.95996, abs=0.003)


def test_adding_a_metric_never_lowers_the_value_but_for_noise() -> None:
    rows = np.random.default_rng(4).normal(size=(300, 12)) + np.random.default_rng(5).normal(size=(300, 1))
    values = [max_t(rows[:, :k]) for k in range(1, 13)]

    assert np.diff(values).min() > -0.005


@derandomized
@given(tables, st.sampled_from([0.5, 0.95, 0.9999]))
def test_value_lies_between_a_single_tests_and_sidaks(rows: np.ndarray, confidence: float) -> None:
    single, sidak = norm.isf((1 - confidence) / 2), norm.isf((1 - confidence ** (1 / rows.shape[1])) / 2)

    assert single - 1e-9 <= max_t(rows, confidence=confidence) <= sidak + 1e-9


def test_influences_that_are_not_finite_are_refused() -> None:
    with pytest.raises(ValueError, match=r"influence\[:, 1\] is not finite"):
        max_t([[1.0, float("nan")]])


def test_confidence_is_a_share() -> None:
    with pytest.raises(ValueError, match=r"0\.95"):
        max_t(np.eye(2), confidence=95)
    with pytest.raises(ValueError, match=r"0\.95"):
        sidak(2, 95)


@pytest.mark.parametrize(
    ("tests", "confidence", "expected"),
    [(1, 0.95, 1.959964), (2, 0.95, 2.236477), (15, 0.95, 2.927798), (201, 0.95, 3.657027), (1, 0.9, 1.644854)],
)
def test_sidaks_value_is_that_of_so_many_unrelated_tests(tests: int, confidence: float, expected: float) -> None:
    assert sidak(tests, confidence) == pytest.approx(expected, abs=1e-6)
    assert (2 * ndtr(sidak(tests, confidence)) - 1) ** tests == pytest.approx(confidence, abs=1e-12)


def test_sidaks_value_is_there_for_more_tests_than_anybody_has() -> None:
    assert sidak(10**9, 0.9999) == pytest.approx(7.3, abs=0.2)
    assert np.diff([sidak(k) for k in (1, 2, 10, 200, 10**6)]).min() > 0.1


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
