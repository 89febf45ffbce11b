"""A request to a model: its message, and its key in the ledger."""

import base64
from dataclasses import dataclass
from functools import cached_property

from tasks.asking.budget import expected_tokens
from tasks.asking.model import Question
from tasks.ledger.entries import canonical
from tasks.pipeline.hashing import sha256

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
