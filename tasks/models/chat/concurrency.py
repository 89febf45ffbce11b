"""Concurrency limit of calls, lowered while the server is overloaded."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

# Factor on the limit when the server is overloaded; each answer raises it a little.
DECREASE = 0.7


class ConcurrencyLimit:
    """Slots for threads: additive increase, multiplicative decrease.

    Source: Chiu & Jain 1989, "Analysis of the Increase and Decrease Algorithms".
    """

    def __init__(self, largest: int) -> None:
        self._largest = float(largest)
        self._limit = self._largest
        self._running = 0
        self._lowered = 0.0
        self._free = threading.Condition()

    @property
    def limit(self) -> int:
        """Number of calls that may run now."""
        return max(1, int(self._limit))

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Wait until one more call may be made, and occupy its slot during the `with` block."""
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
        """Lower the limit, once for all calls that ran at the same time.

        Args:
            started: Start of the rejected call, in seconds of `time.monotonic`.
        """
        with self._free:
            if started >= self._lowered:
                self._limit = max(1.0, self._limit * DECREASE)
                self._lowered = time.monotonic()

    def answered(self) -> None:
        """Raise the limit by one per as many answers as it allows calls."""
        with self._free:
            self._limit = min(self._largest, self._limit + 1 / self._limit)
            self._free.notify()
