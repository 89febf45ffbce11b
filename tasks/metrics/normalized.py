"""Pairs as the metrics that compare normalised texts see them."""

from functools import lru_cache

import pyarrow as pa

from tasks.metrics.normalization import normalize
from tasks.metrics.pairs import Pairs
from tasks.metrics.utf8 import mapped


def normalized_texts(pairs: Pairs) -> tuple[pa.Array, pa.Array]:
    """The n responses and m references, normalised: as the normalize stage did it, else by `normalize`'s defaults."""
    if pairs.normalized is not None:
        return pairs.normalized
    form = lru_cache(maxsize=None)(normalize)
    return mapped(form, pairs.responses), mapped(form, pairs.references.flatten())
