"""Kernel that hashes texts to 64 bits: different texts have equal hashes by chance, as one in 2 ** 64."""

from typing import Final

import numpy as np

from tasks.text.kernels import GOLDEN, Bytes, Integers, Words, compiled

# Multiplier of FNV-1a, whose steps are followed by one that mixes the upper bits into the lower ones.
# Source: Fowler, Noll and Vo, RFC 9923, section 5.
PRIME: Final = np.uint64(0x100000001B3)
BASIS: Final = np.uint64(0xCBF29CE484222325)


@compiled
def hashed(data: Bytes, offsets: Integers) -> Words:
    """Return the hash of each text `data[offsets[i]:offsets[i + 1]]`, shape (n,)."""
    hashes = np.empty(len(offsets) - 1, np.uint64)
    for row in range(len(hashes)):
        word = BASIS
        for i in range(offsets[row], offsets[row + 1]):
            word = (word ^ np.uint64(data[i])) * PRIME
        hashes[row] = (word ^ (word >> np.uint64(32))) * GOLDEN
    return hashes
