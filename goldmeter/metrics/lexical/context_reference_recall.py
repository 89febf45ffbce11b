"""Context reference recall: the share of a reference's words that occur in the retrieved contexts."""

from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from goldmeter.metrics.base import Floats, MeanMetric, best_reference
from goldmeter.metrics.pairs import Pairs
from goldmeter.text.tokenizers import SQUAD_CJK


class ContextReferenceRecall(MeanMetric):
    """Words as of `f1`, counted as often as both have them; of several references the best one counts.

    It measures what the contexts hold, whatever the response. Rows without contexts are not asked.
    """

    default_threshold: ClassVar[float | None] = 0.5

    def applies(self, pairs: Pairs) -> NDArray[np.bool_]:
        if pairs.contexts is None:
            return np.zeros(len(pairs), np.bool_)
        return np.asarray(pairs.contexts.is_valid().to_numpy(zero_copy_only=False), np.bool_)

    def stats(self, pairs: Pairs) -> Floats:
        if pairs.contexts is None:
            return np.zeros((len(pairs), 2))
        # The contexts of a row as one text, in place of the response.
        joined = pc.binary_join(pairs.contexts.cast(pa.list_(pa.string())), "\n")
        shares = self.pair_scores(Pairs(joined, pairs.references))[:, 0]
        best = best_reference(shares, pairs)
        measured = (best >= 0) & self.applies(pairs)
        rows = np.zeros((len(pairs), 2))
        rows[measured] = np.stack([shares[best[measured]], np.ones(int(measured.sum()))], axis=1)
        return rows

    def pair_scores(self, pairs: Pairs) -> Floats:
        from goldmeter.text.kernels.sequences import overlaps  # importing numba takes half a second

        tokens = pairs.tokens(SQUAD_CJK)
        common = overlaps(*tokens.arrays, pairs.rows, len(tokens.words))
        return (common / np.maximum(tokens.references.lengths, 1))[:, None]

    def details(self, pairs: Pairs) -> list[str | None]:
        return [
            None if known else text for known, text in zip(~pairs.unreferenced, super().details(pairs), strict=True)
        ]
