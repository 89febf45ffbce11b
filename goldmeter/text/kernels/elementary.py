"""Logarithms, exponentials and powers with the same bits on every processor: NumPy's own depend on AVX-512."""

import math
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numba import vectorize
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def _log(value: float) -> float:
    return math.log(value)


def _exp(value: float) -> float:
    return math.exp(value)


def _power(base: float, exponent: float) -> float:
    return math.pow(base, exponent)


def _compiled(function: Callable[..., float], signature: str) -> Any:
    return vectorize([signature], cache=True)(function)  # type: ignore[no-untyped-call]


log = cast("Callable[[ArrayLike], Floats]", _compiled(_log, "float64(float64)"))
"""Natural logarithms; -inf of 0, NaN of negative numbers."""
exp = cast("Callable[[ArrayLike], Floats]", _compiled(_exp, "float64(float64)"))
"""Powers of e; inf where they are too large."""
power = cast("Callable[[ArrayLike, ArrayLike], Floats]", _compiled(_power, "float64(float64, float64)"))
"""base ** exponent, of arrays that broadcast."""
