"""Kernel that replaces endings of words."""

import numpy as np

from tasks.text.kernels import Bytes, Flags, Integers, compiled


@compiled
def replaced(
    data: Bytes, starts: Integers, stops: Integers, skipped: Flags, endings: Bytes, bounds: Integers
) -> tuple[Bytes, Integers, Integers]:
    """Replace each ending that a word has; return the results' bytes in sequence, their ends, and the word of each.

    Word i is `data[starts[i]:stops[i]]`; skipped, shape (n,): words without results. Ending r is
    `endings[bounds[2 * r]:bounds[2 * r + 1]]`, its replacement `endings[bounds[2 * r + 1]:bounds[2 * r + 2]]`.
    """
    size = results = 0
    for i in range(len(starts)):
        for r in range(len(bounds) // 2):
            if not skipped[i] and _ends(data[starts[i] : stops[i]], endings[bounds[2 * r] : bounds[2 * r + 1]]):
                size += stops[i] - starts[i] + bounds[2 * r + 2] - bounds[2 * r + 1]
                results += 1
    content, ends, words = np.empty(size, np.uint8), np.empty(results, np.int64), np.empty(results, np.int64)
    written = result = 0
    for i in range(len(starts)):
        for r in range(len(bounds) // 2):
            ending = endings[bounds[2 * r] : bounds[2 * r + 1]]
            if skipped[i] or not _ends(data[starts[i] : stops[i]], ending):
                continue
            for j in range(starts[i], stops[i] - len(ending)):
                content[written] = data[j]
                written += 1
            for j in range(bounds[2 * r + 1], bounds[2 * r + 2]):
                content[written] = endings[j]
                written += 1
            ends[result], words[result] = written, i
            result += 1
    return content[:written], ends, words


@compiled
def _ends(word: Bytes, ending: Bytes) -> bool:
    """Return whether the word has the ending."""
    before = len(word) - len(ending)
    if before < 0:
        return False
    for i in range(len(ending) - 1, -1, -1):  # noqa: SIM110 (numba has no all())
        if word[before + i] != ending[i]:
            return False
    return True
