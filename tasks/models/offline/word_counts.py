"""Kernel that counts the words of each text that say in which language and script it is."""

import numpy as np
from numpy.typing import NDArray

from tasks.models.offline.lexicon import CAPITAL, CLASSES, KNOWN, NUMBER, STOP
from tasks.text.kernels import Ids, Integers, compiled

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
