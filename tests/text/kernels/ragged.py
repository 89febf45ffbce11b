"""Texts and their references as kernels take them, and random ones."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

Text = list[int]
Row = tuple[Text, list[Text]]


class Arrays(NamedTuple):
    """Text i is `ids[texts[i]:texts[i + 1]]`; reference j, of row `rows[j]`, `ids[references[j]:references[j + 1]]`."""

    ids: NDArray[np.int32]
    texts: NDArray[np.int64]
    references: NDArray[np.int64]
    rows: NDArray[np.int64]


def arrays(rows: list[Row]) -> Arrays:
    """The texts of all rows, then the references of all rows, in one array."""
    n, counts = len(rows), [len(references) for _, references in rows]
    each = [text for text, _ in rows] + [reference for _, reference in pairs(rows)]
    offsets = np.cumsum([0, *map(len, each)])
    ids = np.array([token for text in each for token in text], np.int32)
    return Arrays(ids, offsets[: n + 1], offsets[n:], np.repeat(np.arange(n), np.array(counts, np.int64)))


def pairs(rows: list[Row]) -> Iterator[tuple[Text, Text]]:
    """Each reference, after its row's text."""
    return ((text, reference) for text, references in rows for reference in references)


def random_rows(vocabulary: int, lengths: st.SearchStrategy[int], most: int) -> st.SearchStrategy[list[Row]]:
    """Up to that many rows with up to three references; few words, so that they repeat; texts may be empty."""
    token = st.integers(0, vocabulary - 1)
    text = lengths.flatmap(lambda length: st.lists(token, min_size=length, max_size=length))
    return st.lists(st.tuples(text, st.lists(text, max_size=3)), max_size=most)


def long_rows(vocabulary: int, lengths: list[int]) -> st.SearchStrategy[list[Row]]:
    """Rows with texts of these lengths, drawn from a seed: too long for lists of drawn tokens."""

    def drawn(seed: int, sizes: list[tuple[int, list[int]]]) -> list[Row]:
        integers = np.random.default_rng(seed).integers
        texts = {size: integers(vocabulary, size=(9, size)).tolist() for size in lengths}
        return [(texts[size].pop(), [texts[each].pop() for each in references]) for size, references in sizes]

    length = st.sampled_from(lengths)
    sizes = st.lists(st.tuples(length, st.lists(length, max_size=2)), max_size=3)
    return st.builds(drawn, st.integers(0, 2**32), sizes)
