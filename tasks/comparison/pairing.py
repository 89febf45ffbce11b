"""Two candidates row by row: which rows both have, which only one has, and which were asked something else."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tasks.columns import Candidate, Mask

Positions = NDArray[np.intp]


@dataclass(frozen=True)
class Pairing:
    """Which rows of `base` and `head` belong together.

    base_rows, head_rows: positions of the shared rows in the candidates' arrays, aligned, shape (n,).
    changed: positions in `head` of rows whose input, references or, with the same answer, label differ: kept out.
    only_base, only_head: positions of the rows that the other side lacks.
    """

    base: Candidate
    head: Candidate
    base_rows: Positions
    head_rows: Positions
    changed: Positions
    only_base: Positions
    only_head: Positions

    @property
    def keys(self) -> NDArray[np.uint64]:
        """The shared rows' keys, ascending, shape (n,)."""
        return self.head.keys[self.head_rows]

    @property
    def groups(self) -> Positions | None:
        """The shared rows' clusters as HEAD numbers them, shape (n,), or None."""
        return None if self.head.groups is None else self.head.groups[self.head_rows]


def pair(base: Candidate, head: Candidate, changed: Mask | None = None) -> Pairing:
    """Pair the rows with equal ids.

    changed: for each row that both have, in the order of their keys, whether it was asked something else.
    """
    _, base_rows, head_rows = np.intersect1d(base.keys, head.keys, assume_unique=True, return_indices=True)
    kept = np.ones(len(head_rows), dtype=np.bool_) if changed is None else ~changed
    return Pairing(
        base,
        head,
        base_rows[kept],
        head_rows[kept],
        head_rows[~kept],
        np.setdiff1d(np.arange(len(base.keys)), base_rows, assume_unique=True),
        np.setdiff1d(np.arange(len(head.keys)), head_rows, assume_unique=True),
    )
