"""BLEU: geometric mean of clipped n-gram precisions, times a penalty for short responses.

Source: Papineni et al. 2002, "BLEU: a Method for Automatic Evaluation of Machine Translation"; Chen & Cherry 2014,
"A Systematic Comparison of Smoothing Techniques for Sentence-Level BLEU"; NLTK 3.10; sacrebleu 2.6.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from goldmeter.metrics.base import NO_PASS_RATE, CorpusMetric, DefaultThreshold, Floats, closest_lengths, token_fallback
from goldmeter.metrics.pairs import Pairs
from goldmeter.text.tokenizers import TokenizerName, tokenizer
from goldmeter.text.tokens import ngram_counts

Flags = NDArray[np.bool_]
Smoothing = Literal["none", "floor", "add-k", "exp", "method1", "method2", "method3", "method4"]
EPSILON = 0.1  # of floor and method1
K = 5.0  # of method4; the paper's value
MAX_ORDER = 4  # the only one that sacrebleu's signature stands for
_SACREBLEU_TOKENIZERS = {"13a": "13a", "char": "char", "whitespace": "none"}
_SACREBLEU_SMOOTHING = {"none": "none", "floor": "floor[0.10]", "add-k": "add-k[1.00]", "exp": "exp"}
_AS_NLTK = {"effective_order": False, "empty_orders": True, "tokenizer": "treebank", "fallback": False}


class Bleu(CorpusMetric):
    """References are pooled: counts are clipped at their maximum over the references, the closest length is used (ties:
    the shorter).

    smoothing: floor is method1, exp is method3; add-k is method2, but counts orders without n-grams as matched.
    effective_order: orders without any n-gram are left out; else the score is 0.
    empty_orders: an order without n-grams counts as not matched (NLTK).
    fallback: texts without tokens are compared as they are; else they score 0.

    sacrebleu uses the effective order for sentences, but not for corpora. The two differ only if no response of the
    corpus has `max_order` tokens: sacrebleu's corpus score is then 0, ours is not.
    """

    default_threshold: ClassVar[DefaultThreshold] = NO_PASS_RATE
    profiles: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "nltk": {**_AS_NLTK, "smoothing": "none"},
        "azure": {**_AS_NLTK, "threshold": 0.5, "aggregate": "mean"},
        "ragas": {"aggregate": "mean"},
        "sacrebleu": {"smoothing": "exp", "tokenizer": "13a", "fallback": False, "scale": 100},
    }

    max_order: Annotated[int, Field(ge=1)] = 4
    smoothing: Smoothing = "method4"
    effective_order: bool = True
    empty_orders: bool = False
    tokenizer: TokenizerName = "13a+cjk"
    lowercase: bool = False
    fallback: bool = True
    scale: Literal[1, 100] = 1

    @property
    def bounds(self) -> tuple[float, float]:
        return (0.0, float(self.scale))

    def stats(self, pairs: Pairs) -> Floats:
        """Return matches and n-grams of each order, response and closest reference length; (n, 2·max_order + 2)."""
        tokens = pairs.tokens(tokenizer(self.tokenizer), lowercase=self.lowercase)
        responses = tokens.responses.lengths
        rows = np.zeros((len(pairs), 2 * self.max_order + 2))
        rows[:, : self.max_order] = pairs.clipped_matches(
            tokenizer(self.tokenizer), self.max_order, lowercase=self.lowercase, pooled=True
        )
        counts = ngram_counts(responses, self.max_order)
        rows[:, self.max_order : -2] = np.maximum(counts, 1) if self.empty_orders else counts
        rows[:, -2] = responses
        rows[:, -1] = closest_lengths(tokens, pairs)
        rows[(responses == 0) & (rows[:, -1] == 0), -1] = 1.0  # a score of 0; statistics of zeros would mean unmeasured
        if self.fallback:
            same = pairs.rows[(token_fallback(tokens, pairs) == 1.0) & ~pairs.blank[pairs.rows]]
            rows[np.ix_(same, [0, self.max_order, -2, -1])] = 1.0
        rows[pairs.missing | pairs.unreferenced] = 0.0
        return rows

    def score(self, stats: Floats) -> Floats:
        from goldmeter.text.kernels.elementary import exp, log  # importing numba takes half a second

        matches, totals = stats[..., : self.max_order], stats[..., self.max_order : -2]
        response, reference = stats[..., -2], stats[..., -1]
        with np.errstate(divide="ignore", invalid="ignore"):
            precisions, counted = self._precisions(matches, totals, response)
            mean_log = np.where(counted, log(precisions), 0.0).sum(axis=-1) / counted.sum(axis=-1)
            brevity = np.minimum(1.0 - reference / response, 0.0)
            scores = np.where(matches[..., 0] > 0, self.scale * exp(brevity + mean_log), 0.0)
        return np.where((stats == 0).all(axis=-1), np.nan, scores)

    def signature_fields(self) -> dict[str, object]:
        return {
            "order": self.max_order,
            "smooth": self.smoothing,
            "eff": self.effective_order,
            "tok": self.tokenizer,
            "case": "lc" if self.lowercase else "mixed",
            "refs": "pooled",
            "empty": "counted" if self.empty_orders else None,
            "fallback": None if self.fallback else "no",
            "scale": None if self.scale == 1 else self.scale,
            "agg": None if self.aggregate == "corpus" else self.aggregate,
        }

    @property
    def sacrebleu(self) -> dict[str, str] | None:
        is_same = (
            self.aggregate == "corpus" and self.max_order == MAX_ORDER and not (self.fallback or self.empty_orders)
        )
        if not is_same or self.tokenizer not in _SACREBLEU_TOKENIZERS or self.smoothing not in _SACREBLEU_SMOOTHING:
            return None
        return {
            "case": "lc" if self.lowercase else "mixed",
            "eff": "no",  # of all rows
            "tok": _SACREBLEU_TOKENIZERS[self.tokenizer],
            "smooth": _SACREBLEU_SMOOTHING[self.smoothing],
        }

    def _precisions(self, matches: Floats, totals: Floats, response: Floats) -> tuple[Floats, Flags]:
        """Return smoothed precisions, at most 1, and which of them count; both of shape (..., max_order)."""
        smoothed, of = self._smoothed(matches, totals, response[..., None])
        precisions = np.where(of > 0, np.minimum(smoothed / of, 1.0), 0.0)
        present = totals if self.smoothing == "method2" else of
        return precisions, present > 0 if self.effective_order else np.ones_like(present, np.bool_)

    def _smoothed(self, matches: Floats, totals: Floats, response: Floats) -> tuple[Floats, Floats]:
        """Return matches and totals after smoothing; both of shape (..., max_order)."""
        unmatched = matches == 0
        if self.smoothing == "none":
            return matches, totals
        if self.smoothing in {"floor", "method1"}:
            return np.where(unmatched, EPSILON, matches), totals
        if self.smoothing in {"add-k", "method2"}:
            higher = np.arange(self.max_order) > 0
            return matches + higher, totals + higher
        matched = np.ldexp(1.0, -np.cumsum(unmatched, axis=-1))
        if self.smoothing == "method4":
            from goldmeter.text.kernels.elementary import log  # importing numba takes half a second

            # NLTK drops the zeros of a one-token response from the product, as if they had matched.
            matched = np.where(response > 1, matched * log(response) / K, totals)
        return np.where(unmatched, matched, matches), totals
