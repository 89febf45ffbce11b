"""GLEU: number of common n-grams, divided by the larger number of n-grams of the two texts (Google BLEU).

Source: Wu et al. 2016, "Google's Neural Machine Translation System", section 4.3; NLTK 3.10 `translate.gleu_score`.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from pydantic import Field, model_validator

from goldmeter.metrics.base import NO_PASS_RATE, CorpusMetric, DefaultThreshold, Floats, best_reference
from goldmeter.metrics.pairs import Pairs
from goldmeter.text.tokenizers import TokenizerName, tokenizer
from goldmeter.text.tokens import ngram_counts

Order = Annotated[int, Field(ge=1)]
_AS_NLTK = {"tokenizer": "treebank", "fallback": False}


class Gleu(CorpusMetric):
    """GLEU with the best reference; the corpus score uses summed matches and n-grams.

    fallback: if neither text has an n-gram, they are compared as they are; else they score 0.
    """

    default_threshold: ClassVar[DefaultThreshold] = NO_PASS_RATE
    profiles: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "nltk": _AS_NLTK,
        "azure": {**_AS_NLTK, "threshold": 0.5, "aggregate": "mean"},
        "ragas": {"aggregate": "mean"},
    }

    min_order: Order = 1
    max_order: Order = 4
    tokenizer: TokenizerName = "13a+cjk"
    lowercase: bool = False
    fallback: bool = True

    @model_validator(mode="after")
    def _check_orders(self) -> Self:
        if self.min_order > self.max_order:
            raise ValueError(f"min_order {self.min_order} is above max_order {self.max_order}")
        return self

    def stats(self, pairs: Pairs) -> Floats:
        """Return matches and the larger number of n-grams, with the best reference; shape (n, 2)."""
        scored = self._reference_stats(pairs)
        best = best_reference(self.score(scored), pairs)
        rows = np.zeros((len(pairs), 2))
        rows[best >= 0] = scored[best[best >= 0]]
        rows[pairs.blank & (best >= 0), 0] = 0.0
        rows[pairs.missing] = 0.0
        return rows

    def score(self, stats: Floats) -> Floats:
        with np.errstate(invalid="ignore"):
            scores: Floats = stats[..., 0] / stats[..., 1]
        return scores

    def signature_fields(self) -> dict[str, object]:
        return {
            "order": f"{self.min_order}-{self.max_order}",
            "tok": self.tokenizer,
            "case": "lc" if self.lowercase else "mixed",
            "refs": "best",
            "fallback": None if self.fallback else "no",
            "agg": None if self.aggregate == "corpus" else self.aggregate,
        }

    def _reference_stats(self, pairs: Pairs) -> Floats:
        """Return the statistics of each response with each of its references; shape (m, 2)."""
        tokens = pairs.tokens(tokenizer(self.tokenizer), lowercase=self.lowercase)
        orders = slice(self.min_order - 1, None)
        common = pairs.clipped_matches(
            tokenizer(self.tokenizer), self.max_order, lowercase=self.lowercase, pooled=False
        )
        matches = common[:, orders].sum(axis=1)
        responses = ngram_counts(tokens.responses.lengths, self.max_order)[:, orders].sum(axis=1)
        references = ngram_counts(tokens.references.lengths, self.max_order)[:, orders].sum(axis=1)
        most = np.maximum(responses[pairs.rows], references)
        for j in np.flatnonzero(most == 0) if self.fallback else ():
            response, reference = pairs.pair(j)
            matches[j] = response.casefold() == reference.casefold()
        return np.stack([matches, np.maximum(most, 1)], axis=1).astype(np.float64)
