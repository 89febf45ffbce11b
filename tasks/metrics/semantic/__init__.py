"""Metrics that compare meaning by the vectors of texts: one module each, its one Metric class inside."""

from collections.abc import Sequence
from functools import cache

import numpy as np

from tasks.metrics.base import Floats
from tasks.metrics.pairs import Embed


@cache
def default_embed() -> Embed:
    """Unit vectors of texts by the bundled model, shape (m, d); loaded when the first text is encoded."""
    from tasks.models.embedding.local import LocalEncoder

    encoder = LocalEncoder()

    def embed(texts: Sequence[str]) -> Floats:
        return encoder.encode(texts).astype(np.float64)

    return embed
