"""Engines, which run the units of a stage elsewhere, and the worker processes of this machine, which are one."""

import gc
import os
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, ExitStack, contextmanager
from math import ceil
from multiprocessing import forkserver, get_context
from typing import Any, Generic, Protocol, Self, TypeVar

from goldmeter.errors import ParamsError
from goldmeter.pipeline.tables import Parts

Arguments = Sequence[Any]
# Units that a worker has at hand: enough that it never waits for the driver.
UNITS_A_WORKER = 4


class Pending(Protocol):
    """A submitted unit whose result was not taken yet."""

    def cancel(self) -> object:
        """Give the unit up, if it has not started."""


Unit = TypeVar("Unit", bound=Pending)
Result = TypeVar("Result")


class Engine(ABC, Generic[Unit]):
    """Runs units: calls of a module-level function that is a pure function of its arguments and of the stage's inputs.

    A unit whose worker dies runs again, maybe while the first call still does. What a unit writes must therefore be
    there at once and whole, and be the same each time.
    """

    @property
    @abstractmethod
    def workers(self) -> int:
        """Number of workers now."""

    @property
    def note(self) -> str:
        """What to show beside the progress of a stage."""
        return ""

    def run(self, function: Callable[..., Result], calls: Iterable[Arguments]) -> Iterator[Result]:
        """Call a function with each of `calls`, and yield what it returns, in order."""
        pending: deque[Unit] = deque()
        try:
            for arguments in calls:
                pending.append(self._submit(function, arguments))
                if len(pending) >= UNITS_A_WORKER * self.workers:
                    yield self._next(pending)
            while pending:
                yield self._next(pending)
        finally:
            for unit in pending:
                unit.cancel()

    @abstractmethod
    def _submit(self, function: Callable[..., Any], arguments: Arguments) -> Unit:
        """Submit a unit."""

    @abstractmethod
    def _next(self, pending: deque[Unit]) -> Any:
        """Remove the first unit, and return its result."""


# Minimum rows per worker; below this, process start-up dominates.
ROWS_A_WORKER = 25_000
# Number of threads that Arrow, BLAS and torch start, that numba starts, and that the tokenizers of models start.
THREADS = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS")


class Crew:
    """The processes that compute the parts of a table: those of an engine, or this one.

    Args:
        workers: Number of processes; 1 is this process.
        most: Number of processes that `grown` may give.
        engine: Starts an engine of so many processes, when the first work comes or is about to.
    """

    def __init__(self, workers: int = 1, most: int = 1, engine: Callable[[int], Engine[Any]] | None = None) -> None:
        self._wanted, self._most = workers, max(workers, most)
        self._open = engine
        self._engine: Engine[Any] | None = None

    @property
    def workers(self) -> int:
        """Number of processes: of those that run, or of those that would start."""
        return self._engine.workers if self._engine else self._wanted

    def grown(self, workers: int) -> "Crew":
        """Return a crew of up to so many processes, but no fewer than this one has; for work of which each is worth."""
        more = min(workers, self._most)
        return Crew(more, self._most, self._open) if more > self._wanted else self

    def start(self) -> None:
        """Start the engine, if there is to be one, while this process prepares the work."""
        if self._wanted > 1 and self._open and not self._engine:
            self._engine = self._open(self._wanted)

    def map(self, function: Callable[..., Result], *columns: Iterable[Any]) -> Iterator[Result]:
        """Call a function for each row of arguments, and yield what it returns, in order."""
        self.start()
        return self._engine.run(function, zip(*columns, strict=False)) if self._engine else map(function, *columns)

    def call(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """Call a function once: in a worker, if there are any by then."""
        if not self._engine:
            return function(*arguments)
        [result] = self._engine.run(function, [arguments])
        return result

    @property
    def note(self) -> str:
        """What to show beside the progress of a stage."""
        return self._engine.note if self._engine else ""


@contextmanager
def crew_of(
    engine: Callable[[int], AbstractContextManager[Engine[Any]]], workers: int, most: int = 1
) -> Iterator[Crew]:
    """A crew of so many workers of an engine, which start with the first work and end with the block.

    Args:
        engine: Starts so many workers.
        workers: Number of workers; 1 is this process.
        most: Number to which a stage may let its crew grow.
    """
    with ExitStack() as stack:
        yield Crew(workers, most, lambda number: stack.enter_context(engine(number)))


def workers_for(parts: Parts, most: int | None) -> int:
    """Return the number of processes for a table: at most `most` (None: one per core), one per part."""
    return min(most or cores(), len(parts), ceil(parts.rows / ROWS_A_WORKER))


# Times that a unit is lost before it is blamed: one that was at work twice while others were killed may be innocent.
MOST_LOST = 3


class _Unit:
    """A unit, the executor that has it, and how often a killed process has lost it."""

    def __init__(self, function: Callable[..., Any], arguments: Arguments) -> None:
        self.function, self.arguments = function, arguments
        self.lost = 0
        self.executor: Executor
        self.future: Future[Any]

    def cancel(self) -> None:
        self.future.cancel()


class Processes(Engine[_Unit]):
    """Worker processes of this machine, forked from a server process that has imported the modules `preload`.

    When one is killed, all start anew, and the units that had not ended run once more.
    Modules and environment are those of the first ones of a process: a process runs one stage only.
    """

    def __init__(self, preload: Sequence[str], workers: int) -> None:
        self._size = workers
        self._context = get_context("forkserver")
        self._context.set_forkserver_preload(list(preload))
        self._resources = ExitStack()

    def __enter__(self) -> Self:
        self._resources.enter_context(threads_of(self._size))
        forkserver.ensure_running()  # it imports the modules meanwhile
        self._executor = self._started()
        return self

    def __exit__(self, *_: object) -> None:
        with self._resources:
            self._executor.shutdown()

    @property
    def workers(self) -> int:
        return self._size

    def _started(self) -> Executor:
        return ProcessPoolExecutor(self._size, mp_context=self._context, initializer=gc.freeze)

    def _submit(self, function: Callable[..., Any], arguments: Arguments) -> _Unit:
        unit = _Unit(function, arguments)
        self._assign(unit)
        return unit

    def _assign(self, unit: _Unit) -> None:
        """Give a unit to the processes of today, or to new ones where one of them was killed.

        Raises:
            ParamsError: The process that starts them was killed.
        """
        while True:
            unit.executor = self._executor
            try:
                unit.future = self._executor.submit(unit.function, *unit.arguments)
            except BrokenProcessPool:
                self._replace(unit.executor)
            except EOFError:  # of the fork server
                raise ParamsError(
                    f"run.workers: {self._size} processes could not be started, likely for want of memory; set fewer"
                ) from None
            else:
                return

    def _next(self, pending: deque[_Unit]) -> Any:
        while True:
            try:
                result = pending[0].future.result()
            except BrokenProcessPool:
                self._replace(pending[0].executor)
                self._assign_again(pending)
            else:
                pending.popleft()
                return result

    def _assign_again(self, pending: Iterable[_Unit]) -> None:
        """Run the units again that were lost with their processes, of which the first ones were at work.

        Raises:
            ParamsError: One of these was lost for the third time.
        """
        lost = [unit for unit in pending if unit.executor is not self._executor and _is_lost(unit.future)]
        for place, unit in enumerate(lost):
            unit.lost += place < self._size
            if unit.lost == MOST_LOST:
                raise ParamsError(
                    f"run.workers: of {self._size} processes, one was killed three times at the same work, likely for "
                    "want of memory; set fewer, or smaller parts (load.part_rows)"
                )
            self._assign(unit)

    def _replace(self, broken: Executor) -> None:
        broken.shutdown()  # waits until the futures of all lost units are marked
        if broken is self._executor:
            self._executor = self._started()


def _is_lost(future: Future[Any]) -> bool:
    return future.done() and not future.cancelled() and isinstance(future.exception(), BrokenProcessPool)


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
