"""Types of arrays, and checks of arguments."""

from math import isnan

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]
Bounds = tuple[float, float]


def finite_array(values: npt.ArrayLike, name: str, dimensions: int) -> FloatArray:
    """Return the values as float64; raise ValueError unless they are finite and have 1 or 2 dimensions, as asked."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != dimensions:
        expected = "one number per row, shape (n,)" if dimensions == 1 else "one row of numbers per row, shape (n, k)"
        raise ValueError(f"{name} has shape {array.shape}: expected {expected}")
    if not np.isfinite(array).all():
        row = int(np.argwhere(~np.isfinite(array))[0, 0])
        raise ValueError(f"{name}[{row}] = {array[row].tolist()} is not finite: leave unmeasured rows out")
    return array


def binary_array(values: npt.ArrayLike, name: str) -> BoolArray:
    """Return verdicts as bool; raise ValueError for values other than 0 and 1."""
    verdicts = np.asarray(values)
    allowed = (verdicts == 0) | (verdicts == 1)
    if not np.all(allowed):
        row = int(np.argmin(allowed))
        message = f"{name}[{row}] = {verdicts.ravel()[row]}: expected 1 (pass) or 0, rows without a verdict left out"
        raise ValueError(message)
    return verdicts.astype(np.bool_)


def check_scores(scores: FloatArray, bounds: Bounds, name: str = "x") -> None:
    """Raise ValueError unless there is one score per row, each within the bounds."""
    if scores.ndim != 1:
        raise ValueError(f"{name} has shape {scores.shape}: expected one score per row, shape (n,)")
    if scores.size and not (bounds[0] <= scores.min() and scores.max() <= bounds[1]):
        row = int(np.argmin((scores >= bounds[0]) & (scores <= bounds[1])))
        raise ValueError(f"{name}[{row}] = {scores[row]} lies outside {tuple(bounds)}: correct it or leave the row out")


def check_confidence(confidence: float) -> None:
    """Raise ValueError unless the confidence is a probability strictly between 0 and 1."""
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence = {confidence}: expected a number between 0 and 1, such as 0.95")


def check_bounds(bounds: Bounds) -> None:
    """Raise ValueError unless the lower bound is below the upper one."""
    if isnan(bounds[0]) or isnan(bounds[1]) or not bounds[0] < bounds[1]:
        raise ValueError(f"bounds = {bounds}: expected (lower, upper) with lower < upper")


def check_finite_bounds(bounds: Bounds) -> None:
    """Raise ValueError unless the lower bound is below the upper one and both are finite."""
    check_bounds(bounds)
    if not np.isfinite(bounds).all():
        raise ValueError(f"bounds = {bounds}: expected finite bounds; no interval of a mean covers without them")


def unit_labels(y: npt.ArrayLike, bounds: Bounds) -> FloatArray:
    """Return the labels rescaled to [0, 1]. Raises ValueError for NaN, a wrong shape, labels outside the bounds."""
    check_finite_bounds(bounds)
    labels = finite_array(y, "y", 1)
    check_scores(labels, bounds, "y")
    return np.clip((labels - bounds[0]) / (bounds[1] - bounds[0]), 0.0, 1.0)
