"""Quantiles: ranks by brute force, published tables, laws on any data; differences; the mean's t."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, ttest_1samp
from scipy.stats.mstats import mquantiles_cimj

from goldmeter.statistics.quantiles import average_interval, fewest_rows, quantile_difference, quantile_interval

pytestmark = pytest.mark.filterwarnings("ignore::goldmeter.statistics.FewClusters")
values = st.lists(st.floats(0.0, 1e6) | st.sampled_from([0.0, 1.0, 2.0]), min_size=1, max_size=80)
shares = st.sampled_from([0.5, 0.9, 0.95, 0.99, 0.05, 0.123])
confidences = st.sampled_from([0.8, 0.9, 0.95, 0.99])


def brute_force(n: int, share: float, confidence: float) -> tuple[float, float]:
    """The innermost ranks whose binomial tails are at most half of what confidence leaves; infinite: none."""
    tail = (1.0 - confidence) / 2.0
    ranks = np.arange(1, n + 1)
    low = ranks[binom.cdf(ranks - 1, n, share) <= tail * (1.0 + 1e-9)]
    high = ranks[binom.sf(ranks - 1, n, share) <= tail * (1.0 + 1e-9)]
    return (low[-1] if low.size else -np.inf), (high[0] if high.size else np.inf)


@given(st.integers(1, 400), shares, confidences)
def test_ranks_are_those_of_brute_force(n: int, share: float, confidence: float) -> None:
    found = quantile_interval(np.arange(1.0, n + 1.0), share, confidence=confidence)

    assert (found.low, found.high) == brute_force(n, share, confidence)


@pytest.mark.parametrize(
    ("n", "rank"), [(6, 1), (10, 2), (15, 4), (20, 6), (25, 8), (50, 18), (100, 40)]
)  # Conover, Practical Nonparametric Statistics, table A3; Hollander & Wolfe, table of the sign test
def test_limits_of_the_median_are_those_of_tables(n: int, rank: int) -> None:
    found = quantile_interval(range(1, n + 1), 0.5)

    assert (found.low, found.high) == (rank, n + 1 - rank)


@given(values, shares, confidences, st.randoms())
def test_laws(x: list[float], share: float, confidence: float, random: object) -> None:
    found = quantile_interval(x, share, confidence=confidence)
    mixed = [*x]
    random.shuffle(mixed)  # type: ignore[attr-defined]

    assert found.low <= found.value <= found.high
    assert found.value == np.quantile(x, share, method="inverted_cdf")
    assert {found.low, found.high} <= {*x, -np.inf, np.inf}
    assert found == quantile_interval(mixed, share, confidence=confidence)
    assert quantile_interval(x, share, range(len(x)) if len(x) > 1 else None, confidence).n == len(x)
    wider = quantile_interval(x, share, confidence=0.999)
    assert wider.low <= found.low <= found.high <= wider.high


def test_few_rows_have_no_limits_and_say_how_many_it_takes() -> None:
    assert fewest_rows(0.95) == (2, 72)
    below, enough = (quantile_interval(range(n), 0.95) for n in (71, 72))

    assert (below.high, enough.high) == (np.inf, 71.0)
    assert str(below.method) == "order statistics; no upper limit: fewer than 72 independent rows"
    assert str(enough.method) == "order statistics"
    assert str(quantile_interval([3.0], 0.5).method).endswith("no limits: fewer than 6 independent rows")
    assert quantile_interval([], 0.5)[1:4] == (-np.inf, np.inf, 0)


def test_it_agrees_with_an_asymptotic_interval_on_many_rows() -> None:
    x = np.random.default_rng(0).lognormal(size=20_000)
    low, high = (float(limit[0]) for limit in mquantiles_cimj(x, prob=[0.95]))
    found = quantile_interval(x, 0.95)

    assert found.low == pytest.approx(low, abs=0.15 * (high - low))
    assert found.high == pytest.approx(high, abs=0.15 * (high - low))


def test_clusters_of_equal_rows_count_once() -> None:
    clusters = np.repeat(np.arange(40), 10)
    x = np.random.default_rng(0).lognormal(size=40)[clusters]
    of_rows, found = quantile_interval(x, 0.5), quantile_interval(x, 0.5, clusters)
    of_clusters = quantile_interval(x[::10], 0.5)

    assert found.low <= of_clusters.low
    assert of_clusters.high <= found.high
    assert of_rows.high - of_rows.low < found.high - found.low
    assert str(found.method) == "order statistics, clusters"


@pytest.mark.parametrize("share", [0.0, 1.0, -0.5, float("nan")])
def test_no_share_but_one_between_0_and_1(share: float) -> None:
    with pytest.raises(ValueError, match="expected a number between 0 and 1"):
        quantile_interval([1.0], share)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_values_that_are_not_finite_are_refused(bad: float) -> None:
    for call in (lambda x: quantile_interval(x, 0.5), average_interval, lambda x: quantile_difference(x, x, 0.5)):
        with pytest.raises(ValueError, match="not finite"):
            call([1.0, bad])


@given(st.lists(st.tuples(st.floats(0, 1e3), st.floats(0, 1e3)), min_size=1, max_size=80), shares)
def test_laws_of_differences(pairs: list[tuple[float, float]], share: float) -> None:
    base, head = np.array(pairs).T
    found, mirrored = quantile_difference(base, head, share), quantile_difference(head, base, share)
    union = (found.head.low - found.base.high, found.head.high - found.base.low)

    assert found.low <= found.value <= found.high
    assert found.value == found.head.value - found.base.value
    assert (mirrored.low, mirrored.high) == pytest.approx((-found.high, -found.low))
    assert union[0] - 1e-9 <= found.low
    assert found.high <= union[1] + 1e-9
    assert np.isinf(found.low) == np.isinf(union[0])


def test_pairs_that_move_together_have_a_narrower_difference() -> None:
    rng = np.random.default_rng(0)
    base = rng.lognormal(size=500)
    together, apart = (quantile_difference(base, head, 0.5) for head in (base * 1.1, rng.permutation(base * 1.1)))

    assert together.high - together.low < 0.5 * (apart.high - apart.low)
    assert together.value == pytest.approx(apart.value)


def test_differences_need_the_same_rows() -> None:
    with pytest.raises(ValueError, match="base has 1 rows and head 2"):
        quantile_difference([1.0], [1.0, 2.0], 0.5)


def test_the_mean_has_students_interval_and_with_clusters_that_of_their_jackknife() -> None:
    x = np.random.default_rng(0).lognormal(size=30)
    t = ttest_1samp(x, 0.0).confidence_interval(0.95)

    assert average_interval(x)[1:3] == pytest.approx((t.low, t.high))
    assert average_interval(x, range(30))[1:3] == pytest.approx((t.low, t.high))
    assert average_interval(np.repeat(x, 5), np.repeat(np.arange(30), 5))[1:3] == pytest.approx((t.low, t.high))
    assert average_interval([4.0])[:3] == (4.0, -np.inf, np.inf)
    assert np.isnan(average_interval([]).value)
