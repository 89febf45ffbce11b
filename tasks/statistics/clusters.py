"""Rows that belong together (one conversation, one document): what is left of n."""

import warnings
from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

from tasks.statistics.estimate import FloatArray
from tasks.statistics.score import effective_n

Labels = Sequence[Hashable] | npt.NDArray[np.generic]
Codes = npt.NDArray[np.intp]

# Below this many clusters the variance between them is itself a guess (Pustejovsky & Tipton 2018).
FEW_CLUSTERS = 10


class FewClusters(UserWarning):
    """An interval rests on so few clusters that it may cover less than it says."""


def cluster_codes(labels: Labels, n: int) -> Codes:
    """Give the clusters of n rows numbers from 0.

    Returns shape (n,), integer.

    Warns FewClusters below 10 clusters.
    Raises: ValueError for another number of labels, a missing label, or a single cluster.

    >>> cluster_codes(list("ababcdefghij"), 12)
    array([0, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    """
    if len(labels) != n:
        message = f"clusters has {len(labels)} labels for {n} rows: give one label per row"
        raise ValueError(message)
    codes = numbered(labels)
    count = int(codes.max()) + 1
    if count == 1:
        message = "all rows are in one cluster, which says nothing of the spread between them: expected 2 or more"
        raise ValueError(message)
    if count < FEW_CLUSTERS:
        message = f"{count} clusters: below {FEW_CLUSTERS} an interval may cover less than it says"
        warnings.warn(message, FewClusters, stacklevel=4)
    return codes


def numbered(labels: Labels) -> Codes:
    """Give the clusters numbers from 0, however few there are; as `cluster_codes` for one label or more."""
    if isinstance(labels, np.ndarray) and labels.dtype.kind in "iu" and _is_dense(labels):
        dense = labels.astype(np.intp)
        return (np.cumsum(np.bincount(dense) > 0) - 1)[dense]
    seen: dict[Hashable, int] = {}
    codes = np.fromiter((seen.setdefault(label, len(seen)) for label in labels), np.intp, len(labels))
    missing = [code for label, code in seen.items() if label is None or label != label]  # noqa: PLR0124
    if missing:
        row = int(np.argmax(codes == missing[0]))
        message = f"clusters[{row}] is missing: give each row a label, a row on its own one that no other has"
        raise ValueError(message)
    return codes


def _is_dense(labels: npt.NDArray[np.generic]) -> bool:
    """Return whether a table a few times as long as the labels can hold every one of them."""
    numbers = labels.astype(np.float64)
    return bool(numbers.min() >= 0.0 and numbers.max() < 4.0 * numbers.size)


def cluster_sums(rows: FloatArray, clusters: Labels) -> FloatArray:
    """Return the sums of each cluster's rows: shape (n, k) -> (clusters, k). Warns and raises as `cluster_codes`."""
    codes = cluster_codes(clusters, rows.shape[0])
    sums = np.empty((int(codes.max()) + 1, rows.shape[1]))
    for k, column in enumerate(rows.T):
        sums[:, k] = np.bincount(codes, weights=column)
    return sums


def clustered_n(unit: FloatArray, codes: Codes, adds: FloatArray | None = None) -> tuple[float, float]:
    """Return the effective sample size of a mean over clusters, and the degrees of freedom of its variance.

    `unit`: shape (n,), float64, in [0, 1]. `codes`: shape (n,), two or more clusters.
    `adds`: shape (n,), float64, what each row moves n times the estimate by, when that is not `unit` less its mean.
    The variance is CR2 with the degrees of freedom of Bell and McCaffrey, both exact for independent rows of
    equal variance. Source: Bell & McCaffrey 2002; Pustejovsky & Tipton 2018.
    """
    n = unit.size
    size = np.bincount(codes).astype(np.float64)
    total = np.bincount(codes, weights=unit)
    p = min(float(total.sum()) / n, 1.0)
    kept = 1.0 - size / n
    moved = total - size * p if adds is None else np.bincount(codes, weights=adds)
    variance = float((moved**2 / kept).sum()) / n**2
    a2 = size**2 / kept / n**2
    df = n**-2 / (float((size**2).sum()) / n**4 + (float(a2.sum()) ** 2 - float((a2**2).sum())) / n**2)
    # A cluster informs by having an event at all; for scores between 0 and 1 it counts in part.
    events = float(min(np.minimum(total, 1.0).sum(), np.minimum(size - total, 1.0).sum()))
    binomial = p * (1.0 - p)
    r = variance * n / binomial if binomial > 0.0 else 0.0
    return effective_n(n, r, max(events, 0.0), r_max=float((size**2).sum()) / n), df
