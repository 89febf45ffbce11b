"""Kernel that walks decision trees and sums the leaves that each row reaches."""

import numpy as np
from numpy.typing import NDArray

from tasks.models.offline.compiling import Floats, compiled

Integers = NDArray[np.int32]


@compiled
def summed_leaves(
    rows: Floats,
    features: Integers,
    thresholds: Floats,
    left: Integers,
    right: Integers,
    values: Floats,
    roots: Integers,
    baseline: float,
) -> Floats:
    """Return the baseline plus one leaf of each tree, added in the order of the trees; shape (n,)."""
    out = np.full(len(rows), baseline)
    for i in range(len(rows)):
        for node in roots:
            while left[node] >= 0:
                node = left[node] if rows[i, features[node]] <= thresholds[node] else right[node]  # noqa: PLW2901
            out[i] += values[node]
    return out
