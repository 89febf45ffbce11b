"""The offline judge's two models: boosted trees, in a file without code."""

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
from goldmeter.models.offline.traps import MARKS
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
    """

    features: Integers
    thresholds: Floats
    left: Integers
    right: Integers
    values: Floats
    roots: Integers
    baseline: Floats

    def scores(self, rows: Floats) -> Floats:
        """Return log-odds of a right answer; rows: shape (n, k), float64, without NaN."""
        from goldmeter.models.offline.quick_scorer import summed_leaves  # importing numba takes half a second

        splits = splits_of(*self[:6], number=rows.shape[1])
        return summed_leaves(rows, splits, self.baseline[0])

    def probabilities(self, rows: Floats) -> Floats:
        """Return probabilities of a right answer, shape (n,)."""
        from goldmeter.text.kernels.elementary import exp  # importing numba takes half a second

        odds_against: Floats = exp(-self.scores(rows))
        return 1 / (1 + odds_against)


def model_hash() -> str:
    """Return the SHA-256 of the model's file, in hexadecimal."""
    try:
        return sha256(FILE).hex()
    except OSError as error:
        raise _unreadable(FILE, error) from error


class Models(NamedTuple):
    """The two models.

    Attributes:
        answers: Whether a response has a reference, from `FEATURES`; trained on human labels.
        traps: Whether it gives the reference as its answer, from `FEATURES` and `MARKS`; trained on labels and pairs.
    """

    answers: Trees
    traps: Trees


# Columns of each model.
ANSWER_COLUMNS, TRAP_COLUMNS = FEATURES, (*FEATURES, *MARKS)


@cache
def shipped() -> Models:
    """Return the bundled models, read once; raise ModelError if they are missing or damaged."""
    return read(FILE)


def read(path: Path) -> Models:
    """Return models written by `render`; raise ModelError if they are missing or damaged."""
    try:
        return _loaded(path)
    except (OSError, EOFError, ValueError, KeyError, TypeError, zlib.error, zipfile.BadZipFile) as error:
        raise _unreadable(path, error) from error


def render(models: Models) -> bytes:
    """Return the models as a file in NumPy's npz format; equal trees give equal bytes."""
    content = io.BytesIO()
    arrays = {
        f"{name}.{field}": array for name, trees in models._asdict().items() for field, array in trees._asdict().items()
    }
    columns = np.frombuffer("\n".join(TRAP_COLUMNS).encode(), np.uint8)
    np.savez_compressed(content, allow_pickle=False, columns=columns, **arrays)
    return content.getvalue()


def _loaded(path: Path) -> Models:
    with np.load(path, allow_pickle=False) as arrays:
        if tuple(arrays["columns"].tobytes().decode().split("\n")) != TRAP_COLUMNS:
            raise ValueError("it was trained on other features")
        models = Models(
            *(
                Trees(*(np.ascontiguousarray(arrays[f"{name}.{field}"]) for field in Trees._fields))
                for name in Models._fields
            )
        )
    for trees, columns in zip(models, (ANSWER_COLUMNS, TRAP_COLUMNS), strict=True):
        _check(trees, len(columns))
    return models


def _check(trees: Trees, features: int) -> None:
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
    valid = ((trees.features[inner] >= 0) & (trees.features[inner] < features)).all()
    rooted = ((trees.roots >= 0) & (trees.roots < size)).all()
    parents = np.bincount(np.concatenate([children[children >= 0], trees.roots[trees.roots >= 0]]), minlength=size)
    finite = np.isfinite(np.concatenate([trees.values, trees.baseline])).all()
    if not (ordered and valid and rooted and finite and len(trees.baseline) == 1):
        raise ValueError("its trees are damaged")
    if (parents != 1).any() or (leaf_counts(trees.left, trees.right)[trees.roots] > MOST_LEAVES).any():
        raise ValueError("its trees share nodes, or are too large")


def _unreadable(path: Path, error: Exception) -> ModelError:
    return ModelError(
        f"the offline judge's model {path} can't be read ({error}). Install goldmeter again, or restore "
        "it from version control, or set judge.provider to none"
    )
