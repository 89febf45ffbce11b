"""ROUGE: precision, recall and F1 of the longest common subsequence of tokens (ROUGE-L).

Source: Lin 2004, "ROUGE: A Package for Automatic Evaluation of Summaries"; rouge-score 0.1.2 `rougeL`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tasks.metrics.base import Floats, MeanMetric
from tasks.metrics.fallback import with_fallback
from tasks.metrics.pairs import Pairs
from tasks.text.stemmer import porter_stems
from tasks.text.tokenizers import TokenizerName, tokenizer
from tasks.text.tokens import numbered

# Characters. As in rouge-score, tokens up to this length are not stemmed.
UNSTEMMED = 3
_AS_ROUGE_SCORE = {"tokenizer": "rouge_score", "fallback": False}


class Rouge(MeanMetric):
    """ROUGE-L with the reference of the best F1; tokens are lower-cased.

    stemmer: Porter's stem of tokens longer than 3.
    fallback: texts without tokens are compared as they are; else they score 0.
    """

    profiles: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "rouge_score": _AS_ROUGE_SCORE,
        "azure": _AS_ROUGE_SCORE,
        "ragas": {**_AS_ROUGE_SCORE, "stemmer": True},
    }

    stemmer: bool = False
    tokenizer: TokenizerName = "words"
    fallback: bool = True

    @property
    def column(self) -> str:
        return "rouge_f1_score"

    @property
    def columns(self) -> tuple[str, ...]:
        return ("rouge_precision", "rouge_recall", "rouge_f1_score")

    def pair_scores(self, pairs: Pairs) -> Floats:
        from tasks.text.kernels.subsequences import common_subsequences  # importing numba takes half a second

        tokens = pairs.tokens(tokenizer(self.tokenizer))
        ids, responses, references = tokens.arrays
        forms = _forms(tokens.vocabulary, stemmer=self.stemmer)
        common = common_subsequences(forms[ids], responses, references, pairs.rows, len(forms))
        precision = common / np.maximum(tokens.responses.lengths[pairs.rows], 1)
        recall = common / np.maximum(tokens.references.lengths, 1)
        f1 = 2 * precision * recall / np.where(common > 0, precision + recall, 1.0)
        scores = np.stack([precision, recall, f1], axis=1)
        return with_fallback(scores, tokens, pairs) if self.fallback else scores

    def signature_fields(self) -> dict[str, object]:
        return {
            "type": "L",
            "stem": f"porter>{UNSTEMMED}" if self.stemmer else "no",
            "tok": self.tokenizer,
            "case": "lc",
            "refs": "best",
            "fallback": None if self.fallback else "no",
        }


def _forms(vocabulary: Sequence[str], *, stemmer: bool) -> NDArray[np.int32]:
    """Return equal numbers for tokens that count as equal; shape (vocabulary,)."""
    compared = [token.lower() for token in vocabulary]
    if stemmer:
        stems = zip(compared, porter_stems(compared), strict=True)
        compared = [stem if len(token) > UNSTEMMED else token for token, stem in stems]
    return numbered(compared)[0] if compared != vocabulary else np.arange(len(vocabulary), dtype=np.int32)
