"""A request to a judge: its message, and its key in the ledger."""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from tasks.judging.budget import expected_tokens
from tasks.ledger.entries import canonical
from tasks.metrics.judged import LAYOUT, JudgeMetric
from tasks.pipeline.hashing import sha256

NONCE_LENGTH = 10


@dataclass(frozen=True)
class Request:
    """One question to a judge.

    fields: the row's variables as one JSON object. server, address: class of the server, and its address or the name
    that the user gives to it; "" for OpenAI, which has one address.
    """

    server: str
    address: str
    model: str
    metric: JudgeMetric
    fields: str
    temperature: float
    seed: int
    draw: int

    @cached_property
    def key(self) -> str:
        """The key in the ledger, 64 hex digits: a hash of everything that is known before the call."""
        return self._hash({"address": self.address} if self.address else {})

    @property
    def key_without_address(self) -> str:
        """The key that entries had before it held the address of the server."""
        return self._hash({})

    def _hash(self, address: Mapping[str, str]) -> str:
        known = {
            **address,
            "server": self.server,
            "model": self.model,
            "prompt": self.metric.prompt_hash,
            "fields": self.fields,
            "options": {"temperature": self.temperature, "seed": self.seed},
            "draw": self.draw,
        }
        return sha256(canonical(known)).hex()

    @property
    def nonce(self) -> str:
        """A code that the reply must repeat. A text of the row can't forge it: it depends on that text."""
        return base64.b32encode(sha256(self.key)).decode()[:NONCE_LENGTH]

    @property
    def tokens(self) -> float:
        """Estimated tokens of the request."""
        return expected_tokens(self.metric.prompt, self.message)

    @property
    def message(self) -> str:
        """The part of the request that differs from row to row."""
        return LAYOUT.format(nonce=self.nonce, fields=self.fields)


def encode_fields(values: Mapping[str, object]) -> str:
    """Encode variables as one line of JSON: printable characters as they are, all others as escapes.

    >>> encode_fields({"input": None, "ground_truth": ["Zürich"], "output": 'a "city"'})
    '{"input": null, "ground_truth": ["Zürich"], "output": "a \\\\"city\\\\""}'
    """
    text = json.dumps(values, ensure_ascii=False)
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else json.dumps(character)[1:-1] for character in text)
