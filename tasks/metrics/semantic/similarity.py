"""Similarity from 1 to 5: the scale of Azure's similarity evaluator, from a cosine instead of an LLM."""

from typing import ClassVar

import numpy as np

from tasks.metrics.base import Floats
from tasks.metrics.cosine import CosineMetric, rounded
from tasks.metrics.pairs import Pairs


class Similarity(CosineMetric):
    """1 + 4 · cosine with the most similar reference, a cosine below 0 counting as 0.

    with_query: the row's input stands before both texts.
    """

    default_threshold: ClassVar[float | None] = 3.0

    with_query: bool = False

    @property
    def bounds(self) -> tuple[float, float]:
        return (1.0, 5.0)

    def sides(self, pairs: Pairs) -> tuple[list[str], list[str]]:
        left, right = super().sides(pairs)
        if not self.with_query or pairs.inputs is None:
            return left, right
        inputs = pairs.inputs.to_pylist()
        queries = [inputs[row] or "" for row in pairs.rows]
        return _after(queries, left), _after(queries, right)

    def pair_scores(self, pairs: Pairs) -> Floats:
        return rounded(1.0 + 4.0 * np.clip(self.cosine(pairs), 0.0, 1.0))[:, None]


def _after(queries: list[str], texts: list[str]) -> list[str]:
    """Each text behind its query; a blank text stays blank."""
    together = zip(queries, texts, strict=True)
    return [f"{query}\n{text}" if query.strip() and text.strip() else text for query, text in together]
