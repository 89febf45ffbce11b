"""Kernel that computes the SHA-256 of many texts, LANES at a time.

Source: FIPS 180-4, sections 4.1.2, 5.3.3 and 6.2.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from tasks.text.kernels import Bytes, Integers, compiled

State = NDArray[np.uint32]
# Loops over the lanes become vector instructions.
LANES: Final = 16
BLOCK, LENGTH_AT, WORDS = 64, 56, 16


def _fractions(root: int, numbers: int) -> list[int]:
    """Return the first 32 bits of the fractional parts of the square or cube roots of the first primes."""
    primes = [n for n in range(2, 312) if all(n % k for k in range(2, n))][:numbers]
    found = []
    for prime in primes:
        low, high = 0, prime << 40
        while high - low > 1:  # the integer root of prime * 2 ** (32 * root)
            middle = (low + high) // 2
            low, high = (middle, high) if middle**root <= prime << (32 * root) else (low, middle)
        found.append(low & 0xFFFFFFFF)
    return found


ROUNDS = np.array(_fractions(3, 64), np.uint32)
START = np.array(_fractions(2, 8), np.uint32)
HEX = np.frombuffer(b"0123456789abcdef", np.uint8)


@compiled
def sha256_hex(data: Bytes, offsets: Integers) -> Bytes:
    """Return the hexadecimal digits of the hash of each text `data[offsets[i]:offsets[i + 1]]`, shape (64 n,)."""
    n = len(offsets) - 1
    digits = np.empty(64 * n, np.uint8)
    words = np.empty((64, LANES), np.uint32)
    block = np.empty((LANES, BLOCK), np.uint8)
    for first in range(0, n, LANES):
        lanes = min(LANES, n - first)
        state = np.empty((8, LANES), np.uint32)
        for i in range(8):
            state[i, :] = START[i]
        blocks = np.zeros(LANES, np.int64)
        for lane in range(lanes):
            blocks[lane] = (offsets[first + lane + 1] - offsets[first + lane] + 8) // BLOCK + 1
        for number in range(blocks.max()):
            for lane in range(lanes):
                if number < blocks[lane]:
                    _fill(block[lane], data[offsets[first + lane] : offsets[first + lane + 1]], number)
            for t in range(WORDS):
                for lane in range(LANES):
                    at = 4 * t
                    words[t, lane] = (
                        (np.uint32(block[lane, at]) << np.uint32(24))
                        | (np.uint32(block[lane, at + 1]) << np.uint32(16))
                        | (np.uint32(block[lane, at + 2]) << np.uint32(8))
                        | np.uint32(block[lane, at + 3])
                    )
            _compress(state, words, blocks, number)
        for lane in range(lanes):
            _write(state[:, lane], digits[64 * (first + lane) : 64 * (first + lane + 1)])
    return digits


@compiled
def _fill(block: Bytes, text: Bytes, number: int) -> None:
    """Write block `number` of a padded text."""
    begin = number * BLOCK
    length = min(max(len(text) - begin, 0), BLOCK)
    for i in range(length):
        block[i] = text[begin + i]
    for i in range(length, BLOCK):
        block[i] = 0
    if 0 <= len(text) - begin < BLOCK:
        block[len(text) - begin] = 0x80
    if len(text) - begin < LENGTH_AT:
        bits = 8 * len(text)
        for i in range(8):
            block[BLOCK - 1 - i] = (bits >> (8 * i)) & 0xFF


@compiled
def _compress(state: State, words: State, blocks: Integers, number: int) -> None:
    """Update the state of the lanes that have a block of this number."""
    for t in range(WORDS, 64):
        for lane in range(LANES):
            x, y = words[t - 15, lane], words[t - 2, lane]
            low = _right(x, 7) ^ _right(x, 18) ^ (x >> np.uint32(3))
            high = _right(y, 17) ^ _right(y, 19) ^ (y >> np.uint32(10))
            words[t, lane] = words[t - 16, lane] + low + words[t - 7, lane] + high
    s = state.copy()
    for t in range(64):
        k = ROUNDS[t]
        for lane in range(LANES):
            a, b, c, d = s[0, lane], s[1, lane], s[2, lane], s[3, lane]
            e, f, g, h = s[4, lane], s[5, lane], s[6, lane], s[7, lane]
            choice = (e & f) ^ (~e & g)
            first = h + (_right(e, 6) ^ _right(e, 11) ^ _right(e, 25)) + choice + k + words[t, lane]
            second = (_right(a, 2) ^ _right(a, 13) ^ _right(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))
            s[7, lane], s[6, lane], s[5, lane], s[4, lane] = g, f, e, d + first
            s[3, lane], s[2, lane], s[1, lane], s[0, lane] = c, b, a, first + second
    for i in range(8):
        for lane in range(LANES):
            if number < blocks[lane]:
                state[i, lane] += s[i, lane]


@compiled
def _right(word: np.uint32, bits: int) -> np.uint32:
    """Rotate a word to the right."""
    return (word >> np.uint32(bits)) | (word << np.uint32(32 - bits))


@compiled
def _write(state: State, digits: Bytes) -> None:
    for i in range(8):
        for k in range(8):
            digits[8 * i + k] = HEX[(state[i] >> np.uint32(28 - 4 * k)) & np.uint32(15)]
