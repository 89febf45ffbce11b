"""Kernel that writes a text and a list of texts as the canonical JSON of [text, [item, …]]."""

import numpy as np

from tasks.text.kernels import Bytes, Flags, Integers, compiled

QUOTE, BACKSLASH, COMMA, OPEN, CLOSE, U, ZERO = map(ord, '"\\,[]u0')
NULL_WORD = np.array([*b"null"], np.uint8)
HEX = np.array([*b"0123456789abcdef"], np.uint8)
# Sign after the backslash where there is a short escape, else 0; bytes that each byte takes.
SHORT = np.zeros(256, np.uint8)
SHORT[[*b'"\\\b\f\n\r\t']] = [*b'"\\bfnrt']
WIDTH = np.ones(256, np.int64)
WIDTH[:32] = 6
WIDTH[SHORT > 0] = 2
FRAME = 4  # brackets, and the comma between text and list


@compiled
def canonical(
    data: Bytes, offsets: Integers, is_null: Flags, item_data: Bytes, item_offsets: Integers, counts: Integers
) -> tuple[Bytes, Integers]:
    """Return the JSON of n texts with their items as UTF-8, one after another, and offsets of shape (n + 1,).

    counts: number of items of each text, shape (n,).
    """
    ends = np.zeros(len(counts) + 1, np.int64)
    item = 0
    for row in range(len(counts)):
        size = FRAME + max(counts[row] - 1, 0) + 1
        size += len(NULL_WORD) if is_null[row] else _size(data, offsets[row], offsets[row + 1])
        for _ in range(counts[row]):
            size += _size(item_data, item_offsets[item], item_offsets[item + 1])
            item += 1
        ends[row + 1] = ends[row] + size
    written = np.empty(ends[-1], np.uint8)
    item = 0
    for row in range(len(counts)):
        at = ends[row]
        written[at] = OPEN
        at += 1
        if is_null[row]:
            for i in range(len(NULL_WORD)):
                written[at + i] = NULL_WORD[i]
            at += len(NULL_WORD)
        else:
            at = _write(data, offsets[row], offsets[row + 1], written, at)
        written[at], written[at + 1] = COMMA, OPEN
        at += 2
        for k in range(counts[row]):
            if k:
                written[at] = COMMA
                at += 1
            at = _write(item_data, item_offsets[item], item_offsets[item + 1], written, at)
            item += 1
        written[at] = written[at + 1] = CLOSE
    return written, ends


@compiled
def _size(data: Bytes, first: int, last: int) -> int:
    size = 2
    for i in range(first, last):
        size += WIDTH[data[i]]
    return size


@compiled
def _write(data: Bytes, first: int, last: int, written: Bytes, at: int) -> int:
    """Write a text as a JSON string, and return its end."""
    written[at] = QUOTE
    at += 1
    for i in range(first, last):
        byte = data[i]
        width = WIDTH[byte]
        if width == 1:
            written[at] = byte
        else:
            written[at] = BACKSLASH
            written[at + 1] = SHORT[byte]
            if width > 2:  # noqa: PLR2004 (a short escape)
                written[at + 1] = U
                written[at + 2] = written[at + 3] = ZERO
                written[at + 4], written[at + 5] = HEX[byte >> 4], HEX[byte & 15]
        at += width
    written[at] = QUOTE
    return at + 1
