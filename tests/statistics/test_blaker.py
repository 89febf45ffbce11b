"""Blaker's interval against its R package, its definition and Clopper and Pearson."""

import numpy as np
import pytest
from scipy.stats import binom
from statsmodels.stats.proportion import proportion_confint

from tasks.statistics.wilson import blaker_interval


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
