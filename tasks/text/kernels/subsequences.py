"""Kernel for lengths of longest common subsequences, 64 tokens of the shorter text at a time."""

import numpy as np

from tasks.text.kernels import Ids, Integers, Words, compiled

_WORD = 64
_ONE = np.uint64(1)


@compiled
def common_subsequences(ids: Ids, texts: Integers, references: Integers, rows: Integers, vocabulary: int) -> Integers:
    """Return the length of the longest common subsequence of each reference and text `rows[j]`; shape (m,).

    Text i is `ids[texts[i]:texts[i + 1]]`, reference j `ids[references[j]:references[j + 1]]`; ids are from 0
    to vocabulary - 1.

    Source: Hyyrö 2004, "Bit-parallel LCS-length computation revisited".
    """
    lengths = np.empty(len(rows), np.int64)
    numbers, stamps = np.zeros(vocabulary, np.int64), np.full(vocabulary, -1, np.int64)
    for j in range(len(rows)):
        short, long = ids[references[j] : references[j + 1]], ids[texts[rows[j]] : texts[rows[j] + 1]]
        if len(short) > len(long):
            short, long = long, short
        lengths[j] = _length(long, _positions(short, j, numbers, stamps), j, numbers, stamps)
    return lengths


@compiled
def _positions(text: Ids, stamp: int, numbers: Integers, stamps: Integers) -> Words:
    """Return bit sets of the positions of each distinct token, shape (tokens, words); its row is put into `numbers`."""
    distinct = 0
    for token in text:
        if stamps[token] != stamp:
            stamps[token], numbers[token] = stamp, distinct
            distinct += 1
    positions = np.zeros((distinct, (len(text) + _WORD - 1) // _WORD), np.uint64)
    for i in range(len(text)):
        positions[numbers[text[i]], i // _WORD] |= _ONE << np.uint64(i % _WORD)
    return positions


@compiled
def _length(text: Ids, positions: Words, stamp: int, numbers: Integers, stamps: Integers) -> int:
    """Return the number of bits that become 0, one for each token of the subsequence."""
    row = np.full(positions.shape[1], ~np.uint64(0), np.uint64)
    for token in text:
        if stamps[token] != stamp:
            continue
        carry: np.uint64 = np.uint64(0)
        for k in range(len(row)):
            matched = row[k] & positions[numbers[token], k]
            total = row[k] + matched
            carried = total + carry
            carry = np.uint64(total < matched or carried < carry)
            row[k] = carried | (row[k] - matched)
    return _ones(~row)


@compiled
def _ones(words: Words) -> int:
    """Return the number of set bits."""
    ones = 0
    for word in words:
        left = word
        while left != 0:
            left &= left - _ONE  # clears the lowest set bit
            ones += 1
    return ones
