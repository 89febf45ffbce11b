"""Similarity: a rating from 1 to 5, computed from a cosine instead of by an LLM; the scale of Azure's evaluator."""

from typing import ClassVar

import numpy as np

from goldmeter.metrics.base import Floats
from goldmeter.metrics.cosine import CosineMetric, rounded
from goldmeter.metrics.pairs import Pairs


class Similarity(CosineMetric):
    """1 + 4 · cosine with the most similar reference; negative cosines count as 0.

    with_query: both texts are preceded by the row's input.
    """

    default_threshold: ClassVar[float | None] = 3.0

    with_query: bool = False

    @property
    def bounds(self) -> tuple[float, float]:
        return (1.0, 5.0)

    def compared_texts(self, pairs: Pairs) -> tuple[list[str], list[str]]:
        left, right = super().compared_texts(pairs)
        if not self.with_query or pairs.inputs is None:
            return left, right
        inputs = pairs.inputs.to_pylist()
        queries = [inputs[row] or "" for row in pairs.rows]
        return _with_queries(queries, left), _with_queries(queries, right)

    def pair_scores(self, pairs: Pairs) -> Floats:
        return rounded(1.0 + 4.0 * np.clip(self.cosine(pairs), 0.0, 1.0))[:, None]


def _with_queries(queries: list[str], texts: list[str]) -> list[str]:
    """Return each text after its query; a blank text stays blank."""
    together = zip(queries, texts, strict=True)
    return [f"{query}\n{text}" if query.strip() and text.strip() else text for query, text in together]
