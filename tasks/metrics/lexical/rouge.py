"""ROUGE-L: precision, recall and F1 of the longest common subsequence of tokens.

Source: Lin 2004, "ROUGE: A Package for Automatic Evaluation of Summaries"; rouge-score 0.1.2 `rougeL`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import LCSseq

from tasks.metrics.base import Floats, MeanMetric
from tasks.metrics.fallback import token_fallback
from tasks.metrics.pairs import Pairs, Tokens
from tasks.metrics.stemmer import porter_stem
from tasks.metrics.tokenizers import TokenizerName

UNSTEMMED = 3  # tokens up to this length are compared as they are, as rouge-score does
_AS_ROUGE_SCORE = {"tokenizer": "rouge_score", "fallback": False}


class Rouge(MeanMetric):
    """ROUGE-L of the reference with the best F1, tokens lower-cased.

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
        tokens = pairs.tokens(self.tokenizer)
        common = common_subsequences(tokens, pairs.rows, _forms(tokens.vocabulary, stemmer=self.stemmer))
        precision = common / np.maximum(tokens.responses.lengths[pairs.rows], 1)
        recall = common / np.maximum(tokens.references.lengths, 1)
        f1 = 2 * precision * recall / np.where(common > 0, precision + recall, 1.0)
        scores = np.stack([precision, recall, f1], axis=1)
        if self.fallback:
            without_tokens = token_fallback(tokens, pairs)[:, None]
            scores = np.where(np.isnan(without_tokens), scores, without_tokens)
        return scores

    def signature_fields(self) -> dict[str, object]:
        return {
            "type": "L",
            "stem": f"porter>{UNSTEMMED}" if self.stemmer else "no",
            "tok": self.tokenizer,
            "case": "lc",
            "refs": "best",
            **({} if self.fallback else {"fallback": "no"}),
        }


def common_subsequences(tokens: Tokens, rows: NDArray[np.int64], forms: NDArray[np.int64]) -> NDArray[np.int64]:
    """Length of the longest common subsequence of each reference and its row's response; shape (m,)."""
    responses, references = tokens.responses, tokens.references
    response_forms, reference_forms = forms[responses.ids].tolist(), forms[references.ids].tolist()
    return np.fromiter(
        (
            LCSseq.similarity(
                response_forms[responses.offsets[row] : responses.offsets[row + 1]],
                reference_forms[references.offsets[j] : references.offsets[j + 1]],
            )
            for j, row in enumerate(rows)
        ),
        np.int64,
        len(rows),
    )


def _forms(vocabulary: Sequence[str], *, stemmer: bool) -> NDArray[np.int64]:
    """Equal numbers for tokens that count as equal; shape (vocabulary,)."""
    forms: dict[str, int] = {}
    lowered = (token.lower() for token in vocabulary)
    compared = (porter_stem(token) if stemmer and len(token) > UNSTEMMED else token for token in lowered)
    return np.array([forms.setdefault(form, len(forms)) for form in compared], np.int64)
