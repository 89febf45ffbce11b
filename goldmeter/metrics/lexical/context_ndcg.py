"""Context nDCG: relevant contexts, discounted by the logarithm of their rank, divided by the largest possible sum.

Source: Järvelin & Kekäläinen 2002, "Cumulated Gain-Based Evaluation of IR Techniques"; relevance is 0 or 1.
"""

import math

import numpy as np
from numpy.typing import NDArray

from goldmeter.metrics.base import RetrievalMetric


class ContextNdcg(RetrievalMetric):
    """With k, the largest possible sum is that of k contexts.

    k: only the first k contexts count; none: all.
    """

    def of_hits(self, hits: NDArray[np.bool_], relevant: int) -> float:
        discounts = np.array([1.0 / math.log2(rank) for rank in range(2, max(len(hits), relevant) + 2)])
        ideal = discounts[: min(relevant, self.k or relevant)].sum()
        return float(discounts[: len(hits)][hits].sum() / ideal)
