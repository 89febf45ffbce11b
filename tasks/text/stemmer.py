"""Porter's stemmer, as NLTK's PorterStemmer() extends it."""

from collections.abc import Sequence
from itertools import count

import numpy as np
from numpy.typing import NDArray

from tasks.text.words import Words

# NLTK does not stem words of at most this length, counted before lower-casing turns "İ" into "i̇".
_SHORT = 2
# A byte that UTF-8 never contains.
_NO_TEXT = 0xFF
_SEPARATOR = np.frombuffer(bytes([_NO_TEXT]), np.uint8)


def stems(words: Words) -> tuple[NDArray[np.int32], Words]:
    """Return the number of each word's stem, and the distinct stems; the words are in lower case."""
    from tasks.text.kernels.joining import join  # importing numba takes half a second
    from tasks.text.kernels.stems import stemmed

    codes = join(words.data, words.starts, words.stops, _SEPARATOR)
    data = stemmed(codes.astype(np.uint32), _NO_TEXT, words.stops - words.starts <= _SHORT).astype(np.uint8)
    stops = np.flatnonzero(data == _NO_TEXT)
    return words.changed(Words(data, np.concatenate([np.zeros(1, np.int64), stops + 1])[:-1], stops), porter_stems)


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
    codes = np.frombuffer(separator.join([*lowered, ""]).encode("utf-32-le", "surrogatepass"), np.uint32).copy()
    short = np.fromiter(map(len, words), np.int64, len(words)) <= _SHORT
    stems = stemmed(codes, ord(separator), short)
    return stems.tobytes().decode("utf-32-le", "surrogatepass").split(separator)[:-1]
