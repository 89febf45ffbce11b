"""QuickScorer: finds the leaf that a row reaches in every tree by the splits that send it right, feature by feature.

Source: Lucchese et al. 2015, "QuickScorer: a fast algorithm to rank documents with additive ensembles of regression
trees". Such a split rules out the leaves left of it; the leaf that is reached is the first one left.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tasks.models.offline.compiling import Floats, compiled
from tasks.models.offline.trees import MOST_LEAVES, Trees

Integers = NDArray[np.int32]
Leaves = NDArray[np.uint64]
# A de Bruijn sequence: its product with a power of two has the exponent's own number in the upper 6 bits.
_DE_BRUIJN = 0x03F79D71B4CB0A89


class Splits(NamedTuple):
    """The splits of t trees by feature, k in all.

    Attributes:
        starts: Where the splits of each feature begin, and the end, shape (features + 1,).
        thresholds: Ascending for each feature, shape (k,).
        trees: Tree of each split, shape (k,).
        remaining: Leaves of that tree, one bit each, that a row above the threshold can reach, shape (k,).
        values: Values of each tree's leaves from left to right, shape (t, leaves).
    """

    starts: Integers
    thresholds: Floats
    trees: Integers
    remaining: Leaves
    values: Floats


def splits_of(trees: Trees, features: int) -> Splits:
    """Sort the splits of trees by feature and threshold; features: number of all features."""
    inner, counts = trees.left >= 0, trees.leaf_counts
    first, tree = np.zeros(len(inner), np.int64), np.zeros(len(inner), np.int32)
    tree[trees.roots] = np.arange(len(trees.roots))
    for node in np.flatnonzero(inner).tolist():
        left, right = trees.left[node], trees.right[node]
        first[left], first[right] = first[node], first[node] + counts[left]
        tree[left] = tree[right] = tree[node]
    values = np.zeros((len(trees.roots), int(counts.max(initial=1))))
    values[tree[~inner], first[~inner]] = trees.values[~inner]
    nodes = np.flatnonzero(inner)
    order = nodes[np.lexsort((trees.thresholds[nodes], trees.features[nodes]))]
    starts = np.searchsorted(trees.features[order], np.arange(features + 1)).astype(np.int32)
    bits = [~(((1 << int(counts[left])) - 1) << int(first[left])) % 2**64 for left in trees.left[order]]
    return Splits(starts, trees.thresholds[order], tree[order], np.array(bits, np.uint64), values)


@compiled
def summed_leaves(rows: Floats, splits: Splits, baseline: float) -> Floats:
    """Return the baseline plus one leaf of each tree, added in the order of the trees; rows without NaN; shape (n,)."""
    starts, thresholds, trees, remaining, values = splits
    sequence, numbers = np.uint64(_DE_BRUIJN), np.empty(MOST_LEAVES, np.int64)
    for exponent in range(MOST_LEAVES):
        numbers[((np.uint64(1) << np.uint64(exponent)) * sequence) >> np.uint64(58)] = exponent
    out = np.full(len(rows), baseline)
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
