"""Prediction-powered means: labels of a random part of the rows, a cheap score of all rows."""

import warnings
from collections.abc import Callable
from math import inf, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from goldmeter.statistics.arrays import Bounds, FloatArray, check_confidence, finite_array, unit_labels
from goldmeter.statistics.clusters import Codes, FewClusters, Labels, cluster_codes, clustered_n, numbered
from goldmeter.statistics.estimate import Estimate, Method, within
from goldmeter.statistics.mean import mean_interval
from goldmeter.statistics.wilson import effective_n, score_interval

# With two labels (or clusters) a mean and a slope leave no residual; one row of the rest has no variance.
_FEWEST_LABELS = 3
_FEWEST_REST = 2

# Mean and slope are both estimated, so the worst case counts for two events.
_PRIOR_EVENTS = 2.0

# Scores nearer to each other than this share of the largest differ by rounding only.
ROUNDING = 1e-12


class PpiEstimate(NamedTuple):
    """A mean label with its interval.

    Attributes:
        value: The mean, in the units of the labels.
        low: Lower limit.
        high: Upper limit.
        n: Number of labels.
        method: How the interval was computed; part of the reports.
        n_rest: Number of rows without a label.
        weight: Label units added per unit by which the mean score of the rest exceeds that of the labelled rows.
        labels_worth: Number of labels that alone would give as narrow an interval, never below n.
    """

    value: float
    low: float
    high: float
    n: int
    method: Method
    n_rest: int
    weight: float
    labels_worth: float

    @property
    def estimate(self) -> Estimate:
        """The mean and its interval."""
        return Estimate(*self[:5])


class Rows(NamedTuple):
    """The labels and scores of one estimate.

    Attributes:
        y: Labels in [0, 1], shape (n,).
        f: Scores of the labelled rows, shape (n,).
        rest: Scores of the other rows, shape (n_rest,).
        codes: Cluster of each labelled row.
        shared: Cluster of each row, labelled rows first.
    """

    y: FloatArray
    f: FloatArray
    rest: FloatArray
    codes: Codes | None
    shared: Codes | None


def ppi_mean(
    y: npt.ArrayLike,
    f_labelled: npt.ArrayLike,
    f_rest: npt.ArrayLike,
    clusters: Labels | None = None,
    rest_clusters: Labels | None = None,
    bounds: Bounds = (0.0, 1.0),
    confidence: float = 0.95,
) -> PpiEstimate:
    """Estimate the mean label and its interval from few labels and a cheap score of every row.

    The labelled rows must be a random part of all rows (a hash sample is one). If the score does not narrow the
    interval, only the labels are used, and `method` says so.

    Args:
        y: Labels, shape (n,), float64, within `bounds`.
        f_labelled: Scores of the labelled rows, shape (n,), of any scale.
        f_rest: Scores of the other rows, shape (n_rest,).
        clusters: Cluster of each labelled row, shape (n,); rows of one cluster depend on each other.
        rest_clusters: Cluster of each other row, shape (n_rest,); give both or neither.
        bounds: Lower and upper bound of the labels, finite.
        confidence: In (0, 1).

    Raises:
        ValueError: NaN, a wrong shape, labels outside the bounds, or a single labelled cluster.

    Warns:
        FewClusters: There are fewer than 10 labelled clusters.

    Source: Angelopoulos, Duchi & Zrnic 2023 (arXiv 2311.01453).

    >>> estimate = ppi_mean([1, 1, 1, 0, 0] * 8, [1, 1, 0, 0, 0] * 8, [1, 0] * 500)
    >>> round(estimate.weight, 4), round(estimate.value, 4), str(estimate.method)  # 0.6 + 0.6306·(0.5 - 0.4)
    (0.6306, 0.6631, 'ppi')
    """
    check_confidence(confidence)
    unit = unit_labels(y, bounds)
    rows, scale = rows_of(unit, f_labelled, f_rest, clusters, rest_clusters)
    return in_units(_unit_mean(rows, confidence), bounds, scale)


def rows_of(
    unit: FloatArray,
    f_labelled: npt.ArrayLike,
    f_rest: npt.ArrayLike,
    clusters: Labels | None,
    rest_clusters: Labels | None,
) -> tuple[Rows, float]:
    """Return labels in [0, 1] with their scores divided by the largest one, and that; raises as `ppi_mean` does."""
    scored, rest = finite_array(f_labelled, "f_labelled", 1), finite_array(f_rest, "f_rest", 1)
    _check_lengths(unit.size, scored.size, rest.size, clusters, rest_clusters)
    codes = None if clusters is None or unit.size == 0 else cluster_codes(clusters, unit.size)
    scale = max(float(np.abs(scored).max(initial=0.0)), float(np.abs(rest).max(initial=0.0))) or 1.0
    return Rows(unit, scored / scale, rest / scale, codes, _shared_codes(codes, clusters, rest_clusters)), scale


def _unit_mean(rows: Rows, confidence: float) -> PpiEstimate:
    alone = _labels_alone(rows, confidence)
    slope = 0.0 if too_few(rows) else _slope(rows)
    if slope == 0.0:
        return alone
    powered = _powered(rows, slope, confidence)
    before, after = alone.high - alone.low, powered.high - powered.low
    if after > before:
        return alone
    # The width of an interval falls with the square root of the labels.
    return powered._replace(labels_worth=alone.n * (before / after) ** 2 if after > 0.0 else inf)


def _labels_alone(rows: Rows, confidence: float) -> PpiEstimate:
    n = rows.y.size
    estimate = mean_interval(rows.y, confidence=confidence) if rows.codes is None else _clustered(rows, confidence)
    if n:
        estimate = estimate._replace(method=Method("labels alone"))
    return PpiEstimate(*estimate, n_rest=rows.rest.size, weight=0.0, labels_worth=float(n))


def _clustered(rows: Rows, confidence: float) -> Estimate:
    with warnings.catch_warnings(action="ignore", category=FewClusters):  # `cluster_codes` has warned
        return mean_interval(rows.y, rows.codes, confidence=confidence)


def too_few(rows: Rows) -> bool:
    if rows.codes is None or rows.shared is None:
        return rows.y.size < _FEWEST_LABELS or rows.rest.size < _FEWEST_REST
    return int(rows.codes.max()) + 1 < _FEWEST_LABELS or np.unique(rows.shared[rows.y.size :]).size < _FEWEST_REST


def _slope(rows: Rows) -> float:
    """Return the slope of the labels on the score, clipped between 0 and the slope of a perfect correlation.

    Unlike the usual bound of 1, this one does not depend on the scale of the score; for scores that estimate the label
    the two differ little.
    """
    both = np.concatenate([rows.f, rows.rest])
    if float(both.max() - both.min()) <= ROUNDING:
        return 0.0
    variance = _spread(both)
    covariance = float((rows.y - rows.y.mean()) @ rows.f) / (rows.y.size - 1)
    perfect = sqrt(_spread(rows.y) / variance)
    return min(max(covariance / variance, 0.0), perfect)


def _powered(rows: Rows, slope: float, confidence: float) -> PpiEstimate:
    n, n_rest = rows.y.size, rows.rest.size
    weight = slope * n_rest / (n + n_rest)
    value = float(rows.y.mean()) + weight * float(rows.rest.mean() - rows.f.mean())
    value = min(max(value, 0.0), 1.0)
    n_eff, df = _powered_n(rows, _variance(rows, rows.y - weight * rows.f, weight * rows.rest), value)
    limits = score_interval(value, n_eff, df, confidence)
    return PpiEstimate(*within(value, limits, (0.0, 1.0), n, Method("ppi")), n_rest, weight, float(n))


def _variance(rows: Rows, labelled: FloatArray, rest: FloatArray) -> float:
    """Return the variance of mean(labelled) plus that of mean(rest); the two may share clusters."""
    if rows.codes is None or rows.shared is None:
        n = labelled.size
        return (_spread(labelled) / n + _spread(rest) / rest.size) * (n - 1.0) / (n - 2.0)
    own = _influence(labelled, rows.codes), _influence(rest, rows.shared[labelled.size :])
    sums = np.bincount(rows.shared, weights=np.concatenate(own))
    groups = int(rows.codes.max()) + 1.0
    return float(sums @ sums) * (groups - 1.0) / (groups - 2.0)


def _spread(x: FloatArray) -> float:
    """Return `var(ddof=1)`, three times as fast."""
    deviations = x - x.mean()
    return float(deviations @ deviations) / (x.size - 1)


def _influence(x: FloatArray, codes: Codes) -> FloatArray:
    """Return each row's influence on the mean, enlarged by its cluster's leverage as in CR2."""
    share = np.bincount(codes) / x.size
    influence: FloatArray = (x - x.mean()) / np.sqrt(1.0 - share[codes]) / x.size
    return influence


def _powered_n(rows: Rows, variance: float, value: float) -> tuple[float, float | None]:
    """Return the effective sample size and, with clusters, the degrees of freedom."""
    n, right = rows.y.size, float(rows.y.sum())
    binomial = value * (1.0 - value)
    r = variance * n / binomial if binomial > 0.0 else inf
    if rows.codes is None:
        events = max(min(right, n - right), 0.0)
        return effective_n(n, min(r, 1.0), events, prior_events=_PRIOR_EVENTS), None
    size, total = np.bincount(rows.codes), np.bincount(rows.codes, weights=rows.y)
    events = max(float(min(np.minimum(total, 1.0).sum(), np.minimum(size - total, 1.0).sum())), 0.0)
    r_max = float((size**2).sum()) / n
    n_eff = effective_n(n, r if r < inf else r_max, events, r_max=r_max, prior_events=_PRIOR_EVENTS)
    return n_eff, clustered_n(rows.y, rows.codes)[1]


def in_units(unit: PpiEstimate, bounds: Bounds, scale: float) -> PpiEstimate:
    lower, upper = bounds
    width = upper - lower
    value, low, high = (min(max(lower + width * x, lower), upper) for x in unit[:3])
    return unit._replace(value=value, low=low, high=high, weight=unit.weight * width / scale)


def _shared_codes(codes: Codes | None, clusters: Labels | None, rest_clusters: Labels | None) -> Codes | None:
    if codes is None or clusters is None:
        return None
    if rest_clusters is None:
        return codes
    if _kind(clusters) == _kind(rest_clusters) in {"i", "u"}:
        return numbered(np.concatenate([clusters, rest_clusters]))
    for row, label in enumerate(rest_clusters):
        if label is None or label != label:  # noqa: PLR0124 (NaN)
            message = f"rest_clusters[{row}] is missing: give each row a label, a row on its own one that no other has"
            raise ValueError(message)
    return numbered([*clusters, *rest_clusters])


def _kind(labels: Labels) -> str:
    return labels.dtype.kind if isinstance(labels, np.ndarray) else "O"


def _check_lengths(labels: int, scored: int, rest: int, clusters: Labels | None, rest_clusters: Labels | None) -> None:
    if labels != scored:
        raise ValueError(f"y has {labels} rows, f_labelled {scored}: give the score of just the labelled rows")
    if rest and (clusters is None) != (rest_clusters is None):
        missing = "clusters" if clusters is None else "rest_clusters"
        raise ValueError(f"{missing} is missing: give the cluster of each row, labelled or not, or none at all")
    if rest_clusters is not None and len(rest_clusters) != rest:
        raise ValueError(f"rest_clusters has {len(rest_clusters)} labels for {rest} rows: give one label per row")


# Smaller p values are not told apart.
_SMALLEST_P = 1e-12


def inverted(excess: Callable[[float], float]) -> float:
    """Return the p value: 1 - the largest confidence whose interval excludes "no difference".

    excess: 1 - confidence → how far the interval is from "no difference"; negative where it contains it.
    """
    if excess(1.0 - 1e-12) <= 0.0:
        return 1.0
    if excess(_SMALLEST_P) > 0.0:
        return _SMALLEST_P
    return float(scipy.optimize.brentq(excess, _SMALLEST_P, 1.0 - 1e-12, xtol=1e-12))
