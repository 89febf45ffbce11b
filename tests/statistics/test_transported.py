"""A judge's rate on new data as an interval for the human rate, from its bias on other data sets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, t

from goldmeter.statistics import LabelledEstimate, bias_model, bias_scale, people_difference, people_rate

SETS = ["a"] * 5 + ["b"] * 10 + ["c"] * 5


def drawn(rng, between, inside, sampling, sets=SETS):
    shift = {name: rng.normal(0, between) for name in dict.fromkeys(sets)}
    return np.array([shift[name] + rng.normal(0, inside) + rng.normal(0, sampling) for name in sets])


def test_variances_are_found_again_from_many_sets():
    rng = np.random.default_rng(1)
    sets = [str(i // 8) for i in range(800)]

    model = bias_model(drawn(rng, 0.06, 0.03, 0.02, sets), np.full(800, 0.02**2), sets)

    assert (model.weights @ model.variances) ** 0.5 == pytest.approx(np.hypot(0.06, 0.03), abs=0.01)


@pytest.mark.parametrize(("between", "inside"), [(0.0, 0.02), (0.03, 0.03), (0.08, 0.02)])
def test_covers_a_new_system_of_a_new_set(between, inside):
    rng = np.random.default_rng(2)
    hits, draws = 0, 150
    for _ in range(draws):
        model = bias_model(drawn(rng, between, inside, 0.02), np.full(20, 0.02**2), SETS)
        bias = rng.normal(0, between) + rng.normal(0, inside)
        low, high = people_rate(0.5, model, 0.0)
        hits += low <= 0.5 - bias <= high

    assert hits / draws >= 0.93 - 3 * (0.05 * 0.95 / draws) ** 0.5


def test_a_bias_that_systems_share_moves_the_interval():
    strict = bias_model([-0.1] * 20, [1e-6] * 20, [str(i % 10) for i in range(20)])

    low, high = people_rate(0.6, strict, 0.01**2)

    assert 0.67 < low < 0.7 < high < 0.73


def test_the_scale_of_biases_is_found_again_without_the_sampling_error():
    rng = np.random.default_rng(3)
    shares = rng.uniform(0.1, 0.4, 4000)
    bias = 0.2 * shares * rng.normal(size=4000) + rng.normal(0, 0.03, 4000)

    assert bias_scale(bias, np.full(4000, 0.03**2), shares, ["a"] * 3000 + ["b"] * 1000) == pytest.approx(0.2, rel=0.06)
    assert bias_scale([0.0, 0.0], [0.1, 0.1], [0.2, 0.2], ["a", "b"]) == 0.0


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (([], [], [], []), "at least one"),
        (([0.1], [0.1, 0.1], [0.2], ["a"]), "2 variances"),
        (([0.1], [0.1], [0.0], ["a"]), r"discordant\[0\] = 0.0"),
        (([np.nan], [0.1], [0.1], ["a"]), "not finite"),
    ],
)
def test_a_scale_of_wrong_numbers_is_refused(columns, message):
    with pytest.raises(ValueError, match=message):
        bias_scale(*columns)


@given(st.floats(-1, 1), st.floats(0, 0.3), st.floats(0, 0.1), st.floats(-1, 1), st.floats(1e-8, 1.0), st.booleans())
def test_interval_and_p_value_agree_and_lie_in_the_bounds(judge, scale, sampling, value, variance, labelled):
    known = LabelledEstimate(value, variance) if labelled else None

    found = people_difference(judge, scale, sampling, known)

    assert -1.0 <= found.low <= found.high <= 1.0
    assert 0.0 <= found.p_value <= 1.0
    if abs(found.p_value - 0.05) > 1e-3:
        assert (found.p_value < 0.05) == (found.low > 0.0 or found.high < 0.0)


def test_without_labels_the_interval_is_that_of_a_t_distribution_and_its_sampling_error():
    found = people_difference(0.1, 0.02, 0.0)
    assert (found.low, found.high) == pytest.approx([0.1 + t.ppf(q, 4) * 0.02 for q in (0.025, 0.975)], abs=5e-5)
    assert found.p_value == pytest.approx(2 * t.sf(0.1 / 0.02, 4), abs=2e-4)

    found = people_difference(0.1, 0.0, 0.02**2)
    assert (found.low, found.high) == pytest.approx([0.1 + norm.ppf(q) * 0.02 for q in (0.025, 0.975)], abs=5e-5)


def test_labels_narrow_the_interval_and_win_where_they_contradict_the_judge():
    alone = people_difference(0.1, 0.03, 1e-4)
    some = people_difference(0.1, 0.03, 1e-4, LabelledEstimate(0.1, 0.03**2))
    others = people_difference(0.1, 0.005, 0.0, LabelledEstimate(-0.4, 0.03**2))

    assert some.high - some.low < 0.8 * (alone.high - alone.low)
    assert others.low < -0.4 < others.high < -0.25
    assert people_difference(0.1, 1e6, 0.0, LabelledEstimate(0.3, 0.03**2)).low == pytest.approx(
        0.3 - 1.96 * 0.03, abs=1e-3
    )


def test_covers_the_difference_of_people_with_any_number_of_labels():
    rng, draws, scale = np.random.default_rng(4), 400, 0.03
    for error in (None, 0.06, 0.02):
        hits = 0
        for _ in range(draws):
            true = rng.normal(0, 0.05)
            judge = true + scale * rng.standard_t(4)
            known = None if error is None else LabelledEstimate(true + rng.normal(0, error), error**2)
            found = people_difference(float(np.clip(judge, -1, 1)), scale, 0.0, known)
            hits += found.low <= true <= found.high
        assert hits / draws >= 0.935 - 3 * (0.05 * 0.95 / draws) ** 0.5


@pytest.mark.parametrize("given", [{"judge": 1.1}, {"scale": -0.1}, {"sampling": -1e-9}, {"confidence": 1.0}])
def test_numbers_outside_their_range_are_refused(given):
    with pytest.raises(ValueError, match=next(iter(given))):
        people_difference(**{"judge": 0.0, "scale": 0.1, "sampling": 0.1, **given})


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
def test_the_interval_of_a_rate_stays_within_0_and_1(bias, known, rate, variance):
    model = bias_model(bias, [known] * len(bias), ["a", "a", "b", "b", *["c"] * (len(bias) - 4)])

    low, high = people_rate(rate, model, variance)

    assert 0.0 <= low <= high <= 1.0
    assert model.weights.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("prior", [0.05, bias_model([-0.05, 0.02, 0.04, 0.01], [1e-4] * 4, ["a", "a", "b", "c"])])
def test_labels_narrow_the_interval_of_a_rate_the_more_the_more_exact_they_are(prior):
    widths = [np.ptp(people_rate(0.7, prior, 1e-4, LabelledEstimate(0.7, error**2))) for error in (0.2, 0.06, 0.01)]

    assert np.ptp(people_rate(0.7, prior, 1e-4)) > widths[0] > widths[1] > widths[2]


def test_exact_labels_outweigh_a_judge_who_is_far_off():
    low, high = people_rate(0.9, 0.05, 0.0, LabelledEstimate(0.6, 0.01**2))

    assert (low, high) == pytest.approx((0.6 - 1.96 * 0.01, 0.6 + 1.96 * 0.01), abs=0.003)


@pytest.mark.parametrize(("judge", "bias", "sampling"), [(1.1, 0.05, 0.0), (0.5, 0.0, 0.0), (0.5, 0.05, -1.0)])
def test_a_rate_that_is_none_is_refused(judge, bias, sampling):
    with pytest.raises(ValueError, match="expected a rate in"):
        people_rate(judge, bias, sampling)
