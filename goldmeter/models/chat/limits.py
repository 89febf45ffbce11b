"""Limits of a server: the formats and options that it supports, and the calls at once that it can take."""

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Self

# Ways to ask for JSON, the strictest first.
TEXT: Final = "text"
FORMATS: Final = ("json_schema", "json_object", TEXT)
OPTIONAL: Final = ("temperature", "seed")
WITHOUT: Final = " without "


@dataclass(frozen=True)
class Support:
    """What a server supports: the format to request, and the options that it rejects."""

    format: str = FORMATS[0]
    dropped: tuple[str, ...] = ()

    @classmethod
    def of(cls, summary: str) -> Self | None:
        """Return the capabilities that a summary states; None if it is none.

        >>> Support.of("json_object without seed")
        Support(format='json_object', dropped=('seed',))
        """
        name, *dropped = summary.split(WITHOUT)
        return cls(name, tuple(dropped)) if name in FORMATS and {*dropped} <= {*OPTIONAL} else None

    @property
    def summary(self) -> str:
        """The capabilities in a few words, for signatures and the ledger."""
        return WITHOUT.join([self.format, *self.dropped])

    def reduced(self, message: str) -> Self | None:
        """Return the next weaker request after a refusal with this message; None if there is none."""
        rejected = next((name for name in OPTIONAL if _names(message, name) and name not in self.dropped), None)
        if rejected:
            return type(self)(self.format, (*self.dropped, rejected))
        weaker = FORMATS[FORMATS.index(self.format) + 1 :]
        return type(self)(weaker[0], self.dropped) if weaker else None


def is_about_format(message: str) -> bool:
    """Return whether a refusal concerns the format or the options of the request, and not the row."""
    return any(_names(message, name) for name in (*OPTIONAL, *FORMATS[:2], "response_format"))


def _names(message: str, name: str) -> bool:
    """Return whether a refusal is about a field of the request, not about a text that contains the word."""
    quoted = re.search(rf"""['"`]{name}['"`]""", message)
    return bool(quoted or (re.search(rf"\b{name}\b", message) and _UNSUPPORTED.search(message)))


_UNSUPPORTED = re.compile(r"unsupported|not? support|unknown|unrecogni|not (?:permitted|allowed)|extra", re.IGNORECASE)


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
