"""One cheap score from several for `ppi_mean`: a cross-fitted logistic regression of the labels."""

import warnings
from math import inf, log

import numpy as np
import numpy.typing as npt
import scipy

from goldmeter.statistics.arrays import Bounds, FloatArray, finite_array, unit_labels
from goldmeter.statistics.clusters import Codes, FewClusters, Labels, cluster_codes
from goldmeter.statistics.ppi import ROUNDING

# Parts of the labels for cross-fitting.
FOLDS = 5
# Keeps the intercept finite when all labels are equal.
_INTERCEPT_PENALTY = 0.01
_NEWTON_STEPS = 50
_CONVERGED = 1e-8


def cross_fitted(
    y: npt.ArrayLike,
    x_labelled: npt.ArrayLike,
    x_rest: npt.ArrayLike,
    clusters: Labels | None = None,
    bounds: Bounds = (0.0, 1.0),
) -> tuple[FloatArray, FloatArray]:
    """Combine several scores into one for `ppi_mean`: the label that a logistic regression on them expects.

    A labelled row is scored by a model that was fitted without its fold and without its cluster; a row without a label
    by the mean of the models. Folds are assigned from sorted rows, so the order of the rows does not matter, up to
    exchanges between equal rows. With a single label all scores are the lower bound.

    Args:
        y: Labels, shape (n,), within `bounds`.
        x_labelled: Scores of the labelled rows, shape (n, k), float64, of any scale.
        x_rest: Scores of the rows without a label, shape (n_rest, k).
        clusters: Cluster of each labelled row, shape (n,).
        bounds: Lower and upper bound of the labels.

    Returns:
        The combined scores of both groups of rows, shapes (n,) and (n_rest,), within `bounds`.

    Raises:
        ValueError: NaN, a wrong shape, labels outside the bounds, or a single cluster.

    Source: Zrnic & Candès 2024 (arXiv 2309.16598).

    >>> inside, rest = cross_fitted([0, 1, 1, 1] * 25, [[0], [0], [1], [1]] * 25, [[0], [1]])
    >>> rest.round(2).tolist()  # half of the first kind are right, all of the second
    [0.52, 0.98]
    """
    labels = unit_labels(y, bounds)
    table, others = finite_array(x_labelled, "x_labelled", 2), finite_array(x_rest, "x_rest", 2)
    _check_tables(labels, table, others)
    table, others = _standardised(table, others)
    fold = assigned_folds(labels, table, clusters, FOLDS)
    used = np.unique(fold)
    inside, outside = np.zeros(labels.size), np.zeros(others.shape[0])
    for left_out in used if used.size > 1 else ():
        out = fold == left_out
        model = _logistic(table[~out], labels[~out])
        inside[out] = scipy.special.expit(_linear(table[out], model))
        outside += scipy.special.expit(_linear(others, model)) / used.size
    return bounds[0] + (bounds[1] - bounds[0]) * inside, bounds[0] + (bounds[1] - bounds[0]) * outside


def assigned_folds(labels: FloatArray, table: FloatArray, clusters: Labels | None, folds: int) -> Codes:
    """Assign whole clusters, sorted by their mean scores and labels, to the folds in turn."""
    if labels.size == 0:
        return np.zeros(0, dtype=np.intp)
    with warnings.catch_warnings(action="ignore", category=FewClusters):  # no interval here: `ppi_mean` warns
        codes = np.arange(labels.size) if clusters is None else cluster_codes(clusters, labels.size)
    size = np.bincount(codes)
    means = [np.bincount(codes, weights=column) / size for column in (labels, *table.T[::-1])]
    turn = np.empty(size.size, dtype=np.intp)
    turn[np.lexsort(means)] = np.arange(size.size) % folds
    return turn[codes]


def _standardised(table: FloatArray, others: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Scale every column to mean 0 and variance 1 over all rows; a constant column becomes 0."""
    both = np.concatenate([table, others])
    if both.size == 0:
        return table, others
    both = both / np.maximum(np.abs(both).max(axis=0), np.finfo(np.float64).tiny)
    spread = np.where(np.ptp(both, axis=0) > ROUNDING, both.std(axis=0), inf)
    both = (both - both.mean(axis=0)) / spread
    return both[: table.shape[0]], both[table.shape[0] :]


def _logistic(table: FloatArray, labels: FloatArray) -> FloatArray:
    """Fit intercept and slopes, the slopes with a standard normal prior."""
    n, k = table.shape
    level = (float(labels.sum()) + 0.5) / (n + 1.0)
    return fitted(table, labels, np.array([log(level / (1.0 - level)), *np.zeros(k)]), np.zeros(1 + k))


def fitted(table: FloatArray, labels: FloatArray, start: FloatArray, prior: FloatArray) -> FloatArray:
    """Fit a logistic regression by damped Newton steps.

    Args:
        table: Shape (n, k).
        labels: In [0, 1], shape (n,).
        start: Intercept and slopes to begin with, shape (1 + k,).
        prior: Means of their normal priors, shape (1 + k,); the standard deviation is 10 for the intercept, else 1.

    Returns:
        Intercept and slopes, shape (1 + k,).
    """
    model, penalty = start, np.array([_INTERCEPT_PENALTY, *np.ones(table.shape[1])])
    design = np.column_stack([np.ones(labels.size), table])
    loss = _loss(design, labels, penalty, model, prior)
    for _ in range(_NEWTON_STEPS):
        expected = scipy.special.expit(design @ model)
        gradient = design.T @ (expected - labels) + penalty * (model - prior)
        curvature = (design.T * (expected * (1.0 - expected))) @ design + np.diag(penalty)
        step = np.linalg.solve(curvature, gradient)
        while (shorter := _loss(design, labels, penalty, model - step, prior)) > loss and np.abs(
            step
        ).max() > _CONVERGED:
            step /= 2.0
        model, loss = model - step, shorter
        if np.abs(step).max() <= _CONVERGED:
            break
    return model


def _loss(design: FloatArray, labels: FloatArray, penalty: FloatArray, model: FloatArray, prior: FloatArray) -> float:
    linear = design @ model
    return float(np.logaddexp(0.0, linear).sum() - labels @ linear + 0.5 * (penalty @ (model - prior) ** 2))


def _linear(table: FloatArray, model: FloatArray) -> FloatArray:
    linear: FloatArray = model[0] + table @ model[1:]
    return linear


def _check_tables(labels: FloatArray, table: FloatArray, others: FloatArray) -> None:
    if table.shape[0] != labels.size:
        message = f"y has {labels.size} rows, x_labelled {table.shape[0]}: give the scores of just the labelled rows"
        raise ValueError(message)
    if table.shape[1] != others.shape[1]:
        message = f"x_labelled has {table.shape[1]} columns, x_rest {others.shape[1]}: give the same scores of all rows"
        raise ValueError(message)
