"""Base class of metrics of retrieval: what was retrieved for a row, in its order, against what is relevant."""

from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tasks.metrics.base import Floats, MeanMetric
from tasks.metrics.pairs import Pairs


class RetrievalMetric(MeanMetric):
    """A metric of the retrieved contexts, whatever the response. Rows without contexts or relevant ones are not asked.

    k: only the first k contexts count.
    """

    default_threshold: ClassVar[float | None] = 0.5

    k: Annotated[int, Field(ge=1)] | None = None

    @property
    def needs_references(self) -> bool:
        return False

    def applies(self, pairs: Pairs) -> NDArray[np.bool_]:
        if pairs.contexts is None or pairs.relevant is None:
            return np.zeros(len(pairs), np.bool_)
        known = zip(pairs.contexts.is_valid().to_pylist(), pairs.relevant.to_pylist(), strict=True)
        return np.array([retrieved and bool(relevant) for retrieved, relevant in known], np.bool_)

    def stats(self, pairs: Pairs) -> Floats:
        rows = np.zeros((len(pairs), 2))
        for row in np.flatnonzero(self.applies(pairs)).tolist():
            retrieved = list(dict.fromkeys(pairs.contexts[row].as_py()))[: self.k]  # type: ignore[index]  # as applies says
            relevant = set(pairs.relevant[row].as_py())  # type: ignore[index]  # as applies says
            hits = np.array([context in relevant for context in retrieved], np.bool_)
            rows[row] = self.of_hits(hits, len(relevant)), 1.0
        return rows

    def details(self, pairs: Pairs) -> list[str | None]:
        return [None] * len(pairs)

    def of_hits(self, hits: NDArray[np.bool_], relevant: int) -> float:
        """Return the score of a row.

        Args:
            hits: Which of the retrieved contexts are relevant, best first; a repeated context counts once.
            relevant: How many contexts are relevant.
        """
        raise NotImplementedError
