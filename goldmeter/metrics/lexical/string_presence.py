"""String presence: 1 if the response contains a reference."""

from typing import ClassVar

import numpy as np

from goldmeter.metrics.base import Floats, MeanMetric
from goldmeter.metrics.pairs import Pairs
from goldmeter.text.columns import mapped, utf8

# Bytes. Longer references are searched by Python, in linear time; shorter ones by the simple kernel.
LONG = 256


class StringPresence(MeanMetric):
    """Both are compared as they are written.

    normalize: compare both in the form of the normalize stage, by default without case. If nothing of the reference is
    left, 1 if nothing of the response is left either and both are equal ignoring case.
    """

    default_threshold: ClassVar[float | None] = None

    case_sensitive: bool = True
    normalize: bool = False

    @property
    def reads_normalized(self) -> bool:
        return self.normalize

    def pair_scores(self, pairs: Pairs) -> Floats:
        from goldmeter.text.kernels.pieces import contained  # importing numba takes half a second

        sides = pairs.normalized_texts if self.normalize else (pairs.responses, pairs.flat_references)
        compared = sides if self.case_sensitive else [mapped(str.casefold, side) for side in sides]
        (texts, responses), (data, references) = map(utf8, compared)
        present = contained(texts, responses, data, references, pairs.rows, LONG)
        lengths = np.diff(references)
        for j in np.flatnonzero(lengths > LONG):
            start, stop = responses[pairs.rows[j]], responses[pairs.rows[j] + 1]
            present[j] = bytes(data[references[j] : references[j + 1]]) in bytes(texts[start:stop])
        for j in np.flatnonzero(lengths == 0):
            response, reference = pairs.pair(j)
            nothing_left = responses[pairs.rows[j]] == responses[pairs.rows[j] + 1]
            present[j] = nothing_left and response.casefold() == reference.casefold()
        return present.astype(np.float64)[:, None]
