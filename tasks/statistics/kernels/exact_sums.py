"""Kernel that adds doubles, their squares and their products without any rounding, in integers.

A double is an integer of 53 bits times a power of two. The integers are cut into pieces of 32 bits, and added up for
each power in 64 bits, which 2 ** 31 rows can't overflow; then the powers are added up with their carries.

Source: Neal 2015 (arXiv 1505.05571), small superaccumulators.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from tasks.statistics.kernels import compiled

# Powers of two that doubles have, and those that their products have.
POWERS: Final = 2048
PAIRS: Final = 4096
# Limbs of 32 bits that hold any sum of doubles, and any of their products.
SUM: Final = 68
PRODUCT: Final = 134
LIMB: Final = np.int64(0xFFFFFFFF)
FRACTION: Final = np.int64(0xFFFFFFFFFFFFF)
LEADING: Final = np.int64(0x10000000000000)

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Limbs = NDArray[np.uint32]


@compiled
def moment_limbs(values: Floats, codes: Integers, starts: Integers) -> tuple[Limbs, Limbs]:
    """Add up the values of each segment, and their squares.

    Args:
        values: Finite, shape (n,).
        codes: Rows in the order of their segments, shape (n,).
        starts: Where each segment begins in `codes`, and the end of the last one, shape (segments + 1,).

    Returns:
        Two's complement limbs, lowest first: the sum in units of 2 ** -1074, shape (segments, SUM), and that of squares
        in units of 2 ** -2148, shape (segments, PRODUCT).
    """
    count = len(starts) - 1
    sums = np.empty((count, SUM), np.uint32)
    squares = np.empty((count, PRODUCT), np.uint32)
    bits = values.view(np.int64)
    bins = np.zeros((POWERS, 6), np.int64)
    for segment in range(count):
        lowest, highest = POWERS, 0
        for place in range(starts[segment], starts[segment + 1]):
            number = bits[codes[place]]
            power = (number >> 52) & 2047
            whole = number & FRACTION
            if power > 0:
                whole |= LEADING
            else:
                power = 1
            lowest, highest = min(lowest, power), max(highest, power)
            high, low = whole >> 32, whole & LIMB
            if number < 0:
                bins[power, 0] -= low
                bins[power, 1] -= high
            else:
                bins[power, 0] += low
                bins[power, 1] += high
            first, middle, last = np.uint64(low) * np.uint64(low), 2 * high * low, high * high
            bins[power, 2] += np.int64(first & np.uint64(LIMB))
            bins[power, 3] += np.int64(first >> np.uint64(32)) + (middle & LIMB)
            bins[power, 4] += (middle >> 32) + (last & LIMB)
            bins[power, 5] += last >> 32
        total = np.zeros(SUM + 2, np.int64)
        square = np.zeros(PRODUCT + 2, np.int64)
        for power in range(lowest, highest + 1):
            for piece in range(2):
                _add(total, bins[power, piece], power - 1 + 32 * piece)
            for piece in range(4):
                _add(square, bins[power, 2 + piece], 2 * (power - 1) + 32 * piece)
            bins[power] = 0
        _carry(total, sums[segment])
        _carry(square, squares[segment])
    return sums, squares


@compiled
def product_limbs(left: Floats, right: Floats) -> Limbs:
    """Add up the products of two columns of finite numbers; limbs as `moment_limbs` has those of squares."""
    ours, theirs = left.view(np.int64), right.view(np.int64)
    bins = np.zeros((PAIRS, 4), np.int64)
    lowest, highest = PAIRS, 0
    for row in range(len(ours)):
        a, b = ours[row], theirs[row]
        power_a, power_b = (a >> 52) & 2047, (b >> 52) & 2047
        whole_a, whole_b = a & FRACTION, b & FRACTION
        if power_a > 0:
            whole_a |= LEADING
        else:
            power_a = 1
        if power_b > 0:
            whole_b |= LEADING
        else:
            power_b = 1
        power = power_a + power_b - 2
        lowest, highest = min(lowest, power), max(highest, power)
        high_a, low_a, high_b, low_b = whole_a >> 32, whole_a & LIMB, whole_b >> 32, whole_b & LIMB
        first, middle, last = np.uint64(low_a) * np.uint64(low_b), high_a * low_b + low_a * high_b, high_a * high_b
        sign = -1 if (a < 0) != (b < 0) else 1
        bins[power, 0] += sign * np.int64(first & np.uint64(LIMB))
        bins[power, 1] += sign * (np.int64(first >> np.uint64(32)) + (middle & LIMB))
        bins[power, 2] += sign * ((middle >> 32) + (last & LIMB))
        bins[power, 3] += sign * (last >> 32)
    total = np.zeros(PRODUCT + 2, np.int64)
    for power in range(lowest, highest + 1):
        for piece in range(4):
            _add(total, bins[power, piece], power + 32 * piece)
    limbs = np.empty(PRODUCT, np.uint32)
    _carry(total, limbs)
    return limbs


@compiled
def _add(total: Integers, value: int, place: int) -> None:
    """Add a value times 2 ** place to limbs whose carries are still to be taken."""
    if value == 0:
        return
    limb, shift = place >> 5, place & 31
    low = (value & LIMB) << shift
    high = (value >> 32) << shift
    total[limb] += low & LIMB
    total[limb + 1] += (low >> 32) + (high & LIMB)
    total[limb + 2] += high >> 32


@compiled
def _carry(total: Integers, limbs: Limbs) -> None:
    """Write the limbs with their carries taken, as two's complement."""
    carry = np.int64(0)
    for limb in range(len(limbs)):
        value = total[limb] + carry
        limbs[limb] = np.uint32(value & LIMB)
        carry = value >> 32
