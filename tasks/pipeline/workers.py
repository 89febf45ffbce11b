"""Processes that share the parts of a table among them."""

import gc
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from math import ceil
from multiprocessing import get_context

from tasks.errors import ParamsError
from tasks.pipeline.tables import Parts

ROWS_A_WORKER = 25_000
"""Another process takes longer to start than fewer rows take to score."""
THREADS = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS")
"""How many threads Arrow, BLAS and torch start, and how many numba."""


def workers_for(parts: Parts, most: int | None) -> int:
    """Processes for a table: no more than `most` (None: one a core), nor than parts, and only for many rows."""
    return min(most or cores(), len(parts), ceil(parts.rows / ROWS_A_WORKER))


@contextmanager
def pool(workers: int, preload: Sequence[str]) -> Iterator[ProcessPoolExecutor]:
    """So many processes, forked from one that has imported the modules `preload`.

    A process runs one stage: the fork server takes its modules and its environment when it is first started.
    Raises ParamsError when a process was killed.
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


@contextmanager
def threads_of(workers: int) -> Iterator[None]:
    """Let what starts meanwhile run its share of threads on the cores, unless the user has said how many."""
    share = str(max(1, cores() // workers))
    added = {name: share for name in THREADS if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


def cores() -> int:
    """Cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
