"""Worker processes that compute the parts of a table at the same time."""

import gc
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from math import ceil
from multiprocessing import get_context
from typing import Any, TypeVar

from tasks.errors import ParamsError
from tasks.pipeline.tables import Parts

# Minimum rows per worker; below this, process start-up dominates.
ROWS_A_WORKER = 25_000
# Number of threads that Arrow, BLAS and torch start, that numba starts, and that the tokenizers of models start.
THREADS = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS")

Result = TypeVar("Result")


class Crew:
    """The processes that compute the parts of a table: worker processes, or this one.

    Attributes:
        workers: Number of processes; 1 is this process.
        most: Number of processes that `grown` may give.
    """

    def __init__(self, workers: int = 1, most: int = 1, start: Callable[[int], Executor] | None = None) -> None:
        self.workers, self.most = workers, max(workers, most)
        self._start = start
        self._executor: Executor | None = None

    def grown(self, workers: int) -> "Crew":
        """Return a crew of up to so many processes, but no fewer than this one has; for work of which each is worth."""
        more = min(workers, self.most)
        return Crew(more, self.most, self._start) if more > self.workers else self

    def map(self, function: Callable[..., Result], *columns: Iterable[Any]) -> Iterator[Result]:
        """Call a function for each row of arguments, and yield what it returns, in order."""
        if self.workers > 1 and self._start and not self._executor:
            self._executor = self._start(self.workers)
        return self._executor.map(function, *columns) if self._executor else map(function, *columns)

    def call(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """Call a function once: in a worker, if there are any by then."""
        return self._executor.submit(function, *arguments).result() if self._executor else function(*arguments)


@contextmanager
def crew_of(workers: int, preload: Sequence[str], most: int = 1) -> Iterator[Crew]:
    """A crew of so many worker processes that have imported the modules `preload`; for one, this process.

    most: number of processes to which a stage may let its crew grow.

    Raises:
        ParamsError: A worker was killed.
    """
    with ExitStack() as stack:
        yield Crew(workers, most, lambda number: stack.enter_context(pool(number, preload)))


def workers_for(parts: Parts, most: int | None) -> int:
    """Return the number of processes for a table: at most `most` (None: one per core), one per part."""
    return min(most or cores(), len(parts), ceil(parts.rows / ROWS_A_WORKER))


@contextmanager
def pool(workers: int, preload: Sequence[str]) -> Iterator[ProcessPoolExecutor]:
    """Start worker processes, forked from a server process that has imported the modules `preload`.

    Modules and environment are those of the first pool of a process: a process runs one stage only.

    Raises:
        ParamsError: A worker was killed.
    """
    context = get_context("forkserver")
    context.set_forkserver_preload(list(preload))
    try:
        with threads_of(workers), ProcessPoolExecutor(workers, mp_context=context, initializer=gc.freeze) as executor:
            yield executor
    except BrokenProcessPool:
        raise ParamsError(
            f"run.workers: one of {workers} processes was killed, likely for want of memory; set fewer, "
            "or smaller parts (load.part_rows)"
        ) from None


def collect_garbage() -> None:
    """Free what a part leaves: cycles of Great Expectations that hold Arrow buffers, whose bytes Python does not count.

    What outlives the first part, modules above all, is not examined again: later collections take milliseconds.
    """
    gc.collect()
    if not _State.is_frozen:
        gc.freeze()
        _State.is_frozen = True


class _State:
    is_frozen = False


@contextmanager
def threads_of(workers: int) -> Iterator[None]:
    """Divide the cores among the processes started meanwhile, unless the user has set the number of threads."""
    share = str(max(1, cores() // workers))
    added = {name: share for name in THREADS if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


def cores() -> int:
    """Return the number of cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
