"""Compiles the kernels of this package, anew when any of its sources has changed."""

from collections.abc import Callable
from typing import TypeVar

from tasks.models.offline.age import sources
from tasks.text.kernels import compiled as compiled_alone

Function = TypeVar("Function", bound=Callable[..., object])


def compiled(function: Function) -> Function:
    """The function as machine code; its kernels call each other over modules, so one source does not tell its age.

    Numba keeps machine code by the time stamp of the function's own source; here that of all sources takes its place.
    """
    kernel = compiled_alone(function)
    kept = getattr(kernel, "_cache", None)  # none where NUMBA_DISABLE_JIT is set
    if kept is not None:
        kept._cache_file._source_stamp = sources()  # noqa: SLF001  # numba, pinned, has no public way
    return kernel
