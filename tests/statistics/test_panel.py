"""Votes of a panel: majorities by hand, contributions against their definition, and weights recovered."""

from itertools import product
from math import log

import numpy as np
import pytest

from tasks.statistics.estimate import Estimate, Method
from tasks.statistics.majority import majority
from tasks.statistics.panel import (
    cross_fitted_weights,
    juror_variance,
    majority_contributions,
    mean_contributions,
    odds_weights,
    passing_contributions,
    with_jurors,
)

NAN = np.nan


def test_ties_are_half_and_missing_votes_count_for_nobody() -> None:
    votes = [[1, 1, 0], [0, 0, 1], [1, 0, NAN], [0, NAN, NAN], [NAN, NAN, NAN]]

    assert np.array_equal(majority(votes), [1.0, 0.0, 0.5, 0.0, NAN], equal_nan=True)


def test_weights_outvote_and_zeros_leave_equal_votes() -> None:
    votes = [[1, 0, 0], [1, 0, NAN], [NAN, 1, 0]]

    assert majority(votes, [3, 1, 1]).tolist() == [1.0, 1.0, 0.5]
    assert majority(votes, [[1, 1, 1], [0, 0, 5], [0, 0.1, 0.1]]).tolist() == [0.0, 0.5, 0.5]
    assert majority([[1, 1, 1, 0]], [0.1, 0.1, 0.1, 0.3]).tolist() == [0.5]  # .1 + .1 + .1 is not .3 in floats


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


def judges(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Votes of a good judge, two poor ones, and one that calls everything right; and what is right."""
    labels = (rng.random(n) < 0.8).astype(float)
    wrong = rng.random((n, 3)) < np.where(labels[:, None] > 0.5, [0.05, 0.3, 0.35], [0.1, 0.35, 0.3])
    votes = np.where(wrong, 1.0 - labels[:, None], labels[:, None])
    return np.column_stack([votes, np.ones(n)]), labels


def test_weights_recover_known_error_rates() -> None:
    votes, labels = judges(np.random.default_rng(1), 20_000)

    found = odds_weights(votes, labels)

    expected = [log(19 * 9) / 2, log(0.7 / 0.3 * 0.65 / 0.35) / 2, log(0.65 / 0.35 * 0.7 / 0.3) / 2, 0.0]
    assert found == pytest.approx(expected, abs=0.08)


def test_a_judge_worse_than_chance_and_one_without_votes_have_no_weight() -> None:
    labels = np.tile([1.0, 0.0], 50)

    assert odds_weights(np.column_stack([1.0 - labels, np.full(100, NAN), labels]), labels)[:2].tolist() == [0.0, 0.0]


def test_no_row_is_weighed_by_its_own_label() -> None:
    rng = np.random.default_rng(2)
    votes, labels = judges(rng, 200)
    folds = rng.integers(0, 5, 200)
    before = cross_fitted_weights(votes, labels, folds, 5)

    changed = labels.copy()
    changed[folds == 3] = 1.0 - changed[folds == 3]
    after = cross_fitted_weights(votes, changed, folds, 5)

    assert (before[3] == after[3]).all()
    assert (before[[0, 1, 2, 4]] != after[[0, 1, 2, 4]]).any()
