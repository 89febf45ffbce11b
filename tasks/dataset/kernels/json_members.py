"""Kernel that finds members of JSON objects in their bytes, one object a line: strictly, or the line is not plain.

Plain: one object in the grammar of RFC 8259, at most DEEPEST levels below it, with at most MOST_KEYS keys, none of
which has an escape or appears twice in one object. The bytes are UTF-8 if the caller has checked that they are.
"""

import numpy as np

from tasks.text.kernels import Bytes, Flags, Integers, compiled

# Kinds of a value. VERBATIM: its text stands in the bytes: of a string without escapes, a number, true or false.
ABSENT, NULL, VERBATIM, ESCAPED, LIST, OBJECT = range(6)
DEEPEST, MOST_KEYS = 48, 512

NEWLINE, QUOTE, BACKSLASH, COMMA, COLON, MINUS, PLUS, POINT, ZERO = map(ord, '\n"\\,:-+.0')
OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST = map(ord, "{}[]")
U = ord("u")


def _table(signs: bytes) -> Flags:
    table = np.zeros(256, np.bool_)
    table[[*signs]] = True
    return table


IS_SPACE, IS_DIGIT, IS_HEX = _table(b" \t\r"), _table(b"0123456789"), _table(b"0123456789abcdefABCDEF")
IS_ESCAPE, IS_EXPONENT = _table(b'"\\/bfnrtu'), _table(b"eE")
ENDS_RUN = _table(bytes([*range(32), QUOTE, BACKSLASH]))
# A newline, which none of them has, fills up the shorter ones.
LITERALS = np.array([[*b"null\n"], [*b"true\n"], [*b"false"]], np.uint8)
N = ord("n")


@compiled
def objects(
    data: Bytes, rows: int, names: Bytes, ends: Integers
) -> tuple[Integers, Integers, Integers, Flags, Bytes, Integers, Integers]:
    """Return where the members with some names stand in each line that is not blank.

    Args:
        data: Lines, each ended by a newline.
        rows: At most so many lines are not blank.
        names: The n distinct names, one after another, as UTF-8.
        ends: Where each name ends in `names`, shape (n,).

    Returns:
        Number of each line that is not blank, from 0, its begin and its end, shape (rows found,); whether it is plain;
        kind, begin and end of each value, shape (n, rows found): of a string without its quotes. One more line than
        `rows`: nothing is right but the shapes, which have one row more.
    """
    lines, begins, stops = np.zeros((3, rows + 1), np.int64)
    plain = np.zeros(rows + 1, np.bool_)
    kinds = np.zeros((len(ends), rows + 1), np.uint8)
    firsts, lasts = np.zeros((2, len(ends), rows + 1), np.int64)
    stack, keys = np.zeros((DEEPEST, 2), np.int64), np.zeros((MOST_KEYS, 2), np.int64)
    at = line = row = 0
    while at < len(data) and row <= rows:
        begin = at
        at = _space(data, at)
        if data[at] != NEWLINE:
            end = _members(data, at, names, ends, kinds[:, row], firsts[:, row], lasts[:, row], stack, keys)
            end = _space(data, end) if end >= 0 else -1
            plain[row] = end >= 0 and data[end] == NEWLINE
            if plain[row]:
                at = end
            else:
                kinds[:, row] = ABSENT
            while data[at] != NEWLINE:
                at += 1
            lines[row], begins[row], stops[row] = line, begin, at
            row += 1
        at += 1
        line += 1
    return (
        lines[:row], begins[:row], stops[:row], plain[:row], kinds[:, :row], firsts[:, :row], lasts[:, :row]
    )  # fmt: skip


@compiled
def inner(data: Bytes, kinds: Bytes, firsts: Integers, name: Bytes, ends: Integers) -> tuple[Bytes, Integers, Integers]:
    """Return kind, begin and end of the member of one name in each of n values, each of shape (n,).

    Args:
        data: The bytes that `objects` found the values in.
        kinds: Kind of each value; what is no object has no member.
        firsts: Begin of each value.
        name: As UTF-8.
        ends: Its length, shape (1,).
    """
    found = np.zeros((1, len(kinds)), np.uint8)
    begins, stops = np.zeros((2, 1, len(kinds)), np.int64)
    stack, keys = np.zeros((DEEPEST, 2), np.int64), np.zeros((MOST_KEYS, 2), np.int64)
    for row in range(len(kinds)):
        if kinds[row] == OBJECT:
            _members(data, firsts[row], name, ends, found[:, row], begins[:, row], stops[:, row], stack, keys)
    return found[0], begins[0], stops[0]


@compiled
def _members(
    data: Bytes,
    at: int,
    names: Bytes,
    ends: Integers,
    kinds: Bytes,
    firsts: Integers,
    lasts: Integers,
    stack: Integers,
    keys: Integers,
) -> int:
    """Store the wanted members of the object at `at`, and return its end; -1: it is not plain.

    stack, keys: memory of `_nested` and `_key`.
    """
    if data[at] != OPEN_OBJECT:
        return -1
    at = _space(data, at + 1)
    if data[at] == CLOSE_OBJECT:
        return at + 1
    number = 0
    while True:
        at = _key(data, at, keys, 0, number)
        if at < 0:
            return -1
        column = _column(data, keys[number, 0], keys[number, 1], names, ends)
        number += 1
        kind, first, last, at = _value(data, at, keys, number, stack)
        if at < 0:
            return -1
        if column >= 0:
            kinds[column], firsts[column], lasts[column] = kind, first, last
        at = _space(data, at)
        if data[at] != COMMA:
            return at + 1 if data[at] == CLOSE_OBJECT else -1
        at = _space(data, at + 1)


@compiled
def _value(data: Bytes, at: int, keys: Integers, number: int, stack: Integers) -> tuple[int, int, int, int]:
    """Return kind, begin and end of what a value says, and its own end; -1: it is no value."""
    if data[at] == QUOTE:
        found = _string(data, at + 1)
        return (ESCAPED if found & 1 else VERBATIM), at + 1, found >> 1, ((found >> 1) + 1 if found >= 0 else -1)
    if data[at] == OPEN_OBJECT or data[at] == OPEN_LIST:
        end = _nested(data, at, keys, number, stack)
        return (OBJECT if data[at] == OPEN_OBJECT else LIST), at, end, end
    end = _word(data, at)
    return (NULL if data[at] == N else VERBATIM), at, end, end


@compiled
def _nested(data: Bytes, at: int, keys: Integers, number: int, stack: Integers) -> int:
    """Return the end of a list or object; -1: it is none, or too deep.

    stack: sign that closes each open object or list, and the number of keys before it.
    """
    depth = 0
    while True:
        if data[at] == OPEN_OBJECT or data[at] == OPEN_LIST:
            if depth == DEEPEST:
                return -1
            stack[depth, 0], stack[depth, 1] = CLOSE_OBJECT if data[at] == OPEN_OBJECT else CLOSE_LIST, number
            depth += 1
            at = _space(data, at + 1)
            has_more = data[at] != stack[depth - 1, 0]
        else:
            at, has_more = _after(data, _leaf(data, at))
        while not has_more:
            if at < 0 or data[at] != stack[depth - 1, 0]:
                return -1
            depth -= 1
            number = stack[depth, 1]
            if depth == 0:
                return at + 1
            at, has_more = _after(data, at + 1)
        if stack[depth - 1, 0] == CLOSE_OBJECT:
            at = _key(data, at, keys, stack[depth - 1, 1], number)
            number += 1
            if at < 0:
                return -1


@compiled
def _after(data: Bytes, at: int) -> tuple[int, bool]:
    """Return the position of what follows the value that ends at `at`, and whether that is behind a comma."""
    if at < 0:
        return at, False
    at = _space(data, at)
    if data[at] == COMMA:
        return _space(data, at + 1), True
    return at, False


@compiled
def _leaf(data: Bytes, at: int) -> int:
    """Return the end of a value that is no list or object; -1: it is none."""
    if data[at] == QUOTE:
        found = _string(data, at + 1)
        return (found >> 1) + 1 if found >= 0 else -1
    return _word(data, at)


@compiled
def _space(data: Bytes, at: int) -> int:
    while IS_SPACE[data[at]]:
        at += 1
    return at


@compiled
def _string(data: Bytes, at: int) -> int:
    """Return twice the position of the quote that ends a string, plus one if it has escapes; -1: it is no string."""
    has_escapes = 0
    while True:
        while not ENDS_RUN[data[at]]:
            at += 1
        if data[at] == QUOTE:
            return 2 * at + has_escapes
        if data[at] != BACKSLASH or not IS_ESCAPE[data[at + 1]]:
            return -1
        has_escapes = 1
        if data[at + 1] == U:
            for i in range(at + 2, at + 6):
                if not IS_HEX[data[i]]:
                    return -1
            at += 4
        at += 2


@compiled
def _word(data: Bytes, at: int) -> int:
    """Return the end of a number, true, false or null; -1: it is none."""
    for k in range(len(LITERALS)):
        if data[at] == LITERALS[k, 0]:
            length = 0
            while length < LITERALS.shape[1] and LITERALS[k, length] != NEWLINE:
                if data[at + length] != LITERALS[k, length]:
                    return -1
                length += 1
            return at + length
    return _number(data, at)


@compiled
def _number(data: Bytes, at: int) -> int:
    """Return the end of a number; -1: it is none."""
    if data[at] == MINUS:
        at += 1
    end = _digits(data, at)
    if end == at or (data[at] == ZERO and end > at + 1):
        return -1
    if data[end] == POINT:
        at = end + 1
        end = _digits(data, at)
        if end == at:
            return -1
    if IS_EXPONENT[data[end]]:
        at = end + 2 if data[end + 1] in (MINUS, PLUS) else end + 1
        end = _digits(data, at)
        if end == at:
            return -1
    return end


@compiled
def _digits(data: Bytes, at: int) -> int:
    while IS_DIGIT[data[at]]:
        at += 1
    return at


@compiled
def _key(data: Bytes, at: int, keys: Integers, first: int, number: int) -> int:
    """Store the key at `at`, and return the position of its value; -1: it is none, or one of keys[first:number]."""
    if data[at] != QUOTE or number == MOST_KEYS:
        return -1
    begin = at + 1
    end = begin
    while not ENDS_RUN[data[end]]:
        end += 1
    if data[end] != QUOTE:
        return -1
    for i in range(first, number):
        if keys[i, 1] - keys[i, 0] == end - begin and _same(data, keys[i, 0], data, begin, end - begin):
            return -1
    keys[number, 0], keys[number, 1] = begin, end
    at = _space(data, end + 1)
    return _space(data, at + 1) if data[at] == COLON else -1


@compiled
def _column(data: Bytes, begin: int, end: int, names: Bytes, ends: Integers) -> int:
    """Return the number of the wanted name that a key is; -1: none."""
    start = 0
    for column in range(len(ends)):
        if ends[column] - start == end - begin and _same(data, begin, names, start, end - begin):
            return column
        start = int(ends[column])
    return -1


@compiled
def _same(data: Bytes, first: int, others: Bytes, second: int, length: int) -> bool:
    for i in range(length):  # noqa: SIM110 (numba has no all())
        if data[first + i] != others[second + i]:
            return False
    return True
