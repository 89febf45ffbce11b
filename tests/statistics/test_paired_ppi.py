"""Prediction-powered differences of two versions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.statistics import paired_difference, ppi_difference


def drawn(rng, n, rest, base, gain, strength):
    """Labels of two versions, correlated within a row, and scores that see each label with probability `strength`."""
    rows = n + rest
    hard = rng.random(rows)
    labels = [(hard + rng.normal(0, 0.15, rows) < p).astype(float) for p in (base, base + gain)]
    seen = [np.where(rng.random(rows) < strength, y, rng.random(rows) < base) for y in labels]
    d, g = labels[1] - labels[0], seen[1] - seen[0]
    return d[:n], g[:n], g[n:]


def test_value_adds_what_the_scores_of_the_rest_exceed_those_of_the_labelled_rows():
    d = np.array([1, 0, 0, 0, -1, 0, 0, 0, 1, 0] * 10, dtype=float)

    estimate = ppi_difference(d, d, [1, 1, 1, 0, -1, 0, 0, 0, 1, 0] * 200)

    # The labelled rows gain .1, the rest .3. Slope: .29 (covariance, labelled) / .407 (variance, all); .1 + .72·.95·.2
    assert estimate.value == pytest.approx(0.237, abs=0.001)
    assert str(estimate.method) == "ppi"
    assert estimate.labels_worth > 200


def test_scores_that_say_nothing_leave_the_labels_alone():
    d = [1, 0, -1, 0, 0] * 8

    estimate = ppi_difference(d, [0.0] * 40, [0.0] * 100)

    assert estimate[:4] == paired_difference(d)[:4]
    assert str(estimate.method) == "labels alone, bonett-price+midp"


@pytest.mark.parametrize(("n", "base", "gain"), [(50, 0.6, 0.0), (100, 0.8, 0.0), (100, 0.6, 0.1), (100, 0.93, 0.0)])
def test_covers_the_true_difference(n, base, gain):
    rng = np.random.default_rng(n + int(100 * base))
    truth = float(np.mean(drawn(rng, 400_000, 2, base, gain, 0.9)[0]))
    draws = [ppi_difference(*drawn(rng, n, 1000, base, gain, 0.9)) for _ in range(300)]

    hits = sum(estimate.low <= truth <= estimate.high for estimate in draws)

    assert hits / len(draws) >= 0.935 - 3 * (0.05 * 0.95 / len(draws)) ** 0.5


def test_covers_with_clusters():
    rng = np.random.default_rng(5)
    hits, draws = 0, 300
    for _ in range(draws):
        effect = rng.normal(0, 0.3, 240)
        codes = np.repeat(np.arange(240), 4)
        d = np.sign(np.round(effect[codes] + rng.normal(0, 0.6, 960)))
        g = np.where(rng.random(960) < 0.8, d, 0.0)
        estimate = ppi_difference(d[:160], g[:160], g[160:], codes[:160], codes[160:])
        hits += estimate.low <= 0.0 <= estimate.high

    assert hits / draws >= 0.93 - 3 * (0.05 * 0.95 / draws) ** 0.5


@given(
    st.lists(st.tuples(st.sampled_from([-1.0, 0.0, 1.0]), st.floats(-1, 1)), max_size=30),
    st.lists(st.floats(-1, 1), max_size=30),
)
def test_interval_and_p_value_agree_and_it_is_never_wider_than_the_labels_alone(rows, rest):
    d, g = [row[0] for row in rows], [row[1] for row in rows]

    estimate, alone = ppi_difference(d, g, rest), paired_difference(d)

    if rows:
        assert -1.0 <= estimate.low <= estimate.value <= estimate.high <= 1.0
    if str(estimate.method) == "ppi":
        assert (estimate.p_value < 0.05) == (not estimate.low <= 0.0 <= estimate.high)
    assert estimate.high - estimate.low <= alone.high - alone.low + 1e-12
    assert 0.0 <= estimate.p_value <= 1.0


def test_differences_beyond_the_bounds_are_refused():
    with pytest.raises(ValueError, match="outside"):
        ppi_difference([2.0, 0.0], [0.0, 0.0], [0.0, 1.0])
