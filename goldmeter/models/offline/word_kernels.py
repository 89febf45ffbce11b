"""Kernels of words: cut out of plain ASCII texts, and counted by language.

`vocabulary.split` defines the words, and splits all texts that are not plain.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from goldmeter.models.offline.lexicon import CAPITAL, CLASSES, KNOWN, NUMBER, STOP
from goldmeter.text.kernels import Bytes, Flags, Ids, Integers, compiled


class Slices(NamedTuple):
    """Begin and end of the words of texts; text i has those from `offsets[i]` to `offsets[i + 1]`."""

    starts: Integers
    stops: Integers
    offsets: Integers


_SPACE, _UPPER, _LOWER, _DIGIT, _SIGN, _DATE, _OPEN = (1 << bit for bit in range(7))
_LETTER = _UPPER | _LOWER
_QUOTE, _STOP, _COMMA, _MINUS, _BLANK, _ZERO = (ord(character) for character in "'.,- 0")


def _classes() -> Bytes:
    """Return the classes of each byte; white space as Python defines it for text."""
    classes = np.zeros(256, np.uint8)
    for code in range(128):
        character = chr(code)
        classes[code] = (
            _SPACE * character.isspace()
            | _UPPER * character.isupper()
            | _LOWER * character.islower()
            | _DIGIT * character.isdigit()
            | _SIGN * (character in ".!?\n,/;:()[]&%|")
            | _DATE * (character in "./-")
            | _OPEN * (character == "(")
        )
    return classes


_CLASSES = _classes()


@compiled
def plain(data: Bytes, starts: Integers, stops: Integers) -> Flags:
    """Return which texts `cut` can split: ASCII, with a letter or digit or empty, and without a date in figures."""
    flags = np.ones(len(starts), np.bool_)
    for text in range(len(flags)):
        begin, end = starts[text], stops[text]
        high, every = np.uint8(0), np.uint8(0)
        for i in range(begin, end):
            high |= data[i]
            every |= _CLASSES[data[i]]
            if _CLASSES[data[i]] & _DATE and i > begin and _CLASSES[data[i - 1]] & _DIGIT:
                j = i + 1
                while j < end and j < i + 3 and _CLASSES[data[j]] & _DIGIT:
                    j += 1
                if j > i + 1 and j < end and _CLASSES[data[j]] & _DATE:
                    flags[text] = False
        flags[text] &= high < 128 and (begin == end or bool(every & (_LETTER | _DIGIT)))  # noqa: PLR2004  # ASCII
    return flags


@compiled
def cut(
    data: Bytes, starts: Integers, stops: Integers, is_plain: Flags, split: Slices
) -> tuple[Integers, Integers, Integers]:
    """Return begin and end, in `data`, of the words of n texts, and the offsets of each text's words.

    Args:
        data: UTF-8.
        starts: Begin of each text, shape (n,).
        stops: End of each text, shape (n,).
        is_plain: Shape (n,), from `plain`.
        split: The words of the other texts.
    """
    most = len(split.starts)
    for text in range(len(starts)):
        if is_plain[text]:
            most += stops[text] - starts[text]
    begins, ends, offsets = np.empty(most, np.int64), np.empty(most, np.int64), np.zeros(len(starts) + 1, np.int64)
    n = other = 0
    for text in range(len(starts)):
        if is_plain[text]:
            begin, end = _stripped(data, starts[text], stops[text])
            i = begin
            while i < end:
                last = _word(data, begin, end, i)
                if last > i:
                    begins[n], ends[n] = i, last
                    n += 1
                i = max(last, i + 1)
        else:
            for word in range(split.offsets[other], split.offsets[other + 1]):
                begins[n], ends[n] = split.starts[word], split.stops[word]
                n += 1
            other += 1
        offsets[text + 1] = n
    return begins[:n].copy(), ends[:n].copy(), offsets


@compiled
def _stripped(data: Bytes, begin: int, end: int) -> tuple[int, int]:
    while begin < end and _CLASSES[data[begin]] & _SPACE:
        begin += 1
    while end > begin and _CLASSES[data[end - 1]] & _SPACE:
        end -= 1
    return begin, end


@compiled
def _word(data: Bytes, begin: int, end: int, i: int) -> int:
    """Return the end of the word at i of the text from begin to end; i if there is none."""
    kind = _CLASSES[data[i]]
    if kind & _LETTER:
        last = _initials(data, end, i)
        return last if last > i else _letters(data, end, i)
    if kind & _DIGIT:
        return _number(data, begin, end, i)
    if data[i] == _MINUS and i + 1 < end and _CLASSES[data[i + 1]] & _DIGIT:
        return _number(data, begin, end, i + 1) if i == begin or _CLASSES[data[i - 1]] & (_SPACE | _OPEN) else i
    return i + 1 if kind & _SIGN else i


@compiled
def _initials(data: Bytes, end: int, i: int) -> int:
    """Return the end of initials such as "J. K." at i; i if there are not two."""
    count, last = 0, i
    while True:
        letter = last + (count > 0 and last < end and data[last] == ord(" "))
        if letter + 1 >= end or not _CLASSES[data[letter]] & _UPPER or data[letter + 1] != _STOP:
            return last if count > 1 else i
        count, last = count + 1, letter + 2


@compiled
def _letters(data: Bytes, end: int, i: int) -> int:
    """Return the end of a word of letters, with single quotes inside."""
    while i < end and _CLASSES[data[i]] & _LETTER:
        i += 1
        if i + 1 < end and data[i] == _QUOTE and _CLASSES[data[i + 1]] & _LETTER:
            i += 1
    return i


@compiled
def _number(data: Bytes, begin: int, end: int, i: int) -> int:
    """Return the end of a number whose digits begin at i: thousands, decimals, ordinal or plural ending."""
    i = _by_blanks(data, begin, end, i, _digits(data, end, i))
    while i + 3 < end and data[i] == _COMMA and _digits(data, i + 4, i + 1) == i + 4:
        i += 4
    if i + 1 < end and data[i] == _STOP and _CLASSES[data[i + 1]] & _DIGIT:
        i = _digits(data, end, i + 1)
    if i + 1 < end:
        first, second = data[i], data[i + 1]
        if (
            (first == ord("s") and second == ord("t"))
            or (first == ord("n") and second == ord("d"))
            or (first == ord("r") and second == ord("d"))
            or (first == ord("t") and second == ord("h"))
        ):
            return i + 2
    return i + 1 if i < end and data[i] == ord("s") else i


@compiled
def _by_blanks(data: Bytes, begin: int, end: int, first: int, last: int) -> int:
    """Return the end of a number whose thousands are separated by blanks, and whose first group is given, or `last`."""
    if last - first > 3 or data[first] == _ZERO:  # noqa: PLR2004  # digits of a group
        return last
    if first > begin and _CLASSES[data[first - 1]] & _DIGIT:
        return last
    if first - 1 > begin and _CLASSES[data[first - 2]] & _DIGIT and _joins(data[first - 1]):
        return last
    i = last
    while i + 3 < end and data[i] == _BLANK and _digits(data, i + 4, i + 1) == i + 4:
        i += 4
    if i < end and _CLASSES[data[i]] & _DIGIT:
        return last
    return last if i + 1 < end and _joins(data[i]) and _CLASSES[data[i + 1]] & _DIGIT else i


@compiled
def _joins(sign: int) -> bool:
    return sign in (_BLANK, _COMMA, _STOP)


@compiled
def _digits(data: Bytes, end: int, i: int) -> int:
    while i < end and _CLASSES[data[i]] & _DIGIT:
        i += 1
    return i


FOREIGN_WORD, OTHER_SCRIPT = 1, 2


@compiled
def counts(types: Ids, flags: Ids, offsets: Integers, kinds: NDArray[np.int8]) -> Integers:
    """Return how many words of each text are in another script, in lower case, known English, foreign, stop words.

    Args:
        types: Of the words of a stream; those beyond `kinds` are numbers.
        flags: Their classes.
        offsets: Text i has the words from `offsets[i]` to `offsets[i + 1]`; shape (n + 1,).
        kinds: Of each form, FOREIGN_WORD and OTHER_SCRIPT.

    Returns:
        Shape (5, n).
    """
    counted = np.zeros((5, len(offsets) - 1), np.int64)
    for text in range(len(offsets) - 1):
        for i in range(offsets[text], offsets[text + 1]):
            kind = kinds[types[i]] if types[i] < len(kinds) else np.int8(0)
            counted[4, text] += bool(flags[i] & STOP)
            counted[3, text] += bool(kind & FOREIGN_WORD)
            if kind & OTHER_SCRIPT:
                counted[0, text] += 1
            elif not flags[i] & (CAPITAL | NUMBER):
                counted[1, text] += 1
                counted[2, text] += bool(flags[i] & (KNOWN | CLASSES)) and not kind & FOREIGN_WORD
    return counted
