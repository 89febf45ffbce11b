"""Loops that numba compiles: one kernel a module, over arrays only; its slow obvious twin stands in its test."""

from collections.abc import Callable
from typing import TypeVar, cast

from numba import njit

from tasks.lean_imports import without

with without("scipy.linalg"):  # a third of a second, for matrix products that no kernel has
    import numba.np.arraymath  # noqa: F401

Function = TypeVar("Function", bound=Callable[..., object])


def compiled(function: Function) -> Function:
    """The function as machine code, compiled with its first call and kept beside its source for every later process."""
    return cast("Function", njit(cache=True)(function))
