"""Loops that numba compiles: on arrays only; the test of each holds a slow, obvious equivalent."""

from collections.abc import Callable
from typing import Final, TypeVar, cast

import numpy as np
from numba import njit
from numba.core.caching import CacheImpl
from numpy.typing import NDArray

from goldmeter.text.machine_code import EnvironmentLocator

Bytes = NDArray[np.uint8]
Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ids = NDArray[np.int32]
Integers = NDArray[np.int64]
Words = NDArray[np.uint64]
# Multiplier of hashes: 2 ** 64 divided by the golden ratio.
# Source: Knuth, The Art of Computer Programming 3, section 6.4.
GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
Function = TypeVar("Function", bound=Callable[..., object])

# Private API, written for numba 0.68.1: its public setting is an environment variable, which other programs inherit.
CacheImpl._locator_classes.insert(0, EnvironmentLocator)  # noqa: SLF001 (see above)


def compiled(function: Function) -> Function:
    """Compile a function at its first call, and keep the machine code for later processes.

    It is compiled for every type of argument, and literals have types of their own: pass np.int64(0), not 0.
    """
    return cast("Function", njit(cache=True)(function))
