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
from goldmeter.models.offline.traps import MARKS
from goldmeter.pipeline.hashing import sha256

FILE = Path(__file__).parent / "data/judge.npz"
# Leaves of a tree: the scorer has a bit for each.
MOST_LEAVES = 64
Floats = NDArray[np.float64]


class Trees(NamedTuple):
    """t decision trees whose leaves are summed: k splits, sorted by feature, as `quick_scorer` reads them.

    Attributes:
        starts: Where the splits of each feature begin, and the end, shape (features + 1,), int32.
        thresholds: Ascending for each feature, shape (k,); values up to the threshold go left.
        trees: Tree of each split, shape (k,), int32.
        remaining: Leaves of that tree, one bit each, that a row above the threshold can reach, shape (k,), uint64.
        values: Values of each tree's leaves from left to right, shape (t, leaves).
        baseline: Start of the sum, shape (1,).
    """

    starts: NDArray[np.int32]
    thresholds: Floats
    trees: NDArray[np.int32]
    remaining: NDArray[np.uint64]
    values: Floats
    baseline: Floats

    def scores(self, rows: Floats) -> Floats:
        """Return log-odds of a right answer; rows: shape (n, features), float64, without NaN."""
        from goldmeter.models.offline.quick_scorer import summed_leaves  # importing numba takes half a second

        return summed_leaves(rows, *self)

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


def _loaded(path: Path) -> Models:
    with np.load(path, allow_pickle=False) as arrays:
        if tuple(arrays["columns"].tobytes().decode().split("\n")) != TRAP_COLUMNS:
            raise ValueError("it was trained on other features")
        answers, traps = (
            Trees(*(np.ascontiguousarray(arrays[f"{name}.{field}"]) for field in Trees._fields))
            for name in Models._fields
        )
    _check(answers, len(ANSWER_COLUMNS))
    _check(traps, len(TRAP_COLUMNS))
    return Models(answers, traps)


def render(models: Models) -> bytes:
    """Return the models as a file in NumPy's npz format; equal trees give equal bytes."""
    content = io.BytesIO()
    arrays = {
        f"{name}.{field}": array for name, trees in models._asdict().items() for field, array in trees._asdict().items()
    }
    columns = np.frombuffer("\n".join(TRAP_COLUMNS).encode(), np.uint8)
    np.savez_compressed(content, allow_pickle=False, columns=columns, **arrays)
    return content.getvalue()


_TYPES = (np.dtype("i4"), np.dtype("f8"), np.dtype("i4"), np.dtype("u8"), np.dtype("f8"), np.dtype("f8"))


def _check(trees: Trees, features: int) -> None:
    """Raise ValueError unless every split is of a tree, and every row ends at a leaf with a finite value."""
    if tuple(array.dtype for array in trees._asdict().values()) != _TYPES:
        raise ValueError("its arrays have other types")
    size, (count, leaves) = len(trees.thresholds), trees.values.shape
    bounds = trees.starts.tolist()
    complete = (
        len(bounds) == features + 1
        and [0, *bounds, size] == sorted([bounds[0], *bounds, bounds[-1]])
        and trees.trees.shape == trees.remaining.shape == (size,)
        and trees.baseline.shape == (1,)
    )
    if not complete or not 0 < leaves <= MOST_LEAVES:
        raise ValueError("its splits are incomplete, or its trees too large")
    # No split rules out the last leaf, so that one is always left.
    reachable = np.bitwise_and.reduce(trees.remaining) >> np.uint64(leaves - 1) & np.uint64(1)
    finite = all(np.isfinite(array).all() for array in (trees.thresholds, trees.values, trees.baseline))
    if not (reachable and finite and ((trees.trees >= 0) & (trees.trees < count)).all()):
        raise ValueError("its trees are damaged")


def _unreadable(path: Path, error: Exception) -> ModelError:
    return ModelError(
        f"the offline judge's model {path} can't be read ({error}). Install goldmeter again, or restore "
        "it from version control, or set judge.provider to none"
    )
