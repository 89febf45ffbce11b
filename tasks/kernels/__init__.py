"""Loops that numba compiles: one kernel a module, over arrays only; its slow obvious twin stands in its test."""

from collections.abc import Callable
from typing import TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., object])


def compiled(function: Function) -> Function:
    """The function as machine code, compiled with its first call and kept beside its source for every later process."""
    return cast("Function", njit(cache=True)(function))
