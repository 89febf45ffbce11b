"""Targets: met, not met or undecided, from the interval of a rate."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.errors import ParamsError
from goldmeter.estimates.primary import decided, target_verdict

SHARES = st.floats(0.0, 1.0)


def rate(low, high):
    return {"value": (low + high) / 2, "low": low, "high": high}


def test_each_candidate_gets_a_verdict_for_each_target():
    rates = {"a": {"label": rate(0.9, 0.95), "f1": rate(0.2, 0.3)}, "b": {"label": rate(0.8, 0.9)}}

    found = decided({"label": 0.85, "f1": 0.5}, rates)

    assert {name: [entry["verdict"] for entry in targets.values()] for name, targets in found.items()} == {
        "a": ["met", "not met"],
        "b": ["undecided", "undecided"],
    }


def test_an_unknown_rate_decides_nothing():
    assert target_verdict(0.5, None, None) == "undecided"


def test_a_target_for_no_measure_is_refused_with_a_suggestion():
    with pytest.raises(ParamsError, match=r"^report\.targets\.lable: unknown measure; did you mean label\?"):
        decided({"lable": 0.5}, {"a": {"label": rate(0.2, 0.3)}})


@given(SHARES, SHARES, SHARES)
def test_a_target_is_never_both_met_and_not_met(target, one, other):
    low, high = sorted((one, other))

    found = target_verdict(target, low, high)

    assert (found == "met") == (low >= target)
    assert (found == "not met") == (high < target)
