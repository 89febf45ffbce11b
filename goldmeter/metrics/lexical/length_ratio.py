"""Number of tokens of the response, divided by that of the reference of the closest length.

Source: sacrebleu 2.6 `metrics/bleu.py`, the ratio of system and reference length.
"""

from math import inf
from typing import ClassVar

import numpy as np

from goldmeter.metrics.base import NO_PASS_RATE, CorpusMetric, DefaultThreshold, Floats, closest_lengths
from goldmeter.metrics.pairs import Pairs
from goldmeter.text.tokenizers import TokenizerName, tokenizer


class LengthRatio(CorpusMetric):
    """1 for equal lengths; neither more nor less of it is better. The value of all rows is of their summed tokens."""

    default_threshold: ClassVar[DefaultThreshold] = NO_PASS_RATE
    has_direction: ClassVar[bool] = False

    tokenizer: TokenizerName = "13a+cjk"

    @property
    def bounds(self) -> tuple[float, float]:
        return (0.0, inf)

    def stats(self, pairs: Pairs) -> Floats:
        """Return the tokens of response and reference, and 1; shape (n, 3). A text without tokens counts as one."""
        tokens = pairs.tokens(tokenizer(self.tokenizer))
        lengths = np.maximum(tokens.responses.lengths, 1 - pairs.blank)
        rows = np.stack([lengths, np.maximum(closest_lengths(tokens, pairs), 1), np.ones(len(pairs))], axis=1)
        rows[pairs.missing | pairs.unreferenced] = 0.0
        return rows

    def score(self, stats: Floats) -> Floats:
        response, reference, _ = np.moveaxis(stats, -1, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(response / reference, np.float64)

    def signature_fields(self) -> dict[str, object]:
        return {
            "tok": self.tokenizer,
            "refs": "closest",
            "agg": None if self.aggregate == "corpus" else self.aggregate,
        }
