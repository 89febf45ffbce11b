"""One flow at a time in a checkout."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from tasks.errors import GoldmeterError
from tasks.pipeline.files import exclusive

WAITING = "Another flow runs in this checkout: waiting for its end"

_held: ContextVar[frozenset[Path]] = ContextVar("held", default=frozenset())


def dvc_tmp(start: Path) -> Path:
    """The folder `.dvc/tmp`, which holds the locks, of the DVC repository around `start`."""
    for folder in (start, *start.parents):
        if (folder / ".dvc").is_dir():
            tmp = folder / ".dvc" / "tmp"
            tmp.mkdir(exist_ok=True)
            return tmp
    raise GoldmeterError(f"{start}: not in a DVC repository; run `dvc init`, or change to the folder of dvc.yaml")


@contextmanager
def one_at_a_time(tmp: Path, on_wait: Callable[[str], object]) -> Iterator[None]:
    """Hold the lock of the checkout; a context inside another one that holds it does nothing.

    Args:
        tmp: The folder `.dvc/tmp`.
        on_wait: Called once, with a message, when another flow holds the lock.
    """
    if tmp in _held.get():
        yield
        return
    with exclusive(tmp / "flow.lock", on_wait=lambda: on_wait(WAITING)):
        token = _held.set(_held.get() | {tmp})
        try:
            yield
        finally:
            _held.reset(token)
