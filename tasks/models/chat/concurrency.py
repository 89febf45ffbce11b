"""How many calls are under way at a time: as many as allowed, fewer while the server says it is too many."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

BACKED_OFF = 0.7
"""What a server that is overloaded leaves of the limit; each answer gives a little back."""


class Pace:
    """Turns for threads. Source: Chiu & Jain 1989, "Analysis of the Increase and Decrease Algorithms"."""

    def __init__(self, most: int) -> None:
        self._most = float(most)
        self._limit = self._most
        self._running = 0
        self._slowed = 0.0
        self._free = threading.Condition()

    @property
    def limit(self) -> int:
        """Calls that may be under way now."""
        return max(1, int(self._limit))

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait until one more call may be made, and hold its place meanwhile."""
        with self._free:
            self._free.wait_for(lambda: self._running < self.limit)
            self._running += 1
        try:
            yield
        finally:
            with self._free:
                self._running -= 1
                self._free.notify()

    def overloaded(self, started: float) -> None:
        """Lower the limit, once for all calls that were under way together.

        started: when the call was made that the server turned away, in seconds of `time.monotonic`.
        """
        with self._free:
            if started >= self._slowed:
                self._limit = max(1.0, self._limit * BACKED_OFF)
                self._slowed = time.monotonic()

    def answered(self) -> None:
        """Raise the limit by one for as many answers as it allows calls."""
        with self._free:
            self._limit = min(self._most, self._limit + 1 / self._limit)
            self._free.notify()
