"""Prediction-powered differences: labels of both versions on a random part of the rows, cheap scores of all rows."""

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy.typing as npt
from scipy.optimize import brentq

from tasks.statistics.arrays import Bounds, unit_labels
from tasks.statistics.clusters import FewClusters, Labels
from tasks.statistics.estimate import Method
from tasks.statistics.paired import check_width, paired_difference
from tasks.statistics.ppi import Combined, combine, rows_of, slope_of, too_few
from tasks.statistics.wilson import score_interval

# Smaller p values are not told apart.
_SMALLEST_P = 1e-12


class PpiDifference(NamedTuple):
    """A mean difference (head - base) of the labels with its interval, and the p value of "no difference".

    0 lies outside [low, high] exactly when p_value < 1 - confidence.

    Attributes:
        value: The mean difference, in the units of the labels.
        low: Lower limit.
        high: Upper limit.
        n: Number of rows with both labels.
        method: How the interval was computed; part of the reports.
        p_value: Two-sided p value.
        n_rest: Number of rows without both labels.
        labels_worth: Number of rows with both labels that alone would give as narrow an interval, never below n.
    """

    value: float
    low: float
    high: float
    n: int
    method: Method
    p_value: float
    n_rest: int
    labels_worth: float


def ppi_difference(
    d: npt.ArrayLike,
    g_labelled: npt.ArrayLike,
    g_rest: npt.ArrayLike,
    clusters: Labels | None = None,
    rest_clusters: Labels | None = None,
    bounds: Bounds = (0.0, 1.0),
    confidence: float = 0.95,
) -> PpiDifference:
    """Estimate the mean difference of two versions from few labelled rows and cheap scores of every row.

    The labelled rows must be a random part of all rows. If the scores do not narrow the interval, only the labels are
    used, as in `paired_difference`.

    Args:
        d: Differences of the labels, head - base, shape (n,), each within ± (upper - lower) of `bounds`.
        g_labelled: Differences of the scores on the labelled rows, shape (n,), of any scale.
        g_rest: Differences of the scores on the other rows, shape (n_rest,).
        clusters: Cluster of each labelled row, shape (n,); rows of one cluster depend on each other.
        rest_clusters: Cluster of each other row, shape (n_rest,); give both or neither.
        bounds: Lower and upper bound of the labels, finite.
        confidence: In (0, 1).

    Raises:
        ValueError: NaN, a wrong shape, differences that the bounds exclude, or a single labelled cluster.

    Warns:
        FewClusters: There are fewer than 10 labelled clusters.

    Source: Angelopoulos, Duchi & Zrnic 2023 (arXiv 2311.01453).

    >>> changes = [1, 0, -1, 0, 0, 0, 0, 0] * 10
    >>> estimate = ppi_difference(changes, changes, [1, 0, 0, 0] * 200)  # scores as good as labels
    >>> estimate.n, estimate.n_rest, str(estimate.method), estimate.labels_worth > 160
    (80, 800, 'ppi', True)
    """
    width = check_width(bounds)
    alone = paired_difference(d, clusters, bounds, confidence)
    unit = unit_labels(d, (-width, width))
    with warnings.catch_warnings(action="ignore", category=FewClusters):  # `paired_difference` has warned
        rows, _ = rows_of(unit, g_labelled, g_rest, clusters, rest_clusters)
    n, n_rest = unit.size, rows.rest.size
    labels_alone = PpiDifference(
        *alone._replace(method=Method(f"labels alone, {alone.method.kind}", alone.method.notes)), n_rest, float(n)
    )
    slope = 0.0 if too_few(rows) else slope_of(rows)
    if slope == 0.0:
        return labels_alone
    combined = combine(rows, slope, (0.0, 1.0), dataset=False)
    low, high = score_interval(combined.value, combined.n_eff, combined.df, confidence)
    before, after = alone.high - alone.low, 2.0 * width * (high - low)
    if after >= before:
        return labels_alone
    value, low, high = (width * (2.0 * x - 1.0) for x in (combined.value, low, high))
    return PpiDifference(value, low, high, n, Method("ppi"), _p_value(combined), n_rest, n * (before / after) ** 2)


def _p_value(combined: Combined) -> float:
    p, n_eff, df = combined.value, combined.n_eff, combined.df
    if p == 0.5:  # noqa: PLR2004 (no difference)
        return 1.0

    def excess(alpha: float) -> float:
        low, high = score_interval(p, n_eff, df, 1.0 - alpha)
        return low - 0.5 if p > 0.5 else 0.5 - high  # noqa: PLR2004

    return inverted(excess)


def inverted(excess: Callable[[float], float]) -> float:
    """Return the p value: 1 - the largest confidence whose interval excludes "no difference".

    excess: 1 - confidence → how far the interval is from "no difference"; negative where it contains it.
    """
    if excess(1.0 - 1e-12) <= 0.0:
        return 1.0
    if excess(_SMALLEST_P) > 0.0:
        return _SMALLEST_P
    return float(brentq(excess, _SMALLEST_P, 1.0 - 1e-12, xtol=1e-12))
