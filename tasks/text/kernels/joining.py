"""Kernel that joins chunks into one text."""

import numpy as np

from tasks.text.kernels import Bytes, Integers, compiled


@compiled
def join(data: Bytes, starts: Integers, stops: Integers, separator: Bytes) -> Bytes:
    """Return the slices `data[starts[k]:stops[k]]` in sequence, each followed by the separator."""
    joined = np.empty((stops - starts).sum() + len(starts) * len(separator), np.uint8)
    filled = 0
    for k in range(len(starts)):
        for i in range(starts[k], stops[k]):
            joined[filled] = data[i]
            filled += 1
        for i in range(len(separator)):
            joined[filled] = separator[i]
            filled += 1
    return joined
