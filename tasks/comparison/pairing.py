"""Pairs the rows of two candidates by id."""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from tasks.scores.columns import Candidate, Mask

Positions = NDArray[np.intp]


@dataclass(frozen=True)
class Pairing:
    """Which rows of `base` and `head` belong together.

    base_rows, head_rows: positions of the shared rows in the candidates' arrays, aligned, shape (n,).
    changed: positions in `head` of rows that are left out: their input or references differ, or the label of the same
    answer does.
    only_base, only_head: positions of the rows that the other candidate lacks.
    stale: positions in `head` of shared rows whose label, in either version, is of another answer; it is unmeasured.
    of_draws: the pairing of rows that a pairing of questions was made from; None for a pairing of rows.
    """

    base: Candidate
    head: Candidate
    base_rows: Positions
    head_rows: Positions
    changed: Positions
    only_base: Positions
    only_head: Positions
    stale: Positions = field(default_factory=lambda: np.empty(0, np.intp))
    of_draws: "Pairing | None" = None

    @property
    def rows(self) -> "Pairing":
        """The pairing of rows, of which every pair of candidates has one."""
        return self.of_draws or self

    @property
    def keys(self) -> NDArray[np.uint64]:
        """The shared rows' keys, ascending, shape (n,)."""
        return self.head.keys[self.head_rows]

    @property
    def groups(self) -> Positions | None:
        """The shared rows' clusters as HEAD numbers them, else BASE, shape (n,); None if neither has groups."""
        if self.head.groups is not None:
            return self.head.groups[self.head_rows]
        return None if self.base.groups is None else self.base.groups[self.base_rows]

    def without(self, changed: Mask) -> "Pairing":
        """The pairing without the shared rows whose data changed; changed: shape (n,)."""
        base_rows, head_rows = self.base_rows[~changed], self.head_rows[~changed]
        return replace(self, base_rows=base_rows, head_rows=head_rows, changed=self.head_rows[changed])


def pair(base: Candidate, head: Candidate) -> Pairing:
    """Pair the rows with equal ids."""
    _, base_rows, head_rows = np.intersect1d(base.keys, head.keys, assume_unique=True, return_indices=True)
    return Pairing(
        base,
        head,
        base_rows,
        head_rows,
        head_rows[:0],
        np.setdiff1d(np.arange(len(base.keys)), base_rows, assume_unique=True),
        np.setdiff1d(np.arange(len(head.keys)), head_rows, assume_unique=True),
    )


def pair_questions(rows: Pairing, base: Candidate | None, head: Candidate | None) -> Pairing | None:
    """Pair the questions of two candidates, with all draws that each of them has.

    Questions without a shared row are left out, for nobody compared what they ask, and so are those with a changed row.

    Args:
        rows: The paired rows.
        base: `rows.base` by question; None without draws.
        head: `rows.head` by question; None without draws.

    Returns:
        None unless both candidates have draws.
    """
    if base is None or head is None or rows.head.questions is None:
        return None
    paired = pair(base, head)
    shared, changed = (np.isin(paired.keys, rows.head.questions[some]) for some in (rows.head_rows, rows.changed))
    return replace(paired.without(~shared | changed), of_draws=rows)
