"""A chat model behind any server that speaks OpenAI's protocol; the key comes from the environment and stays there."""

import json
import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self
from urllib.parse import urlsplit

from tasks.errors import ModelError, ServerError
from tasks.models.chat.capabilities import Memory, Support, is_about_format
from tasks.models.chat.concurrency import Pace

if TYPE_CHECKING:
    import httpx2
    from openai import APIStatusError, OpenAI

SHOWN = 300
"""Characters of a server's message that an error shows."""
REFUSAL, CONTENT_FILTER, CUT_OFF = "refusal", "content filter", "the reply was cut off"
NO_COMPLETION = "the server's answer is no completion"
CONNECT = 10.0
"""Seconds that a connection may take."""
ACCOUNT = ("OpenAI-Organization", "OpenAI-Project")
"""Headers that the client fills from the environment; they concern no other provider."""
OVERLOADED = frozenset({429, 503})
PASSING = frozenset({408, 409, 429})
UNAUTHORISED = frozenset({401, 403})
REFUSED = frozenset({400, 422})
PAYMENT_REQUIRED, NOT_FOUND, SERVER_ERRORS = 402, 404, 500
"""Statuses of HTTP; from the last one on, the server is to blame."""
FAILURES = 3
"""So many rows refused or lost before the first reply ever: it is not the rows."""
SHORTEST_KEY = 8
"""A shorter "key" (of a local server) is no secret, and replacing it would change replies."""
_STARTED = "goldmeter.started"


class Reply(NamedTuple):
    """What came back: the text, or why there is none.

    text: None when there was no reply. problem: why it can't be a verdict, such as a refusal or a timeout.
    support: what was asked for, None where nothing came back. latency: seconds. attempts: calls made.
    down: whether the server, and not the request, is the reason. billed: whether it may have cost something.
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
        """Whether asking again may bring a verdict: not after silence, nor for an equal reply."""
        garbled = self.text is not None or (self.problem or "").startswith(NO_COMPLETION)
        return garbled and self.problem not in {REFUSAL, CONTENT_FILTER, CUT_OFF}


@dataclass(frozen=True)
class Endpoint:
    """Where the model is, and how patiently it is asked.

    api_key_env: the environment variable with the key; None for a server without keys.
    timeout: seconds of silence, and of a whole call. retries: of a call that failed for a passing reason.
    """

    base_url: str
    model: str
    api_key_env: str | None
    timeout: float
    retries: int


class _RefusedError(Exception):
    """The server answered that the request is wrong."""


class _UnreachableError(Exception):
    """No connection could be made."""


class Chat:
    """Asks one model; may be shared by threads, as many as the pace allows at a time.

    What the server supports (JSON schema, JSON mode, temperature, seed) is found out with the first call.
    """

    def __init__(self, endpoint: Endpoint, pace: Pace, memory: Memory) -> None:
        self._endpoint = endpoint
        self._key = _key(endpoint.api_key_env)
        self._pace, self._memory = pace, memory
        self._lock = threading.Lock()
        self._server = f"{endpoint.base_url} {endpoint.model}"
        remembered = memory.recall(self._server)
        self._support, self._settled = remembered or Support(), remembered is not None
        self._suspected: Support | None = None
        self._fatal: ModelError | None = None
        self._failures = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connections."""
        self._client.close()

    def ask(self, system: str, user: str, schema: Mapping[str, Any], *, temperature: float, seed: int) -> Reply:
        """One reply. Raises ModelError when no call can succeed: key, model or address are wrong."""
        options = {"temperature": temperature, "seed": seed}
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        try:
            with self._pace.turn():
                if self._fatal:
                    raise self._fatal
                return self._first(messages, schema, options) or self._call(messages, schema, options, self._support)
        except _RefusedError as problem:
            return _nothing(str(problem), billed=False)
        except _UnreachableError as problem:
            return _nothing(str(problem), down=True, billed=False)
        except ModelError as error:
            self._fatal = self._fatal or error
            raise

    def stop(self) -> None:
        """Make no further call: whoever asks gets ModelError."""
        self._fatal = self._fatal or ModelError("stopped")

    def _first(
        self, messages: list[dict[str, str]], schema: Mapping[str, Any], options: dict[str, Any]
    ) -> Reply | None:
        """The reply to the first call, which settles what the server supports; None when that is settled."""
        if self._settled:
            return None
        with self._lock:
            if self._fatal:
                raise self._fatal
            return None if self._settled else self._negotiate(messages, schema, options)

    def _negotiate(self, messages: list[dict[str, str]], schema: Mapping[str, Any], options: dict[str, Any]) -> Reply:
        """Ask for less and less; what is refused or lost whatever it asks for is that row's fault, unless all are."""
        support: Support | None = self._support
        named = True
        while support:
            try:
                reply = self._call(messages, schema, options, support)
            except _UnreachableError as problem:
                raise ServerError(
                    f"{self._endpoint.base_url}: {problem}. Check judge.base_url, and the network."
                ) from None
            except _RefusedError as problem:
                refusal, support, named = problem, support.less(str(problem)), named and is_about_format(str(problem))
            else:
                if reply.text is not None:
                    self._settle(support, surely=named)
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

    def _settle(self, support: Support, *, surely: bool) -> None:
        """Ask so from now on, if the server said why, or if two rows in a row came to it."""
        if surely or support == self._suspected:
            self._settled, self._support = True, support
            self._memory.keep(self._server, support)
        self._suspected = support

    def _count_failure(self, error: ModelError) -> None:
        self._failures += 1
        if self._failures >= FAILURES:
            raise error

    def _call(
        self, messages: list[dict[str, str]], schema: Mapping[str, Any], options: Mapping[str, Any], support: Support
    ) -> Reply:
        import httpx2
        import openai

        start = time.monotonic()
        taken = {name: value for name, value in options.items() if name not in support.dropped}
        body: dict[str, Any] = {"model": self._endpoint.model, "messages": messages, **taken}
        if support.format != "text":
            body["response_format"] = _format(support.format, schema)
        try:
            response = self._client.post("/chat/completions", body=body, cast_to=httpx2.Response)
        except openai.APIStatusError as error:
            return self._rejected(error, start)
        except openai.APITimeoutError:
            return _nothing("timeout", start, self._endpoint.retries + 1, down=True)
        except openai.APIConnectionError as error:
            if type(error.__cause__).__name__ == "ConnectError":
                raise _UnreachableError("no connection") from None
            return _nothing("connection lost", start, self._endpoint.retries + 1, down=True)
        self._pace.answered()
        retries = int(response.request.headers.get("x-stainless-retry-count", 0))
        return self._reply(response.text, start, retries + 1, support)

    def _rejected(self, error: "APIStatusError", start: float) -> Reply:
        """What an error of the server means for the row; raises what it means for all rows."""
        status, url = error.status_code, self._endpoint.base_url
        if status in UNAUTHORISED:
            raise self._unauthorised(status) from None
        if status == NOT_FOUND:
            raise ModelError(
                f"{url}: HTTP 404: there is no model {self._endpoint.model!r}, or base_url is "
                "wrong (it usually ends in /v1)."
            ) from None
        if status == PAYMENT_REQUIRED or error.code == "insufficient_quota":
            raise ModelError(
                f"{url}: the account has no money left for calls; pay in, or name another judge.model."
            ) from None
        if error.code == "content_filter":
            return _nothing(CONTENT_FILTER, start)
        if status in REFUSED:
            said = printable(self._clean(error.message)).removeprefix(f"Error code: {status} - ")
            raise _RefusedError(f"HTTP {status}: {said[:SHOWN]}") from None
        down = status in PASSING or status >= SERVER_ERRORS
        attempts = self._endpoint.retries + 1 if down else 1
        return _nothing(f"HTTP {status}", start, attempts, down=down, billed=False)

    @cached_property
    def _client(self) -> "OpenAI":
        import httpx2
        from openai import DefaultHttpxClient, Omit, OpenAI

        endpoint = self._endpoint
        timeout = httpx2.Timeout(endpoint.timeout, connect=min(CONNECT, endpoint.timeout))
        others: Any = dict.fromkeys(ACCOUNT, Omit())
        headers = None if server_class(endpoint.base_url) == "openai" else others
        hooks: Any = {"request": [_begin], "response": [self._watch]}
        return OpenAI(
            api_key=self._key or "none",
            base_url=endpoint.base_url,
            timeout=timeout,
            max_retries=endpoint.retries,
            default_headers=headers,
            http_client=DefaultHttpxClient(event_hooks=hooks),
        )

    def _watch(self, response: "httpx2.Response") -> None:
        """Called with the head of each response, also of those that are asked for again."""
        from tasks.models.chat.deadline import Deadline

        started: float = response.request.extensions[_STARTED]
        response.stream = Deadline(response.stream, started + self._endpoint.timeout)
        if response.status_code in OVERLOADED:
            self._pace.overloaded(started)

    def _reply(self, body: str, start: float, attempts: int, support: Support) -> Reply:
        """The reply in a response's body."""
        try:
            completion = json.loads(body)
            choice = completion["choices"][0]
            refusal, content = choice["message"].get("refusal"), choice["message"].get("content")
            model, finish = completion.get("model"), choice.get("finish_reason")
            text = self._clean(str(refusal or _text(content)))
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
            return _nothing(f"{NO_COMPLETION}: {printable(self._clean(body)[:SHOWN])}", start, attempts, down=True)
        problem = REFUSAL if refusal else _cut_off(finish)
        served = printable(self._clean(model)) if isinstance(model, str) else None
        return Reply(text, problem, served, _usage(completion.get("usage")), _since(start), attempts, support)

    def _unauthorised(self, status: int) -> ModelError:
        variable = self._endpoint.api_key_env
        key = (
            f"set {variable} to a valid key" if variable else "the server wants a key: name its variable in api_key_env"
        )
        return ModelError(
            f"{self._endpoint.base_url}: HTTP {status}: the server does not accept the key, or not for model "
            f"{self._endpoint.model!r}; {key}."
        )

    def _clean(self, text: str) -> str:
        """What the server wrote, without our key."""
        return text.replace(self._key, "[key]") if self._key and len(self._key) >= SHORTEST_KEY else text


def _nothing(
    problem: str, start: float | None = None, attempts: int = 1, *, down: bool = False, billed: bool = True
) -> Reply:
    latency = 0.0 if start is None else _since(start)
    return Reply(None, problem, None, None, latency, attempts, None, down=down, billed=billed)


def _text(content: object) -> str:
    """A message's content: text, or parts of which some are text."""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if part.get("type") == "text")
    return str(content or "")


def _usage(usage: object) -> dict[str, int] | None:
    """Tokens as the server counts them; None where it does not, or where they are no counts."""
    if not isinstance(usage, dict):
        return None
    counts: dict[str, Any] = {name: usage.get(f"{name}_tokens") for name in ("prompt", "completion")}
    return counts if all(type(each) is int and each >= 0 for each in counts.values()) else None


def printable(text: str) -> str:
    """The text without what UTF-8 can't write."""
    return text.encode("utf-8", "replace").decode()


def server_class(base_url: str) -> str:
    """What kind of server it is, as a ledger key has it: the same for every address of one provider.

    >>> server_class("https://api.openai.com/v1"), server_class("http://localhost:11434/v1")
    ('openai', 'compatible')
    """
    host = urlsplit(base_url).hostname or ""
    if host == "api.openai.com":
        return "openai"
    return "azure" if host.endswith((".openai.azure.com", ".services.ai.azure.com")) else "compatible"


def _key(variable: str | None) -> str | None:
    if variable is None:
        return None
    key = os.environ.get(variable, "").strip()
    if not key:
        raise ModelError(f"no key: set the environment variable {variable} (named by api_key_env in params.yaml).")
    if not (key.isascii() and key.isprintable()):
        raise ModelError(
            f"the environment variable {variable} holds no key: it has characters that no key has; set it anew."
        )
    return key


def _format(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    if name == "json_object":
        return {"type": name}
    return {"type": name, "json_schema": {"name": "reply", "strict": True, "schema": schema}}


def _cut_off(finish: object) -> str | None:
    known = {"length": CUT_OFF, "content_filter": CONTENT_FILTER}
    return known.get(finish) if isinstance(finish, str) else None


def _begin(request: "httpx2.Request") -> None:
    request.extensions[_STARTED] = time.monotonic()


def _since(start: float) -> float:
    return round(time.monotonic() - start, 3)
