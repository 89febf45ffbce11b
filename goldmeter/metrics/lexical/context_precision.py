"""Context precision: the share of the retrieved contexts that are relevant."""

import numpy as np
from numpy.typing import NDArray

from goldmeter.metrics.base import RetrievalMetric


class ContextPrecision(RetrievalMetric):
    """A row for which nothing was retrieved scores 0.

    k: only the first k contexts count; none: all.
    """

    def of_hits(self, hits: NDArray[np.bool_], relevant: int) -> float:  # noqa: ARG002
        return float(hits.mean()) if len(hits) else 0.0
