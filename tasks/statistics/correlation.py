"""Pearson correlations of many columns at once, each pair over the rows where both are measured."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import nan, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tasks.statistics.arrays import Bounds, FloatArray
from tasks.statistics.moments import Moments, exact_product

EVERYTHING: Bounds = (-np.inf, np.inf)


class PairSums(NamedTuple):
    """The exact sums of two columns over the rows where both are measured; product: in units of 2 ** -2148."""

    left: Moments = Moments()
    right: Moments = Moments()
    product: int = 0

    def __add__(self, other: object) -> "PairSums":
        """The sums of the rows of both."""
        if not isinstance(other, PairSums):
            return NotImplemented
        return PairSums(self.left + other.left, self.right + other.right, self.product + other.product)

    @property
    def correlation(self) -> float:
        """Pearson's correlation, NaN where a column is constant or there are fewer than two rows."""
        n, left, right = self.left.n, self.left, self.right
        spreads = (n * left.square - left.total**2) * (n * right.square - right.total**2)
        if spreads == 0:
            return nan
        covariance = n * self.product - left.total * right.total
        return (1.0 if covariance >= 0 else -1.0) * sqrt(covariance**2 / spreads)


# Places of two columns, the first one first → their sums.
Pairs = Mapping[tuple[int, int], PairSums]


def pair_sums(columns: Sequence[FloatArray]) -> dict[tuple[int, int], PairSums]:
    """Add up every pair of columns, shape (n,) each, finite; NaN means unmeasured.

    Raises:
        ValueError: A column has infinite numbers.
    """
    for place, column in enumerate(columns):
        if np.isinf(column).any():
            raise ValueError(f"x[:, {place}] has infinite numbers: expected finite ones, NaN where unmeasured")
    missing = [np.flatnonzero(np.isnan(column)) for column in columns]
    filled = [np.nan_to_num(column) if rows.size else column for column, rows in zip(columns, missing, strict=True)]
    totals = [
        replace(Moments.of(column, EVERYTHING), n=column.size - rows.size)
        for column, rows in zip(filled, missing, strict=True)
    ]

    def where_both(place: int, other: int) -> Moments:
        """The sums of a column without the rows that only the other one lacks."""
        lacking = columns[place][missing[other]]
        return totals[place] - Moments.of(lacking[~np.isnan(lacking)], EVERYTHING) if lacking.size else totals[place]

    return {
        (i, j): PairSums(where_both(i, j), where_both(j, i), exact_product(filled[i], filled[j]))
        for i, j in combinations(range(len(columns)), 2)
    }


def correlations(x: npt.ArrayLike) -> FloatArray:
    """Correlate every pair of columns over the rows where both are measured.

    Args:
        x: Shape (n, k), float64, finite; NaN means unmeasured.

    Returns:
        Shape (k, k), symmetric, in [-1, 1], 1 on the diagonal. NaN where a column is constant or has fewer than two
        rows among the shared rows.

    Raises:
        ValueError: Another shape, or infinite numbers.

    Source: Pearson 1895; the sums are exact, so no centre is needed.

    >>> correlations([[0, 1, 5], [1, 0, 5], [2, 2, float("nan")]]).round(3)
    array([[1. , 0.5, nan],
           [0.5, 1. , nan],
           [nan, nan, 1. ]])
    """
    rows = np.asarray(x, dtype=np.float64)
    if rows.ndim != 2:  # noqa: PLR2004 (a table)
        raise ValueError(f"x has shape {rows.shape}: expected one column per metric, shape (n, k)")
    return correlation_matrix(pair_sums([*rows.T]), range(rows.shape[1]))


def correlation_matrix(pairs: Pairs, places: Sequence[int]) -> FloatArray:
    """Return the correlations of these columns, shape (k, k), as `correlations` does."""
    matrix = np.eye(len(places))
    for (i, left), (j, right) in combinations(enumerate(places), 2):
        matrix[i, j] = matrix[j, i] = pairs[min(left, right), max(left, right)].correlation
    return matrix
