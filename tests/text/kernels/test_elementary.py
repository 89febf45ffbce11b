"""Elementary functions: those of the C library, on every processor."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.text.kernels.elementary import exp, log, power

POSITIVE = st.floats(min_value=0, exclude_min=True, allow_infinity=False)


@pytest.mark.property
@given(st.lists(POSITIVE, min_size=1))
def test_logarithms_are_those_of_the_c_library(values: list[float]) -> None:
    assert log(np.array(values)).tolist() == [math.log(value) for value in values]


@pytest.mark.property
@given(st.lists(st.floats(-745, 709), min_size=1))
def test_exponentials_are_those_of_the_c_library(values: list[float]) -> None:
    assert exp(np.array(values)).tolist() == [math.exp(value) for value in values]


@pytest.mark.property
@given(st.lists(st.floats(0, 1e100), min_size=1), st.floats(0.01, 3))
def test_powers_are_those_of_the_c_library(values: list[float], exponent: float) -> None:
    assert power(np.array(values), exponent).tolist() == [math.pow(value, exponent) for value in values]


def test_limits() -> None:
    with np.errstate(all="ignore"):
        assert log(np.zeros((1, 1))).tolist() == [[-math.inf]]
        assert np.isnan(log(np.array([-1.0]))).all()
        assert exp(np.array([710.0])).tolist() == [math.inf]
