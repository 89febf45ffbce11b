"""F1: harmonic mean of token precision and recall as SQuAD defines it, without case, punctuation and articles.

Chinese and Japanese have no blanks between words, so their characters are the tokens, as in MLQA (Lewis et al. 2020).
Source: Rajpurkar et al. 2016, "SQuAD: 100,000+ Questions for Machine Comprehension of Text", and its evaluate-v1.1.py.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from goldmeter.metrics.base import Floats, MeanMetric, with_fallback
from goldmeter.metrics.pairs import Pairs
from goldmeter.text.tokenizers import SQUAD, SQUAD_CJK, SQUAD_CJK_WITH_ARTICLES, SQUAD_WITH_ARTICLES

AS_SQUAD = {"fallback": False, "tokenizer": "squad"}
# Options tokenizer and articles → tokenizer.
TOKENIZERS = {
    ("squad", True): SQUAD,
    ("squad", False): SQUAD_WITH_ARTICLES,
    ("squad+cjk", True): SQUAD_CJK,
    ("squad+cjk", False): SQUAD_CJK_WITH_ARTICLES,
}


class F1(MeanMetric):
    """F1 with the best reference; a repeated token counts as often as both texts contain it.

    articles: a, an and the are dropped.
    tokenizer: squad splits at white space, so a Chinese or Japanese text is one token.
    fallback: texts without tokens are compared as they are; else they score 0 (SQuAD 1.1).
    """

    version: ClassVar[int] = 2  # 1: tokenizer squad
    profiles: ClassVar[Mapping[str, Mapping[str, Any]]] = {"azure": AS_SQUAD, "squad": AS_SQUAD}

    articles: bool = True
    tokenizer: Literal["squad+cjk", "squad"] = "squad+cjk"
    fallback: bool = True

    def pair_scores(self, pairs: Pairs) -> Floats:
        from goldmeter.text.kernels.sequences import overlaps  # importing numba takes half a second

        tokens = pairs.tokens(TOKENIZERS[self.tokenizer, self.articles])
        common = overlaps(*tokens.arrays, pairs.rows, len(tokens.words))
        lengths = tokens.responses.lengths[pairs.rows] + tokens.references.lengths
        scores = (2 * common / np.maximum(lengths, 1))[:, None]
        return with_fallback(scores, tokens, pairs) if self.fallback else scores
