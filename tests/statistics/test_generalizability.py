"""Where the variance of an estimate comes from: known components are found again, and impossible ones are 0."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from goldmeter.statistics.generalizability import sources


def test_known_components_are_found_again():
    rng, found = np.random.default_rng(1), []
    judges = [judge for judge in range(20) for _ in range(4)]
    for _ in range(60):
        means = np.repeat(rng.normal(0, 0.3, 20), 4) + rng.normal(0, 0.2, 80)
        scores = rng.normal(0, 1.0, (50, 1)) + means + rng.normal(0, 0.5, (50, 80))
        found.append(sources(scores, judges, of_draws=0.4))

    rows, draws, judged, settings = np.mean(found, axis=0)

    assert draws == pytest.approx(0.4 / 50)
    assert rows + draws == pytest.approx((1.0 + 0.25) / 50, rel=0.1)
    assert judged == pytest.approx(0.09, rel=0.1)
    assert settings == pytest.approx(0.04, rel=0.1)


def test_a_single_judge_says_nothing_of_others_and_groups_inflate_the_rows():
    scores = [[1.0], [0.0], [1.0], [1.0]]

    assert sources(scores, ["a"]) == (0.0625, None, None, None)
    assert sources(scores, ["a"], design_effect=2.0).rows == 0.125


@given(arrays(np.float64, (5, 3), elements=st.floats(-1, 1)), st.floats(0, 1))
def test_no_component_is_negative(scores, of_draws):
    assert min(sources(scores, ["a", "a", "b"], of_draws)) >= 0.0
