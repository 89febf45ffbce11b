"""Graded agreement: figures by other formulas, and how often the intervals hold."""

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import cohen_kappa_score

from goldmeter.statistics import agreement
from goldmeter.statistics.agreement import quadratic_kappa, spearman
from goldmeter.statistics.estimate import NO_ROWS, Method


def drawn(n: int, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Grades from 1 to 5 of a judge and of a person, who see the same quality with some noise."""
    random = np.random.default_rng(seed)
    quality = random.normal(3.0, 1.0, n)
    x, y = (np.clip(np.rint(quality + random.normal(0.0, noise, n)), 1, 5) for _ in range(2))
    return x, y


@pytest.mark.parametrize("seed", range(5))
def test_kappa_and_rank_correlation_are_those_of_scikit_learn_and_scipy(seed: int) -> None:
    x, y = drawn(80, 0.8, seed)

    assert quadratic_kappa(x, y, bounds=(1, 5)).value == pytest.approx(cohen_kappa_score(x, y, weights="quadratic"))
    assert spearman(x, y).value == pytest.approx(spearmanr(x, y).statistic)


def test_of_right_and_wrong_kappa_is_that_of_two_classes() -> None:
    random = np.random.default_rng(2)
    y = random.random(200) < 0.7
    x = np.where(random.random(200) < 0.85, y, ~y)

    graded, binary = quadratic_kappa(x, y), agreement(x, y).kappa

    assert graded[:4] == pytest.approx(binary[:4])


def test_the_scale_does_not_matter() -> None:
    x, y = drawn(60, 0.8, 1)

    one, other = quadratic_kappa(x, y, bounds=(1, 5)), quadratic_kappa(10 * x, 10 * y, bounds=(10, 50))

    assert one[:4] == pytest.approx(other[:4])
    assert spearman(x, y)[:4] == pytest.approx(spearman(np.exp(x), y)[:4])


@pytest.mark.parametrize(("noise", "n"), [(0.4, 60), (1.0, 60), (1.0, 300)])
def test_intervals_cover_as_often_as_they_say(noise: float, n: int) -> None:
    everything = drawn(400_000, noise, 99)
    truth = quadratic_kappa(*everything, bounds=(1, 5)).value, spearman(*everything).value
    hits, trials = np.zeros(2), 200
    for seed in range(trials):
        x, y = drawn(n, noise, seed)
        found = quadratic_kappa(x, y, bounds=(1, 5)), spearman(x, y)
        hits += [one.low <= true <= one.high for one, true in zip(found, truth, strict=True)]

    assert (hits / trials >= 0.92).all(), hits / trials


def test_repeated_rows_are_no_news() -> None:
    x, y = drawn(40, 0.8, 3)
    clusters = np.tile(np.arange(40), 5)

    for one, many in (
        (quadratic_kappa(x, y, bounds=(1, 5)), quadratic_kappa(np.tile(x, 5), np.tile(y, 5), clusters, (1, 5))),
        (spearman(x, y), spearman(np.tile(x, 5), np.tile(y, 5), clusters)),
    ):
        assert many.value == pytest.approx(one.value)
        assert many.high - many.low > 0.75 * (one.high - one.low)


def test_without_spread_nothing_is_known() -> None:
    assert quadratic_kappa([3, 3, 3], [3, 3, 3], bounds=(1, 5))[1:] == (-1.0, 1.0, 3, Method("all numbers are equal"))
    assert spearman([3, 3, 3, 3], [1, 2, 3, 4])[1:] == (-1.0, 1.0, 4, Method("one class of scores"))
    assert spearman([1, 2, 3], [1, 2, 3])[1:] == (-1.0, 1.0, 3, Method("too few rows"))
    assert quadratic_kappa([], []).method == NO_ROWS


def test_full_agreement_of_few_rows_is_not_certain() -> None:
    perfect = [1, 2, 3, 4, 5, 5, 4, 3, 2, 1]

    for found in (quadratic_kappa(perfect, perfect, bounds=(1, 5)), spearman(perfect, perfect)):
        assert found.value == found.high == pytest.approx(1.0)
        assert found.low < 1.0


def test_numbers_beyond_the_scale_are_refused() -> None:
    with pytest.raises(ValueError, match="labels: numbers outside of 1 to 5"):
        quadratic_kappa([1, 2], [1, 6], bounds=(1, 5))
    with pytest.raises(ValueError, match="one of each per row"):
        spearman([1, 2], [1])
