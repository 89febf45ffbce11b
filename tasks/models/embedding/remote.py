"""Encoders outside this process: an OpenAI-compatible server, or any LangChain Embeddings object."""

import os
from collections.abc import Sequence
from functools import cached_property
from http import HTTPStatus
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from tasks.errors import ModelError, ServerError
from tasks.models.embedding.batches import Vectors, batches, encode_batches
from tasks.models.openai_client import open_client
from tasks.pipeline.credentials import in_environment, spelled, without_credentials

if TYPE_CHECKING:
    from openai import OpenAI

REQUEST_TEXTS = 256
# A low estimate: English has about 4 bytes of UTF-8 per token, most other scripts about 3.
BYTES_PER_TOKEN = 3
ANOTHER = "name another embed.model, or embed.provider local"
RETRIES, TIMEOUT = 5, 120.0
# Of a reply: as many texts as a request has, with 4096 numbers of 24 characters each.
MOST_BYTES = REQUEST_TEXTS * 4096 * 24
# Client errors that a later request may not have.
TRANSIENT = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT, HTTPStatus.TOO_MANY_REQUESTS)


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
        return _in_requests(texts, self.batch_tokens, self._ask)

    def _ask(self, texts: list[str]) -> NDArray[np.float64]:
        from openai import APIStatusError, OpenAIError

        try:
            reply = self._client.embeddings.create(model=self.model, input=texts, encoding_format="float")
        except APIStatusError as error:
            transient = error.status_code in TRANSIENT or error.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR
            kind = ServerError if transient else ModelError
            raise self._problem(f"answered {error.status_code}: {error.message}", kind) from None
        except OpenAIError as error:
            raise self._problem(f"did not answer: {error}", ServerError) from None
        vectors = {vector.index: vector.embedding for vector in reply.data or []}
        if sorted(vectors) != [*range(len(texts))]:
            raise self._problem(f"gave {len(vectors)} vectors for {len(texts)} texts; {ANOTHER}")
        return _checked([vectors[i] for i in range(len(texts))], self._where)

    @cached_property
    def _client(self) -> "OpenAI":
        from tasks.models.bounded_client import BoundedClient

        return open_client(self.base_url, self._key, RETRIES, BoundedClient(TIMEOUT, MOST_BYTES))

    @property
    def _key(self) -> str | None:
        if self.api_key_env is None:
            return None
        if not (key := os.environ.get(self.api_key_env)):
            raise ModelError(
                f"embed.api_key_env: the environment variable {self.api_key_env} is not set, and {self._where} "
                "has texts to embed; set it (null for a server that wants no key)"
            )
        return key

    @property
    def _where(self) -> str:
        return f"{self.model} at {urlsplit(self.base_url).hostname}"

    def _problem(self, what: str, kind: type[ModelError] = ModelError) -> ModelError:
        message = " ".join(what.split())
        if self._key:
            message = spelled(self._key).sub("***", message)
        return kind(f"embed: {self._where} {message[:400]}")


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
        return _in_requests(texts, self.batch_tokens, self._ask)

    def _ask(self, texts: list[str]) -> NDArray[np.float64]:
        vectors = self._embeddings.embed_documents(texts)
        if len(vectors) != len(texts):
            raise ModelError(f"embed: {self.path} gave {len(vectors)} vectors for {len(texts)} texts")
        return _checked(vectors, self.path)

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


def _in_requests(texts: Sequence[str], batch_tokens: int, ask: Any) -> Vectors:
    sizes = [len(text.encode()) // BYTES_PER_TOKEN + 1 for text in texts]
    return encode_batches(texts, batches(texts, sizes, batch_tokens, REQUEST_TEXTS), ask)


def _checked(vectors: Sequence[Sequence[float]], where: str) -> NDArray[np.float64]:
    try:
        array = np.asarray(vectors, np.float64)
    except ValueError:
        raise ModelError(f"embed: {where} gave vectors of different lengths; {ANOTHER}") from None
    if not array.size or not np.isfinite(array).all() or not array.any(axis=1).all():
        raise ModelError(f"embed: {where} gave a vector that is empty, zero or not finite; {ANOTHER}")
    return array
