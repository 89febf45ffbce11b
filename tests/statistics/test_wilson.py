"""Intervals of a rate: Wilson's with the mid-p tail, and Blaker's against its R package and its definition."""

import numpy as np
import pytest
from scipy.stats import binom
from statsmodels.stats.proportion import proportion_confint

from goldmeter.statistics import score_interval
from goldmeter.statistics.wilson import blaker_interval, effective_n, midp_lower


@pytest.mark.parametrize(("count", "n"), [(4, 8), (10, 20), (50, 100), (96, 100), (9_990, 10_000)])
def test_more_than_three_events_on_both_sides_is_wilson(count: int, n: int) -> None:
    expected = proportion_confint(count, n, method="wilson")

    assert score_interval(count / n, n) == pytest.approx(expected, abs=1e-12)


def test_few_failures_move_only_the_upper_limit() -> None:
    wilson = (0.929988209271456, 0.9944980324498376)
    # Half of P(2 failures) plus P(fewer) among 100 is 0.025 when 0.3367 % fail.
    midp_high = 0.9966330558515889

    assert score_interval(0.98, 100) == pytest.approx((wilson[0], midp_high), abs=1e-12)
    assert score_interval(0.02, 100) == pytest.approx((1 - midp_high, 1 - wilson[0]), abs=1e-12)


@pytest.mark.parametrize("n", [4, 10, 30, 100, 1000, 1999])
@pytest.mark.parametrize("wrong", [1, 2, 3, 4])
def test_few_failures_are_the_mirror_of_few_successes(wrong: int, n: int) -> None:
    low, high = score_interval(wrong / n, n)

    assert score_interval((n - wrong) / n, n) == pytest.approx((1 - high, 1 - low), abs=1e-12)


def test_no_event_leaves_wilson_which_lies_further_out() -> None:
    z2 = 1.959963984540054**2

    assert score_interval(0.0, 10) == pytest.approx((0.0, z2 / (10 + z2)), abs=1e-12)
    assert score_interval(1.0, 10) == pytest.approx((10 / (10 + z2), 1.0), abs=1e-12)


@pytest.mark.parametrize(("k", "n"), [(1, 1), (1, 10), (2, 10), (3, 10), (3, 1000)])
def test_midp_limit_leaves_half_of_the_observed_count_in_the_tail(k: int, n: int) -> None:
    p = midp_lower(k, n, 0.025)

    assert binom.sf(k, n, p) + binom.pmf(k, n, p) / 2 == pytest.approx(0.025, rel=1e-9)


def test_midp_limit_of_all_successes_by_hand() -> None:
    assert midp_lower(2, 2, 0.02) == pytest.approx(0.2)  # p²/2 = 0.02


def test_midp_limit_of_fractional_counts_lies_between_whole_ones() -> None:
    limits = [midp_lower(k, 10.5, 0.025) for k in (0.0, 0.05, 0.5, 1.0, 1.5, 2.0, 10.2, 10.5)]

    assert limits == sorted(set(limits))
    assert limits[1] < 1e-12


@pytest.mark.parametrize(("k", "n"), [(1, 3), (2, 3), (3, 3), (1, 1)])
def test_midp_limit_is_continuous_in_the_counts(k: int, n: int) -> None:
    expected = midp_lower(k, n, 0.025)

    assert midp_lower(k - 1e-9, n, 0.025) == pytest.approx(expected, abs=1e-7)
    assert midp_lower(k, n + 1e-9, 0.025) == pytest.approx(expected, abs=1e-7)
    assert midp_lower(min(k + 1e-9, n), n, 0.025) == pytest.approx(expected, abs=1e-7)


def test_degrees_of_freedom_widen_as_the_t_quantile_does() -> None:
    t = 2.262157162740992  # 97.5 % of t(9)
    half = 0.5 * t / (50 + t**2) ** 0.5

    assert score_interval(0.5, 50, df=9) == pytest.approx((0.5 - half, 0.5 + half), abs=1e-9)


def test_effective_n_by_hand() -> None:
    assert effective_n(100, r=0.25, events=9) == pytest.approx(100 / 0.325)  # (9·0.25 + 1) / 10
    assert effective_n(100, r=0.25, events=0, r_max=4) == 25


@pytest.mark.parametrize(("p", "n_eff"), [(1.5, 10), (-0.1, 10), (0.5, 0), (float("nan"), 10)])
def test_impossible_proportions_are_refused(p: float, n_eff: float) -> None:
    with pytest.raises(ValueError, match="expected p in"):
        score_interval(p, n_eff)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95.0])
def test_confidence_is_a_share_not_a_percentage(confidence: float) -> None:
    with pytest.raises(ValueError, match=r"0\.95"):
        score_interval(0.5, 10, confidence=confidence)


def acceptability(p: float, k: int, n: int) -> float:
    """Blaker 2000, the definition read aloud: the smaller tail, and as much of the other as does not exceed it."""
    lower, upper = binom.cdf(k, n, p), binom.sf(k - 1, n, p)
    lower_tails = binom.cdf(np.arange(-1, n + 1), n, p)
    upper_tails = binom.sf(np.arange(-1, n + 1), n, p)
    if lower < upper:
        return float(lower + upper_tails[upper_tails <= lower].max())
    return float(upper + lower_tails[lower_tails <= upper].max())


def test_agrees_with_the_r_package_blakerci() -> None:
    # binom.blaker.limits(3, 10) in the manual of BlakerCI 1.0-5
    assert blaker_interval(3, 10, 0.95) == pytest.approx((0.08726443, 0.61941066), abs=1e-8)


@pytest.mark.parametrize(("k", "n"), [(1, 7), (3, 10), (18, 50), (45, 50), (2, 300)])
def test_limits_enclose_exactly_the_acceptable_rates(k: int, n: int) -> None:
    low, high = blaker_interval(k, n, 0.95)
    outside = np.concatenate([np.linspace(1e-9, low - 1e-9, 300), np.linspace(high + 1e-9, 1 - 1e-9, 300)])

    assert all(acceptability(p, k, n) < 0.05 for p in outside)
    assert acceptability(low + 1e-9, k, n) >= 0.05
    assert acceptability(high - 1e-9, k, n) >= 0.05


def test_lies_inside_clopper_pearson() -> None:
    for k in range(31):
        low, high = blaker_interval(k, 30, 0.95)
        exact_low, exact_high = proportion_confint(k, 30, method="beta")

        assert exact_low - 1e-9 <= low <= k / 30 <= high <= exact_high + 1e-9


def test_limits_mirror() -> None:
    low, high = blaker_interval(7, 40, 0.95)

    assert blaker_interval(33, 40, 0.95) == pytest.approx((1 - high, 1 - low), abs=1e-12)
