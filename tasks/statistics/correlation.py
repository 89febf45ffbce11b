"""Pearson correlations of many columns at once, each pair over the rows where both are measured."""

from collections.abc import Iterator
from math import nan, sqrt

import numpy as np
import numpy.typing as npt

from tasks.statistics.arrays import FloatArray

# Rows are read in blocks that stay in the processor's cache.
BLOCK = 8_192

# A smaller share of variance in the second moment may be mostly rounding: such a pair is computed again by `_pair`.
_ROUNDING = 1e-8


def correlations(x: npt.ArrayLike) -> FloatArray:
    """Correlate every pair of columns over the rows where both are measured.

    Args:
        x: Shape (n, k), float64, finite; NaN means unmeasured.

    Returns:
        Shape (k, k), symmetric, in [-1, 1], 1 on the diagonal. NaN where a column is constant or has fewer than two
        rows among the shared rows.

    Raises:
        ValueError: Another shape, or infinite numbers.

    Source: Pearson 1895; Chan, Golub & LeVeque 1983 for sums around a centre.

    >>> correlations([[0, 1, 5], [1, 0, 5], [2, 2, float("nan")]]).round(3)
    array([[1. , 0.5, nan],
           [0.5, 1. , nan],
           [nan, nan, 1. ]])
    """
    rows = np.asarray(x, dtype=np.float64)
    if rows.ndim != 2:  # noqa: PLR2004 (a table)
        raise ValueError(f"x has shape {rows.shape}: expected one column per metric, shape (n, k)")
    centre, scale = _centres(rows)
    count, first, second, product = _sums(rows, centre, scale)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = second - first**2 / count
        result = (product - first * first.T / count) / (np.sqrt(variance) * np.sqrt(variance.T))
    doubtful = variance <= _ROUNDING * second
    for i, j in zip(*np.nonzero(np.triu(doubtful | doubtful.T, 1)), strict=True):
        result[i, j] = result[j, i] = _pair(rows[:, i], rows[:, j]) if scale[i] > 0.0 and scale[j] > 0.0 else nan
    np.fill_diagonal(result, 1.0)
    clipped: FloatArray = np.clip(result, -1.0, 1.0)
    return clipped


def _centres(rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the middle and half the width of each column's range, both of shape (k,); the width is 0 when constant."""
    k = rows.shape[1]
    low, high = np.full(k, np.inf), np.full(k, -np.inf)
    for block in _blocks(rows):
        low = np.fmin(low, np.fmin.reduce(block, axis=1))
        high = np.fmax(high, np.fmax.reduce(block, axis=1))
    if (infinite := (low == -np.inf) | (high == np.inf)).any():
        message = f"x[:, {int(np.argmax(infinite))}] has infinite numbers: expected finite ones, NaN where unmeasured"
        raise ValueError(message)
    varies = low < high
    halves = np.where(varies, low, 0.0) / 2.0, np.where(varies, high, 0.0) / 2.0
    return halves[1] + halves[0], halves[1] - halves[0]


def _sums(
    rows: FloatArray, centre: FloatArray, scale: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return four tables of shape (k, k) over the rows where columns i and j are both measured.

    They hold the number of rows and the sums of i, of i² and of i·j, in units of `scale` around `centre`.
    """
    k = rows.shape[1]
    varies = scale > 0.0
    unit = np.where(varies, scale, 1.0)[:, None]
    sums = np.zeros((3 * k, 3 * k))
    buffer = np.empty((3 * k, min(BLOCK, rows.shape[0])))
    for block in _blocks(rows):
        stacked = buffer[:, : block.shape[1]]
        measured, scaled, squared = np.split(stacked, 3)
        np.equal(block, block, out=measured)  # NaN is not
        np.subtract(block, centre[:, None], out=scaled)
        scaled /= unit
        np.copyto(scaled, 0.0, where=(measured == 0.0) | ~varies[:, None])
        np.multiply(scaled, scaled, out=squared)
        sums += stacked @ stacked.T
    return sums[:k, :k], sums[k : 2 * k, :k], sums[2 * k :, :k], sums[k : 2 * k, k : 2 * k]


def _pair(a: FloatArray, b: FloatArray) -> float:
    """Correlate two columns in two passes, which stays exact when their mean is far from the centre."""
    shared = ~(np.isnan(a) | np.isnan(b))
    if not shared.any():
        return nan
    a, b = a[shared], b[shared]
    if a.min() == a.max() or b.min() == b.max():
        return nan
    a, b = a - a.mean(), b - b.mean()
    a, b = a / np.abs(a).max(), b / np.abs(b).max()
    return float(a @ b) / sqrt(float(a @ a)) / sqrt(float(b @ b))


def _blocks(rows: FloatArray) -> Iterator[FloatArray]:
    """Yield the rows in transposed blocks of shape (k, up to BLOCK)."""
    for start in range(0, rows.shape[0], BLOCK):
        yield rows[start : start + BLOCK].T
