"""Machine code of kernels, kept once per environment: one folder per module and content of all that it imports.

Numba keeps machine code beside its source, so that each clone and worktree would compile every kernel again, and looks
at the source of the kernel's own module only, so that a change in a kernel that it calls would go unnoticed.
"""

import os
import re
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from typing import Any, Self

import numba
from llvmlite import binding
from numba.core.caching import UserWideCacheLocator

PACKAGE = __name__.partition(".")[0]
IMPORT = re.compile(rf"^from ({PACKAGE}[\w.]*) import (\([^)]*\)|.*)", re.MULTILINE)
# Seconds after which machine code that no process has asked for is removed.
UNUSED = 30 * 24 * 3600


class EnvironmentLocator(UserWideCacheLocator):
    """Tells numba where the machine code of a kernel of this package is; of other functions, to look elsewhere."""

    def __init__(self, function: Callable[..., object], file: str) -> None:
        super().__init__(function, file)  # type: ignore[no-untyped-call]
        self.content = _content(function.__module__)
        self._cache_path = str(_root() / f"{function.__module__}-{self.content[:32]}")

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Self | None:
        """Return the locator of a function; None if it is not of this package, or the folder can't be written."""
        if not py_func.__module__.startswith(f"{PACKAGE}."):
            return None
        locator: Self | None = super().from_function(py_func, py_file)  # type: ignore[no-untyped-call]
        return locator

    def ensure_cache_path(self) -> None:
        """Make the folder, and note that it is used; remove what is not any more when there is something new."""
        folder = Path(self._cache_path)
        if not folder.exists():
            super().ensure_cache_path()  # type: ignore[no-untyped-call]
            _remove_unused(folder.parent)
        os.utime(folder)  # fails where it can't be written

    def get_source_stamp(self) -> str:
        """Return the hash of the source."""
        return self.content


@cache
def _root() -> Path:
    """The folder of all machine code: NUMBA_CACHE_DIR, in the environment, or of a user who can't write there."""
    if named := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(named)
    if sys.prefix != sys.base_prefix and os.access(sys.prefix, os.W_OK):
        return Path(sys.prefix, "var", "goldmeter")
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "goldmeter")


@cache
def _content(module: str) -> str:
    """The SHA-256 of the sources of a module and of all that it imports of this package, of numba and the processor."""
    sources = _sources(module, {})
    versions = [numba.__version__, sys.implementation.cache_tag, binding.get_host_cpu_name()]
    described = [f"{name}\0{sha256(source.encode()).hexdigest()}" for name, source in sorted(sources.items())]
    return sha256("\n".join([*versions, *described]).encode()).hexdigest()


def _sources(module: str, found: dict[str, str]) -> dict[str, str]:
    """The sources of a module that is being imported, and of what it has imported, by name."""
    if module not in found and (file := getattr(sys.modules.get(module), "__file__", None)):
        found[module] = Path(file).read_text(encoding="utf-8")
        for package, names in IMPORT.findall(found[module]):
            for each in (package, *(f"{package}.{name}" for name in re.findall(r"\w+", names))):
                _sources(each, found)
    return found


def _remove_unused(root: Path) -> None:
    for folder in root.glob(f"{PACKAGE}.*"):
        with suppress(OSError):  # another process was first
            if time.time() - folder.stat().st_mtime > UNUSED:
                rmtree(folder)
