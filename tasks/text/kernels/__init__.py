"""Loops that numba compiles: one kernel a module, over arrays only; its slow obvious twin stands in its test."""

from collections.abc import Callable
from typing import Final, TypeVar, cast

import numpy as np
from numba import njit
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Flags = NDArray[np.bool_]
Ids = NDArray[np.int32]
Integers = NDArray[np.int64]
Words = NDArray[np.uint64]
GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
"""2 ** 64 by the golden ratio, to hash with. Source: Knuth, The Art of Computer Programming 3, section 6.4.

It may stand here since it never changes: a module's machine code is kept until that module's own source does, so a
kernel uses nothing of another kernel's module.
"""
Function = TypeVar("Function", bound=Callable[..., object])


def compiled(function: Function) -> Function:
    """The function as machine code, compiled with its first call and kept beside its source for every later process.

    It is compiled for every type that it is called with, and a literal is of a type of its own: np.int64(0) is not.
    """
    return cast("Function", njit(cache=True)(function))
