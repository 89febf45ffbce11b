"""Scores for pairs in which a text has no tokens, so that equal texts in any script score 1."""

import numpy as np
from numpy.typing import NDArray

from tasks.metrics.pairs import Pairs, Tokens


def token_fallback(tokens: Tokens, pairs: Pairs, order: int = 1) -> NDArray[np.float64]:
    """Score the pairs in which a text has no n-grams of that order (no tokens); NaN where both have some.

    Returns:
        Shape (m,), one per reference: 1 if neither text has n-grams and they are equal ignoring case, 0 if not, NaN
        where the metric applies.
    """
    has_response = tokens.responses.lengths[pairs.rows] >= order
    has_reference = tokens.references.lengths >= order
    scores = np.where(has_response & has_reference, np.nan, 0.0)
    for j in np.flatnonzero(~has_response & ~has_reference):
        response, reference = pairs.pair(j)
        scores[j] = response.casefold() == reference.casefold()
    return scores


def with_fallback(scores: NDArray[np.float64], tokens: Tokens, pairs: Pairs, order: int = 1) -> NDArray[np.float64]:
    """Replace the scores of pairs without n-grams of that order, shape (m, columns), by their fallback."""
    without_tokens = token_fallback(tokens, pairs, order)[:, None]
    return np.where(np.isnan(without_tokens), scores, without_tokens)
