"""String presence: a reference stands in the response, as it is."""

from typing import ClassVar

import numpy as np

from tasks.metrics.base import Floats, MeanMetric
from tasks.metrics.normalized import normalized_pairs
from tasks.metrics.pairs import Pairs


class StringPresence(MeanMetric):
    """1 iff a reference is a substring of the response.

    normalize: both in the form the normalize stage gives them, by default without case. Where that leaves
    nothing of the reference, 1 iff nothing is left of the response either and both are equal ignoring case.
    """

    default_threshold: ClassVar[float | None] = None

    case_sensitive: bool = True
    normalize: bool = False

    @property
    def reads_normalized(self) -> bool:
        return self.normalize

    def pair_scores(self, pairs: Pairs) -> Floats:
        compared = normalized_pairs(pairs) if self.normalize else pairs.paired
        if not self.case_sensitive:
            compared = [(response.casefold(), reference.casefold()) for response, reference in compared]
        present = [reference in response for response, reference in compared]
        for j, (response, reference) in enumerate(compared):
            if not reference:
                raw = pairs.paired[j]
                present[j] = not response and raw[0].casefold() == raw[1].casefold()
        return np.array(present, np.float64)[:, None]
