"""ROUGE: precision, recall and F1 of the longest common subsequence of tokens (ROUGE-L), or of common n-grams.

Source: Lin 2004, "ROUGE: A Package for Automatic Evaluation of Summaries"; rouge-score 0.1.2 `rougeL`, `rougeLsum`, and
`rouge1` to `rouge5`.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from goldmeter.metrics.base import NO_PASS_RATE, DefaultThreshold, Floats, MeanMetric, with_fallback
from goldmeter.metrics.pairs import Pairs, Tokens
from goldmeter.text.tokenizers import TokenizerName, tokenizer
from goldmeter.text.tokens import Integers, Ragged, ngram_counts
from goldmeter.text.words import Words, porter_stems


class _Lines(NamedTuple):
    """Texts as lines of tokens.

    tokens: those of the texts. offsets: of each line in their ids. of_texts: of responses and of references in lines.
    """

    tokens: Tokens
    offsets: Integers
    of_texts: tuple[Integers, Integers]


# Characters. As in rouge-score, tokens up to this length are not stemmed.
UNSTEMMED = 3
_AS_ROUGE_SCORE = {"tokenizer": "rouge_score", "fallback": False}


class Rouge(MeanMetric):
    """The reference with the best F1 counts; tokens are lower-cased.

    n: L is the longest common subsequence, Lsum the union of those of all pairs of lines (summaries with a sentence on
    each line), a number the length of common n-grams: 1 for tokens.
    stemmer: Porter's stem of tokens longer than 3.
    fallback: texts without tokens (or pairs of them) are compared as they are; else they score 0.
    """

    default_threshold: ClassVar[DefaultThreshold] = NO_PASS_RATE
    profiles: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "rouge_score": _AS_ROUGE_SCORE,
        "azure": {**_AS_ROUGE_SCORE, "threshold": 0.5},
        "ragas": {**_AS_ROUGE_SCORE, "stemmer": True},
    }

    n: Literal["L", "Lsum", 1, 2, 3, 4, 5] = "L"
    stemmer: bool = False
    tokenizer: TokenizerName = "words"
    fallback: bool = True

    @property
    def column(self) -> str:
        return f"{self.name}_f1_score"

    @property
    def columns(self) -> tuple[str, ...]:
        return (f"{self.name}_precision", f"{self.name}_recall", f"{self.name}_f1_score")

    def pair_scores(self, pairs: Pairs) -> Floats:
        lines = self._lines(pairs) if self.n == "Lsum" else None
        tokens = lines.tokens if lines else pairs.tokens(tokenizer(self.tokenizer))
        common = self._common(tokens, pairs, lines)
        order = self.n if isinstance(self.n, int) else 1
        responses, references = (_units(side.lengths, order) for side in (tokens.responses, tokens.references))
        precision = common / np.maximum(responses[pairs.rows], 1)
        recall = common / np.maximum(references, 1)
        f1 = 2 * precision * recall / np.where(common > 0, precision + recall, 1.0)
        scores = np.stack([precision, recall, f1], axis=1)
        return with_fallback(scores, tokens, pairs, order) if self.fallback else scores

    def _common(self, tokens: Tokens, pairs: Pairs, lines: "_Lines | None") -> Integers:
        """Return the length of the longest common subsequence, or the number of common n-grams; shape (m,)."""
        # Importing numba takes half a second.
        from goldmeter.text.kernels.fragments import union_subsequences
        from goldmeter.text.kernels.sequences import clipped_matches, common_subsequences

        ids, responses, references = tokens.arrays
        forms, n_forms = _forms(tokens.words, stemmer=self.stemmer)
        if lines:
            return union_subsequences(forms[ids], lines.offsets, *lines.of_texts, pairs.rows, n_forms)
        if not isinstance(self.n, int):
            return common_subsequences(forms[ids], responses, references, pairs.rows, n_forms)
        first = np.arange(len(pairs.rows))
        return clipped_matches(forms[ids], responses, references, pairs.rows, first, first + 1, self.n)[:, -1]

    def _lines(self, pairs: Pairs) -> "_Lines":
        """Split the texts into lines, and these into tokens."""
        split = [pc.split_pattern(texts.fill_null(""), "\n") for texts in (pairs.responses, pairs.flat_references)]
        lines = pa.chunked_array([each.flatten() for each in split], pa.string()).combine_chunks()
        counts = np.concatenate([pc.list_value_length(each).to_numpy(zero_copy_only=False) for each in split])
        firsts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])
        cut = Pairs(lines, pa.ListArray.from_arrays(np.zeros(len(lines) + 1, np.int32), pa.array([], pa.string())))
        of_lines = cut.tokens(tokenizer(self.tokenizer))
        ids, offsets, n = of_lines.responses.ids, of_lines.responses.offsets, len(pairs)
        starts = offsets[firsts]
        tokens = Tokens(Ragged(ids, starts[: n + 1]), Ragged(ids, starts[n:]), of_lines.words)
        return _Lines(tokens, offsets, (firsts[: n + 1], firsts[n:]))

    def signature_fields(self) -> dict[str, object]:
        return {
            "type": self.n,
            "stem": f"porter>{UNSTEMMED}" if self.stemmer else "no",
            "tok": self.tokenizer,
            "case": "lc",
            "refs": "best",
            "fallback": None if self.fallback else "no",
        }


def _units(lengths: Integers, order: int) -> Integers:
    """Return the number of n-grams of that order in texts of these lengths; shape (len(lengths),)."""
    return ngram_counts(lengths, order)[:, -1]


def _forms(words: Words, *, stemmer: bool) -> tuple[NDArray[np.int32], int]:
    """Return equal numbers for words that count as equal, shape (words,), and how many numbers there are."""
    numbers, lowered = words.lowered()
    if stemmer:
        stems = zip(lowered.strings, porter_stems(lowered.strings), strict=True)
        stemmed, lowered = Words.of([stem if len(word) > UNSTEMMED else word for word, stem in stems]).numbered()
        numbers = stemmed[numbers]
    return numbers, len(lowered)
