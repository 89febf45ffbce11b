"""Whether probabilities fit human labels: an exact test, and their recalibration by Platt scaling."""

import warnings
from typing import NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt
import scipy

from goldmeter.statistics.arrays import FloatArray, binary_array, check_scores, finite_array
from goldmeter.statistics.clusters import FewClusters, Labels, cluster_codes
from goldmeter.statistics.cross_fit import FOLDS, assigned_folds, fitted

# Draws of the test: the smallest p value is 1/1000.
DRAWS = 999
# Draws are made in blocks of about this many numbers, so that memory does not grow with n.
_BLOCK = 1_000_000
# Probabilities are at least this far from 0 and 1: the logit is then finite, and no label impossible.
_LEAST = 1e-6
# Intercept and slope of the curve that changes no probability.
_UNCHANGED = np.array([0.0, 1.0])
# Statistics that differ by less are ties.
_ROUNDING = 1e-9


class Calibration(NamedTuple):
    """How far probabilities fit labels on n rows, and the curve that fits them better.

    Attributes:
        p_value: Of the hypothesis that each row is right with its probability; tested on one row of each cluster.
        recalibrated: Probabilities after Platt scaling, of each row by a curve that was fitted without its fold and its
            cluster; shape (n,).
        curves: Intercept and slope of the curve without each fold, shape (folds, 2): a row is right with the
            probability logistic(intercept + slope · logit(p)).
    """

    p_value: float
    recalibrated: FloatArray
    curves: FloatArray

    def of(self, p: npt.ArrayLike) -> FloatArray:
        """Return the recalibrated probabilities of rows without a label: the mean of the curves; shape as of p."""
        logits = _logits(finite_array(p, "p", 1))
        scaled: FloatArray = np.mean([scipy.special.expit(_linear(curve, logits)) for curve in self.curves], axis=0)
        return scaled


def calibration(p: npt.ArrayLike, labels: npt.ArrayLike, clusters: Labels | None = None) -> Calibration:
    """Test whether probabilities fit labels, and recalibrate them.

    The test compares the score statistic of intercept 0 and slope 1, in a logistic regression of the labels on the
    logit of p, with its values for labels drawn with these probabilities. It is exact for independent rows, however few
    and however close p is to 0 or 1; of dependent rows, only the first of each cluster is tested.

    Args:
        p: Shape (n,), float64, in [0, 1].
        labels: Shape (n,), 1 where the human label is good, else 0.
        clusters: Shape (n,), one label per row; rows of one cluster depend on each other.

    Raises:
        ValueError: Another shape, a probability outside [0, 1], labels other than 0 and 1, or a single cluster.

    The curves' slope has a normal prior around 1 with standard deviation 1, so that few labels leave p nearly as it is.

    Source: Cox 1958 (logistic recalibration); Barnard 1963 (Monte Carlo tests); Platt 1999 (scaling).

    >>> halves = calibration([0.9, 0.1] * 50, [1, 0, 0, 1] * 25)
    >>> halves.p_value, halves.recalibrated.round(1).tolist()[:2], halves.of([0.5]).round(2).tolist()
    (0.001, [0.5, 0.5], [0.5])
    """
    probabilities, right = finite_array(p, "p", 1), binary_array(labels, "labels").astype(np.float64)
    check_scores(probabilities, (0.0, 1.0), "p")
    if right.shape != probabilities.shape:
        raise ValueError(f"p has shape {probabilities.shape}, labels {right.shape}: expected one label per row")
    probabilities, logits = _clipped(probabilities), _logits(probabilities)
    with warnings.catch_warnings(action="ignore", category=FewClusters):  # an exact test needs no more of them
        codes = np.arange(right.size) if clusters is None else cluster_codes(clusters, right.size)
    first = np.unique(codes, return_index=True)[1]
    recalibrated, curves = _scaled(right, logits, clusters)
    return Calibration(_p_value(probabilities[first], right[first], logits[first]), recalibrated, curves)


def _scaled(right: FloatArray, logits: FloatArray, clusters: Labels | None) -> tuple[FloatArray, FloatArray]:
    """Return the cross-fitted probabilities and the curve without each fold; of one row p as it is."""
    table = logits[:, None]
    fold = assigned_folds(right, table, clusters, FOLDS)
    used = np.unique(fold)
    if used.size < 2:  # noqa: PLR2004 (one to fit, one to scale)
        return scipy.special.expit(logits), _UNCHANGED[None]
    curves = [fitted(table[fold != out], right[fold != out], _UNCHANGED, _UNCHANGED) for out in used]
    own = np.array(curves)[np.searchsorted(used, fold)]
    return np.asarray(scipy.special.expit(_linear(own.T, logits))), np.array(curves)


def _linear(curve: FloatArray, logits: FloatArray) -> FloatArray:
    linear: FloatArray = curve[0] + curve[1] * logits
    return linear


def _clipped(p: FloatArray) -> FloatArray:
    return np.clip(p, _LEAST, 1.0 - _LEAST)


def _logits(p: FloatArray) -> FloatArray:
    return np.asarray(scipy.special.logit(_clipped(p)))


def _p_value(p: FloatArray, labels: FloatArray, logits: FloatArray) -> float:
    """The share of draws, and of the labels themselves, whose score statistic is at least as large."""
    if not p.size:
        return 1.0
    order = np.argsort(p, kind="stable")  # the draws then do not depend on the order of the rows
    p, labels, logits = p[order], labels[order], logits[order]
    design = np.column_stack([np.ones(p.size), logits])
    inverse = np.asarray(np.linalg.pinv((design.T * (p * (1.0 - p))) @ design, hermitian=True), np.float64)
    rng = np.random.default_rng(crc32(p.tobytes()))
    observed = _statistic(labels[None] - p, design, inverse)[0]
    larger, size = 0, max(1, _BLOCK // p.size)
    for start in range(0, DRAWS, size):
        drawn = rng.random((min(size, DRAWS - start), p.size)) < p
        larger += int(np.count_nonzero(_statistic(drawn - p, design, inverse) >= observed * (1.0 - _ROUNDING)))
    return (1 + larger) / (1 + DRAWS)


def _statistic(residuals: FloatArray, design: FloatArray, inverse: FloatArray) -> FloatArray:
    """The score statistic of each draw; residuals: shape (draws, n)."""
    scores = residuals @ design
    statistic: FloatArray = np.einsum("ij,jk,ik->i", scores, inverse, scores)
    return statistic
