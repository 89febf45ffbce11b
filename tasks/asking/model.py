"""What asking needs to know of a model behind a server, and of a question to it."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol, Self

from tasks.metrics.verdict_types import Criterion
from tasks.models.api_key import ApiKey


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
