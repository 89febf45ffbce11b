"""Porter's stemmer, as NLTK's PorterStemmer() extends it."""

from collections.abc import Sequence
from itertools import count

import numpy as np

# NLTK does not stem words of at most this length, counted before lower-casing turns "İ" into "i̇".
_SHORT = 2


def porter_stems(words: Sequence[str]) -> list[str]:
    """Return the stem of each word, in lower case.

    Source: Porter 1980, "An algorithm for suffix stripping"; NLTK 3.10 `stem.porter`, mode NLTK_EXTENSIONS.

    >>> porter_stems(["relational", "Databases"])
    ['relat', 'databas']
    """
    from tasks.text.kernels.stems import stemmed  # importing numba takes half a second

    lowered = [word.lower() for word in words]
    text = "".join(lowered)
    separator = next(letter for letter in map(chr, count(128)) if letter not in text)  # no rule writes it
    codes = np.frombuffer(separator.join([*lowered, ""]).encode("utf-32-le", "surrogatepass"), np.uint32)
    short = np.fromiter(map(len, words), np.int64, len(words)) <= _SHORT
    stems = stemmed(codes, ord(separator), short)
    return stems.tobytes().decode("utf-32-le", "surrogatepass").split(separator)[:-1]
