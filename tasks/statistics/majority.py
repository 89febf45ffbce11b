"""The verdict of most jurors on a row."""

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
# Sums of weights that differ by less are a tie.
ROUNDING = 1e-9


def majority(votes: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> FloatArray:
    """Return the verdict of most jurors on each row: 1, 0, and 1/2 for a tie; NaN without any vote.

    Half is what a tie broken by a fair coin gives on average.

    Args:
        votes: Shape (n, k), 1 or 0, NaN for a missing vote, which counts for neither side.
        weights: Of each vote, 0 or more, shape (k,) or (n, k); None: equal. If all votes of a row have weight 0, they
            count alike.

    Source: Snow et al. 2008 (ties broken at random); Verga et al. 2024, arXiv 2404.18796 (panels of language models).

    >>> majority([[1, 1, 0], [1, 0, np.nan], [0, np.nan, np.nan]]).tolist()
    [1.0, 0.5, 0.0]
    >>> majority([[1, 0, 0]], [3, 1, 1]).tolist()
    [1.0]
    """
    table = np.asarray(votes, dtype=np.float64)
    own = vote_weights(table, weights)
    total = own.sum(axis=1)
    found = side_of(np.where(np.isnan(table), 0.0, own * table).sum(axis=1), total)
    return np.where(np.isnan(table).all(axis=1), np.nan, found)


def vote_weights(table: FloatArray, weights: npt.ArrayLike | None) -> FloatArray:
    """The weight of each vote, 0 of a missing one; shape (n, k)."""
    known = ~np.isnan(table)
    if weights is None:
        return known.astype(np.float64)
    own = np.where(known, np.broadcast_to(np.asarray(weights, dtype=np.float64), table.shape), 0.0)
    return np.where((own.sum(axis=1) > 0.0)[:, None], own, known.astype(np.float64))


def side_of(positive: FloatArray, total: FloatArray) -> FloatArray:
    """1 where the positive votes have more than half of the weight, 0 where they have less, else 1/2."""
    lead = 2.0 * positive - total
    side: FloatArray = np.where(np.abs(lead) <= ROUNDING * np.maximum(total, 1.0), 0.5, (lead > 0.0).astype(np.float64))
    return side
