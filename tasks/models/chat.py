"""A chat model behind any server that speaks OpenAI's protocol; the key comes from the environment and stays there."""

import json
import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlsplit

from tasks.errors import ModelError, ServerError

if TYPE_CHECKING:
    from openai import OpenAI

FORMATS: Final = ("json_schema", "json_object", "text")
"""Ways to ask for JSON, the strictest first."""
SHOWN = 300
"""Characters of a server's message that an error shows."""
SHORTEST_KEY = 8
"""A shorter "key" (of a local server) is no secret, and replacing it would change replies."""


class Reply(NamedTuple):
    """What came back: the text, or why there is none.

    text: None when there was no reply. problem: why it can't be a verdict, such as a refusal or a timeout.
    fenced: whether the server could not be asked for JSON. latency: seconds. attempts: calls made.
    """

    text: str | None
    problem: str | None
    model: str | None
    tokens: dict[str, int] | None
    latency: float
    attempts: int
    fenced: bool


@dataclass(frozen=True)
class Endpoint:
    """Where the model is, and how patiently it is asked.

    api_key_env: the environment variable with the key; None for a server without keys. timeout: seconds a call.
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
    """Asks one model; may be shared by threads.

    What the server supports (JSON schema, JSON mode, temperature, seed) is found out with the first call.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._key = _key(endpoint.api_key_env)
        self._lock = threading.Lock()
        self._settled = False
        self._fatal: ModelError | None = None
        self._format = 0
        self._dropped: set[str] = set()

    def ask(self, system: str, user: str, schema: Mapping[str, Any], *, temperature: float, seed: int) -> Reply:
        """One reply. Raises ModelError when no call can succeed: key, model or address are wrong."""
        options = {"temperature": temperature, "seed": seed}
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        try:
            return self._first(messages, schema, options) or self._call(messages, schema, options)
        except (_RefusedError, _UnreachableError) as problem:
            return self._nothing(str(problem), 0.0, 1)
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
        while True:
            try:
                reply = self._call(messages, schema, options)
            except _UnreachableError as problem:
                raise ServerError(f"{self._endpoint.base_url}: {problem}. Check base_url, and the network.") from None
            except _RefusedError as problem:
                if not self._step_down(str(problem)):
                    raise ModelError(
                        f"{self._endpoint.base_url}: the server refuses the request for model "
                        f"{self._endpoint.model!r}: {problem}"
                    ) from None
            else:
                self._settled = reply.tokens is not None
                return reply

    def _step_down(self, message: str) -> bool:
        """Ask for less than before; whether there is less to ask for."""
        named = next((name for name in ("temperature", "seed") if name in message and name not in self._dropped), None)
        if named:
            self._dropped.add(named)
        elif self._format + 1 < len(FORMATS):
            self._format += 1
        else:
            return False
        return True

    def _call(self, messages: list[dict[str, str]], schema: Mapping[str, Any], options: Mapping[str, Any]) -> Reply:
        import openai

        start = time.monotonic()
        extra: dict[str, Any] = {name: value for name, value in options.items() if name not in self._dropped}
        if FORMATS[self._format] != "text":
            extra["response_format"] = _format(FORMATS[self._format], schema)
        model: Any = self._endpoint.model
        sent: Any = messages
        try:
            raw = self._client.chat.completions.with_raw_response.create(model=model, messages=sent, **extra)
        except (openai.AuthenticationError, openai.PermissionDeniedError) as error:
            raise self._unauthorised(error.status_code) from None
        except openai.NotFoundError:
            raise ModelError(
                f"{self._endpoint.base_url}: HTTP 404: there is no model {self._endpoint.model!r}, or base_url is "
                "wrong (it usually ends in /v1)."
            ) from None
        except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
            said = self._clean(error.message).removeprefix(f"Error code: {error.status_code} - ")
            raise _RefusedError(f"HTTP {error.status_code}: {said[:SHOWN]}") from None
        except openai.APIStatusError as error:
            return self._nothing(f"HTTP {error.status_code}", start, self._endpoint.retries + 1)
        except openai.APITimeoutError:
            return self._nothing("timeout", start, self._endpoint.retries + 1)
        except openai.APIConnectionError as error:
            if type(error.__cause__).__name__ == "ConnectError":
                raise _UnreachableError("no connection") from None
            return self._nothing("connection lost", start, self._endpoint.retries + 1)
        return self._reply(raw.http_response.text, start, raw.retries_taken + 1)

    @cached_property
    def _client(self) -> "OpenAI":
        from openai import OpenAI

        endpoint = self._endpoint
        return OpenAI(
            api_key=self._key or "none",
            base_url=endpoint.base_url,
            timeout=endpoint.timeout,
            max_retries=endpoint.retries,
        )

    def _reply(self, body: str, start: float, attempts: int) -> Reply:
        """The reply in a response's body."""
        latency, fenced = _since(start), FORMATS[self._format] == "text"
        try:
            completion = json.loads(body)
            choice = completion["choices"][0]
            refusal, content = choice["message"].get("refusal"), choice["message"].get("content")
            model, usage = completion.get("model"), completion.get("usage") or {}
            tokens = {name: int(usage.get(f"{name}_tokens") or 0) for name in ("prompt", "completion")}
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
            return self._nothing("the server's answer is no completion", start, attempts)
        problem = "refusal" if refusal else _cut_off(choice.get("finish_reason"))
        text = self._clean(str(refusal or content or ""))
        return Reply(text, problem, model if isinstance(model, str) else None, tokens, latency, attempts, fenced)

    def _nothing(self, problem: str, start: float, attempts: int) -> Reply:
        return Reply(None, problem, None, None, _since(start) if start else 0.0, attempts, fenced=False)

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
    known = {"length": "the reply was cut off", "content_filter": "content filter"}
    return known.get(finish) if isinstance(finish, str) else None


def _since(start: float) -> float:
    return round(time.monotonic() - start, 3)
