"""Rows that depend on each other (one conversation, one document): their effective sample size, and sums over them."""

import warnings
from collections.abc import Hashable, Sequence
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from goldmeter.statistics.arrays import Bounds, FloatArray
from goldmeter.statistics.wilson import effective_n

Labels = Sequence[Hashable] | npt.NDArray[np.generic]
Codes = npt.NDArray[np.intp]

# With fewer clusters the variance between them is poorly estimated (Pustejovsky & Tipton 2018).
FEW_CLUSTERS = 10


class FewClusters(UserWarning):
    """Warns that an interval with so few clusters may cover less than its confidence."""


def cluster_codes(labels: Labels, n: int) -> Codes:
    """Number the clusters of n rows from 0.

    Args:
        labels: Shape (n,), the cluster of each row.
        n: Number of rows.

    Returns:
        The cluster numbers, shape (n,), integer.

    Raises:
        ValueError: The number of labels is not n, a label is missing, or there is a single cluster.

    Warns:
        FewClusters: There are fewer than 10 clusters.

    >>> cluster_codes(list("ababcdefghij"), 12)
    array([0, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    """
    if len(labels) != n:
        raise ValueError(f"clusters has {len(labels)} labels for {n} rows: give one label per row")
    codes = numbered(labels)
    check_clusters(int(codes.max()) + 1)
    return codes


def check_clusters(count: int) -> None:
    """Raise ValueError for a single cluster, and warn FewClusters below 10."""
    if count == 1:
        message = "all rows are in one cluster, which says nothing of the spread between them: expected 2 or more"
        raise ValueError(message)
    if count < FEW_CLUSTERS:
        message = f"{count} clusters: below {FEW_CLUSTERS} an interval may cover less than it says"
        warnings.warn(message, FewClusters, stacklevel=5)


def numbered(labels: Labels) -> Codes:
    """Number the clusters from 0 like `cluster_codes`, but accept a single cluster and never warn."""
    if isinstance(labels, np.ndarray) and labels.dtype.kind in "iu" and _is_dense(labels):
        dense = labels.astype(np.intp)
        return (np.cumsum(np.bincount(dense) > 0) - 1)[dense]
    seen: dict[Hashable, int] = {}
    codes = np.fromiter((seen.setdefault(label, len(seen)) for label in labels), np.intp, len(labels))
    missing = [code for label, code in seen.items() if label is None or label != label]  # noqa: PLR0124
    if missing:
        row = int(np.argmax(codes == missing[0]))
        raise ValueError(f"clusters[{row}] is missing: give each row a label, a row on its own one that no other has")
    return codes


def _is_dense(labels: npt.NDArray[np.generic]) -> bool:
    """Return whether the labels are integers from 0 to at most four times their number."""
    numbers = labels.astype(np.float64)
    return bool(numbers.min() >= 0.0 and numbers.max() < 4.0 * numbers.size)


class ClusterTotals(NamedTuple):
    """The rows of each cluster added up, in an order of the clusters that does not depend on that of the rows.

    size: number of rows, shape (clusters,). total: sum of their scores, shape (clusters,).
    """

    size: FloatArray
    total: FloatArray

    def in_unit(self, bounds: Bounds) -> "ClusterTotals":
        """The totals of scores rescaled from their bounds to [0, 1]."""
        if bounds == (0.0, 1.0):
            return self
        unit = (self.total - bounds[0] * self.size) / (bounds[1] - bounds[0])
        return ClusterTotals(self.size, np.clip(unit, 0.0, self.size))


def cluster_totals(scores: FloatArray, codes: Codes) -> ClusterTotals:
    """Add up the scores of each cluster, both of shape (n,)."""
    return ClusterTotals(np.bincount(codes).astype(np.float64), _summed(codes, scores))


def clustered_n(unit: FloatArray, codes: Codes, adds: FloatArray | None = None) -> tuple[float, float]:
    """Return the effective sample size and degrees of freedom as `clustered_n_of_totals` does, from rows.

    Args:
        unit: Scores, shape (n,), float64, in [0, 1].
        codes: Cluster numbers, shape (n,), at least two clusters.
        adds: Influence of each row on n times the estimate, shape (n,), float64; by default `unit` less its mean.
    """
    influence = None if adds is None else _summed(codes, adds)
    return clustered_n_of_totals(cluster_totals(unit, codes), influence)


def clustered_n_of_totals(clusters: ClusterTotals, influence: FloatArray | None = None) -> tuple[float, float]:
    """Return the effective sample size of a mean over clusters, and the degrees of freedom of its variance.

    The variance is CR2 with the degrees of freedom of Bell and McCaffrey; both are exact for independent rows of equal
    variance.

    Args:
        clusters: Totals of scores in [0, 1], of at least two clusters.
        influence: Influence of each cluster on n times the estimate, shape (clusters,); by default its total less what
            its rows would have with the mean.

    Source: Bell & McCaffrey 2002; Pustejovsky & Tipton 2018.
    """
    size, total = clusters
    n = float(size.sum())
    p = min(float(total.sum()) / n, 1.0)
    retained = 1.0 - size / n
    influence = total - size * p if influence is None else influence
    variance = float((influence**2 / retained).sum()) / n**2
    a2 = size**2 / retained / n**2
    df = n**-2 / (float((size**2).sum()) / n**4 + (float(a2.sum()) ** 2 - float((a2**2).sum())) / n**2)
    # A cluster with any event counts as one event; scores between 0 and 1 count in part.
    events = float(min(np.minimum(total, 1.0).sum(), np.minimum(size - total, 1.0).sum()))
    binomial = p * (1.0 - p)
    r = variance * n / binomial if binomial > 0.0 else 0.0
    return effective_n(n, r, max(events, 0.0), r_max=float((size**2).sum()) / n), df


def _summed(codes: Codes, weights: FloatArray) -> FloatArray:
    return np.bincount(codes, weights=weights).astype(np.float64, copy=False)


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

    def __add__(self, other: "GroupTotals") -> "GroupTotals":  # type: ignore[override]  # a sum
        """The sums of the rows of both."""
        keys, sizes, totals = (np.concatenate(pair) for pair in zip(self, other, strict=True))
        summed = GroupTotals.of(keys, np.column_stack([sizes, totals]))
        return GroupTotals(summed.keys, summed.totals[:, 0], summed.totals[:, 1:])

    @property
    def by_cluster(self) -> ClusterTotals:
        """The first column by cluster."""
        return ClusterTotals(self.sizes, self.totals[:, 0])
