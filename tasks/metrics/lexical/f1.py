"""Token F1 as SQuAD defines it: words in common, after lower case and without punctuation and articles.

Source: Rajpurkar et al. 2016, "SQuAD: 100,000+ Questions for Machine Comprehension of Text", and its evaluate-v1.1.py.
"""

import re
import string
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from tasks.metrics.base import Floats, MeanMetric
from tasks.metrics.pairs import Pairs

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


class F1(MeanMetric):
    """F1 of the tokens of the best reference, counted as often as they stand there.

    articles: a, an and the are dropped.
    fallback: texts without tokens are compared as they are; else they score 0 (SQuAD 1.1).
    """

    profiles: ClassVar[Mapping[str, Mapping[str, Any]]] = {"azure": {"fallback": False}}

    articles: bool = True
    fallback: bool = True

    def pair_scores(self, pairs: Pairs) -> Floats:
        tokens = lru_cache(maxsize=None)(self._tokens)
        return np.array([[self._f1(*pair, *map(tokens, pair))] for pair in pairs.paired]).reshape(-1, 1)

    def _f1(self, response: str, reference: str, had: Counter[str], wanted: Counter[str]) -> float:
        if not had and not wanted:
            return float(self.fallback and response.casefold() == reference.casefold())
        return 2 * (had & wanted).total() / (had.total() + wanted.total())

    def _tokens(self, text: str) -> Counter[str]:
        text = text.lower().translate(_PUNCTUATION)
        return Counter((_ARTICLES.sub(" ", text) if self.articles else text).split())
