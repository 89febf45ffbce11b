"""Loops over numbers that numba compiles: one kernel per module, on arrays only."""

from collections.abc import Callable
from typing import TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., object])


def compiled(function: Function) -> Function:
    """Compile a function at its first call, and cache the machine code beside its source for later processes."""
    return cast("Function", njit(cache=True)(function))
