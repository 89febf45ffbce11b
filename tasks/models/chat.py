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
from tasks.models.pace import Pace
from tasks.models.support import Memory, Support

if TYPE_CHECKING:
    import httpx2
    from openai import APIStatusError, OpenAI

SHOWN = 300
"""Characters of a server's message that an error shows."""
REFUSAL, CONTENT_FILTER = "refusal", "content filter"
CONNECT = 10.0
"""Seconds that a connection may take."""
OVERLOADED = frozenset({429, 503})
PASSING = frozenset({408, 409, 429})
UNAUTHORISED = frozenset({401, 403})
REFUSED = frozenset({400, 422})
PAYMENT_REQUIRED, NOT_FOUND, SERVER_ERRORS = 402, 404, 500
"""Statuses of HTTP; from the last one on, the server is to blame."""
REFUSALS = 3
"""So many first rows refused: it is the server that refuses."""
SHORTEST_KEY = 8
"""A shorter "key" (of a local server) is no secret, and replacing it would change replies."""
_STARTED = "goldmeter.started"


class Reply(NamedTuple):
    """What came back: the text, or why there is none.

    text: None when there was no reply. problem: why it can't be a verdict, such as a refusal or a timeout.
    fenced: whether the server could not be asked for JSON. latency: seconds. attempts: calls made.
    down: whether the server, and not the request, is the reason.
    """

    text: str | None
    problem: str | None
    model: str | None
    tokens: dict[str, int] | None
    latency: float
    attempts: int
    fenced: bool
    down: bool = False

    @property
    def worth_another(self) -> bool:
        """Whether asking again may bring a verdict: not after silence, which was retried, nor after a refusal."""
        return self.text is not None and self.problem not in {REFUSAL, CONTENT_FILTER}


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
        self._support = memory.recall(self._server) or Support()
        self._settled = False
        self._fatal: ModelError | None = None
        self._refusals = 0

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
                return self._first(messages, schema, options) or self._call(messages, schema, options, self._support)
        except _RefusedError as problem:
            return self._nothing(str(problem), 0.0, 1)
        except _UnreachableError as problem:
            return self._nothing(str(problem), 0.0, 1, down=True)
        except ModelError as error:
            self._fatal = error
            raise

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
        """Ask for less and less; a request that is refused whatever it asks for is that row's fault, not the first."""
        support: Support | None = self._support
        while support:
            try:
                reply = self._call(messages, schema, options, support)
            except _UnreachableError as problem:
                raise ServerError(f"{self._endpoint.base_url}: {problem}. Check base_url, and the network.") from None
            except _RefusedError as problem:
                refusal, support = problem, support.less(str(problem))
            else:
                if reply.tokens is not None:
                    self._settled, self._support = True, support
                    self._memory.keep(self._server, support)
                return reply
        self._support = Support()
        self._refusals += 1
        if self._refusals >= REFUSALS:
            raise ModelError(
                f"{self._endpoint.base_url}: the server refuses the request for model "
                f"{self._endpoint.model!r}: {refusal}"
            )
        raise refusal

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
            return self._nothing("timeout", start, self._endpoint.retries + 1, down=True)
        except openai.APIConnectionError as error:
            if type(error.__cause__).__name__ == "ConnectError":
                raise _UnreachableError("no connection") from None
            return self._nothing("connection lost", start, self._endpoint.retries + 1, down=True)
        self._pace.answered()
        retries = int(response.request.headers.get("x-stainless-retry-count", 0))
        return self._reply(response.text, start, retries + 1, fenced=support.format == "text")

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
            raise ModelError(f"{url}: the account has no money left for calls.") from None
        if error.code == "content_filter":
            return self._nothing(CONTENT_FILTER, start, 1)
        if status in REFUSED:
            said = self._clean(error.message).removeprefix(f"Error code: {status} - ")
            raise _RefusedError(f"HTTP {status}: {said[:SHOWN]}") from None
        down = status in PASSING or status >= SERVER_ERRORS
        return self._nothing(f"HTTP {status}", start, self._endpoint.retries * down + 1, down=down)

    @cached_property
    def _client(self) -> "OpenAI":
        import httpx2
        from openai import DefaultHttpxClient, OpenAI

        endpoint = self._endpoint
        timeout = httpx2.Timeout(endpoint.timeout, connect=min(CONNECT, endpoint.timeout))
        hooks: Any = {"request": [_begin], "response": [self._watch]}
        return OpenAI(
            api_key=self._key or "none",
            base_url=endpoint.base_url,
            timeout=timeout,
            max_retries=endpoint.retries,
            http_client=DefaultHttpxClient(event_hooks=hooks),
        )

    def _watch(self, response: "httpx2.Response") -> None:
        """Called with the head of each response, also of those that are asked for again."""
        from tasks.models.deadline import Deadline

        started: float = response.request.extensions[_STARTED]
        response.stream = Deadline(response.stream, started + self._endpoint.timeout)
        if response.status_code in OVERLOADED:
            self._pace.overloaded(started)

    def _reply(self, body: str, start: float, attempts: int, *, fenced: bool) -> Reply:
        """The reply in a response's body."""
        latency = _since(start)
        try:
            completion = json.loads(body)
            choice = completion["choices"][0]
            refusal, content = choice["message"].get("refusal"), choice["message"].get("content")
            model, usage = completion.get("model"), completion.get("usage") or {}
            tokens = {name: int(usage.get(f"{name}_tokens") or 0) for name in ("prompt", "completion")}
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
            return self._nothing("the server's answer is no completion", start, attempts)
        problem = REFUSAL if refusal else _cut_off(choice.get("finish_reason"))
        text = self._clean(str(refusal or content or ""))
        return Reply(text, problem, model if isinstance(model, str) else None, tokens, latency, attempts, fenced)

    def _nothing(self, problem: str, start: float, attempts: int, *, down: bool = False) -> Reply:
        return Reply(None, problem, None, None, _since(start) if start else 0.0, attempts, fenced=False, down=down)

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
        raise ModelError(f"the environment variable {variable} holds no key: it has characters that no key has.")
    return key


def _format(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    if name == "json_object":
        return {"type": name}
    return {"type": name, "json_schema": {"name": "reply", "strict": True, "schema": schema}}


def _cut_off(finish: object) -> str | None:
    known = {"length": "the reply was cut off", "content_filter": CONTENT_FILTER}
    return known.get(finish) if isinstance(finish, str) else None


def _begin(request: "httpx2.Request") -> None:
    request.extensions[_STARTED] = time.monotonic()


def _since(start: float) -> float:
    return round(time.monotonic() - start, 3)
