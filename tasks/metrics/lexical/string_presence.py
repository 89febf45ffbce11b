"""String presence: a reference stands in the response, as it is."""

from typing import ClassVar

import numpy as np

from tasks.metrics.base import Floats, MeanMetric
from tasks.metrics.pairs import Pairs
from tasks.text.utf8 import mapped, utf8

LONG = 256
"""Bytes of a reference from which on Python's search, whose time is linear, takes over from the obvious one."""


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
        from tasks.text.kernels.slices import contained  # importing numba takes half a second

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
