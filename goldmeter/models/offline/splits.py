"""The splits of decision trees sorted by feature, as QuickScorer reads them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Leaves of a tree: the scorer has a bit for each.
MOST_LEAVES = 64
Floats = NDArray[np.float64]
Integers = NDArray[np.int32]
Leaves = NDArray[np.uint64]


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


def leaf_counts(left: Integers, right: Integers) -> NDArray[np.int64]:
    """Number of leaves below each node, 1 at a leaf; children come after their parent; shape (m,)."""
    counts = np.ones(len(left), np.int64)
    for node in np.flatnonzero(left >= 0)[::-1].tolist():
        counts[node] = counts[left[node]] + counts[right[node]]
    return counts


def splits_of(
    features: Integers,
    thresholds: Floats,
    left: Integers,
    right: Integers,
    values: Floats,
    roots: Integers,
    number: int,
) -> Splits:
    """Sort the splits of trees, given as in `Trees`, by feature and threshold; number: of all features."""
    inner, counts = left >= 0, leaf_counts(left, right)
    first, tree = np.zeros(len(inner), np.int64), np.zeros(len(inner), np.int32)
    tree[roots] = np.arange(len(roots))
    for node in np.flatnonzero(inner).tolist():
        first[left[node]], first[right[node]] = first[node], first[node] + counts[left[node]]
        tree[left[node]] = tree[right[node]] = tree[node]
    leaves = np.zeros((len(roots), int(counts.max(initial=1))))
    leaves[tree[~inner], first[~inner]] = values[~inner]
    nodes = np.flatnonzero(inner)
    order = nodes[np.lexsort((thresholds[nodes], features[nodes]))]
    starts = np.searchsorted(features[order], np.arange(number + 1)).astype(np.int32)
    bits = [~(((1 << int(counts[child])) - 1) << int(first[child])) % 2**64 for child in left[order]]
    return Splits(starts, thresholds[order], tree[order], np.array(bits, np.uint64), leaves)
