"""Sums of some columns over the rows of each group."""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from tasks.statistics.arrays import FloatArray
from tasks.statistics.clusters import ClusterTotals


class GroupTotals(NamedTuple):
    """Sums of some columns over the rows of each group: 8 bytes a group and column, whatever the number of rows.

    keys: of the groups, ascending, shape (g,). sizes: rows of each, shape (g,). totals: shape (g, k).
    """

    keys: NDArray[np.intp]
    sizes: FloatArray
    totals: FloatArray

    @classmethod
    def of(cls, groups: NDArray[np.intp], columns: FloatArray) -> Self:
        """Add up rows by their group; groups: shape (n,), columns: shape (n, k)."""
        keys, codes = np.unique(groups, return_inverse=True)
        totals = np.empty((len(keys), columns.shape[1]))
        for number, column in enumerate(columns.T):
            totals[:, number] = np.bincount(codes, weights=column, minlength=len(keys))
        return cls(keys, np.bincount(codes, minlength=len(keys)).astype(np.float64), totals)

    def __add__(self, other: object) -> "GroupTotals":
        """The sums of the rows of both."""
        if not isinstance(other, GroupTotals):
            return NotImplemented
        keys, sizes, totals = (np.concatenate(pair) for pair in zip(self, other, strict=True))
        summed = GroupTotals.of(keys, np.column_stack([sizes, totals]))
        return GroupTotals(summed.keys, summed.totals[:, 0], summed.totals[:, 1:])

    @property
    def by_cluster(self) -> ClusterTotals:
        """The first column by cluster."""
        return ClusterTotals(self.sizes, self.totals[:, 0])
