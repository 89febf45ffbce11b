"""Batches in canonical order (token count, then sha256): a text's vector does not depend on the order of rows."""

from collections.abc import Callable, Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from goldmeter.errors import ModelError
from goldmeter.pipeline.hashing import sha256

Vectors = NDArray[np.float32]
Vectors64 = NDArray[np.float64]
ANOTHER = "name another embed.model, or embed.provider local"
# Lengths of vectors beyond these are not exact: the squares of their numbers leave the range of float64.
SHORTEST, LONGEST = 1e-100, 1e100


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
    texts: Sequence[str], cut: Sequence[Sequence[int]], encode: Callable[[list[str]], NDArray[np.floating]], who: str
) -> Vectors:
    """Return unit vectors of the texts, in their order; shape (len(texts), d).

    Args:
        texts: The texts.
        cut: Indices of the texts in each batch.
        encode: Returns the vectors of a batch, which are checked.
        who: The model, for messages.

    Raises:
        ModelError: The model does not give a vector of one dimension and a usable length for each text.
    """
    vectors = np.zeros((0, 0), np.float32)
    for batch in cut:
        encoded = encode([texts[i] for i in batch])
        if encoded.shape[:-1] != (len(batch),):
            raise ModelError(f"embed: {who} gave numbers of shape {encoded.shape} for {len(batch)} texts; {ANOTHER}")
        if not vectors.size:
            vectors = np.empty((len(texts), encoded.shape[1]), np.float32)
        require_dimension(encoded.shape[1], vectors.shape[1], who)
        vectors[batch] = unit(encoded, who)
    return vectors


def require_dimension(dimension: int, expected: int, who: str) -> None:
    """Raise ModelError unless a model's vectors have the dimension of its earlier ones."""
    if dimension != expected:
        raise ModelError(
            f"embed: {who} gave vectors of {dimension} numbers, its earlier ones have {expected}; {ANOTHER}"
        )


def unit(vectors: NDArray[np.floating], who: str) -> Vectors64:
    """Scale vectors to length 1, in float64. Shape (m, d).

    Raises:
        ModelError: A vector has no usable length; who: its model.
    """
    exact = np.asarray(vectors, np.float64)
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(exact, axis=1, keepdims=True)
    unusable = np.flatnonzero(~((lengths >= SHORTEST) & (lengths <= LONGEST)))
    if len(unusable):
        first = ", ".join([*(f"{number:g}" for number in exact[unusable[0], :3]), "…"])
        raise ModelError(
            f"embed: {who} gave {len(unusable)} of {len(exact)} vectors that are empty, zero, not finite or out of "
            f"range, the first [{first}]; {ANOTHER}"
        )
    scaled: Vectors64 = exact / lengths
    return scaled
