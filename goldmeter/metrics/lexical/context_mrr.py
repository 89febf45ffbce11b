"""Context MRR: 1 divided by the rank of the first relevant context; the mean over rows is the mean reciprocal rank.

Source: Voorhees 1999, "The TREC-8 Question Answering Track Report".
"""

import numpy as np
from numpy.typing import NDArray

from goldmeter.metrics.base import RetrievalMetric


class ContextMrr(RetrievalMetric):
    """Without a relevant context, 0.

    k: only the first k contexts count; none: all.
    """

    def of_hits(self, hits: NDArray[np.bool_], relevant: int) -> float:  # noqa: ARG002
        return 1.0 / (int(hits.argmax()) + 1) if hits.any() else 0.0
