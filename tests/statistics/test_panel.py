"""Votes of a panel: majorities by hand, contributions against their definition."""

from itertools import product

import numpy as np
import pytest

from goldmeter.statistics.estimate import Estimate, Method
from goldmeter.statistics.majority import majority
from goldmeter.statistics.panel import (
    juror_variance,
    majority_contributions,
    mean_contributions,
    passing_contributions,
    with_jurors,
)

NAN = np.nan


def test_ties_are_half_and_missing_votes_count_for_nobody() -> None:
    votes = [[1, 1, 0], [0, 0, 1], [1, 0, NAN], [0, NAN, NAN], [NAN, NAN, NAN]]

    assert np.array_equal(majority(votes), [1.0, 0.0, 0.5, 0.0, NAN], equal_nan=True)


def test_a_vote_contributes_where_it_decides() -> None:
    votes = np.array([*product([0.0, 1.0], repeat=3)])

    adds = majority_contributions(votes)

    decides = np.array([[row[(j + 1) % 3] != row[(j + 2) % 3] for j in range(3)] for row in votes])
    assert np.allclose(adds, np.where(decides, votes - 0.5, 0.0))


def test_two_jurors_decide_by_half_each() -> None:
    assert np.allclose(majority_contributions([[1, 0], [1, 1]]), mean_contributions([[1, 0], [1, 1]]))


def test_a_missing_vote_contributes_nothing() -> None:
    votes = [[1, NAN, 0], [1, 1, 0], [0, 1, NAN]]

    for adds in (majority_contributions(votes), mean_contributions(votes), passing_contributions(votes, 0.5)):
        assert adds[0, 1] == adds[2, 2] == 0.0
        assert np.isfinite(adds).all()


def test_the_variance_of_jurors_is_that_of_the_two_way_table() -> None:
    votes = np.array([[1, 1, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1], [0, 1, 0]], dtype=float)
    n, k = votes.shape
    means = votes.mean(axis=0)
    rest = votes - votes.mean(axis=1, keepdims=True) - means + votes.mean()
    mean_square = (rest**2).sum() / ((n - 1) * (k - 1))

    assert juror_variance(mean_contributions(votes)) == pytest.approx(means.var(ddof=1) / k - mean_square / (n * k))
    alone = juror_variance(mean_contributions(votes), ["a", "b", "c", "d", "e"])
    assert alone == pytest.approx(juror_variance(mean_contributions(votes)))


def test_of_jurors_who_say_the_same_of_every_row_nothing_is_added() -> None:
    votes, estimate = np.repeat([[1.0], [0.0]], 3, axis=1).repeat(20, axis=0), Estimate(0.5, 0.4, 0.6, 40, Method("m"))

    assert with_jurors(estimate, majority_contributions(votes)) == Estimate(0.5, 0.4, 0.6, 40, Method("m+jurors"))
