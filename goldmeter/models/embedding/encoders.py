"""Section `embed`: the encoder that it names, and the keys of vectors."""

import json
import re
from collections.abc import Sequence
from typing import Annotated, Literal, Protocol, Self

from pydantic import Field, model_validator

from goldmeter.models.embedding.batches import Vectors
from goldmeter.models.servers import OPENAI_URL, address
from goldmeter.pipeline.hashing import sha256
from goldmeter.pipeline.settings import Section, ServerName, ServerUrl


class Embedding(Section):
    """Section `embed`: how texts are turned into vectors."""

    provider: Literal["local", "openai", "langchain"]
    model: Annotated[str, Field(min_length=1)]
    base_url: ServerUrl | None
    server: ServerName | None
    api_key_env: str | None
    backend: Literal["torch", "openvino"] = "torch"
    precision: Literal["fp32", "bf16"]
    long: Literal["truncate", "mean_of_windows"]
    batch_tokens: Annotated[int, Field(ge=64)]

    @model_validator(mode="after")
    def _check_provider(self) -> Self:
        if self.provider != "local" and (self.precision, self.long) != ("fp32", "truncate"):
            raise ValueError(f"provider {self.provider} takes only precision fp32 and long truncate")
        if self.provider != "local" and self.backend != "torch":
            raise ValueError(f"provider {self.provider} takes no backend; only local does")
        if self.provider != "openai" and self.base_url is not None:
            raise ValueError(f"provider {self.provider} takes no base_url; only openai does")
        if self.provider != "openai" and self.server is not None:
            raise ValueError(f"provider {self.provider} takes no server; only openai does")
        return self

    @property
    def server_key(self) -> str:
        """Name or address of the server, as in keys; "" for OpenAI and where no server is asked."""
        return self.server or address(self.base_url or OPENAI_URL) if self.provider == "openai" else ""

    @property
    def arithmetic(self) -> str:
        """The precision as used in keys and signatures: torch's bf16 applies to the linear layers only."""
        if self.backend == "openvino":
            return f"{self.precision}-openvino"
        return "bf16-linear" if self.precision == "bf16" else self.precision


class Encoder(Protocol):
    """A model that computes vectors; before `encode` nothing is loaded and no server is called."""

    @property
    def identity(self) -> str:
        """What distinguishes its vectors: hashes of weights and configuration, or the server's model."""

    @property
    def window(self) -> int | None:
        """Tokens that one pass reads; None if only the server knows."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors, shape (len(texts), d); raise ModelError if the model can't be used."""

    def count_tokens(self, texts: Sequence[str]) -> list[int | None]:
        """Return the tokens of each text before truncation; None if only the server knows."""


def open_encoder(section: Embedding) -> Encoder:
    """Return the encoder that the section names.

    Raises:
        ModelError: There is no such model.
    """
    if section.provider == "local":
        from goldmeter.models.embedding.local import LocalEncoder

        return LocalEncoder(section.model, section.precision, section.long, section.batch_tokens, section.backend)
    from goldmeter.models.embedding.remote import LangchainEncoder, OpenAIEncoder

    if section.provider == "langchain":
        return LangchainEncoder(section.model, section.batch_tokens)
    url = section.base_url or OPENAI_URL
    return OpenAIEncoder(section.model, url, section.api_key_env, section.batch_tokens, section.server_key)


def vector_keys(section: Embedding, encoder: Encoder, texts: Sequence[str]) -> list[bytes]:
    """Return the ledger key of each text's vector: the sha256, 32 bytes, of everything known before it is computed."""
    how = [encoder.identity, section.arithmetic, section.long]
    return [sha256(json.dumps([*how, text], ensure_ascii=False, separators=(",", ":"))) for text in texts]


def vector_facts(section: Embedding, encoder: Encoder) -> dict[str, object]:
    """Return what a signature states about the vectors; hashes are shortened to 12 digits."""
    short = re.sub(r"\b([0-9a-f]{12})[0-9a-f]{52}\b", r"\1", encoder.identity)
    return {"weights": short, "precision": section.arithmetic, "long": section.long}
