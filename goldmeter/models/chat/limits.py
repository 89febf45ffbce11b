"""Limits of a server: the formats and options that it supports, and the calls at once that it can take."""

import re
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final, Self

from goldmeter.models.chat.refusals import Said

# Ways to ask for JSON, the strictest first.
TEXT: Final = "text"
FORMATS: Final = ("json_schema", "json_object", TEXT)
# A system message; without it, its text begins the user message.
SYSTEM: Final = "system"
OPTIONAL: Final = ("temperature", "seed", SYSTEM)
WITHOUT: Final = " without "
# Names of the limit of a reply, which changes no verdict: neither it nor the bounds of a schema are part of a summary.
LIMITS: Final = ("max_tokens", "max_completion_tokens")
# Keywords of a schema that a server may refuse; without them the same replies are asked for.
BOUND: Final = "maxLength"
LOGPROBS, TOP_LOGPROBS = "logprobs", "top_logprobs"
KEYWORDS: Final = (BOUND, "additionalProperties", "enum", "strict")


@dataclass(frozen=True)
class Support:
    """What a server supports: the format to request, and the options that it rejects.

    refused: names of limits, keywords and log-probabilities that it rejects.
    """

    format: str = FORMATS[0]
    dropped: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()

    @classmethod
    def of(cls, summary: str) -> Self | None:
        """Return the capabilities that a summary states; None if it is none.

        >>> Support.of("json_object without seed")
        Support(format='json_object', dropped=('seed',), refused=())
        """
        name, *dropped = summary.split(WITHOUT)
        return cls(name, tuple(dropped)) if name in FORMATS and {*dropped} <= {*OPTIONAL} else None

    @property
    def summary(self) -> str:
        """The capabilities in a few words, for signatures and the ledger."""
        return WITHOUT.join([self.format, *self.dropped])

    def without(self, said: Said, sent: Collection[str]) -> Self | None:
        """Return the request without what a refusal names; None if it names nothing that was sent.

        Args:
            said: The words of the refusal.
            sent: Options, limits, schema keywords and the format of the refused request.
        """
        for name in OPTIONAL:
            if name in sent and name not in self.dropped and _is_about(said, name):
                return replace(self, dropped=(*self.dropped, name))
        for name in (*LIMITS, LOGPROBS, TOP_LOGPROBS, *KEYWORDS):
            if name in sent and name not in self.refused and _is_about(said, name):
                return replace(self, refused=(*self.refused, name))
        return self._weaker() if any(_is_about(said, name) for name in (*FORMATS[:2], "response_format")) else None

    def reduced(self, said: Said, sent: Collection[str]) -> Self | None:
        """Return the next weaker request after a refusal that may name nothing; None if there is none."""
        if named := self.without(said, sent):
            return named
        if LOGPROBS in sent and LOGPROBS not in self.refused:
            return replace(self, refused=(*self.refused, LOGPROBS))
        if BOUND in sent and BOUND not in self.refused and _SCHEMA.search(said.message):
            return replace(self, refused=(*self.refused, BOUND))
        return self._weaker()

    def limit(self, names: Sequence[str]) -> str | None:
        """Return the first name of the limit that the server takes; None if it takes none."""
        return next((name for name in names if name not in self.refused), None)

    def _weaker(self) -> Self | None:
        weaker = FORMATS[FORMATS.index(self.format) + 1 :]
        return replace(self, format=weaker[0]) if weaker else None


def _is_about(said: Said, name: str) -> bool:
    """Return whether a refusal is about a part of the request, not about a text that contains the word."""
    if name == SYSTEM:
        return _NO_SYSTEM.search(said.message) is not None
    quoted = re.search(rf"""['"`]{name}['"`]""", said.message)
    is_named = quoted or (re.search(rf"\b{name}\b", said.message) and _UNSUPPORTED.search(said.message))
    return name in said.fields or bool(is_named)


_UNSUPPORTED = re.compile(
    r"unsupported|not? support|unknown|unrecogni|not (?:permitted|allowed)|extra|too (?:large|high)|at most",
    re.IGNORECASE,
)
_SCHEMA = re.compile(r"schema|grammar|keyword", re.IGNORECASE)
_NO_SYSTEM = re.compile(
    r"system (?:role|message|prompt)s? (?:is |are )?not supported|not support (?:the )?['\"`]?system|"
    r"only user and assistant roles",
    re.IGNORECASE,
)


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
