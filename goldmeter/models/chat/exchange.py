"""Exchanges with a model on a server with OpenAI's protocol: what an error is about, and the key, which stays here."""

import re
import threading
import time
from collections.abc import Callable, Collection
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar
from urllib.parse import urlsplit

from goldmeter.errors import ModelError, ServerError
from goldmeter.models.bounded_client import ConnectionProblem, connection_problem
from goldmeter.models.chat.envelope import CONTENT_FILTER
from goldmeter.models.chat.limits import ConcurrencyLimit
from goldmeter.models.chat.refusals import REDIRECTS, Cause, Said, cause_of, error_status, said_in
from goldmeter.models.chat.replies import EVENT_STREAM, STATUS, TIMEOUT, UNEXPECTED, Reply, no_reply, printable
from goldmeter.models.servers import ApiKey, open_client

if TYPE_CHECKING:
    import httpx2
    from openai import APIConnectionError, APIStatusError, OpenAI

# Characters of a server's message that an error quotes.
QUOTED_LENGTH = 300
# Replies to one request that may be lost, each of which may be billed, before no further one is asked for.
MOST_LOST = 2
OVERLOADED = frozenset({429, 503})
_lost: ContextVar[int] = ContextVar("_lost")
_STARTED, _RETRIES = "goldmeter.started", "x-stainless-retry-count"
_STREAM = re.compile(r"\s*(?:data|event|id|retry)?:", re.ASCII)


@dataclass(frozen=True)
class Endpoint:
    """Where the model is, and how long to wait for it.

    Attributes:
        base_url: Address of the server.
        model: Name of the model.
        api_key: The key.
        timeout: Seconds of a whole exchange, and of the longest pause before a retry.
        retries: Retries of a call that failed for a transient reason.
        thought_tokens: Room for thoughts in a reply, once the model is seen to think.
    """

    base_url: str
    model: str
    api_key: ApiKey
    timeout: float
    retries: int
    thought_tokens: int = 0

    @property
    def place(self) -> str:
        """The path in params.yaml that describes the model."""
        return self.api_key.setting.rpartition(".")[0]


class Refusal(NamedTuple):
    """The refusal of one request. words: of the server, for a person. attempts: calls that were made."""

    status: int
    cause: Cause
    said: Said
    words: str
    attempts: int


class RefusedError(Exception):
    """The server rejected the request. sent: the names of what the request had."""

    def __init__(self, refusal: Refusal, sent: Collection[str]) -> None:
        what = f"{refusal.cause.value}: " if refusal.cause is Cause.CONTEXT else ""
        super().__init__(f"{STATUS.format(refusal.status)}{what}{refusal.words}")
        self.refusal, self.said, self.sent = refusal, refusal.said, frozenset(sent)


class UnreachableError(Exception):
    """No connection could be established. is_of_setup: a later attempt can't succeed."""

    def __init__(self, problem: ConnectionProblem) -> None:
        super().__init__(f"no connection: {problem.sentence}")
        self.is_of_setup = problem.is_of_setup


class Body(NamedTuple):
    """The body of a successful response. start: of the last call, in seconds of `time.monotonic`."""

    text: str
    start: float
    attempts: int


class Exchange:
    """Sends requests to one model; threads may share it, and the concurrency limit applies to all of them.

    Args:
        endpoint: The server.
        limit: Of calls at once.
        needed: What is said of the paths that the server must have, if it lacks them.
    """

    def __init__(self, endpoint: Endpoint, limit: ConcurrencyLimit, needed: str = "") -> None:
        self.endpoint, self._limit, self._needed = endpoint, limit, needed
        self._key = endpoint.api_key.value
        self.fatal: ModelError | None = None
        self._last_words = ""

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def stop(self) -> None:
        """Make no further call; every later one raises ModelError."""
        self.fail(ModelError("stopped"))

    def fail(self, error: ModelError) -> ModelError:
        """Return the first error after which no call is made: this one, if there was none."""
        self.fatal = self.fatal or error
        return self.fatal

    def reply(self, answer: Callable[[], Reply]) -> Reply:
        """Return the reply to one request, or why there is none, once a call may be made.

        Raises:
            ModelError: No call can succeed: key, model or address are wrong.
        """
        try:
            with self._limit.slot():
                if self.fatal:
                    raise self.fatal
                return answer()
        except RefusedError as problem:
            return no_reply(str(problem), billed=False)
        except UnreachableError as problem:
            return no_reply(str(problem), down=True, billed=False)
        except ModelError as error:
            self.fail(error)
            raise

    def post(
        self, path: str, body: dict[str, Any], sent: Collection[str] = (), *, other_paths: bool = False
    ) -> Body | Reply:
        """Send one request; return the body of the response, or why there is none.

        Args:
            path: Behind the address.
            body: Of the request.
            sent: The names of what the request has.
            other_paths: The server may be asked at another path: that it lacks this one is no error of the setup.

        Raises:
            RefusedError: The request is refused, or its texts are too long.
            UnreachableError: There is no connection.
            ModelError: No call can succeed.
        """
        import httpx2
        import openai

        from goldmeter.models.bounded_client import TooLargeError

        start, _ = time.monotonic(), _lost.set(0)
        try:
            response = self._client.post(path, body=body, cast_to=httpx2.Response)
        except openai.APIStatusError as error:
            return self._rejected(error, sent, start, other_paths=other_paths)
        except openai.APIConnectionError as error:
            setting = f"{self.endpoint.place}.base_url"
            if unreachable := connection_problem(error, self.endpoint.base_url, setting):
                raise UnreachableError(unreachable) from None
            calls = _attempts(error)
            if isinstance(error, openai.APITimeoutError):
                return no_reply(TIMEOUT, start, calls, down=True)
            is_odd = isinstance(error.__cause__, TooLargeError | httpx2.DecodingError)
            problem = str(error.__cause__) if is_odd else "connection lost"
            return no_reply(problem, start, calls, down=True)
        self._limit.answered()
        return Body(response.text, response.request.extensions[_STARTED], _attempts(response))

    def unusable(self, body: str, start: float | None, attempts: int) -> Reply:
        """Return that the body of a response has not the expected form."""
        if _STREAM.match(body):
            return no_reply(EVENT_STREAM, start, attempts, down=True)
        return no_reply(f"{UNEXPECTED}: {self.quoted(body)}", start, attempts, down=True)

    def quoted(self, text: str) -> str:
        """Return the beginning of a server's text, without our key."""
        return printable(self.clean(text))[:QUOTED_LENGTH]

    def clean(self, text: str) -> str:
        """Return a server's text without our key."""
        return self.endpoint.api_key.removed_from(text)

    def unreachable(self, problem: UnreachableError) -> ModelError:
        """Return the error for a first call without a connection."""
        kind = ModelError if problem.is_of_setup else ServerError
        return kind(f"{self.endpoint.base_url}: {problem}.")

    def no_first_reply(self, reply: Reply) -> ServerError:
        """Return the error for a server none of whose first calls was answered."""
        url = self.endpoint.base_url
        if self._last_words:
            words = f" The server says: {self._last_words}"
            return ServerError(f"{url}: {reply.problem}: the server fails; run again later.{words}")
        return ServerError(f"{url}: {reply.problem}. Check base_url.{self._no_version}")

    def setup_error(self, refusal: Refusal) -> ModelError:
        """Return the error for an answer after which no call can succeed."""
        url, model, place = self.endpoint.base_url, self.endpoint.model, self.endpoint.place
        status, words = refusal.status, f" The server says: {refusal.words}" if refusal.words else ""
        if refusal.cause is Cause.KEY:
            return self._unauthorised(status)
        if refusal.cause is Cause.MONEY:
            return ModelError(
                f"{url}: the account has no money left for calls; pay in, or name another {place}.model.{words}"
            )
        if refusal.cause is Cause.MODEL:
            return ModelError(f"{url}: HTTP {status}: there is no model {model!r}; correct {place}.model.{words}")
        if refusal.cause is Cause.UNSUPPORTED:
            return ModelError(f"{url}: HTTP {status}: the server can't do what it is asked for.{words}")
        if status in REDIRECTS:
            return ModelError(
                f"{url}: HTTP {status}: the server redirects, which is not followed, because requests hold rows and "
                "the key; set base_url to the final address."
            )
        return ModelError(
            f"{url}: HTTP {status}: there is no model {model!r}, or base_url is wrong (it usually ends in /v1)."
            f"{self._no_version}{self._needed}{words}"
        )

    def _rejected(self, error: "APIStatusError", sent: Collection[str], start: float, *, other_paths: bool) -> Reply:
        """Return the reply for an HTTP error that concerns the row; raise if it concerns all rows, or the request."""
        status, said = error.status_code, said_in(error.response.text)
        cause, attempts = cause_of(status, said), _attempts(error.response)
        refusal = Refusal(status, cause, said, self.quoted(said.message), attempts)
        if other_paths and cause in {Cause.ADDRESS, Cause.UNSUPPORTED} and status not in REDIRECTS:
            raise RefusedError(refusal, sent) from None
        if cause.is_of_setup:
            raise self.setup_error(refusal) from None
        if cause is Cause.CONTENT:
            return no_reply(CONTENT_FILTER, start)
        if cause is Cause.PASSING:
            self._last_words = refusal.words
            return no_reply(f"HTTP {status}", start, attempts, down=True, billed=False)
        raise RefusedError(refusal, sent) from None

    @property
    def _no_version(self) -> str:
        """What may be wrong with an address that has no path."""
        url = self.endpoint.base_url
        return "" if urlsplit(url).path.strip("/") else f" Try {url.rstrip('/')}/v1."

    def _unauthorised(self, status: int) -> ModelError:
        variable = self.endpoint.api_key.variable
        key = (
            f"set {variable} to a valid key" if variable else "the server wants a key: name its variable in api_key_env"
        )
        return ModelError(
            f"{self.endpoint.base_url}: HTTP {status}: the server does not accept the key, or not for model "
            f"{self.endpoint.model!r}; {key}."
        )

    @cached_property
    def _client(self) -> "OpenAI":
        from openai import DEFAULT_CONNECTION_LIMITS

        from goldmeter.models.bounded_client import BoundedClient

        hooks: Any = {"request": [self._on_request], "response": [self._on_response]}
        http = BoundedClient(
            self.endpoint.timeout,
            on_reply=_on_reply,
            on_lost=_on_lost,
            event_hooks=hooks,
            limits=DEFAULT_CONNECTION_LIMITS,
        )
        return open_client(self.endpoint.base_url, self._key, self.endpoint.retries, http)

    def _on_request(self, request: "httpx2.Request") -> None:
        """Note the start of a call; once no call can succeed or `stop` was called, none is made, also no retry."""
        if self.fatal:
            raise self.fatal
        request.extensions[_STARTED] = time.monotonic()

    def _on_response(self, response: "httpx2.Response") -> None:
        """Lower the limit on overload, also after responses that are retried."""
        if self.fatal:
            response.headers["x-should-retry"] = "false"  # else the client would pause first
        if response.status_code in OVERLOADED:
            self._limit.overloaded(response.request.extensions[_STARTED])


def _on_reply(response: "httpx2.Response") -> None:
    """Give an error that came as a success its status; have only errors retried that may pass."""
    if response.is_success and (status := error_status(response.text)):
        response.status_code = status
    if not response.is_success and cause_of(response.status_code, said_in(response.text)) is not Cause.PASSING:
        response.headers["x-should-retry"] = "false"


def _on_lost(request: "httpx2.Request", error: "httpx2.RequestError") -> None:
    """Make no call after two that may be billed: errors of the OpenAI client are not retried."""
    import httpx2
    import openai

    _lost.set(_lost.get() + 1)
    if _lost.get() == MOST_LOST:
        kind = openai.APITimeoutError if isinstance(error, httpx2.TimeoutException) else openai.APIConnectionError
        raise kind(request=request) from error


def _attempts(of: "httpx2.Response | APIConnectionError") -> int:
    return int(of.request.headers.get(_RETRIES, 0)) + 1


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
