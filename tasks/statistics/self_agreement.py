"""Agreement of a judge with itself: how often two of its verdicts on one row are equal, and how far they differ."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tasks.statistics.arrays import FloatArray, check_confidence, check_finite_bounds
from tasks.statistics.clusters import Labels
from tasks.statistics.estimate import Estimate
from tasks.statistics.mean import mean_interval

# Verdicts that make a pair.
_PAIR = 2


class SelfAgreement(NamedTuple):
    """Repeated verdicts of n rows.

    Attributes:
        equal: Chance that two verdicts on a row are equal: the mean over rows of the share of equal pairs.
        distance: Mean absolute difference of two verdicts on a row, in the units of the verdicts; None without bounds.
        n: Number of rows with two verdicts or more.
        pairs: Number of pairs of verdicts on a row.
        variance: Of a verdict around the mean of its row, in squared units.
        total: Variance of single verdicts over all rows, the former included; NaN for a single row.
    """

    equal: Estimate
    distance: Estimate | None
    n: int
    pairs: int
    variance: float
    total: float


def self_agreement(
    verdicts: npt.ArrayLike,
    rows: npt.ArrayLike,
    clusters: Labels | None = None,
    bounds: tuple[float, float] | None = (0.0, 1.0),
    confidence: float = 0.95,
) -> SelfAgreement:
    """Estimate how far repeated verdicts on the same rows agree.

    Each row counts once, however many verdicts it has. Rows with a single verdict are left out.

    Args:
        verdicts: Shape (m,), float64.
        rows: Number of each verdict's row, shape (m,), ascending.
        clusters: Cluster of each row, one label for each of the distinct `rows`; rows of one cluster depend on each
            other.
        bounds: Smallest and largest verdict; None for names, of which only equality counts.
        confidence: In (0, 1).

    Raises:
        ValueError: Another shape, rows that do not ascend, verdicts outside of the bounds, or a single cluster.

    Source: the variance is the mean square within rows of a one-way analysis of variance (Shrout & Fleiss 1979); that
    of single verdicts adds the variance between rows, as in ICC(1).

    >>> found = self_agreement([1, 1, 0, 1, 0, 0, 1], [0, 0, 1, 1, 2, 2, 3])  # 2 of 3 pairs; (0 + 1/2 + 0)/3
    >>> round(found.equal.value, 4), found.n, found.pairs, round(found.variance, 4)
    (0.6667, 3, 3, 0.1667)
    """
    check_confidence(confidence)
    values, numbers = np.asarray(verdicts, np.float64), np.asarray(rows, np.intp)
    if values.ndim != 1 or values.shape != numbers.shape or (np.diff(numbers) < 0).any():
        raise ValueError("expected verdicts and the numbers of their rows in ascending order, both of shape (m,)")
    codes, counts = np.unique(numbers, return_inverse=True, return_counts=True)[1:]
    several = counts >= _PAIR
    inside = several[codes]
    values, codes = values[inside], (np.cumsum(several) - 1)[codes[inside]]
    labels = None if clusters is None else np.asarray(clusters)[several]
    drawn = counts[several].astype(np.float64)
    pairs = drawn * (drawn - 1.0) / 2.0
    equal = mean_interval(_equal_pairs(values, codes, drawn.size) / pairs, labels, confidence=confidence)
    distance = None
    if bounds is not None:
        check_finite_bounds(bounds)
        apart, width = _distances(values, codes, drawn) / pairs, bounds[1] - bounds[0]
        distance = mean_interval(apart, labels, (0.0, width), confidence)
    return SelfAgreement(equal, distance, drawn.size, int(pairs.sum()), *_variances(values, codes, drawn))


def _equal_pairs(values: FloatArray, codes: npt.NDArray[np.intp], n: int) -> FloatArray:
    """Return the number of equal pairs of each row, shape (n,)."""
    kinds = np.unique(values, return_inverse=True)[1]
    cells, counts = np.unique(codes * (kinds.max(initial=0) + 1) + kinds, return_counts=True)
    owners = cells // (kinds.max(initial=0) + 1)
    return np.bincount(owners, weights=counts * (counts - 1) / 2.0, minlength=n).astype(np.float64)


def _distances(values: FloatArray, codes: npt.NDArray[np.intp], drawn: FloatArray) -> FloatArray:
    """Return the sum of the absolute differences of all pairs of each row, shape (n,)."""
    order = np.lexsort((values, codes))
    starts = np.concatenate([[0], np.cumsum(drawn)[:-1]]).astype(np.intp)
    rank = np.arange(values.size) - starts[codes]
    weights = (2.0 * rank - drawn[codes] + 1.0) * values[order]
    return np.maximum(np.bincount(codes, weights=weights, minlength=drawn.size), 0.0)


def _variances(values: FloatArray, codes: npt.NDArray[np.intp], drawn: FloatArray) -> tuple[float, float]:
    """Return the variance within rows, and that of single verdicts over all rows."""
    n, m = drawn.size, float(drawn.sum())
    if n == 0:
        return float("nan"), float("nan")
    means = np.bincount(codes, weights=values, minlength=n) / drawn
    within = float(((values - means[codes]) ** 2).sum()) / (m - n)
    if n == 1:
        return within, float("nan")
    between = float((drawn * (means - values.mean()) ** 2).sum()) / (n - 1.0)
    size = (m - float((drawn**2).sum()) / m) / (n - 1.0)
    return within, within + max((between - within) / size, 0.0)
