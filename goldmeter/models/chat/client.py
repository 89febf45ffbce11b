"""Client of a chat model on any server with OpenAI's protocol; the key stays in the environment."""

import json
import re
import threading
import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self, Unpack
from urllib.parse import urlsplit

from goldmeter.errors import ModelError, ServerError
from goldmeter.models.chat.bodies import (
    Options,
    Schema,
    is_text,
    limit_in,
    limit_names,
    messages_of,
    response_format,
    sent_in,
)
from goldmeter.models.chat.envelope import CONTENT_FILTER, CUT_OFF, REFUSAL, opened
from goldmeter.models.chat.limits import TEXT, ConcurrencyLimit, Support
from goldmeter.models.chat.refusals import REDIRECTS, SUCCESS, Cause, Said, cause_of, error_status, said_in, words_of
from goldmeter.models.chat.thoughts import has_thought
from goldmeter.models.connections import ConnectionProblem, connection_problem
from goldmeter.models.servers import ApiKey, open_client
from goldmeter.text.thoughts import CUT_THOUGHT

if TYPE_CHECKING:
    import httpx2
    from openai import APIStatusError, OpenAI

# Characters of a server's message that an error quotes.
QUOTED_LENGTH = 300
NO_COMPLETION = "the server's answer is no completion"
OVERLOADED = frozenset({429, 503})
TRANSIENT = frozenset({408, 409, 429})
UNAUTHORISED = frozenset({401, 403})
REFUSED = frozenset({400, 422})
SERVER_ERRORS = 500
# Larger counts are none: a budget could not add them up.
MOST_TOKENS = 10**9
# After this many rows refused or lost before the first reply, the server is blamed and not the rows.
FAILURES = 3
_STARTED = "goldmeter.started"
_REFUSAL = "HTTP {}: "
_NO_ROOM = "the limit of the reply does not fit into the model's context"
# Words of a server that counts the limit of the reply to the request.
_OF_REPLY = re.compile(r"completion|max_(?:new_)?tokens|max_completion_tokens|output", re.IGNORECASE)


class Reply(NamedTuple):
    """The reply to one request, or the reason why there is none.

    Attributes:
        text: None if there was no reply.
        problem: Why the text can't be a verdict, such as a refusal or a timeout.
        model: The model that the server says it used.
        tokens: Tokens of prompt and completion.
        latency: Seconds of the last call, without those before it and the pauses between them.
        attempts: Number of calls.
        support: The capabilities assumed in the request; None if nothing came back.
        down: The server, and not the request, is the cause.
        billed: The calls may have cost something.
        more_room: Asked again, the reply may be longer: the model thinks, and the limit left no room for thoughts.
    """

    text: str | None
    problem: str | None
    model: str | None
    tokens: dict[str, int] | None
    latency: float
    attempts: int
    support: Support | None
    down: bool = False
    billed: bool = True
    more_room: bool = False

    @property
    def worth_another(self) -> bool:
        """Whether asking again may bring a verdict: not after silence, and not if the reply would be the same."""
        garbled = self.text is not None or (self.problem or "").startswith(NO_COMPLETION)
        ends = {REFUSAL, CONTENT_FILTER, CUT_OFF, CUT_THOUGHT}
        return self.more_room or (garbled and self.problem not in ends)


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


class _RefusedError(Exception):
    """The server rejected the request. said: its words. sent: the names of what the request had."""

    def __init__(self, problem: str, said: Said, sent: frozenset[str]) -> None:
        super().__init__(problem)
        self.said, self.sent = said, sent


class _UnreachableError(Exception):
    """No connection could be established. is_of_setup: a later attempt can't succeed."""

    def __init__(self, problem: ConnectionProblem) -> None:
        super().__init__(f"no connection: {problem.sentence}")
        self.is_of_setup = problem.is_of_setup


class Chat:
    """Calls one model; threads may share it, and the concurrency limit applies to all of them.

    The first call detects what the server supports: JSON schema, JSON mode, temperature, seed, limits. What a later
    refusal names is not sent again.

    Args:
        endpoint: The server.
        limit: Of calls at once.
        known: What the server supports, if earlier replies show it.
        is_json: Whether replies are JSON; else no format is requested.
    """

    def __init__(
        self, endpoint: Endpoint, limit: ConcurrencyLimit, known: Support | None = None, *, is_json: bool = True
    ) -> None:
        self._endpoint, self._is_json = endpoint, is_json
        self._key = endpoint.api_key.value
        self._limit, self._lock = limit, threading.Lock()
        first = Support() if is_json else Support(TEXT)
        self._support, self._settled = known or first, known is not None
        self._limits, self._thinks, self._is_tried = limit_names(endpoint.base_url), False, False
        self._suspected: Support | None = None
        self._fatal: ModelError | None = None
        self._failures, self._last_words = 0, ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connections."""
        self._client.close()

    def ask(self, system: str, user: str, schema: Schema, **options: Unpack[Options]) -> Reply:
        """Return the reply to one request.

        Args:
            system: The system message; empty: there is none.
            user: The message about the row.
            schema: JSON schema of the reply; None for a text.
            options: Of the request.

        Raises:
            ModelError: No call can succeed: key, model or address are wrong.
        """
        try:
            with self._limit.slot():
                if self._fatal:
                    raise self._fatal
                return self._answer(_Question(system, user, schema, options))
        except _RefusedError as problem:
            return no_reply(str(problem), billed=False)
        except _UnreachableError as problem:
            return no_reply(str(problem), down=True, billed=False)
        except ModelError as error:
            self._fatal = self._fatal or error
            raise

    @property
    def support(self) -> Support | None:
        """What the server supports; None before a first call has shown it."""
        return self._support if self._settled and self._is_tried else None

    def body(self, system: str, user: str, schema: Schema, **options: Unpack[Options]) -> dict[str, Any]:
        """Return the body of the request that `ask` would send; arguments as there."""
        return self._body(_Question(system, user, schema, options), self._support, has_room=True)

    def read(self, status: int, body: object, support: Support) -> Reply:
        """Return the reply in a batch's result.

        Args:
            status: The HTTP status of this request.
            body: The body as JSON decodes it.
            support: What the request assumed.
        """
        if status in SUCCESS:
            return self._completion(body, None, 1, support)
        said = words_of(body)
        cause = cause_of(status, said)
        if cause is Cause.CONTENT:
            return no_reply(CONTENT_FILTER, billed=False)
        if cause is Cause.PASSING or not said.message:
            return no_reply(f"HTTP {status}", down=cause is Cause.PASSING, billed=False)
        return no_reply(self._row_problem(status, cause, said), billed=False)

    def quoted(self, text: str) -> str:
        """Return the beginning of a server's text, without our key."""
        return printable(self._clean(text))[:QUOTED_LENGTH]

    def stop(self) -> None:
        """Make no further call; every later `ask` raises ModelError."""
        self._fatal = self._fatal or ModelError("stopped")

    def _answer(self, question: "_Question") -> Reply:
        """Return the reply; a feature that the server refuses only now is not sent again."""
        if first := self._first_reply(question):
            return first
        while True:
            support = self._support
            try:
                return self._call(question, support)
            except _RefusedError as refusal:
                weaker = support.without(refusal.said, refusal.sent)
                if weaker is None:
                    raise
            with self._lock:
                self._support = weaker if self._support == support else self._support

    def _first_reply(self, question: "_Question") -> Reply | None:
        """Return the reply to the first call, which detects the capabilities; None if they are known."""
        if self._settled:
            return None
        with self._lock:
            if self._fatal:
                raise self._fatal
            try:
                return None if self._settled else self._negotiate(question)
            except ModelError as error:
                self._fatal = self._fatal or error  # before the next call takes the lock
                raise

    def _negotiate(self, question: "_Question") -> Reply:
        """Retry with fewer features. If every variant is refused, blame the row, unless the first rows all fail."""
        support: Support | None = self._support
        is_named = True
        while support:
            try:
                reply = self._call(question, support)
            except _UnreachableError as problem:
                kind = ModelError if problem.is_of_setup else ServerError
                raise kind(f"{self._endpoint.base_url}: {problem}.") from None
            except _RefusedError as problem:
                is_named = is_named and support.without(problem.said, problem.sent) is not None
                refusal, support = problem, support.reduced(problem.said, problem.sent)
            else:
                if reply.text is not None:
                    self._settle(support, certain=is_named)
                elif reply.down:
                    self._count_failure(self._no_first_reply(reply))
                return reply
        self._count_failure(
            ModelError(
                f"{self._endpoint.base_url}: the server refuses the request for model "
                f"{self._endpoint.model!r}: {refusal}"
            )
        )
        raise refusal

    def _settle(self, support: Support, *, certain: bool) -> None:
        """Keep these capabilities if the refusals named the features, or if two rows in a row ended with them."""
        if certain or support == self._suspected:
            self._settled, self._support = True, support
        self._suspected = support

    def _no_first_reply(self, reply: Reply) -> ServerError:
        if self._last_words:
            words = f" The server says: {self._last_words}"
            return ServerError(f"{self._endpoint.base_url}: {reply.problem}: the server fails; run again later.{words}")
        return ServerError(f"{self._endpoint.base_url}: {reply.problem}. Check base_url.{self._no_version}")

    def _count_failure(self, error: ModelError) -> None:
        self._failures += 1
        if self._failures >= FAILURES:
            raise error

    def _call(self, question: "_Question", support: Support) -> Reply:
        """Make one call; a reply whose limit does not fit into the model's context is asked for without a limit."""
        has_room = self._thinks
        body = self._body(question, support, has_room=has_room)
        reply = self._sent(body, support)
        if reply.problem == _NO_ROOM:
            reply = self._sent({name: value for name, value in body.items() if name != limit_in(body)}, support)
        if reply.problem in {CUT_OFF, CUT_THOUGHT} and self._thinks and not has_room and not question.states_limit:
            return reply._replace(more_room=limit_in(body) is not None)
        return reply

    def _sent(self, body: dict[str, Any], support: Support) -> Reply:
        import httpx2
        import openai

        from goldmeter.models.bounded_client import TooLargeError

        start = time.monotonic()
        try:
            response = self._client.post("/chat/completions", body=body, cast_to=httpx2.Response)
        except openai.APIStatusError as error:
            return self._rejected(error, body, start)
        except openai.APIConnectionError as error:
            setting = f"{self._endpoint.place}.base_url"
            if unreachable := connection_problem(error, self._endpoint.base_url, setting):
                raise _UnreachableError(unreachable) from None
            if isinstance(error, openai.APITimeoutError):
                return no_reply("timeout", start, self._endpoint.retries + 1, down=True)
            problem = str(error.__cause__) if isinstance(error.__cause__, TooLargeError) else "connection lost"
            return no_reply(problem, start, self._endpoint.retries + 1, down=True)
        self._limit.answered()
        self._is_tried = True
        return self._reply(response.text, response.request.extensions[_STARTED], _attempts(response), support)

    def _body(self, question: "_Question", support: Support, *, has_room: bool) -> dict[str, Any]:
        options = {name: value for name, value in question.options.items() if value is not None}
        stated, small = options.pop("max_tokens", None), options.pop("reply_tokens", None)
        room = self._endpoint.thought_tokens if has_room else 0
        limit = stated or (small + room if isinstance(small, int) else None)
        body: dict[str, Any] = {
            "model": self._endpoint.model,
            "messages": messages_of(question.system, question.user, support),
            **{name: value for name, value in options.items() if name not in support.dropped},
        }
        if limit and (name := support.limit(self._limits) or (self._limits[0] if stated else None)):
            body[name] = limit
        if not is_text(support, question.schema) and question.schema is not None:
            body["response_format"] = response_format(question.schema, support)
        return body

    def _rejected(self, error: "APIStatusError", body: dict[str, Any], start: float) -> Reply:
        """Return the reply for an HTTP error that concerns the row; raise if it concerns all rows, or the format."""
        status, said = error.status_code, said_in(error.response.text)
        cause, attempts = cause_of(status, said), _attempts(error.response)
        if cause.is_of_setup:
            raise self._setup_error(status, cause, said) from None
        if cause is Cause.CONTENT:
            return no_reply(CONTENT_FILTER, start)
        if cause is Cause.PASSING:
            self._last_words = self.quoted(said.message)
            return no_reply(f"HTTP {status}", start, attempts, down=True, billed=False)
        if cause is Cause.REQUEST:
            raise _RefusedError(self._row_problem(status, cause, said), said, sent_in(body)) from None
        if limit_in(body) and _OF_REPLY.search(said.message):
            return no_reply(_NO_ROOM, start, billed=False)
        return no_reply(self._row_problem(status, cause, said), start, attempts, billed=False)

    def _row_problem(self, status: int, cause: Cause, said: Said) -> str:
        """Return why there is no reply to one request, with the server's words."""
        what = f"{cause.value}: " if cause is Cause.CONTEXT else ""
        return f"{_REFUSAL.format(status)}{what}{self.quoted(said.message)}"

    def _setup_error(self, status: int, cause: Cause, said: Said) -> ModelError:
        """Return the error for an answer after which no call can succeed."""
        url, model, place = self._endpoint.base_url, self._endpoint.model, self._endpoint.place
        words = f" The server says: {self.quoted(said.message)}" if said.message else ""
        if cause is Cause.KEY:
            return self._unauthorised(status)
        if cause is Cause.MONEY:
            return ModelError(
                f"{url}: the account has no money left for calls; pay in, or name another {place}.model.{words}"
            )
        if cause is Cause.MODEL:
            return ModelError(f"{url}: HTTP {status}: there is no model {model!r}; correct {place}.model.{words}")
        if cause is Cause.UNSUPPORTED:
            return ModelError(f"{url}: HTTP {status}: the server can't do what it is asked for.{words}")
        if status in REDIRECTS:
            return ModelError(
                f"{url}: HTTP {status}: the server redirects, which is not followed, because requests hold rows and "
                "the key; set base_url to the final address."
            )
        return ModelError(
            f"{url}: HTTP {status}: there is no model {model!r}, or base_url is wrong (it usually ends in /v1)."
            f"{self._no_version}{words}"
        )

    @property
    def _no_version(self) -> str:
        """What may be wrong with an address that has no path."""
        url = self._endpoint.base_url
        return "" if urlsplit(url).path.strip("/") else f" Try {url.rstrip('/')}/v1."

    @cached_property
    def _client(self) -> "OpenAI":
        from openai import DEFAULT_CONNECTION_LIMITS

        from goldmeter.models.bounded_client import BoundedClient

        hooks: Any = {"request": [self._on_request], "response": [self._on_response]}
        http = BoundedClient(
            self._endpoint.timeout, on_reply=_on_reply, event_hooks=hooks, limits=DEFAULT_CONNECTION_LIMITS
        )
        return open_client(self._endpoint.base_url, self._key, self._endpoint.retries, http)

    def _on_request(self, request: "httpx2.Request") -> None:
        """Note the start of a call; once no call can succeed or `stop` was called, none is made, also no retry."""
        if self._fatal:
            raise self._fatal
        request.extensions[_STARTED] = time.monotonic()

    def _on_response(self, response: "httpx2.Response") -> None:
        """Lower the limit on overload, also after responses that are retried."""
        if self._fatal:
            response.headers["x-should-retry"] = "false"  # else the client would pause first
        if response.status_code in OVERLOADED:
            self._limit.overloaded(response.request.extensions[_STARTED])

    def _reply(self, body: str, start: float, attempts: int, support: Support) -> Reply:
        """Parse the body of a response."""
        try:
            completion = json.loads(body)
        except (ValueError, RecursionError):
            return self._no_completion(body, start, attempts)
        self._thinks = self._thinks or has_thought(completion)
        return self._completion(completion, start, attempts, support)

    def _completion(self, completion: Any, start: float | None, attempts: int, support: Support) -> Reply:
        try:
            choice = completion["choices"][0]
            model = completion.get("model")
            letter = opened(choice["message"], choice.get("finish_reason"), is_json=self._is_json)
        except (ValueError, TypeError, KeyError, IndexError, AttributeError):
            return self._no_completion(json.dumps(completion, ensure_ascii=False), start, attempts)
        served = printable(self._clean(model)) if isinstance(model, str) else None
        text, usage = self._clean(letter.text), _usage(completion.get("usage"))
        return Reply(text, letter.problem, served, usage, _since(start), attempts, support)

    def _no_completion(self, body: str, start: float | None, attempts: int) -> Reply:
        return no_reply(f"{NO_COMPLETION}: {self.quoted(body)}", start, attempts, down=True)

    def _unauthorised(self, status: int) -> ModelError:
        variable = self._endpoint.api_key.variable
        key = (
            f"set {variable} to a valid key" if variable else "the server wants a key: name its variable in api_key_env"
        )
        return ModelError(
            f"{self._endpoint.base_url}: HTTP {status}: the server does not accept the key, or not for model "
            f"{self._endpoint.model!r}; {key}."
        )

    def _clean(self, text: str) -> str:
        return self._endpoint.api_key.removed_from(text)


class _Question(NamedTuple):
    """What is asked; system: empty if there is no system message."""

    system: str
    user: str
    schema: Schema
    options: Options

    @property
    def states_limit(self) -> bool:
        """Whether the user states the limit of the reply."""
        return self.options.get("max_tokens") is not None


def _on_reply(response: "httpx2.Response") -> None:
    """Give an error that came as a success its status; have only errors retried that may pass."""
    if response.is_success and (status := error_status(response.text)):
        response.status_code = status
    if not response.is_success and cause_of(response.status_code, said_in(response.text)) is not Cause.PASSING:
        response.headers["x-should-retry"] = "false"


def _attempts(response: "httpx2.Response") -> int:
    return int(response.request.headers.get("x-stainless-retry-count", 0)) + 1


def is_about_content(problem: str) -> bool:
    """Return whether a problem says that the server does not process the texts of the request."""
    return problem == CONTENT_FILTER or any(problem.startswith(_REFUSAL.format(status)) for status in REFUSED)


def no_reply(
    problem: str, start: float | None = None, attempts: int = 1, *, down: bool = False, billed: bool = True
) -> Reply:
    """Return that there is no reply; start: seconds of `time.monotonic`, None where nothing was timed."""
    return Reply(None, problem, None, None, _since(start), attempts, None, down=down, billed=billed)


def _usage(usage: object) -> dict[str, int] | None:
    """Return the tokens that the server counted, reasoning included; None without valid counts.

    Servers that leave reasoning out of `completion_tokens` count it in `total_tokens`.
    """
    if not isinstance(usage, dict):
        return None
    prompt, completion, total = (_count(usage.get(f"{name}_tokens")) for name in ("prompt", "completion", "total"))
    if prompt is None or completion is None:
        return None
    return {"prompt": prompt, "completion": max(completion, (total or 0) - prompt)}


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value <= MOST_TOKENS else None


def printable(text: str) -> str:
    """Replace characters that UTF-8 can't encode."""
    return text.encode("utf-8", "replace").decode()


def _since(start: float | None) -> float:
    return 0.0 if start is None else round(time.monotonic() - start, 3)
