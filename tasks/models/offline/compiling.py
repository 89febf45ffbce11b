"""Compile the kernels of this package, again after a change in any of its sources."""

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tasks.models.offline.source_hash import source_hash
from tasks.text.kernels import compiled as compiled_alone

Booleans = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Floats = NDArray[np.float64]
Ids = NDArray[np.int32]
Integers = NDArray[np.int64]
Function = TypeVar("Function", bound=Callable[..., object])


def compiled(function: Function) -> Function:
    """The function as machine code.

    Numba takes machine code from its cache until the function's own source file changes, but these kernels call each
    other across modules. Numba names the cached files after the qualified name, so the name includes the hash of all
    sources here.
    """
    function.__qualname__ = f"{function.__qualname__}_{source_hash()[:16]}"
    return compiled_alone(function)
