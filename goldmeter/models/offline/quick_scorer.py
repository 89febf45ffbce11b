"""QuickScorer: finds the leaf that a row reaches in every tree by the splits that send it right, feature by feature.

Source: Lucchese et al. 2015, "QuickScorer: a fast algorithm to rank documents with additive ensembles of regression
trees". Such a split rules out the leaves left of it; the leaf that is reached is the first one left.
"""

import numpy as np
from numpy.typing import NDArray

from goldmeter.text.kernels import Floats, Ids, compiled

# A de Bruijn sequence: its product with a power of two has the exponent's own number in the upper 6 bits.
_DE_BRUIJN = 0x03F79D71B4CB0A89


@compiled
def summed_leaves(
    rows: Floats,
    starts: Ids,
    thresholds: Floats,
    trees: Ids,
    remaining: NDArray[np.uint64],
    values: Floats,
    baseline: Floats,
) -> Floats:
    """Return the baseline plus one leaf of each tree, added in the order of the trees; rows without NaN; shape (n,)."""
    sequence, numbers = np.uint64(_DE_BRUIJN), np.empty(64, np.int64)
    for exponent in range(64):
        numbers[((np.uint64(1) << np.uint64(exponent)) * sequence) >> np.uint64(58)] = exponent
    out = np.full(len(rows), baseline[0])
    left = np.empty(len(values), np.uint64)
    for i in range(len(rows)):
        left[:] = ~np.uint64(0)
        for feature in range(len(starts) - 1):
            value = rows[i, feature]
            for split in range(starts[feature], starts[feature + 1]):
                if value <= thresholds[split]:
                    break
                left[trees[split]] &= remaining[split]
        for tree in range(len(values)):
            lowest = left[tree] & (~left[tree] + np.uint64(1))
            out[i] += values[tree, numbers[(lowest * sequence) >> np.uint64(58)]]
    return out
