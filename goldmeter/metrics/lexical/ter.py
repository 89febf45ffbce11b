"""TER: translation edit rate, the edits of words and shifts of phrases that make a response a reference, by its length.

Source: Snover et al. 2006, "A Study of Translation Edit Rate with Targeted Human Annotation"; sacrebleu 2.6
`metrics/ter.py`, whose scores it equals.
"""

from collections.abc import Mapping
from math import inf
from typing import Any, ClassVar, Literal

import numpy as np

from goldmeter.metrics.base import NO_PASS_RATE, CorpusMetric, DefaultThreshold, Floats, yes_or_no
from goldmeter.metrics.pairs import Pairs
from goldmeter.text.tokenizers import tercom


class Ter(CorpusMetric):
    """Less is better: 0 for equal words, above 1 for long wrong responses. Words are split at white space.

    Of several references the fewest edits count, and the mean of their lengths.

    normalized: punctuation marks are words, and XML entities are read.
    no_punct: punctuation marks are deleted.
    asian_support: both for Chinese and Japanese too; normalized, each of their characters is a word.
    case_sensitive: case counts.
    scale: the score of as many edits as words.
    """

    default_threshold: ClassVar[DefaultThreshold] = NO_PASS_RATE
    higher_is_better: ClassVar[bool] = False
    profiles: ClassVar[Mapping[str, Mapping[str, Any]]] = {"sacrebleu": {"scale": 100}}

    normalized: bool = False
    no_punct: bool = False
    asian_support: bool = False
    case_sensitive: bool = False
    scale: Literal[1, 100] = 1

    @property
    def bounds(self) -> tuple[float, float]:
        return (0.0, inf)

    def stats(self, pairs: Pairs) -> Floats:
        """Return the fewest edits, the mean length of the references, and 1; shape (n, 3)."""
        from goldmeter.text.kernels.shifts import translation_edits  # importing numba takes half a second

        split = tercom(normalized=self.normalized, punctuation=not self.no_punct, asian=self.asian_support)
        tokens = pairs.tokens(split, lowercase=not self.case_sensitive)
        edits = translation_edits(*tokens.arrays, pairs.rows)
        measured = ~(pairs.missing | pairs.unreferenced)
        rows = np.zeros((len(pairs), 3))
        fewest = np.full(len(pairs), inf)
        np.minimum.at(fewest, pairs.rows, edits)
        rows[measured, 0] = fewest[measured]
        lengths = np.bincount(pairs.rows, tokens.references.lengths, len(pairs))
        rows[measured, 1] = lengths[measured] / np.diff(pairs.offsets)[measured]
        rows[measured, 2] = 1.0
        nothing = pairs.blank & measured & (rows[:, 0] == 0)  # a reference without words does not make it right
        rows[nothing, 0] = np.where(rows[nothing, 1] > 0, rows[nothing, 1], 1.0)
        return rows

    def score(self, stats: Floats) -> Floats:
        edits, length, measured = np.moveaxis(stats, -1, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            rates = np.where(length > 0, edits / length, edits > 0)
        return np.where(measured > 0, self.scale * rates, np.nan)

    def signature_fields(self) -> dict[str, object]:
        return {
            "case": "mixed" if self.case_sensitive else "lc",
            "tok": "tercom",
            "norm": self.normalized,
            "punct": not self.no_punct,
            "asian": self.asian_support,
            "refs": "pooled",
            "scale": None if self.scale == 1 else self.scale,
            "agg": None if self.aggregate == "corpus" else self.aggregate,
        }

    @property
    def sacrebleu(self) -> dict[str, str] | None:
        if self.aggregate != "corpus":
            return None
        return {
            "case": "mixed" if self.case_sensitive else "lc",
            "tok": "tercom",
            "norm": yes_or_no(self.normalized),
            "punct": yes_or_no(not self.no_punct),
            "asian": yes_or_no(self.asian_support),
        }
