"""A request to a model: the question that it asks, its message, and its key in the ledger."""

import base64
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, Self

from tasks.asking.budget import expected_tokens
from tasks.ledger.entries import canonical
from tasks.metrics.verdict_types import Criterion
from tasks.models.api_key import ApiKey
from tasks.pipeline.hashing import sha256


class Parsed(Protocol):
    """What a reply says, as the ledger keeps it; of a question without a verdict, `score` is 1."""

    @property
    def score(self) -> float: ...
    @property
    def reason(self) -> str | None: ...
    @property
    def met(self) -> str: ...


class Question(Protocol):
    """What is asked about each row.

    instructions: the system message; empty: there is none. prompt_hash: of everything in a request but the row.
    reply_schema: of a reply in JSON; None for a text. criteria: that a reply must have. accepted_problems: of replies
    that have a text and are used all the same.
    """

    @property
    def name(self) -> str: ...
    @property
    def instructions(self) -> str: ...
    @property
    def prompt_hash(self) -> str: ...
    @property
    def reply_schema(self) -> dict[str, Any] | None: ...
    @property
    def criteria(self) -> tuple[Criterion, ...]: ...
    @property
    def accepted_problems(self) -> Collection[str]: ...

    def with_criteria(self, criteria: Sequence[Criterion]) -> Self:
        """Return the question as it is about a row with these criteria."""

    def message(self, fields: str, nonce: str) -> str:
        """Return the part of a request that differs from row to row."""

    def parse(self, reply: str, nonce: str, *, fenced: bool = False) -> Parsed:
        """Return what a reply says. Raises ValueError when it is not usable."""


class AskedModel(Protocol):
    """A model, and what it is asked.

    stage: of dvc.yaml, which begins messages. server_key: class of the server, and its name or address.
    """

    @property
    def stage(self) -> str: ...
    @property
    def base_url(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def api_key(self) -> ApiKey: ...
    @property
    def server_key(self) -> tuple[str, str]: ...
    @property
    def questions(self) -> Mapping[str, Question]: ...


NONCE_LENGTH = 10


@dataclass(frozen=True)
class Request:
    """One question to a model.

    fields: what the request says of the row, without the nonce. server, address: class of the server, and its address
    or the name that the user gives to it; "" for OpenAI, which has one address. temperature, seed: None: the server's.
    max_tokens: of the reply; None: the server's limit.
    """

    server: str
    address: str
    model: str
    question: Question
    fields: str
    temperature: float | None
    seed: int | None
    draw: int
    max_tokens: int | None = None

    @cached_property
    def key(self) -> str:
        """The key in the ledger, 64 hex digits: a hash of everything that is known before the call."""
        limited = {} if self.max_tokens is None else {"max_tokens": self.max_tokens}
        known = {
            **({"address": self.address} if self.address else {}),
            "server": self.server,
            "model": self.model,
            "prompt": self.question.prompt_hash,
            "fields": self.fields,
            "options": {"temperature": self.temperature, "seed": self.seed, **limited},
            "draw": self.draw,
        }
        return sha256(canonical(known)).hex()

    @property
    def nonce(self) -> str:
        """A code that the reply must repeat. A text of the row can't forge it: it depends on that text."""
        return nonce_of(self.key)

    @property
    def tokens(self) -> float:
        """Estimated tokens of the request."""
        return expected_tokens(self.question.instructions, self.message)

    @property
    def message(self) -> str:
        """The part of the request that differs from row to row."""
        return self.question.message(self.fields, self.nonce)


def nonce_of(key: str) -> str:
    """Return the nonce of the request with this key."""
    return base64.b32encode(sha256(key)).decode()[:NONCE_LENGTH]
