"""Cosine similarity of texts, and the base class of metrics that are functions of it."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from goldmeter.metrics.base import Floats, MeanMetric
from goldmeter.metrics.pairs import Embed, Pairs

# Scores are rounded: vectors of one text differ by 2e-7 between batches, and score(x, x) must be the upper bound.
DECIMALS = 6
PAIRS_AT_ONCE = 8192
OPPOSITE = -1.0


class CosineMetric(MeanMetric):
    """A metric that is a function of the cosine of a response and a reference."""

    default_threshold: ClassVar[float | None] = 0.7

    def compared_texts(self, pairs: Pairs) -> tuple[list[str], list[str]]:
        """Return the two texts to compare for each of the m references; blank ones are not embedded."""
        return [response for response, _ in pairs.paired], [reference for _, reference in pairs.paired]

    def cosine(self, pairs: Pairs) -> Floats:
        """Return the cosine of each reference with its response, shape (m,)."""
        return cosines(pairs.embed, *self.compared_texts(pairs))

    def texts(self, pairs: Pairs) -> list[str]:
        return distinct(*self.compared_texts(pairs))


def cosines(embed: Embed | None, left: Sequence[str], right: Sequence[str]) -> Floats:
    """Return the cosine of each pair of texts, shape (m,), float64; -1 where one of them is blank.

    Vectors are renormalised in float64 first.
    """
    out = np.full(len(left), OPPOSITE)
    compared = np.flatnonzero(_are_compared(left, right))
    if not len(compared):
        return out
    if embed is None:
        raise ValueError("semantic metrics need pairs with `embed`")
    for start in range(0, len(compared), PAIRS_AT_ONCE):
        chunk = compared[start : start + PAIRS_AT_ONCE].tolist()
        a, b = [left[i] for i in chunk], [right[i] for i in chunk]
        place = {text: i for i, text in enumerate(dict.fromkeys([*a, *b]))}
        vectors = np.asarray(embed(list(place)), np.float64)
        vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        rows = vectors[[place[text] for text in a]], vectors[[place[text] for text in b]]
        out[chunk] = np.einsum("ij,ij->i", *rows)
    return out


def distinct(left: Sequence[str], right: Sequence[str]) -> list[str]:
    """Return the texts that `cosines` embeds, without repetitions."""
    compared = _are_compared(left, right)
    return list(
        dict.fromkeys(text for side in (left, right) for text, needed in zip(side, compared, strict=True) if needed)
    )


def rounded(scores: Floats) -> Floats:
    """Round scores to the decimals that do not depend on batches, without negative zeros."""
    return np.round(scores, DECIMALS) + 0.0


def _are_compared(left: Sequence[str], right: Sequence[str]) -> list[bool]:
    return [bool(a.strip() and b.strip()) for a, b in zip(left, right, strict=True)]
