"""Rows with the same key, found by sorting."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Groups:
    """The groups of n rows with the same key; rows keep their order within a group.

    Attributes:
        order: The rows, group by group, shape (n,).
        group: Number of the group of each row, shape (n,); groups are numbered in the order of their keys.
        first: First row of each group, shape (groups,).
        rank: Number of each row in its group, from 0, shape (n,).
    """

    order: NDArray[np.int64]
    group: NDArray[np.int64]
    first: NDArray[np.int64]
    rank: NDArray[np.int64]


def groups(*keys: NDArray[np.generic]) -> Groups:
    """Group rows by keys.

    keys: Columns of shape (n,), or of shape (n, k) for k columns; the first ones count most.
    """
    columns = [column for key in keys for column in np.atleast_2d(key.T)]
    rows = len(columns[0])
    order = np.lexsort(columns[::-1])
    begins = np.ones(rows, np.bool_)
    begins[1:] = np.logical_or.reduce([column[order][1:] != column[order][:-1] for column in columns])
    starts = np.flatnonzero(begins)
    counts = np.diff(np.append(starts, rows))
    group, rank = np.empty(rows, np.int64), np.empty(rows, np.int64)
    group[order] = np.repeat(np.arange(len(starts)), counts)
    rank[order] = np.arange(rows) - np.repeat(starts, counts)
    return Groups(order, group, order[starts], rank)
