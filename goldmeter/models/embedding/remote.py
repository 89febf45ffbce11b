"""Encoders outside this process: an OpenAI-compatible server, or any LangChain Embeddings object."""

import json
from collections.abc import Callable, Sequence
from functools import cached_property
from http import HTTPStatus
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from goldmeter.errors import ModelError, ServerError
from goldmeter.models.bounded_client import connection_problem
from goldmeter.models.embedding.batches import ANOTHER, Vectors, Vectors64, batches, encode_batches
from goldmeter.models.servers import ApiKey, open_client
from goldmeter.pipeline.credentials import in_environment, without_credentials

if TYPE_CHECKING:
    from openai import APIStatusError, OpenAI

REQUEST_TEXTS = 256
# A low estimate: English has about 4 bytes of UTF-8 per token, most other scripts about 3.
BYTES_PER_TOKEN = 3
ADDRESS = "correct embed.base_url (it usually ends in /v1)"
# Characters of a server's message that an error quotes.
QUOTED_LENGTH = 300
RETRIES, TIMEOUT = 5, 120.0
# Of a reply: as many texts as a request has, with 4096 numbers of 24 characters each.
MOST_BYTES = REQUEST_TEXTS * 4096 * 24
# Client errors that a later request may not have.
TRANSIENT = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT, HTTPStatus.TOO_MANY_REQUESTS)
REDIRECTS = range(300, 400)


class OpenAIEncoder:
    """A model of an OpenAI-compatible server; the key is read from the environment and removed from messages."""

    window = None

    def __init__(self, model: str, base_url: str, api_key_env: str | None, batch_tokens: int, server: str = "") -> None:
        self.model, self.base_url, self.api_key_env = model, base_url, api_key_env
        self.batch_tokens, self.server = batch_tokens, server

    @property
    def identity(self) -> str:
        """The model's name and the server, unless that is OpenAI's; a server does not show weights."""
        return f"openai:{self.model}@{self.server}" if self.server else f"openai:{self.model}"

    def count_tokens(self, texts: Sequence[str]) -> list[int | None]:
        """Return None for each text: only the server has the tokenizer."""
        return [None] * len(texts)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors, shape (len(texts), d); raise ModelError if the server does not return them."""
        return _in_requests(texts, self.batch_tokens, self._ask, self._where)

    def _ask(self, texts: list[str]) -> Vectors64:
        body = self._post({"model": self.model, "input": texts, "encoding_format": "float"})
        try:
            return _array(vectors_of(body, len(texts)), self._where)
        except SaidError as error:
            raise self._problem("answered with an error", _kind(error.status), str(error) or body) from None
        except NoVectorsError as error:
            raise self._problem(f"is no embedding server: its reply {error}; {ADDRESS}", ModelError, body) from None

    def _post(self, request: dict[str, object]) -> str:
        """Return the body of the reply to a request."""
        import httpx2
        from openai import APIConnectionError, APIStatusError, APITimeoutError

        try:
            return text_of(self._client.post("/embeddings", body=request, cast_to=httpx2.Response).content)
        except APIStatusError as error:
            raise self._rejected(error) from None
        except APIConnectionError as error:
            if unreachable := connection_problem(error, self.base_url, "embed.base_url"):
                kind = ModelError if unreachable.is_of_setup else ServerError
                raise self._problem(f"did not answer: {unreachable.sentence}", kind) from None
            if isinstance(error, APITimeoutError):
                raise self._problem(f"did not answer within {TIMEOUT:g} s", ServerError) from None
            raise self._problem("did not answer", ServerError, str(error.__cause__ or error)) from None
        except RecursionError:  # the client parses the bodies of errors
            raise self._problem(f"is no embedding server: its reply is nested too deeply; {ADDRESS}") from None

    def _rejected(self, error: "APIStatusError") -> ModelError:
        status = error.status_code
        if status in REDIRECTS:
            return self._problem(
                f"answered {status}: it redirects, which is not followed, because requests hold rows and the key; set "
                "embed.base_url to the final address"
            )
        advice = f"; {ANOTHER}, or {ADDRESS}" if status == HTTPStatus.NOT_FOUND else ""
        return self._problem(f"answered {status}{advice}", _kind(status), error.response.text)

    @cached_property
    def _client(self) -> "OpenAI":
        from goldmeter.models.bounded_client import BoundedClient

        return open_client(self.base_url, self._key.value, RETRIES, BoundedClient(TIMEOUT, MOST_BYTES))

    @cached_property
    def _key(self) -> ApiKey:
        return ApiKey(self.api_key_env, "embed.api_key_env")

    @property
    def _where(self) -> str:
        return f"{self.model} at {without_credentials(self.base_url)}"

    def _problem(self, what: str, kind: type[ModelError] = ModelError, said: str = "") -> ModelError:
        """Return the error with what the server said, quoted without the key."""
        quoted = f": {self._key.removed_from(said)!r}"[: QUOTED_LENGTH + 2] if said else ""
        return kind(f"embed: {self._where} {what}{quoted}")


class LangchainEncoder:
    """An object with LangChain's `embed_documents`, given by its dotted path: `package.module.name`.

    The name may also be that of a class or function that returns the object when called without arguments.
    """

    window = None

    def __init__(self, path: str, batch_tokens: int) -> None:
        self.path, self.batch_tokens = path, batch_tokens

    @property
    def identity(self) -> str:
        """The dotted path; nothing else is known about the object."""
        return f"langchain:{self.path}"

    def count_tokens(self, texts: Sequence[str]) -> list[int | None]:
        """Return None for each text: only the object has the tokenizer."""
        return [None] * len(texts)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors, shape (len(texts), d); raise ModelError if the object can't be imported or used."""
        return _in_requests(texts, self.batch_tokens, self._ask, self.path)

    def _ask(self, texts: list[str]) -> Vectors64:
        return _array(self._embeddings.embed_documents(texts), self.path)

    @cached_property
    def _embeddings(self) -> Any:
        module, _, name = self.path.replace(":", ".").rpartition(".")
        try:
            value = getattr(import_module(module), name)
        except (ImportError, AttributeError, ValueError) as error:
            raise ModelError(f"embed.model: {self.path} can't be imported: {error}") from None
        if isinstance(value, type) or not hasattr(value, "embed_documents"):
            value = self._call(value)
        if not hasattr(value, "embed_documents"):
            raise self._no_embeddings()
        return value

    def _call(self, factory: Any) -> Any:
        """Call the class or function without arguments; an exception of it becomes a ModelError."""
        if not callable(factory) or (isinstance(factory, type) and not hasattr(factory, "embed_documents")):
            raise self._no_embeddings()
        try:
            return factory()
        except Exception as error:  # noqa: BLE001 (somebody else's code)
            problem = without_credentials(" ".join(f"{type(error).__name__}: {error}".split()), in_environment())
            raise ModelError(
                f"embed.model: {self.path} can't be called without arguments: {problem[:400]}; set what it asks for in "
                "the environment, or name a function of yours, as package.module.name, that gives the object"
            ) from None

    def _no_embeddings(self) -> ModelError:
        return ModelError(
            f"embed.model: {self.path} has no embed_documents; expected a LangChain Embeddings object, its class, or a "
            "function that gives it"
        )


def _kind(status: int | None) -> type[ModelError]:
    """Return the kind of error for an HTTP status: whether a later request may succeed."""
    is_transient = status is not None and (status in TRANSIENT or status >= HTTPStatus.INTERNAL_SERVER_ERROR)
    return ServerError if is_transient else ModelError


def _in_requests(texts: Sequence[str], batch_tokens: int, ask: Callable[[list[str]], Vectors64], who: str) -> Vectors:
    sizes = [len(text.encode()) // BYTES_PER_TOKEN + 1 for text in texts]
    return encode_batches(texts, batches(texts, sizes, batch_tokens, REQUEST_TEXTS), ask, who)


def _array(vectors: object, who: str) -> Vectors64:
    """Return vectors as one array. Raises ModelError when they have different lengths, or are no numbers."""
    try:
        array = np.asarray(vectors)
    except ValueError:
        raise ModelError(f"embed: {who} gave vectors of different lengths; {ANOTHER}") from None
    if array.dtype.kind not in "fiu":
        raise ModelError(f"embed: {who} gave vectors that are not of numbers; {ANOTHER}")
    return array.astype(np.float64)


# Most of each mark of JSON in a reply to 256 texts: more would take hundreds of megabytes as Python objects.
MOST_MARKS = {"[": 10_000, "{": 10_000, '"': 100_000, ",": 2_500_000}
# Bytes of the longest reply whose letters beyond ASCII are kept: one of them makes each character take four bytes.
LONGEST_TEXT = 1 << 16
_ASCII = bytes(min(byte, 128) for byte in range(256)).replace(b"\x80", b"?")


class NoVectorsError(Exception):
    """The body is no reply to a request for vectors; the message continues `its reply …`."""


class SaidError(Exception):
    """The body is an error, as some servers and proxies send it with status 200; the message is the server's.

    status: The HTTP status that it names, None without one.
    """

    def __init__(self, message: str, status: int | None) -> None:
        super().__init__(message)
        self.status = status


def text_of(content: bytes) -> str:
    """Return the body of a reply as text."""
    if len(content) <= LONGEST_TEXT:
        return content.decode("utf-8", "replace")
    return content.translate(_ASCII).decode("ascii")


def vectors_of(body: str, texts: int) -> list[list[float]]:
    """Return the vectors of a reply, one for each text, in their order; their lengths may differ.

    Raises:
        NoVectorsError: It is something else.
        SaidError: It is an error.
    """
    reply = _parsed(body)
    if not isinstance(reply, dict):
        raise NoVectorsError("is not a JSON object")
    if error := reply.get("error"):
        raise _said(error)
    data = reply.get("data")
    if not isinstance(data, list):
        raise NoVectorsError("has no list `data`")
    vectors = dict(map(_vector, data))
    if len(data) != texts or vectors.keys() != {*range(texts)}:
        raise NoVectorsError(f"has {len(data)} vectors for {texts} texts, or not one of each `index`")
    return [vectors[i] for i in range(texts)]


def _parsed(body: str) -> Any:
    if any(body.count(mark) > most for mark, most in MOST_MARKS.items()):
        raise NoVectorsError("has too many lists, texts or numbers")
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise NoVectorsError("is not JSON") from None


def _vector(item: Any) -> tuple[int, list[float]]:
    """Return index and vector of an item of `data`."""
    if not isinstance(item, dict) or type(item.get("index")) is not int:
        raise NoVectorsError("has an item of `data` without an `index`")
    vector = item.get("embedding")
    if not isinstance(vector, list) or not {*map(type, vector)} <= {int, float}:
        raise NoVectorsError("has an `embedding` that is not a list of numbers")
    return item["index"], vector


def _said(error: Any) -> SaidError:
    facts = error if isinstance(error, dict) else {"message": error}
    status = next((facts[name] for name in ("code", "status") if type(facts.get(name)) is int), None)
    message = facts.get("message")
    return SaidError(message if isinstance(message, str) else "", status)
