"""Metrics that compare meaning by embeddings of texts: one module each."""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from goldmeter.metrics.base import Floats
from goldmeter.metrics.pairs import Embed

if TYPE_CHECKING:
    from goldmeter.models.embedding.local import LocalEncoder


@cache
def default_embed() -> Embed:
    """Return unit vectors of texts by the bundled model, shape (m, d), as a function; the model loads on first use."""
    encoder = _encoder()

    def embed(texts: Sequence[str]) -> Floats:
        return encoder.encode(texts).astype(np.float64)

    return embed


def default_weights() -> str:
    """Return the first digits of the SHA-256 of the bundled model's weights."""
    return _encoder().identity[:12]


@cache
def _encoder() -> "LocalEncoder":
    from goldmeter.models.embedding.local import LocalEncoder

    return LocalEncoder()
