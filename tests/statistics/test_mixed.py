"""Means by known shares of strata: values by hand, laws, and correlated strata."""

import numpy as np
import pytest

from tasks.statistics.mixed import Stratum, cluster_correlation, mixed_mean


def test_one_stratum_keeps_its_interval_and_its_rows() -> None:
    assert mixed_mean([Stratum(1.0, 0.8, 0.7, 0.85, 40)]) == pytest.approx((0.8, 0.7, 0.85, 40))


def test_proportional_shares_give_the_plain_mean_and_all_rows() -> None:
    mean = mixed_mean([Stratum(0.25, 0.4, 0.2, 0.6, 25), Stratum(0.75, 0.8, 0.7, 0.9, 75)])

    assert mean.value == pytest.approx(0.7)
    assert mean.n_eff == pytest.approx(100)


def test_wholly_correlated_strata_add_up_their_distances() -> None:
    strata = [Stratum(0.5, 0.5, 0.3, 0.6, 10)] * 2

    assert mixed_mean(strata, np.ones((2, 2)))[:3] == pytest.approx((0.5, 0.3, 0.6))


def test_strata_with_the_same_clusters_correlate_and_others_do_not() -> None:
    keys, influence = np.array([1, 2, 3]), np.array([1.0, -1.0, 0.5])
    strata = [(keys, influence), (keys, 2 * influence), (keys + 5, influence), (keys, -influence)]

    expected = [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    assert cluster_correlation(strata).tolist() == pytest.approx(np.array(expected))
