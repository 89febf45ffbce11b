"""Kernel that counts common tokens of two texts, each as often as both contain it."""

import numpy as np

from tasks.text.kernels import Ids, Integers, compiled


@compiled
def overlaps(ids: Ids, texts: Integers, references: Integers, rows: Integers, vocabulary: int) -> Integers:
    """Return the number of common tokens of each reference and text `rows[j]`; shape (m,).

    Text i is `ids[texts[i]:texts[i + 1]]`, reference j `ids[references[j]:references[j + 1]]`; ids are from 0
    to vocabulary - 1.
    """
    common = np.zeros(len(rows), np.int64)
    left, stamps = np.zeros(vocabulary, np.int64), np.full(vocabulary, -1, np.int64)
    for j in range(len(rows)):
        for token in ids[references[j] : references[j + 1]]:
            if stamps[token] != j:
                stamps[token], left[token] = j, 0
            left[token] += 1
        for token in ids[texts[rows[j]] : texts[rows[j] + 1]]:
            if stamps[token] == j and left[token] > 0:
                left[token] -= 1
                common[j] += 1
    return common
