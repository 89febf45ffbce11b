"""Pairs as the metrics that compare normalised texts see them."""

from functools import lru_cache

from tasks.metrics.normalization import normalize
from tasks.metrics.pairs import Pairs


def normalized_pairs(pairs: Pairs) -> list[tuple[str, str]]:
    """`pairs.paired`, normalised: as the normalize stage did it, else by the defaults of `normalize`."""
    if pairs.normalized is None:
        form = lru_cache(maxsize=None)(normalize)
        return [(form(response), form(reference)) for response, reference in pairs.paired]
    responses, references = (texts.to_pylist() for texts in pairs.normalized)
    return [(responses[row] or "", reference) for row, reference in zip(pairs.rows.tolist(), references, strict=True)]
