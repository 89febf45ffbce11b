"""Client of a chat model on any server with OpenAI's protocol; the key stays in the environment."""

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias, TypedDict, Unpack

from goldmeter.errors import ModelError, ServerError
from goldmeter.models.chat.envelope import CONTENT_FILTER, CUT_OFF, REFUSAL, opened
from goldmeter.models.chat.limits import TEXT, ConcurrencyLimit, Support, is_about_format
from goldmeter.models.servers import COMPATIBLE, ApiKey, open_client, server_class
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
# HTTP statuses; 500 and above are errors of the server.
PAYMENT_REQUIRED, NOT_FOUND, SERVER_ERRORS = 402, 404, 500
SUCCESS, REDIRECTS = range(200, 300), range(300, 400)
# Larger counts are none: a budget could not add them up.
MOST_TOKENS = 10**9
# After this many rows refused or lost before the first reply, the server is blamed and not the rows.
FAILURES = 3
# The limit of a reply's tokens, as OpenAI and Azure call it: `max_tokens` is refused by models that think.
NEW_LIMIT = "max_completion_tokens"
_STARTED = "goldmeter.started"
_REFUSAL = "HTTP {}: "


# JSON schema of a reply; None for a text.
Schema: TypeAlias = Mapping[str, Any] | None


class Options(TypedDict, total=False):
    """Options of a request; None is the server's default. seed: of the draw. max_tokens: of the reply."""

    temperature: float | None
    seed: int | None
    max_tokens: int | None


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

    @property
    def worth_another(self) -> bool:
        """Whether asking again may bring a verdict: not after silence, and not if the reply would be the same."""
        garbled = self.text is not None or (self.problem or "").startswith(NO_COMPLETION)
        return garbled and self.problem not in {REFUSAL, CONTENT_FILTER, CUT_OFF, CUT_THOUGHT}


@dataclass(frozen=True)
class Endpoint:
    """Where the model is, and how long to wait for it.

    Attributes:
        base_url: Address of the server.
        model: Name of the model.
        api_key: The key.
        timeout: Seconds of a whole exchange, and of the longest pause before a retry.
        retries: Retries of a call that failed for a transient reason.
    """

    base_url: str
    model: str
    api_key: ApiKey
    timeout: float
    retries: int

    @property
    def place(self) -> str:
        """The path in params.yaml that describes the model."""
        return self.api_key.setting.rpartition(".")[0]


class _RefusedError(Exception):
    """The server rejected the request."""


class _UnreachableError(Exception):
    """No connection could be established."""


class Chat:
    """Calls one model; threads may share it, and the concurrency limit applies to all of them.

    The first call detects what the server supports: JSON schema, JSON mode, temperature, seed.

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
        self._known, self._support, self._settled = known, known or first, known is not None
        self._suspected: Support | None = None
        self._fatal: ModelError | None = None
        self._failures = 0

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
        messages, given = _messages(system, user), self._given(options)
        try:
            with self._limit.slot():
                if self._fatal:
                    raise self._fatal
                return self._answer(messages, schema, given)
        except _RefusedError as problem:
            return no_reply(str(problem), billed=False)
        except _UnreachableError as problem:
            return no_reply(str(problem), down=True, billed=False)
        except ModelError as error:
            self._fatal = self._fatal or error
            raise

    @property
    def support(self) -> Support | None:
        """What the server supports; None before a first call has detected it."""
        return self._support if self._settled else None

    def body(self, system: str, user: str, schema: Schema, **options: Unpack[Options]) -> dict[str, Any]:
        """Return the body of the request that `ask` would send; arguments as there."""
        return self._body(_messages(system, user), schema, self._given(options), self._support)

    def read(self, status: int, body: object, support: Support) -> Reply:
        """Return the reply in a batch's result.

        Args:
            status: The HTTP status of this request.
            body: The body as JSON decodes it.
            support: What the request assumed.
        """
        if status in SUCCESS:
            return self._completion(body, None, 1, support)
        error = body.get("error", body) if isinstance(body, dict) else body
        said = error if isinstance(error, dict) else {"message": error}
        if said.get("code") == "content_filter":
            return no_reply(CONTENT_FILTER, billed=False)
        down = status in TRANSIENT or status >= SERVER_ERRORS
        message = "" if down or said.get("message") is None else f": {said['message']}"
        return no_reply(f"HTTP {status}{self.quoted(message)}", down=down, billed=False)

    def quoted(self, text: str) -> str:
        """Return the beginning of a server's text, without our key."""
        return printable(self._clean(text))[:QUOTED_LENGTH]

    def stop(self) -> None:
        """Make no further call; every later `ask` raises ModelError."""
        self._fatal = self._fatal or ModelError("stopped")

    def _answer(self, messages: list[dict[str, str]], schema: Schema, options: dict[str, Any]) -> Reply:
        """Return the reply; what earlier replies showed is detected again if the server now refuses it."""
        if first := self._first_reply(messages, schema, options):
            return first
        support = self._support
        try:
            return self._call(messages, schema, options, support)
        except _RefusedError as problem:
            if support != self._known or not is_about_format(str(problem)):
                raise
        with self._lock:
            self._settled = self._support != support
        return self._first_reply(messages, schema, options) or self._call(messages, schema, options, self._support)

    def _first_reply(self, messages: list[dict[str, str]], schema: Schema, options: dict[str, Any]) -> Reply | None:
        """Return the reply to the first call, which detects the capabilities; None if they are known."""
        if self._settled:
            return None
        with self._lock:
            if self._fatal:
                raise self._fatal
            try:
                return None if self._settled else self._negotiate(messages, schema, options)
            except ModelError as error:
                self._fatal = self._fatal or error  # before the next call takes the lock
                raise

    def _negotiate(self, messages: list[dict[str, str]], schema: Schema, options: dict[str, Any]) -> Reply:
        """Retry with fewer features. If every variant is refused, blame the row, unless the first rows all fail."""
        support: Support | None = self._support
        about_format = True
        while support:
            try:
                reply = self._call(messages, schema, options, support)
            except _UnreachableError as problem:
                raise ServerError(
                    f"{self._endpoint.base_url}: {problem}. Check {self._endpoint.place}.base_url, and the network."
                ) from None
            except _RefusedError as problem:
                refusal, support = problem, support.reduced(str(problem))
                about_format = about_format and is_about_format(str(problem))
            else:
                if reply.text is not None:
                    self._settle(support, certain=about_format)
                elif reply.down:
                    self._count_failure(ServerError(f"{self._endpoint.base_url}: {reply.problem}. Check base_url."))
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

    def _count_failure(self, error: ModelError) -> None:
        self._failures += 1
        if self._failures >= FAILURES:
            raise error

    def _call(
        self, messages: list[dict[str, str]], schema: Schema, options: Mapping[str, Any], support: Support
    ) -> Reply:
        import httpx2
        import openai

        from goldmeter.models.bounded_client import TooLargeError

        start = time.monotonic()
        body = self._body(messages, schema, options, support)
        try:
            response = self._client.post("/chat/completions", body=body, cast_to=httpx2.Response)
        except openai.APIStatusError as error:
            return self._rejected(error, start)
        except openai.APITimeoutError:
            return no_reply("timeout", start, self._endpoint.retries + 1, down=True)
        except openai.APIConnectionError as error:
            if type(error.__cause__).__name__ == "ConnectError":
                raise _UnreachableError("no connection") from None
            problem = str(error.__cause__) if isinstance(error.__cause__, TooLargeError) else "connection lost"
            return no_reply(problem, start, self._endpoint.retries + 1, down=True)
        self._limit.answered()
        retries = int(response.request.headers.get("x-stainless-retry-count", 0))
        return self._reply(response.text, response.request.extensions[_STARTED], retries + 1, support)

    def _body(
        self, messages: list[dict[str, str]], schema: Schema, options: Mapping[str, Any], support: Support
    ) -> dict[str, Any]:
        accepted = {name: value for name, value in options.items() if name not in support.dropped}
        body: dict[str, Any] = {"model": self._endpoint.model, "messages": messages, **accepted}
        if support.format != TEXT and schema is not None:
            body["response_format"] = _format(support.format, schema)
        return body

    def _given(self, options: "Options") -> dict[str, Any]:
        """Return the options of a request that are stated, by the names that the server has for them."""
        names = {"max_tokens": "max_tokens" if server_class(self._endpoint.base_url) == COMPATIBLE else NEW_LIMIT}
        return {names.get(name, name): value for name, value in options.items() if value is not None}

    def _rejected(self, error: "APIStatusError", start: float) -> Reply:
        """Return the reply for an HTTP error that concerns the row; raise if it concerns all rows."""
        status, url = error.status_code, self._endpoint.base_url
        if status in UNAUTHORISED:
            raise self._unauthorised(status) from None
        if status == NOT_FOUND:
            raise ModelError(
                f"{url}: HTTP 404: there is no model {self._endpoint.model!r}, or base_url is "
                "wrong (it usually ends in /v1)."
            ) from None
        if status in REDIRECTS:
            raise ModelError(
                f"{url}: HTTP {status}: the server redirects, which is not followed, because requests hold rows and "
                "the key; set base_url to the final address."
            ) from None
        if status == PAYMENT_REQUIRED or error.code == "insufficient_quota":
            raise ModelError(
                f"{url}: the account has no money left for calls; pay in, or name another {self._endpoint.place}.model."
            ) from None
        if error.code == "content_filter":
            return no_reply(CONTENT_FILTER, start)
        if status in REFUSED:
            message = printable(self._clean(error.message)).removeprefix(f"Error code: {status} - ")
            raise _RefusedError(f"{_REFUSAL.format(status)}{message[:QUOTED_LENGTH]}") from None
        down = status in TRANSIENT or status >= SERVER_ERRORS
        attempts = self._endpoint.retries + 1 if down else 1
        return no_reply(f"HTTP {status}", start, attempts, down=down, billed=False)

    @cached_property
    def _client(self) -> "OpenAI":
        from openai import DEFAULT_CONNECTION_LIMITS

        from goldmeter.models.bounded_client import BoundedClient

        hooks: Any = {"request": [self._on_request], "response": [self._on_response]}
        http = BoundedClient(self._endpoint.timeout, event_hooks=hooks, limits=DEFAULT_CONNECTION_LIMITS)
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


def is_about_content(problem: str) -> bool:
    """Return whether a problem says that the server does not process the texts of the request."""
    return problem == CONTENT_FILTER or any(problem.startswith(_REFUSAL.format(status)) for status in REFUSED)


def no_reply(
    problem: str, start: float | None = None, attempts: int = 1, *, down: bool = False, billed: bool = True
) -> Reply:
    """Return that there is no reply; start: seconds of `time.monotonic`, None where nothing was timed."""
    return Reply(None, problem, None, None, _since(start), attempts, None, down=down, billed=billed)


def _messages(system: str, user: str) -> list[dict[str, str]]:
    first = [{"role": "system", "content": system}] if system else []
    return [*first, {"role": "user", "content": user}]


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


def _format(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    if name == "json_object":
        return {"type": name}
    return {"type": name, "json_schema": {"name": "reply", "strict": True, "schema": schema}}


def _since(start: float | None) -> float:
    return 0.0 if start is None else round(time.monotonic() - start, 3)
