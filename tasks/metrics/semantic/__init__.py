"""Metrics that compare meaning by embeddings of texts: one module each."""

from collections.abc import Sequence
from functools import cache

import numpy as np

from tasks.metrics.base import Floats
from tasks.metrics.pairs import Embed


@cache
def default_embed() -> Embed:
    """Return unit vectors of texts by the bundled model, shape (m, d), as a function; the model loads on first use."""
    from tasks.models.embedding.local import LocalEncoder

    encoder = LocalEncoder()

    def embed(texts: Sequence[str]) -> Floats:
        return encoder.encode(texts).astype(np.float64)

    return embed
