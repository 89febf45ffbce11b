"""Imports of what a library takes along and we don't use: put off until it is touched, or left out."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any

NO_TOUCH = {"__class__", "__dict__", "__file__", "__name__", "__spec__"}
"""What `import` itself and `inspect.getmodule` read of every module. importlib.util.LazyLoader takes that for a use."""


def import_when_touched(name: str) -> None:
    """Let `import name` bind a module whose code runs when it is first used; nothing if it is imported or missing."""
    if name not in sys.modules and (spec := find_spec(name)) and spec.loader:
        module = module_from_spec(spec)
        module.__class__ = _Untouched
        sys.modules[name] = module
        parent, _, own = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], own, module)


@contextmanager
def without(name: str) -> Iterator[None]:
    """Let `import name` fail as if it were not installed; nothing if it is imported."""
    hidden = name not in sys.modules
    if hidden:
        sys.modules[name] = None  # type: ignore[assignment]  # what the import system itself puts there
    try:
        yield
    finally:
        if hidden:
            del sys.modules[name]


class _Untouched(ModuleType):
    def __getattribute__(self, name: str) -> Any:
        if name in NO_TOUCH:
            return super().__getattribute__(name)
        spec: ModuleSpec = super().__getattribute__("__spec__")
        self.__class__ = ModuleType  # type: ignore[assignment]
        if spec.loader:
            spec.loader.exec_module(self)
        return getattr(self, name)
