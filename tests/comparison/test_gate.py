"""The verdict on one difference, and when a release fails."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from goldmeter.comparison.gate import Gate, verdict
from tests.comparison.sample import GATE, gate

NUMBERS = st.floats(-2, 2, allow_nan=False)
MARGINS = st.floats(0, 1, allow_nan=False)
OPPOSITE = {"worse": "better", "better": "worse"}


@pytest.mark.parametrize(
    ("low", "high", "margin", "expected"),
    [
        (-0.04, -0.01, 0.0, "worse"),
        (0.01, 0.04, 0.0, "better"),
        (-0.01, 0.04, 0.0, "cannot tell"),
        (0.0, 0.04, 0.0, "cannot tell"),
        (-0.04, 0.0, 0.0, "cannot tell"),
        (0.0, 0.0, 0.0, "cannot tell"),
        (-0.04, -0.01, 0.05, "no worse"),
        (-0.06, -0.01, 0.05, "cannot tell"),
        (-0.09, -0.06, 0.05, "worse"),
        (-0.01, 0.2, 0.05, "no worse"),
        (0.01, 0.2, 0.05, "no worse"),
        (0.06, 0.2, 0.05, "better"),
        (-math.inf, math.inf, 0.0, "cannot tell"),
        (math.nan, math.nan, 0.0, "cannot tell"),
    ],
)
def test_what_an_interval_says(low: float, high: float, margin: float, expected: str) -> None:
    assert verdict(low, high, margin, higher_is_better=True, unchanged=False) == expected


def test_a_rise_is_worse_where_less_is_better() -> None:
    assert verdict(0.01, 0.04, 0.0, higher_is_better=False, unchanged=False) == "worse"
    assert verdict(-0.04, 0.01, 0.02, higher_is_better=False, unchanged=False) == "no worse"


def test_equal_rows_are_unchanged_whatever_the_interval() -> None:
    assert verdict(-math.inf, math.inf, 0.0, higher_is_better=True, unchanged=True) == "unchanged"


@given(NUMBERS, NUMBERS, MARGINS)
def test_exchanging_the_versions_exchanges_better_and_worse(one: float, other: float, margin: float) -> None:
    low, high = sorted((one, other))
    there = verdict(low, high, margin, higher_is_better=True, unchanged=False)
    back = verdict(-high, -low, margin, higher_is_better=True, unchanged=False)

    if there in OPPOSITE:
        assert back == OPPOSITE[there]
    else:
        assert back not in OPPOSITE
    assert back == verdict(low, high, margin, higher_is_better=False, unchanged=False)


@pytest.mark.parametrize(
    ("fail_on", "verdicts", "fails"),
    [
        ("worse", {"better", "unchanged", "no worse", "cannot tell"}, False),
        ("worse", {"better", "worse"}, True),
        ("cannot_tell", {"better", "unchanged", "no worse"}, False),
        ("cannot_tell", {"better", "cannot tell"}, True),
        ("cannot_tell", {"worse"}, True),
        ("worse", set(), False),
    ],
)
def test_a_release_fails_on_what_it_is_told_to(fail_on: str, verdicts: set[str], fails: bool) -> None:
    assert gate(fail_on=fail_on).fails(verdicts) is fails  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"metrics": ["f1"]}, "expected guards, each with the largest acceptable loss"),
        ({"metrics": {"f2": 1.0}}, "less than 1"),
        ({"primary": "f1", "metrics": {"f1": 0.0}}, "metrics names the primary measure, f1; its margin is gate.margin"),
        ({"metrics": {"": 0.0}}, "at least 1 character"),
        ({"margin": -0.1}, "greater than or equal to 0"),
        ({"margin": 1.0}, "less than 1"),
        ({"margin": float("nan")}, "margin"),
        ({"confidence": 0.5}, "greater than 0.5"),
        ({"confidence": 1.0}, "less than or equal to 0.999999"),
        ({"confidence": True}, "expected a number"),
        ({"fail_on": "cannot tell"}, "'worse' or 'cannot_tell'"),
        ({"max_unmeasured": -0.1}, "greater than or equal to 0"),
        ({"metric": ["f1"]}, "Extra inputs are not permitted"),
    ],
)
def test_a_gate_that_makes_no_sense_is_refused(changed: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Gate.model_validate(GATE.model_dump() | changed)
