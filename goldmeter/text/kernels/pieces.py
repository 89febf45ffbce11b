"""Kernels of pieces of texts: cut into chunks, joined, found in one another, and replaced by lists of ids."""

from typing import Final, NamedTuple

import numpy as np

from goldmeter.text.kernels import Bytes, Flags, Ids, Integers, compiled

# Kinds: the position of a chunk in its text; FIRST and LAST may be added.
INSIDE: Final = 0
FIRST: Final = 1
LAST: Final = 2
_BLANK, _STOP, _COMMA, _APOSTROPHE = ord(" "), ord("."), ord(","), ord("'")
_ASCII = 0x7F
_UNLIKE_INSIDE = np.frombuffer(b"\"'.", np.uint8)
_CLOSING = np.frombuffer(b"])}>\"' \t\n\r\v\f\x1c\x1d\x1e\x1f", np.uint8)


class Chunks(NamedTuple):
    """Positions of chunks: text i has the chunks from `begins[i]` up to `begins[i + 1]`.

    Attributes:
        starts: First byte of each chunk; shape (total,).
        stops: Byte after each chunk; shape (total,).
        kinds: INSIDE, FIRST, LAST or FIRST + LAST; shape (total,).
        begins: Shape (n + 1,).
    """

    starts: Integers
    stops: Integers
    kinds: Bytes
    begins: Integers


@compiled
def cut(data: Bytes, firsts: Integers, ends: Integers, peels: bool) -> Chunks:  # noqa: FBT001 (a kernel has no keywords)
    """Return the chunks of the UTF-8 texts `data[firsts[i]:ends[i]]`, all INSIDE; both arrays have shape (n,).

    peels: split a full stop or comma off the end of each chunk if it follows an ASCII letter or digit.
    """
    most = _most(firsts, ends) * (1 + peels)
    starts, stops, begins = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(len(firsts) + 1, np.int64)
    total = 0
    for text in range(len(firsts)):
        begins[text] = total
        is_inside = False
        for position in range(firsts[text], ends[text] + 1):
            is_blank = position == ends[text] or data[position] == _BLANK
            if is_inside and is_blank:
                last = position - 1
                is_stop = data[last] == _STOP or data[last] == _COMMA
                if peels and is_stop and last > starts[total] and _is_alphanumeric(data[last - 1]):
                    stops[total] = starts[total + 1] = last
                    total += 1
                stops[total] = position
                total += 1
            elif not is_inside and not is_blank:
                starts[total] = position
            is_inside = not is_blank
    begins[-1] = total
    return Chunks(starts[:total], stops[:total], np.full(total, INSIDE, np.uint8), begins)


@compiled
def cut_ends(data: Bytes, firsts: Integers, ends: Integers) -> Chunks:
    """Return the chunks as `cut` does, but separate those that mean something else at an end of a text.

    FIRST is the chunk at the start of its text, if it starts with a quotation mark or a full stop. LAST extends to the
    end of its text, blanks included, from the last chunk that is more than closing marks, if that contains a full stop
    or the text ends with an apostrophe. A text of closing marks only is one chunk, and LAST, if so and if it does not
    start with a blank.
    """
    most = _most(firsts, ends)
    starts, stops = np.empty(most, np.int64), np.empty(most, np.int64)
    kinds, begins = np.empty(most, np.uint8), np.empty(len(firsts) + 1, np.int64)
    total = 0
    for text in range(len(firsts)):
        begins[text] = total
        position, end = firsts[text], ends[text]
        tail = _tail(data, position, end)
        while True:
            while position < end and data[position] == _BLANK:
                position += 1
            if position == end:
                break
            is_first = position == firsts[text] and data[position] in _UNLIKE_INSIDE
            starts[total], kinds[total] = position, FIRST * is_first + LAST * (position == tail)
            while position < end and (data[position] != _BLANK or starts[total] == tail):
                position += 1
            stops[total] = position
            total += 1
    begins[-1] = total
    return Chunks(starts[:total], stops[:total], kinds[:total], begins)


@compiled
def _most(firsts: Integers, ends: Integers) -> int:
    """Return a number of chunks that texts of these lengths cannot exceed."""
    most = 0
    for i in range(len(firsts)):
        most += (ends[i] - firsts[i] + 1) // 2
    return most


@compiled
def _tail(data: Bytes, start: int, end: int) -> int:
    """Return the start of the chunk that is LAST; `end` if there is none."""
    i = end - 1
    while i >= start and (data[i] > _ASCII or _is_closing(data[i])):  # some closing marks are not ASCII
        i -= 1
    while i >= start and data[i] != _BLANK:
        i -= 1
    for j in range(i + 1, end):
        if data[j] == _STOP or (data[j] == _APOSTROPHE and j == end - 1):
            return i + 1
    return end


@compiled
def _is_closing(byte: int) -> bool:
    return byte in _CLOSING


@compiled
def _is_alphanumeric(byte: int) -> bool:
    """Return whether the byte is an ASCII letter or digit."""
    return ord("0") <= byte <= ord("9") or ord("A") <= byte <= ord("Z") or ord("a") <= byte <= ord("z")


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
