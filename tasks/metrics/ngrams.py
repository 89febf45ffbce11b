"""Number of n-grams in texts, as BLEU and GLEU need it."""

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


def ngram_counts(lengths: Integers, max_order: int) -> Integers:
    """Return the number of n-grams of each order in texts of these lengths; shape (len(lengths), max_order).

    >>> ngram_counts(np.array([5, 2]), 4)
    array([[5, 4, 3, 2],
           [2, 1, 0, 0]])
    """
    counts: Integers = np.maximum(lengths[:, None] - np.arange(max_order), 0)
    return counts
