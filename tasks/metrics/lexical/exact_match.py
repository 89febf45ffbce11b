"""Exact match: the response is a reference, character by character."""

from typing import ClassVar

import numpy as np

from tasks.metrics.base import Floats, MeanMetric
from tasks.metrics.pairs import Pairs
from tasks.metrics.utf8 import mapped, utf8


class ExactMatch(MeanMetric):
    """1 iff the response equals a reference.

    strip: white space around either does not count.
    """

    default_threshold: ClassVar[float | None] = None

    strip: bool = False

    def pair_scores(self, pairs: Pairs) -> Floats:
        from tasks.kernels.slices import equal  # importing numba takes half a second

        texts = (pairs.responses, pairs.flat_references)
        compared = [mapped(str.strip, side) for side in texts] if self.strip else texts
        return equal(*utf8(compared[0]), *utf8(compared[1]), pairs.rows).astype(np.float64)[:, None]
