"""Exact match: 1 if the response equals a reference, character by character."""

from typing import ClassVar

import numpy as np

from goldmeter.metrics.base import Floats, MeanMetric
from goldmeter.metrics.pairs import Pairs
from goldmeter.text.columns import equal, mapped


class ExactMatch(MeanMetric):
    """Nothing is normalised.

    strip: surrounding white space does not count.
    """

    default_threshold: ClassVar[float | None] = None

    strip: bool = False

    def pair_scores(self, pairs: Pairs) -> Floats:
        responses, references = pairs.responses, pairs.flat_references
        if self.strip:
            responses, references = mapped(str.strip, responses), mapped(str.strip, references)
        return equal(responses, references, pairs.rows).astype(np.float64)[:, None]
