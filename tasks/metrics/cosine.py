"""Cosines of texts, and the metrics that are functions of the cosine of a response and a reference."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from tasks.metrics.base import Floats, MeanMetric
from tasks.metrics.pairs import Embed, Pairs

DECIMALS = 6
"""Scores are rounded here: vectors of one text differ by 2e-7 between batches, and score(x, x) is the upper bound."""
PAIRS_AT_ONCE = 8192
OPPOSITE = -1.0


class CosineMetric(MeanMetric):
    """A metric that is a function of the cosine of a response and a reference."""

    default_threshold: ClassVar[float | None] = 0.7

    def sides(self, pairs: Pairs) -> tuple[list[str], list[str]]:
        """The two texts to compare for each of the m references; a blank one is never asked for."""
        return [response for response, _ in pairs.paired], [reference for _, reference in pairs.paired]

    def cosine(self, pairs: Pairs) -> Floats:
        """The cosine of each reference with its response, shape (m,)."""
        return cosines(pairs.embed, *self.sides(pairs))

    def texts(self, pairs: Pairs) -> list[str]:
        return distinct(*self.sides(pairs))


def cosines(embed: Embed | None, left: Sequence[str], right: Sequence[str]) -> Floats:
    """The cosine of each two texts, in float64 on renormalised vectors; -1 where one of them is blank. Shape (m,)."""
    out = np.full(len(left), OPPOSITE)
    asked = np.flatnonzero(_asked(left, right))
    if not len(asked):
        return out
    if embed is None:
        raise ValueError("semantic metrics need pairs with `embed`")
    for start in range(0, len(asked), PAIRS_AT_ONCE):
        chunk = asked[start : start + PAIRS_AT_ONCE].tolist()
        a, b = [left[i] for i in chunk], [right[i] for i in chunk]
        place = {text: i for i, text in enumerate(dict.fromkeys([*a, *b]))}
        vectors = np.asarray(embed(list(place)), np.float64)
        vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        rows = vectors[[place[text] for text in a]], vectors[[place[text] for text in b]]
        out[chunk] = np.einsum("ij,ij->i", *rows)
    return out


def distinct(left: Sequence[str], right: Sequence[str]) -> list[str]:
    """The texts that `cosines` will ask for, each once."""
    asked = _asked(left, right)
    return list(dict.fromkeys(text for side in (left, right) for text, ask in zip(side, asked, strict=True) if ask))


def rounded(scores: Floats) -> Floats:
    """Scores at the decimals that do not depend on batches; never -0."""
    return np.round(scores, DECIMALS) + 0.0


def _asked(left: Sequence[str], right: Sequence[str]) -> list[bool]:
    return [bool(a.strip() and b.strip()) for a, b in zip(left, right, strict=True)]
