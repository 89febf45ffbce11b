"""Kernel that finds where every so many lines that are not blank a new part of a file begins."""

import numpy as np

from tasks.text.kernels import Bytes, Integers, compiled

NEWLINE = ord("\n")
IS_BLANK = np.zeros(256, np.bool_)
IS_BLANK[[*b" \t\r\n"]] = True


@compiled
def starts(data: Bytes, state: Integers, every: int) -> tuple[Integers, Integers, Integers]:
    """Return offset and number of the line that begins each new part in the next bytes of a file, and the new state.

    Args:
        data: The next bytes.
        state: Lines that ended before, those of them that are not blank, and whether the open line is not blank.
        every: Lines of a part that are not blank.
    """
    lines, visible, is_visible = state[0], state[1], state[2] > 0
    most = len(data) // every + 1
    offsets, numbers = np.empty((2, most), np.int64)
    found = 0
    for i in range(len(data)):
        if data[i] == NEWLINE:
            lines += 1
            if is_visible:
                visible += 1
                if visible % every == 0:
                    offsets[found], numbers[found] = i + 1, lines
                    found += 1
            is_visible = False
        elif not IS_BLANK[data[i]]:
            is_visible = True
    return offsets[:found], numbers[:found], np.array([lines, visible, is_visible], np.int64)
