"""A judge's rate on new data as an interval for the human rate, from its bias on other data sets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.statistics import bias_model, transported, transported_difference

SETS = ["a"] * 5 + ["b"] * 10 + ["c"] * 5


def drawn(rng, between, inside, sampling, sets=SETS):
    shift = {name: rng.normal(0, between) for name in dict.fromkeys(sets)}
    return np.array([shift[name] + rng.normal(0, inside) + rng.normal(0, sampling) for name in sets])


def test_variances_are_found_again_from_many_sets():
    rng = np.random.default_rng(1)
    sets = [str(i // 8) for i in range(800)]

    model = bias_model(drawn(rng, 0.06, 0.03, 0.02, sets), np.full(800, 0.02**2), sets)

    assert (model.weights @ model.inside) ** 0.5 == pytest.approx(0.03, abs=0.003)
    assert (model.weights @ model.variances) ** 0.5 == pytest.approx(np.hypot(0.06, 0.03), abs=0.01)


@pytest.mark.parametrize(("between", "inside"), [(0.0, 0.02), (0.03, 0.03), (0.08, 0.02)])
def test_covers_a_new_system_of_a_new_set(between, inside):
    rng = np.random.default_rng(2)
    hits, draws = 0, 150
    for _ in range(draws):
        model = bias_model(drawn(rng, between, inside, 0.02), np.full(20, 0.02**2), SETS)
        bias = rng.normal(0, between) + rng.normal(0, inside)
        estimate = transported(0.5, 0.0, model)
        hits += estimate.low <= 0.5 - bias <= estimate.high

    assert hits / draws >= 0.93 - 3 * (0.05 * 0.95 / draws) ** 0.5


def test_covers_the_difference_of_two_systems_of_a_new_set():
    rng = np.random.default_rng(3)
    hits, draws = 0, 150
    for _ in range(draws):
        model = bias_model(drawn(rng, 0.08, 0.03, 0.02), np.full(20, 0.02**2), SETS)
        estimate = transported_difference(0.1, 0.0, model)
        hits += estimate.low <= 0.1 - rng.normal(0, 0.03) + rng.normal(0, 0.03) <= estimate.high

    assert hits / draws >= 0.93 - 3 * (0.05 * 0.95 / draws) ** 0.5


def test_a_bias_that_systems_share_moves_the_interval_and_not_the_value():
    strict = bias_model([-0.1] * 20, [1e-6] * 20, [str(i % 10) for i in range(20)])

    estimate = transported(0.6, 0.01**2, strict)

    assert estimate.value == 0.6 == estimate.low
    assert 0.7 < estimate.high < 0.73


def test_the_difference_of_two_systems_leaves_out_what_their_set_shares():
    model = bias_model([-0.1] * 5 + [0.0] * 10 + [0.1] * 5, [1e-6] * 20, SETS)

    difference, rate = transported_difference(0.1, 0.0, model), transported(0.5, 0.0, model)

    assert difference.high - difference.low < 0.1 < rate.high - rate.low


def test_equal_answers_add_no_error_to_a_difference():
    model = bias_model([-0.1] * 5 + [0.0] * 10 + [0.1] * 5, [1e-4] * 20, SETS)

    widths = [(e := transported_difference(0.1, 1e-4, model, changed=c)).high - e.low for c in (0.0, 0.1, 1.0)]

    assert widths[0] == pytest.approx(2 * 1.96 * 0.01, abs=1e-4)
    assert widths[0] < widths[1] < widths[2]
    with pytest.raises(ValueError, match=r"changed = 1\.5"):
        transported_difference(0.1, 1e-4, model, changed=1.5)


@pytest.mark.parametrize(
    ("bias", "variances", "sets", "message"),
    [
        ([0.1, 0.2], [0.1, 0.1], ["a", "a"], "1 data sets: expected 2 or more"),
        ([0.1, 0.2, 0.1], [0.1, 0.0, 0.1], ["a", "a", "b"], r"variances\[1\] = 0.0"),
        ([0.1, np.nan, 0.1], [0.1, 0.1, 0.1], ["a", "a", "b"], "not finite"),
        ([0.1], [0.1, 0.1], ["a"], "1 biases, 2 variances, 1 data sets"),
        ([], [], [], "0 data sets"),
    ],
)
def test_what_cannot_be_fitted_is_refused(bias, variances, sets, message):
    with pytest.raises(ValueError, match=message):
        bias_model(bias, variances, sets)


@given(
    st.lists(st.floats(-1, 1), min_size=5, max_size=12),
    st.floats(1e-12, 1),
    st.floats(0, 1),
    st.floats(0, 0.3),
)
def test_the_interval_contains_the_judges_rate_and_stays_within_0_and_1(bias, known, rate, variance):
    model = bias_model(bias, [known] * len(bias), ["a", "a", "b", "b", *["c"] * (len(bias) - 4)])

    estimate = transported(rate, variance, model)

    assert 0.0 <= estimate.low <= rate <= estimate.high <= 1.0
    assert model.weights.sum() == pytest.approx(1.0)
