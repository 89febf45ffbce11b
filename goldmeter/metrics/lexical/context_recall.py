"""Context recall: the share of the relevant contexts that were retrieved."""

import numpy as np
from numpy.typing import NDArray

from goldmeter.metrics.base import RetrievalMetric


class ContextRecall(RetrievalMetric):
    """Contexts and relevant ones are compared as texts or ids, character by character.

    k: only the first k contexts count; none: all.
    """

    def of_hits(self, hits: NDArray[np.bool_], relevant: int) -> float:
        return float(hits.sum()) / relevant
