"""Gaffke's interval against Clopper and Pearson, a closed form and its definition by simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from benchmarks.coverage.arrays import gaffke_interval
from goldmeter.statistics import mean_interval

DRAWS = 20_000


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.parametrize(("k", "n"), [(0, 1), (1, 1), (0, 5), (2, 5), (299, 300), (0, 5000), (2500, 5000)])
def test_equals_clopper_pearson_on_binary_data(k: int, n: int, confidence: float) -> None:
    tail = (1 - confidence) / 2
    low = beta.ppf(tail, k, n - k + 1) if k else 0.0
    high = beta.isf(tail, k + 1, n - k) if k < n else 1.0

    interval = gaffke_interval(np.repeat([1.0, 0.0], [k, n - k]), confidence)

    assert interval == pytest.approx((low, high), abs=1e-12)


def test_one_row_by_hand() -> None:
    # One weight is uniform: between 0.5 and 1 all but 2.5 % lies below 1 - 0.5·0.025.
    assert gaffke_interval(np.array([0.5]), 0.95) == pytest.approx((0.0125, 0.9875), abs=1e-12)


@pytest.mark.parametrize("scores", [[0.2, 0.9], [0.01, 0.5, 0.99], [0.3, 0.31, 0.6, 0.95], [1e-6, 1e-3, 0.1, 0.7]])
def test_tail_of_distinct_scores_by_partial_fractions(scores: list[float]) -> None:
    high = gaffke_interval(np.array(scores), 0.95)[1]
    a = np.array([*scores, 1.0]) - high

    # P(sum of a_i E_i > 0) for distinct a_i
    tail = sum(np.prod([x / (x - y) for y in a if y != x]) for x in a if x > 0)

    assert tail == pytest.approx(0.025, rel=1e-7)


def test_limits_are_quantiles_of_randomly_weighted_means() -> None:
    rng = np.random.default_rng(5)
    scores = np.concatenate([rng.beta(8, 1, 20), [0.0, 0.0, 1.0, 0.5]])
    weights = rng.dirichlet(np.ones(scores.size + 1), 200_000)
    means = weights[:, :-1] @ scores

    low, high = gaffke_interval(scores, 0.9)

    assert np.mean(means < low) == pytest.approx(0.05, abs=0.0015)
    assert np.mean(means + weights[:, -1] > high) == pytest.approx(0.05, abs=0.0015)


def test_rounding_of_many_rows_goes_outwards(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = np.random.default_rng(6).random(500)
    low, high = gaffke_interval(scores, 0.95)
    monkeypatch.setattr("goldmeter.statistics.gaffke.GRID", 100)

    rounded_low, rounded_high = gaffke_interval(scores, 0.95)

    assert low - 0.01 < rounded_low < low
    assert high < rounded_high < high + 0.01


def test_a_constant_score_still_has_a_spread() -> None:
    estimate = mean_interval([0.4] * 50, guarantee=True)

    assert str(estimate.method) == "gaffke"
    assert estimate.low < 0.4 < estimate.high


@pytest.mark.parametrize("scores", [[0.9] * 3 + [0.5] * 997, [0.1] * 3 + [0.5] * 997, [0.36] + [0.5] * 9])
def test_a_few_scores_far_from_all_the_others(scores: list[float]) -> None:
    for confidence in (0.95, 0.99):
        check_tails(scores, confidence)


SCORE = st.integers(0, 10**6).map(lambda millionths: millionths / 10**6)
# Scores that most rows have, and a few others.
WITH_MASS = st.tuples(
    st.dictionaries(SCORE, st.integers(1, 4), min_size=1, max_size=4),
    SCORE,
    st.integers(1, 999),
).map(lambda drawn: [*np.repeat([*drawn[0]], [*drawn[0].values()]), *[drawn[1]] * drawn[2]])


@pytest.mark.property
@given(scores=WITH_MASS, confidence=st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_limits_with_a_score_that_most_rows_have(scores: list[float], confidence: float) -> None:
    check_tails(scores, confidence)


def check_tails(scores: list[float], confidence: float) -> None:
    """Simulate how often a randomly weighted mean lies beyond each limit: a sum of gammas has no limit's own error."""
    estimate = mean_interval(scores, confidence=confidence, guarantee=True)
    values, counts = np.unique(scores, return_counts=True)
    weights = np.random.default_rng(7).standard_gamma([*counts, 1], (DRAWS, values.size + 1))
    tail, error = (1 - confidence) / 2, 6 * np.sqrt((1 - confidence) / 2 / DRAWS)

    assert 0.0 <= estimate.low <= np.mean(scores) <= estimate.high <= 1.0
    if str(estimate.method) == "gaffke":
        assert np.mean(weights @ [*(values - estimate.high), 1 - estimate.high] > 0) == pytest.approx(tail, abs=error)
        assert np.mean(weights @ [*(values - estimate.low), -estimate.low] < 0) == pytest.approx(tail, abs=error)


@pytest.mark.property
@given(scores=st.lists(st.floats(0.0, 1.0), min_size=1, max_size=20), copies=st.integers(1, 200))
def test_any_scores_have_limits(scores: list[float], copies: int) -> None:
    estimate = mean_interval([*scores, *[scores[0]] * copies], guarantee=True)

    assert 0.0 <= estimate.low <= estimate.value <= estimate.high <= 1.0
