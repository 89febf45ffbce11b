"""Semantic similarity: the cosine of response and reference."""

from typing import Literal

import numpy as np

from goldmeter.metrics.base import Floats
from goldmeter.metrics.cosine import CosineMetric, rounded
from goldmeter.metrics.pairs import Pairs


class SemanticSimilarity(CosineMetric):
    """The cosine with the most similar reference.

    scale: negative cosines count as 0 (clip), the cosine itself (raw), or (1 + cosine) / 2 (half).
    """

    scale: Literal["clip", "raw", "half"] = "clip"

    @property
    def bounds(self) -> tuple[float, float]:
        return (-1.0, 1.0) if self.scale == "raw" else (0.0, 1.0)

    def pair_scores(self, pairs: Pairs) -> Floats:
        cosine = self.cosine(pairs)
        scaled = (1.0 + cosine) / 2.0 if self.scale == "half" else cosine
        return rounded(np.clip(scaled, *self.bounds))[:, None]
