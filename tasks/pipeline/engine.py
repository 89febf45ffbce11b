"""Engines: what runs the units of a stage elsewhere, a few at a time, and returns their results in order."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, Protocol, TypeVar

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
