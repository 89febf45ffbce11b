"""Kernels that turn JSON values found by `json_members` into texts and the items of lists."""

import numpy as np

from tasks.text.kernels import Bytes, Flags, Integers, compiled

# As in json_members: numba recompiles a module only when its own source changes.
NULL, VERBATIM, ESCAPED, LIST = 1, 2, 3, 4
QUOTE, BACKSLASH, COMMA, CLOSE_LIST, U, N = map(ord, '"\\,]un')
OPENS = tuple(map(ord, "[{"))
IS_SPACE = np.zeros(256, np.bool_)
IS_SPACE[[*b" \t\r"]] = True
# What stands for each sign after a backslash, and the value of each hexadecimal digit.
MEANING = np.zeros(256, np.uint8)
MEANING[[*b'"\\/bfnrt']] = [*b'"\\/\b\f\n\r\t']
DIGIT = np.zeros(256, np.int64)
DIGIT[[*b"0123456789abcdef"]] = range(16)
DIGIT[[*b"ABCDEF"]] = range(10, 16)
HIGH, LOW, AFTER, BEYOND = 0xD800, 0xDC00, 0xE000, 0x10000


@compiled
def unescaped(data: Bytes, kinds: Bytes, firsts: Integers, lasts: Integers) -> tuple[Bytes, Integers, Flags]:
    """Return the text of each of n values as UTF-8, one after another, offsets of shape (n + 1,), and flags.

    The flag says that there is none: the value is a list, an object, or holds half of a surrogate pair. It is empty
    then, and where the value is null or absent.
    """
    size = 0
    for row in range(len(kinds)):
        if kinds[row] in (VERBATIM, ESCAPED):
            size += lasts[row] - firsts[row]
    texts = np.empty(size, np.uint8)
    offsets = np.zeros(len(kinds) + 1, np.int64)
    is_odd = np.zeros(len(kinds), np.bool_)
    written = 0
    for row in range(len(kinds)):
        first, last = firsts[row], lasts[row]
        if kinds[row] == VERBATIM:
            length = last - first
            for i in range(length):
                texts[written + i] = data[first + i]
            written += length
        elif kinds[row] == ESCAPED:
            end = _unescape(data, first, last, texts, written)
            is_odd[row] = end < 0
            written = max(end, written)
        else:
            is_odd[row] = kinds[row] > ESCAPED
        offsets[row + 1] = written
    return texts[:written], offsets, is_odd


@compiled
def items(
    data: Bytes, kinds: Bytes, firsts: Integers, lasts: Integers
) -> tuple[Integers, Flags, Bytes, Integers, Integers]:
    """Return the items of lists, where a text is a list of its own.

    Returns:
        Number of items of each value, those that are null not counted; flags of values that are objects, or lists with
        lists or objects in them, which get no items; kind, begin and end of each item.
    """
    counts = np.zeros(len(kinds), np.int64)
    is_odd = np.zeros(len(kinds), np.bool_)
    size = 0
    for row in range(len(kinds)):
        size += 1 + ((lasts[row] - firsts[row]) // 2 if kinds[row] == LIST else 0)
    item_kinds = np.empty(size, np.uint8)
    item_firsts, item_lasts = np.empty((2, size), np.int64)
    number = 0
    for row in range(len(kinds)):
        kind = kinds[row]
        if kind in (VERBATIM, ESCAPED):
            item_kinds[number], item_firsts[number], item_lasts[number] = kind, firsts[row], lasts[row]
            counts[row] = 1
        elif kind == LIST:
            counts[row] = _items(data, firsts[row], item_kinds[number:], item_firsts[number:], item_lasts[number:])
            is_odd[row] = counts[row] < 0
            counts[row] = max(counts[row], 0)
        else:
            is_odd[row] = kind > LIST
        number += counts[row]
    return counts, is_odd, item_kinds[:number], item_firsts[:number], item_lasts[:number]


@compiled
def _items(data: Bytes, at: int, kinds: Bytes, firsts: Integers, lasts: Integers) -> int:
    """Store the items of the list at `at`, and return how many there are; -1: one is a list or an object."""
    number = 0
    while data[at] != CLOSE_LIST:
        at += 1  # behind the bracket, or a comma
        while IS_SPACE[data[at]]:
            at += 1
        first, kind = at, VERBATIM
        if data[at] in OPENS:
            return -1
        if data[at] == QUOTE:
            first = at = at + 1
            while data[at] != QUOTE:
                if data[at] == BACKSLASH:
                    kind = ESCAPED
                    at += 1
                at += 1
            last = at
            at += 1
        else:
            while not (IS_SPACE[data[at]] or data[at] == COMMA or data[at] == CLOSE_LIST):
                at += 1
            last = at
            kind = NULL if data[first] == N else VERBATIM
        while IS_SPACE[data[at]]:
            at += 1
        if kind != NULL and not (last == first and data[last] == CLOSE_LIST):
            kinds[number], firsts[number], lasts[number] = kind, first, last
            number += 1
    return number


@compiled
def _unescape(data: Bytes, first: int, last: int, texts: Bytes, written: int) -> int:
    """Write a text whose escapes are valid, and return its end; -1: it holds half of a surrogate pair."""
    at = first
    while at < last:
        if data[at] != BACKSLASH:
            texts[written] = data[at]
            written += 1
            at += 1
        elif data[at + 1] != U:
            texts[written] = MEANING[data[at + 1]]
            written += 1
            at += 2
        else:
            code = _code(data, at + 2)
            at += 6
            if HIGH <= code < AFTER:
                is_pair = code < LOW and at + 6 <= last and data[at] == BACKSLASH and data[at + 1] == U
                other = _code(data, at + 2) if is_pair else 0
                if not LOW <= other < AFTER:
                    return -1
                code = BEYOND + ((code - HIGH) << 10) + (other - LOW)
                at += 6
            written = _encode(code, texts, written)
    return written


@compiled
def _code(data: Bytes, at: int) -> int:
    code = 0
    for i in range(4):
        code = 16 * code + DIGIT[data[at + i]]
    return code


@compiled
def _encode(code: int, texts: Bytes, written: int) -> int:
    """Write a code point as UTF-8 and return its end."""
    if code < 0x80:  # noqa: PLR2004 (the limits of UTF-8)
        texts[written] = code
        return written + 1
    length = 2 if code < 0x800 else 3 if code < BEYOND else 4  # noqa: PLR2004 (the limits of UTF-8)
    for i in range(length - 1, 0, -1):
        texts[written + i] = 0x80 | (code & 0x3F)
        code >>= 6
    texts[written] = (0xF00 >> length) & 0xFF | code
    return written + length
