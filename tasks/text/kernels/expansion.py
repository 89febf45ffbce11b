"""Kernel that replaces each number of ragged rows by a list of ids."""

import numpy as np

from tasks.text.kernels import Ids, Integers, compiled


@compiled
def expand(numbers: Ids, offsets: Integers, parts: Ids, starts: Integers, lengths: Integers) -> tuple[Ids, Integers]:
    """Return ids and offsets of rows in which number k is replaced by `parts[starts[k]:starts[k] + lengths[k]]`.

    Row i is `numbers[offsets[i]:offsets[i + 1]]`; both offsets have shape (n + 1,).
    """
    expanded_offsets = np.zeros(len(offsets), np.int64)
    for i in range(len(offsets) - 1):
        length = 0
        for k in numbers[offsets[i] : offsets[i + 1]]:
            length += lengths[k]
        expanded_offsets[i + 1] = expanded_offsets[i] + length
    ids = np.empty(expanded_offsets[-1], np.int32)
    filled = 0
    for k in numbers:
        for j in range(starts[k], starts[k] + lengths[k]):
            ids[filled] = parts[j]
            filled += 1
    return ids, expanded_offsets
