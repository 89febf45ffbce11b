"""Batches in canonical order (token count, then sha256): a text's vector does not depend on the order of rows."""

from collections.abc import Callable, Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from tasks.pipeline.hashing import sha256

Vectors = NDArray[np.float32]


def canonical_order(texts: Sequence[str], sizes: Sequence[int]) -> list[int]:
    """Return the indices of the texts, sorted by size and then sha256 of the text."""
    return sorted(range(len(texts)), key=lambda i: (sizes[i], sha256(texts[i].encode("utf-8", "surrogatepass"))))


def batches(texts: Sequence[str], sizes: Sequence[int], budget: int, limit: int) -> list[list[int]]:
    """Split the texts, in canonical order, so that each batch padded to its longest text fits the budget.

    Args:
        texts: The texts.
        sizes: Tokens of each text.
        budget: Largest number of tokens of a batch; a text above it is a batch by itself.
        limit: Largest number of texts of a batch.

    Returns:
        Indices of the texts in each batch.
    """
    cut: list[list[int]] = []
    for i in canonical_order(texts, sizes):
        if cut and len(cut[-1]) < limit and (len(cut[-1]) + 1) * sizes[i] <= budget:
            cut[-1].append(i)
        else:
            cut.append([i])
    return cut


def batches_of_one_size(texts: Sequence[str], sizes: Sequence[int], budget: int) -> list[list[int]]:
    """Split the texts, in canonical order, into batches of equal sizes within the budget, which need no padding."""
    cut: list[list[int]] = []
    for size, group in groupby(canonical_order(texts, sizes), key=lambda i: sizes[i]):
        equal, length = list(group), max(budget // max(size, 1), 1)
        cut += [equal[start : start + length] for start in range(0, len(equal), length)]
    return cut


def encode_batches(
    texts: Sequence[str], cut: Sequence[Sequence[int]], encode: Callable[[list[str]], NDArray[np.floating]]
) -> Vectors:
    """Return unit vectors of the texts, in their order; shape (len(texts), d)."""
    vectors = np.zeros((0, 0), np.float32)
    for batch in cut:
        encoded = unit(encode([texts[i] for i in batch]))
        if not vectors.size:
            vectors = np.empty((len(texts), encoded.shape[1]), np.float32)
        vectors[batch] = encoded
    return vectors


def unit(vectors: NDArray[np.floating]) -> NDArray[np.float64]:
    """Scale vectors to length 1, in float64; zero vectors stay zero. Shape (m, d)."""
    exact = np.asarray(vectors, np.float64)
    lengths = np.linalg.norm(exact, axis=1, keepdims=True)
    return exact / np.where(lengths == 0.0, 1.0, lengths)
