"""Token fallback: the score of pairs whose texts leave a tokenizer or normaliser nothing to compare."""

import numpy as np
from numpy.typing import NDArray

from tasks.metrics.pairs import Pairs, Tokens


def token_fallback(tokens: Tokens, pairs: Pairs) -> NDArray[np.float64]:
    """One score per reference, shape (m,): NaN where both texts have tokens, so that the metric applies.

    1 where neither has any and the raw texts are equal ignoring case, else 0.
    """
    has_response = tokens.responses.lengths[pairs.rows] > 0
    has_reference = tokens.references.lengths > 0
    scores = np.where(has_response & has_reference, np.nan, 0.0)
    for j in np.flatnonzero(~has_response & ~has_reference):
        response, reference = pairs.pair(j)
        scores[j] = response.casefold() == reference.casefold()
    return scores


def with_fallback(scores: NDArray[np.float64], tokens: Tokens, pairs: Pairs) -> NDArray[np.float64]:
    """The scores, shape (m, columns), with the token fallback in every column where it applies."""
    without_tokens = token_fallback(tokens, pairs)[:, None]
    return np.where(np.isnan(without_tokens), scores, without_tokens)
