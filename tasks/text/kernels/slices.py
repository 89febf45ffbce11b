"""Kernel that searches texts in others byte by byte, which in UTF-8 equals character by character."""

import numpy as np

from tasks.text.kernels import Bytes, Flags, Integers, compiled


@compiled
def contained(data: Bytes, texts: Integers, others: Bytes, references: Integers, rows: Integers, longest: int) -> Flags:
    """Return whether text `rows[j]` contains each reference, which an empty one always is; shape (m,).

    Text i is `data[texts[i]:texts[i + 1]]`, reference j `others[references[j]:references[j + 1]]`.
    longest: longer references are not searched.
    """
    flags = np.zeros(len(rows), np.bool_)
    for j in range(len(rows)):
        length = references[j + 1] - references[j]
        last = texts[rows[j] + 1] - length if length <= longest else -1
        for start in range(texts[rows[j]], last + 1):
            if _same(data, start, others, references[j], length):
                flags[j] = True
                break
    return flags


@compiled
def _same(data: Bytes, first: int, others: Bytes, second: int, length: int) -> bool:
    for i in range(length):  # noqa: SIM110 (numba has no all())
        if data[first + i] != others[second + i]:
            return False
    return True
