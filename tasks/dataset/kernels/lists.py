"""Kernels that read a text as a list: as JSON prints one, or as parts between separators; and that find blank texts.

White space is what Python's `str.strip` removes. All texts are valid UTF-8.
"""

import numpy as np

from tasks.text.kernels import Bytes, Flags, Integers, compiled

# As in json_members: numba recompiles a module only when its own source changes.
VERBATIM, LIST, OBJECT = 2, 4, 5
OPEN_LIST, CLOSE_LIST, QUOTE, BACKSLASH, COMMA = map(ord, '[]"\\,')
NULL_WORD = np.array([*b"null"], np.uint8)
IS_SPACE, IS_JSON_SPACE = np.zeros((2, 128), np.bool_)
IS_SPACE[[*range(9, 14), *range(28, 33)]] = True
IS_JSON_SPACE[[*b" \t\n\r"]] = True
FIRST_ESCAPED, FIRST_MULTIBYTE = 32, 128
# White space beyond ASCII, as UTF-8 of two or three bytes.
_WIDE = [
    chr(code).encode() for code in (0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000)
]
LENGTHS = np.array([len(space) for space in _WIDE], np.int64)
STARTS_SPACE = np.zeros(256, np.bool_)
STARTS_SPACE[[space[0] for space in _WIDE]] = True
SPACES = np.array([[*space.ljust(3)] for space in _WIDE], np.uint8)


@compiled
def printed_lists(data: Bytes, offsets: Integers) -> Bytes:
    """Return the kind of each text: LIST for a JSON list of strings and nulls, one string at least.

    VERBATIM: a text that begins with no bracket. OBJECT: all others.
    """
    kinds = np.empty(len(offsets) - 1, np.uint8)
    for row in range(len(kinds)):
        first, last = offsets[row], offsets[row + 1]
        at = _visible(data, first, last)
        kinds[row] = VERBATIM
        if at < last and data[at] == OPEN_LIST:
            kinds[row] = LIST if at == first and _is_list(data, first, last) else OBJECT
    return kinds


@compiled
def parts(
    data: Bytes, offsets: Integers, counts: Integers, is_text: Flags, separator: Bytes, longest: int
) -> tuple[Integers, Flags, Integers, Integers]:
    """Divide texts at a separator, and leave out what is blank.

    Args:
        data: The items of all n lists, as UTF-8.
        offsets: Of each item in `data`.
        counts: Number of items of each list, shape (n,).
        is_text: Lists that are one text, which is divided; the parts lose the white space around them.
        separator: Between parts; empty: nothing is divided.
        longest: Bytes.

    Returns:
        The new counts; flags of lists with an item of more bytes than `longest`; begin and end of each new item.
    """
    size = len(offsets) - 1
    if len(separator):
        size += (offsets[-1] - offsets[0]) // len(separator)
    firsts, lasts = np.empty((2, size), np.int64)
    kept = np.zeros(len(counts), np.int64)
    is_long = np.zeros(len(counts), np.bool_)
    item = number = 0
    for row in range(len(counts)):
        before = number
        for _ in range(counts[row]):
            first, last = offsets[item], offsets[item + 1]
            item += 1
            is_long[row] |= last - first > longest
            if len(separator) == 0 or not is_text[row]:
                if _visible(data, first, last) < last:
                    firsts[number], lasts[number] = first, last
                    number += 1
                continue
            while first <= last:
                end = _next(data, first, last, separator)
                begin, stop = _trimmed(data, first, end)
                if begin < stop:
                    firsts[number], lasts[number] = begin, stop
                    number += 1
                first = end + len(separator)
        kept[row] = number - before
    return kept, is_long, firsts[:number], lasts[:number]


@compiled
def blank(data: Bytes, offsets: Integers) -> Flags:
    """Return which texts are empty, or white space."""
    flags = np.empty(len(offsets) - 1, np.bool_)
    for row in range(len(flags)):
        flags[row] = _visible(data, offsets[row], offsets[row + 1]) == offsets[row + 1]
    return flags


@compiled
def _visible(data: Bytes, at: int, end: int) -> int:
    """Return the position of the first character that is no white space."""
    while at < end:
        length = _space(data, at)
        if length == 0:
            break
        at += length
    return at


@compiled
def _trimmed(data: Bytes, first: int, last: int) -> tuple[int, int]:
    """Return begin and end of a text without the white space around it."""
    first = stop = at = _visible(data, first, last)
    while at < last:
        length = _space(data, at)
        at += max(length, 1)
        if length == 0:
            stop = at
    return first, stop


@compiled
def _space(data: Bytes, at: int) -> int:
    """Return how many bytes the character at `at` has if it is white space; else 0, also inside a character."""
    byte = data[at]
    if byte < FIRST_MULTIBYTE:
        return 1 if IS_SPACE[byte] else 0
    if not STARTS_SPACE[byte]:
        return 0
    for k in range(len(SPACES)):
        length = int(LENGTHS[k])
        if byte == SPACES[k, 0] and data[at + 1] == SPACES[k, 1] and data[at + length - 1] == SPACES[k, length - 1]:
            return length
    return 0


@compiled
def _next(data: Bytes, at: int, end: int, separator: Bytes) -> int:
    """Return where the next separator stands; the end if there is none."""
    while at + len(separator) <= end:
        length = 0
        while length < len(separator) and data[at + length] == separator[length]:
            length += 1
        if length == len(separator):
            return at
        at += 1
    return end


@compiled
def _is_list(data: Bytes, at: int, end: int) -> bool:
    """Whether a text that begins with a bracket is a JSON list of strings and nulls, one string at least."""
    has_string = False
    while True:
        at = _json_space(data, at + 1, end)
        if at < end and data[at] == QUOTE:
            at = _string(data, at + 1, end)
            has_string = True
        else:
            for i in range(len(NULL_WORD)):
                if at + i >= end or data[at + i] != NULL_WORD[i]:
                    return False
            at += len(NULL_WORD)
        at = _json_space(data, at, end)
        if at >= end:
            return False
        if data[at] != COMMA:
            break
    return has_string and data[at] == CLOSE_LIST and _json_space(data, at + 1, end) == end


@compiled
def _json_space(data: Bytes, at: int, end: int) -> int:
    while at < end and data[at] < FIRST_MULTIBYTE and IS_JSON_SPACE[data[at]]:
        at += 1
    return at


@compiled
def _string(data: Bytes, at: int, end: int) -> int:
    """Return the end of a JSON string whose only escapes are of quotes and backslashes; `end` for any other."""
    while at < end and data[at] != QUOTE:
        if data[at] < FIRST_ESCAPED:
            return end
        if data[at] == BACKSLASH:
            at += 1
            if at >= end or data[at] not in (QUOTE, BACKSLASH):
                return end
        at += 1
    return min(at + 1, end)
