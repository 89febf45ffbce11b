"""Exact match: the response is a reference, character by character."""

from typing import ClassVar

import numpy as np

from tasks.metrics.base import Floats, MeanMetric
from tasks.metrics.pairs import Pairs


class ExactMatch(MeanMetric):
    """1 iff the response equals a reference.

    strip: white space around either does not count.
    """

    default_threshold: ClassVar[float | None] = None

    strip: bool = False

    def pair_scores(self, pairs: Pairs) -> Floats:
        compared = (map(str.strip, pair) if self.strip else pair for pair in pairs.paired)
        equal = [response == reference for response, reference in compared]
        return np.array(equal, np.float64)[:, None]
