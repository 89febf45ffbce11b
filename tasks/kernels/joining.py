"""Joins chunks into one text, and tells sorts of them apart."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from tasks.kernels import compiled

Bytes = NDArray[np.uint8]
Integers = NDArray[np.int64]

PLAIN: Final = 0
MARKED: Final = 1
FOREIGN: Final = 2
_ASCII = 0x7F


@compiled
def sorts(data: Bytes, starts: Integers, stops: Integers) -> Bytes:
    """Of each slice `data[starts[k]:stops[k]]`: PLAIN is ASCII letters and digits, MARKED other ASCII; shape (n,)."""
    found = np.empty(len(starts), np.uint8)
    for k in range(len(starts)):
        found[k] = PLAIN
        for byte in data[starts[k] : stops[k]]:
            if byte > _ASCII:
                found[k] = FOREIGN
                break
            if not is_alphanumeric(byte):
                found[k] = MARKED
    return found


@compiled
def is_alphanumeric(byte: int) -> bool:
    """Whether it is a letter or digit of ASCII."""
    return ord("0") <= byte <= ord("9") or ord("A") <= byte <= ord("Z") or ord("a") <= byte <= ord("z")


@compiled
def join(data: Bytes, starts: Integers, stops: Integers, separator: Bytes) -> Bytes:
    """The slices `data[starts[k]:stops[k]]` one after another, each with the separator after it."""
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
