"""The offline judge's model: boosted trees and the calibration of their score, in a file without code."""

import io
import zipfile
import zlib
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from goldmeter.errors import ModelError
from goldmeter.models.offline.feature_names import FEATURES
from goldmeter.models.offline.splits import MOST_LEAVES, leaf_counts, splits_of
from goldmeter.pipeline.hashing import sha256

FILE = Path(__file__).parent / "data/judge.npz"
Floats = NDArray[np.float64]
Integers = NDArray[np.int32]


class Trees(NamedTuple):
    """Decision trees whose leaves are summed; m nodes in all, children after their one parent.

    Attributes:
        features: Feature of each node, shape (m,), int32.
        thresholds: Shape (m,); values up to the threshold go left.
        left: Left child, shape (m,), int32; -1 at a leaf.
        right: Right child, shape (m,), int32.
        values: Value of each leaf, shape (m,).
        roots: First node of each tree.
        baseline: Start of the sum, shape (1,).
        calibration: Shape (2,): the probability is logistic(slope · score + intercept).
    """

    features: Integers
    thresholds: Floats
    left: Integers
    right: Integers
    values: Floats
    roots: Integers
    baseline: Floats
    calibration: Floats

    def scores(self, rows: Floats) -> Floats:
        """Return uncalibrated log-odds of a right answer; rows: shape (n, k), float64, without NaN."""
        from goldmeter.models.offline.quick_scorer import summed_leaves  # importing numba takes half a second

        splits = splits_of(*self[:6], number=rows.shape[1])
        return summed_leaves(rows, splits, self.baseline[0])

    def probabilities(self, rows: Floats) -> Floats:
        """Return calibrated probabilities of a right answer, shape (n,)."""
        return calibrated(self.scores(rows), self.calibration)


def calibrated(scores: Floats, calibration: Floats) -> Floats:
    """Return the probabilities of scores by a logistic calibration. Source: Platt 1999."""
    slope, intercept = calibration
    from goldmeter.text.kernels.elementary import exp  # importing numba takes half a second

    odds_against: Floats = exp(-(slope * scores + intercept))
    return 1 / (1 + odds_against)


def model_hash() -> str:
    """Return the SHA-256 of the model's file, in hexadecimal."""
    try:
        return sha256(FILE).hex()
    except OSError as error:
        raise _unreadable(FILE, error) from error


@cache
def shipped() -> Trees:
    """Return the bundled model, read once; raise ModelError if it is missing or damaged."""
    return read(FILE)


def read(path: Path) -> Trees:
    """Return a model written by `render`; raise ModelError if it is missing or damaged."""
    try:
        return _loaded(path)
    except (OSError, EOFError, ValueError, KeyError, TypeError, zlib.error, zipfile.BadZipFile) as error:
        raise _unreadable(path, error) from error


def render(trees: Trees) -> bytes:
    """Return the model as a file in NumPy's npz format; equal trees give equal bytes."""
    content = io.BytesIO()
    columns = np.frombuffer(" ".join(FEATURES).encode(), np.uint8)
    np.savez_compressed(content, allow_pickle=False, columns=columns, **trees._asdict())
    return content.getvalue()


def _loaded(path: Path) -> Trees:
    with np.load(path, allow_pickle=False) as arrays:
        if tuple(arrays["columns"].tobytes().decode().split()) != FEATURES:
            raise ValueError("it was trained on other features")
        trees = Trees(*(np.ascontiguousarray(arrays[name]) for name in Trees._fields))
    _check(trees)
    return trees


def _check(trees: Trees) -> None:
    """Raise ValueError unless every node is in one tree, and every path ends at a leaf with a finite value."""
    size, nodes = len(trees.values), np.arange(len(trees.values))
    types = dict.fromkeys(("features", "left", "right", "roots"), np.int32)
    for name, array in trees._asdict().items():
        if array.dtype != types.get(name, np.float64) or array.ndim != 1:
            raise ValueError(f"{name} is {array.dtype} of {array.ndim} dimensions")
    if {len(trees.features), len(trees.thresholds), len(trees.left), len(trees.right)} != {size}:
        raise ValueError("its nodes are incomplete")
    inner = trees.left >= 0
    children = np.stack([trees.left, trees.right])[:, inner]
    ordered = (children > nodes[inner]).all() and (children < size).all()
    valid = ((trees.features[inner] >= 0) & (trees.features[inner] < len(FEATURES))).all()
    rooted = ((trees.roots >= 0) & (trees.roots < size)).all()
    parents = np.bincount(np.concatenate([children[children >= 0], trees.roots[trees.roots >= 0]]), minlength=size)
    finite = np.isfinite(np.concatenate([trees.values, trees.baseline, trees.calibration])).all()
    if not (ordered and valid and rooted and finite and len(trees.baseline) == 1 and len(trees.calibration) == 2):  # noqa: PLR2004
        raise ValueError("its trees are damaged")
    if (parents != 1).any() or (leaf_counts(trees.left, trees.right)[trees.roots] > MOST_LEAVES).any():
        raise ValueError("its trees share nodes, or are too large")


def _unreadable(path: Path, error: Exception) -> ModelError:
    return ModelError(
        f"the offline judge's model {path} can't be read ({error}). Install goldmeter again, or restore "
        "it from version control, or set judge.provider to none"
    )
