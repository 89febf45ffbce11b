"""F1: harmonic mean of token precision and recall as SQuAD defines it, without case, punctuation and articles.

Source: Rajpurkar et al. 2016, "SQuAD: 100,000+ Questions for Machine Comprehension of Text", and its evaluate-v1.1.py.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from tasks.metrics.base import Floats, MeanMetric
from tasks.metrics.fallback import with_fallback
from tasks.metrics.pairs import Pairs
from tasks.text.tokenizers import SQUAD, SQUAD_WITH_ARTICLES


class F1(MeanMetric):
    """F1 with the best reference; a repeated token counts as often as both texts contain it.

    articles: a, an and the are dropped.
    fallback: texts without tokens are compared as they are; else they score 0 (SQuAD 1.1).
    """

    profiles: ClassVar[Mapping[str, Mapping[str, Any]]] = {"azure": {"fallback": False}}

    articles: bool = True
    fallback: bool = True

    def pair_scores(self, pairs: Pairs) -> Floats:
        from tasks.text.kernels.overlap import overlaps  # importing numba takes half a second

        tokens = pairs.tokens(SQUAD if self.articles else SQUAD_WITH_ARTICLES)
        common = overlaps(*tokens.arrays, pairs.rows, len(tokens.vocabulary))
        lengths = tokens.responses.lengths[pairs.rows] + tokens.references.lengths
        scores = (2 * common / np.maximum(lengths, 1))[:, None]
        return with_fallback(scores, tokens, pairs) if self.fallback else scores
