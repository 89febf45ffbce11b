"""Calls in a process of their own, with limits on time and memory: what hangs or explodes is a result, too."""

import resource
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import TypeVar

import psutil

from benchmarks.torture.campaign import Trial

Item = TypeVar("Item")
# More than the 1 GiB of addresses that Arrow's allocator reserves at once.
MOST_BYTES = 3 << 29


def limited(
    call: Callable[[Item], Trial], items: Iterable[Item], *, seconds: float = 20.0, most_bytes: int = MOST_BYTES
) -> Iterator[Trial]:
    """Call a function with each item, in a fork of this process; yield what it returns, in order.

    A call that raises, ends its process or does not return is a failed trial; the next one has a new process.

    Args:
        call: What is tried.
        items: Its arguments; a failure quotes the item.
        seconds: Limit of a call.
        most_bytes: Memory that the process may take beyond what it has when it starts.
    """
    worker = _Worker(call, most_bytes)
    try:
        for item in items:
            trial = worker.call(item, seconds)
            if trial is None:
                worker.end()
                worker = _Worker(call, most_bytes)
                trial = Trial("no end", f"{item!r}: no end within {seconds:g} s, or its process ended")
            yield trial
    finally:
        worker.end()


class _Worker:
    """A fork of this process that makes calls."""

    def __init__(self, call: Callable[[Item], Trial], most_bytes: int) -> None:
        context = get_context("fork")
        self._ours, its = context.Pipe()
        self._process = context.Process(target=_serve, args=(its, call, most_bytes), daemon=True)
        self._process.start()
        its.close()

    def call(self, item: object, seconds: float) -> Trial | None:
        """Return the trial; None if it did not end in time, or ended the process."""
        try:
            self._ours.send(item)
            return self._ours.recv() if self._ours.poll(seconds) else None
        except (EOFError, OSError):
            return None

    def end(self) -> None:
        """End the process."""
        with closing(self._ours):
            self._process.kill()
            self._process.join()


def _serve(parent: Connection, call: Callable[[Item], Trial], most_bytes: int) -> None:
    limit = psutil.Process().memory_info().vms + most_bytes
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    while True:
        try:
            item = parent.recv()
        except EOFError:
            return
        try:
            parent.send(call(item))
        except Exception:  # noqa: BLE001 (whatever is raised is what the campaign looks for)
            parent.send(Trial("traceback", f"{item!r}: {traceback.format_exc(limit=-3)}"))
