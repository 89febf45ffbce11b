"""String presence: a reference stands in the response, as it is."""

from typing import ClassVar

import numpy as np

from tasks.metrics.base import Floats, MeanMetric
from tasks.metrics.normalization import normalized_pairs
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
        present = [self._present(*raw, *texts) for raw, texts in zip(pairs.paired, compared, strict=True)]
        return np.array(present, np.float64)[:, None]

    def _present(self, raw_response: str, raw_reference: str, response: str, reference: str) -> bool:
        if not reference:
            return not response and raw_response.casefold() == raw_reference.casefold()
        return reference in response if self.case_sensitive else reference.casefold() in response.casefold()
