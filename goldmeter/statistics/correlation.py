"""Pearson correlations of many columns at once, each pair over the rows where both are measured."""

from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from goldmeter.statistics.arrays import BoolArray, FloatArray

# Squared deviations below this share of what they are the difference of are rounding error.
_ROUNDING = 1e-13
# Means of two parts that differ by a smaller share differ by rounding.
_EQUAL = 1e-14
# Rows that are added up at once: copies of more would take memory.
_BLOCK = 16_384


class ColumnProducts(NamedTuple):
    """Sums over rows of k columns, in float64; those of several parts add up. Each of shape (k, k), float64.

    Attributes:
        rows: Number of rows where columns i and j are both measured.
        means: Mean of column i over these rows; 0 without any.
        squares: Sum over these rows of the squared deviations of column i from that mean.
        products: Sum of the products of the deviations of columns i and j.

    Source: Chan, Golub & LeVeque 1983 for sums of squares of several parts.
    """

    rows: FloatArray
    means: FloatArray
    squares: FloatArray
    products: FloatArray

    @classmethod
    def of(cls, columns: FloatArray) -> "ColumnProducts":
        """Add up columns, shape (n, k), finite; NaN means unmeasured.

        Raises:
            ValueError: A column has infinite numbers.
        """
        if np.isinf(columns).any():
            place = int(np.argmax(np.isinf(columns).any(axis=0)))
            raise ValueError(f"x[:, {place}] has infinite numbers: expected finite ones, NaN where unmeasured")
        blocks = (cls._of_block(columns[start : start + _BLOCK]) for start in range(0, max(1, len(columns)), _BLOCK))
        return reduce(add, blocks)

    @classmethod
    def _of_block(cls, columns: FloatArray) -> "ColumnProducts":
        measured = ~np.isnan(columns)
        # Deviations from a typical number lose no digits; a constant column has none.
        known = [x[rows] for x, rows in zip(columns.T, measured.T, strict=True)]
        centres = np.array([np.median(x) if x.size else 0.0 for x in known])
        deviations = np.where(measured, columns - centres, 0.0)
        present = measured.astype(np.float64)
        rows, totals = column_products(present, present), column_products(deviations, present)
        count = np.maximum(rows, 1.0)
        with np.errstate(over="ignore", invalid="ignore"):  # columns beyond any square have no correlation
            about = column_products(deviations**2, present)
            squares = about - totals**2 / count
            squares[squares <= _ROUNDING * about] = 0.0
            products = column_products(deviations, deviations) - totals * totals.T / count
        return cls(rows, np.where(rows > 0.0, centres[:, None] + totals / count, 0.0), squares, products)

    def __add__(self, other: "ColumnProducts") -> "ColumnProducts":  # type: ignore[override]  # a sum
        """The sums of the rows of both."""
        if not (len(self.rows) and len(other.rows)):  # a part without any candidate
            return self if len(self.rows) else other
        rows = self.rows + other.rows
        share = other.rows / np.maximum(rows, 1.0)
        apart, both = other.means - self.means, self.rows * share
        apart[np.abs(apart) <= _EQUAL * np.abs(self.means)] = 0.0
        return ColumnProducts(
            rows,
            np.where(self.rows == 0.0, other.means, self.means + apart * share),
            self.squares + other.squares + apart**2 * both,
            self.products + other.products + apart * apart.T * both,
        )

    @property
    def varies(self) -> BoolArray:
        """Whether column i differs between the rows where column j is measured too; shape (k, k)."""
        return np.asarray(self.squares > 0.0)

    @property
    def correlations(self) -> FloatArray:
        """Correlations of the columns; NaN where one of both does not vary; 1 on the diagonal; shape (k, k)."""
        known = self.varies & self.varies.T
        found = np.full(known.shape, np.nan)
        spread = np.sqrt(self.squares) * np.sqrt(self.squares.T)
        found[known] = np.clip(self.products[known] / spread[known], -1.0, 1.0)
        np.fill_diagonal(found, 1.0)
        return found


def correlations(x: npt.ArrayLike) -> FloatArray:
    """Correlate every pair of columns over the rows where both are measured.

    Args:
        x: Shape (n, k), float64, finite; NaN means unmeasured.

    Returns:
        Shape (k, k), symmetric, in [-1, 1], 1 on the diagonal. NaN where a column is constant or has fewer than two
        rows among the shared rows.

    Raises:
        ValueError: Another shape, or infinite numbers.

    Source: Pearson 1895.

    >>> correlations([[0, 1, 5], [1, 0, 5], [2, 2, float("nan")]]).round(3)
    array([[1. , 0.5, nan],
           [0.5, 1. , nan],
           [nan, nan, 1. ]])
    """
    rows = np.asarray(x, dtype=np.float64)
    if rows.ndim != 2:  # noqa: PLR2004 (a table)
        raise ValueError(f"x has shape {rows.shape}: expected one column per metric, shape (n, k)")
    return ColumnProducts.of(rows).correlations


def column_products(left: FloatArray, right: FloatArray) -> FloatArray:
    """The sums over rows of the products of each two columns; unlike BLAS, the same bits for any number of threads."""
    return np.asarray(np.einsum("in,jn->ij", np.ascontiguousarray(left.T), np.ascontiguousarray(right.T)))
