"""Finds out by its first calls how a server wants to be asked."""

import threading
from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

from goldmeter.errors import ModelError
from goldmeter.models.chat.exchange import Exchange, RefusedError, UnreachableError
from goldmeter.models.chat.replies import Reply

# After this many rows refused or lost before the first reply, the server is blamed and not the rows.
FAILURES = 3
# A way to ask.
Way = TypeVar("Way")


class Other(NamedTuple, Generic[Way]):
    """The way to ask after a refusal; None: there is none. is_named: the refusal names what it is about."""

    way: Way | None
    is_named: bool


class Negotiation(Generic[Way]):
    """The way to ask one server; threads may share it.

    Args:
        exchange: With the server.
        first: The first way that is tried.
        is_known: Earlier replies show that it is right.
    """

    def __init__(self, exchange: Exchange, first: Way, *, is_known: bool) -> None:
        self._exchange, self._lock = exchange, threading.Lock()
        self.way, self.is_settled = first, is_known
        self._suspected: Way | None = None
        self._failures = 0

    def replace(self, way: Way, other: Way) -> None:
        """Ask in another way from now on, unless another thread has replaced this one."""
        with self._lock:
            self.way = other if self.way == way else self.way

    def first_reply(
        self, call: Callable[[Way], Reply], after: Callable[[Way, RefusedError], Other[Way]]
    ) -> Reply | None:
        """Return the reply to one of the first calls; None once the way is known.

        Args:
            call: Makes the call in some way.
            after: Returns the way to ask after a refusal.

        Raises:
            ModelError: No call can succeed.
            RefusedError: Every way is refused.
        """
        if self.is_settled:
            return None
        with self._lock:
            if self._exchange.fatal:
                raise self._exchange.fatal
            try:
                return None if self.is_settled else self._negotiated(call, after)
            except ModelError as error:
                self._exchange.fail(error)  # before the next call takes the lock
                raise

    def _negotiated(self, call: Callable[[Way], Reply], after: Callable[[Way, RefusedError], Other[Way]]) -> Reply:
        """Try one way after the other. If every one is refused, blame the row, unless the first rows all fail."""
        way: Way | None = self.way
        is_named = True
        while way is not None:
            try:
                reply = call(way)
            except UnreachableError as problem:
                raise self._exchange.unreachable(problem) from None
            except RefusedError as problem:
                refusal, other = problem, after(way, problem)
                way, is_named = other.way, is_named and other.is_named
            else:
                if reply.text is not None:
                    self._settle(way, certain=is_named)
                elif reply.down:
                    self._count_failure(self._exchange.no_first_reply(reply))
                return reply
        if refusal.refusal.cause.is_of_setup:
            raise self._exchange.setup_error(refusal.refusal)
        url, model = self._exchange.endpoint.base_url, self._exchange.endpoint.model
        self._count_failure(ModelError(f"{url}: the server refuses the request for model {model!r}: {refusal}"))
        raise refusal

    def _settle(self, way: Way, *, certain: bool) -> None:
        """Keep this way if the refusals named what they are about, or if two rows in a row ended with it."""
        if certain or way == self._suspected:
            self.is_settled, self.way = True, way
        self._suspected = way

    def _count_failure(self, error: ModelError) -> None:
        self._failures += 1
        if self._failures >= FAILURES:
            raise error
