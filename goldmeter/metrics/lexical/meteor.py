"""METEOR: F-mean of words matched by form, stem or synonym, times a penalty for fragmented order.

Source: Lavie & Agarwal 2007, "METEOR: An Automatic Metric for MT Evaluation with High Levels of
Correlation with Human Judgments"; NLTK 3.10 `translate.meteor_score`, whose alignment it repeats.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from goldmeter.metrics.base import NO_PASS_RATE, DefaultThreshold, Floats, MeanMetric, with_fallback
from goldmeter.metrics.pairs import Pairs
from goldmeter.text.tokenizers import TokenizerName, tokenizer
from goldmeter.text.wordnet import VERSION, wordnet
from goldmeter.text.words import Words, stems

Share = Annotated[float, Field(ge=0, le=1)]
Integers = NDArray[np.int64]
Ids = NDArray[np.int32]
_AS_NLTK = {"tokenizer": "treebank", "perfect_match": False, "fallback": False}


class Meteor(MeanMetric):
    """METEOR with the best reference.

    alpha: weight of recall in the F-mean. beta, gamma: exponent and largest value of the penalty.
    perfect_match: no penalty if all tokens of both texts match in one chunk (METEOR 1.5).
    fallback: texts without tokens are compared as they are; else they score 0.
    """

    default_threshold: ClassVar[DefaultThreshold] = NO_PASS_RATE
    profiles: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "nltk": _AS_NLTK,
        "azure": {**_AS_NLTK, "threshold": 0.5},
    }

    alpha: Share = 0.9
    beta: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 3.0
    gamma: Share = 0.5
    synonyms: bool = True
    perfect_match: bool = True
    tokenizer: TokenizerName = "13a+cjk"
    fallback: bool = True

    def pair_scores(self, pairs: Pairs) -> Floats:
        from goldmeter.text.kernels.sequences import alignments  # importing numba takes half a second

        tokens = pairs.tokens(tokenizer(self.tokenizer))
        lowered, stemmed, offsets, synonyms = _forms(tokens.words, synonyms=self.synonyms)
        matches, chunks = alignments(*tokens.arrays, pairs.rows, lowered, stemmed, offsets, synonyms).T
        scores = self._f_mean_less_penalty(
            matches, chunks, tokens.responses.lengths[pairs.rows], tokens.references.lengths
        )
        return with_fallback(scores[:, None], tokens, pairs) if self.fallback else scores[:, None]

    def signature_fields(self) -> dict[str, object]:
        return {
            "alpha": self.alpha,
            "beta": self.beta,
            "gamma": self.gamma,
            "stem": "porter",
            "syn": f"wordnet{VERSION}" if self.synonyms else "no",
            "perfect": self.perfect_match,
            "tok": self.tokenizer,
            "case": "lc",
            "refs": "best",
            "fallback": None if self.fallback else "no",
        }

    def _f_mean_less_penalty(
        self, matches: Integers, chunks: Integers, responses: Integers, references: Integers
    ) -> Floats:
        """Return the scores of alignments between texts of these lengths; all arrays of shape (m,)."""
        from goldmeter.text.kernels.elementary import power  # importing numba takes half a second

        aligned = matches > 0
        precision, recall = matches[aligned] / responses[aligned], matches[aligned] / references[aligned]
        f_mean = precision * recall / (self.alpha * precision + (1 - self.alpha) * recall)
        penalty = self.gamma * power(chunks[aligned] / matches[aligned], self.beta)
        if self.perfect_match:
            penalty[(chunks[aligned] == 1) & (precision == 1) & (recall == 1)] = 0.0
        scores = np.zeros(len(matches))
        scores[aligned] = (1 - penalty) * f_mean
        return scores


def _forms(vocabulary: Words, *, synonyms: bool) -> tuple[Ids, Ids, Integers, Ids]:
    """Look up what the stages of alignment compare, once for each token of the vocabulary.

    Returns:
        The ids of the lower-cased tokens and of their stems, shape (vocabulary,); offsets and synonyms: stem s has the
        synonyms `synonyms[offsets[s]:offsets[s + 1]]`, ids of stems.
    """
    lowered, words = vocabulary.lowered()
    stems_of_words, distinct_stems = stems(words)
    none = np.zeros(len(distinct_stems) + 1, np.int64), np.zeros(0, np.int32)
    offsets, related = wordnet().related(distinct_stems) if synonyms else none
    return lowered, stems_of_words[lowered], offsets, related
