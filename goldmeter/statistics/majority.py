"""The verdict of most jurors on a row."""

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
# Sums that differ by less are a tie.
ROUNDING = 1e-9


def majority(votes: npt.ArrayLike) -> FloatArray:
    """Return the verdict of most jurors on each row: 1, 0, and 1/2 for a tie; NaN without any vote.

    Half is what a tie broken by a fair coin gives on average.

    Args:
        votes: Shape (n, k), 1 or 0, NaN for a missing vote, which counts for neither side.

    Source: Snow et al. 2008 (ties broken at random); Verga et al. 2024, arXiv 2404.18796 (panels of language models).

    >>> majority([[1, 1, 0], [1, 0, np.nan], [0, np.nan, np.nan]]).tolist()
    [1.0, 0.5, 0.0]
    """
    table = np.asarray(votes, dtype=np.float64)
    known = ~np.isnan(table)
    found = side_of(np.where(known, table, 0.0).sum(axis=1), known.sum(axis=1).astype(np.float64))
    return np.where(known.any(axis=1), found, np.nan)


def side_of(positive: FloatArray, total: FloatArray) -> FloatArray:
    """1 where the positive votes have more than half, 0 where they are less, else 1/2."""
    lead = 2.0 * positive - total
    side: FloatArray = np.where(np.abs(lead) <= ROUNDING * np.maximum(total, 1.0), 0.5, (lead > 0.0).astype(np.float64))
    return side
