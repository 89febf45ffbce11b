"""What people's labels say: how far each metric agrees with them, which threshold serves best, what they save."""

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tasks.metrics.base import Floats
from tasks.scores.columns import TO_LEARN, Candidate, Mask, ScoreColumn
from tasks.scores.estimates import noted, quiet, single

if TYPE_CHECKING:
    from tasks.statistics import Estimate, LearntThreshold

LABEL = "label"
FEWEST = 10
"""Labels below which nothing is said of a metric: any figure would be noise."""
MOST_MISSING = 0.1
"""Share of rows that may lack a cheap score."""
Row = dict[str, Any]


class Labelled(NamedTuple):
    """A metric's scores beside people's verdicts; n rows that have both.

    scores: higher is better. passed: None where the threshold is yet to be learnt. clusters: rows that belong together.
    keys: equal for answers to the same input.
    """

    scores: Floats
    labels: Floats
    passed: Mask | None
    clusters: NDArray[np.intp] | None
    keys: NDArray[np.integer[Any]]


def agreement(candidate: Candidate, column: ScoreColumn, confidence: float) -> Row | None:
    """How far a column's verdicts agree with people's on one candidate; None without labels or a pass rate."""
    from tasks.statistics import agreement as agrees

    rows = _labelled(candidate, column)
    if rows is None or rows.passed is None or len(rows.labels) < FEWEST or single(rows.clusters):
        return None
    scores = None if column.about["threshold"] is None else rows.scores
    with quiet():
        found = agrees(rows.passed, rows.labels, scores, rows.clusters, confidence)
    return {
        "n": found.n,
        "accuracy": _entry(found.accuracy),
        "kappa": _entry(found.kappa),
        "auc": None if found.auc is None else _entry(found.auc),
        "false_pass": found.false_pass,
        "false_fail": found.false_fail,
    }


def thresholds(each: Sequence[Candidate], confidence: float) -> dict[str, Row]:
    """Column → the threshold that labels of all candidates together teach, and how accurate it is on fresh rows.

    Answers of several candidates to one input belong together.
    used: whether params say so (`threshold: learnt`).
    """
    found = {}
    for column in each[0].columns if each else ():
        if column.about.get("threshold") is None and TO_LEARN not in column.about:
            continue
        if taught := _taught(each, column.name, confidence):
            found[column.name] = _threshold(column, taught)
    return found


def powered(candidate: Candidate, offline: Floats, confidence: float, *, random: bool) -> Row | None:
    """The share that people call right, from labels on a random part of the rows and every metric on all.

    offline: the offline judge's probabilities, shape (n,). random: whether params say that the labelled rows were
    chosen at random. None when not, when all rows are labelled, or too few.
    """
    from tasks.statistics import cross_fitted, ppi_mean

    label = _column(candidate, LABEL)
    known = None if label is None else ~np.isnan(label.values)
    if label is None or known is None or not random or known.all() or known.sum() < FEWEST:
        return None
    table = _cheap(candidate, offline)
    there, rest = _split(candidate.groups, known)
    if not table.shape[1] or single(there):
        return None
    labels = label.values[known]
    inside, outside = cross_fitted(labels, table[known], table[~known], there)
    found = noted(lambda: ppi_mean(labels, inside, outside, there, rest, confidence=confidence))
    return _powered(found, f"{table.shape[1]} score{'' if table.shape[1] == 1 else 's'}, cross-fitted")


def judged(candidate: Candidate, column: ScoreColumn, cheap: Floats, unsampled: Mask, confidence: float) -> Row | None:
    """A judge's value from verdicts on a sample of the rows and a cheap score on all of them.

    cheap: shape (n,). unsampled: rows that only the sample left out; None when there are none.
    """
    from tasks.statistics import ppi_mean

    scored = ~np.isnan(cheap)
    measured = ~np.isnan(column.values) & scored
    left = unsampled & scored
    if not left.any() or measured.sum() < FEWEST or column.about["bounds"] is None:
        return None
    groups = candidate.groups
    there, rest = (None, None) if groups is None else (groups[measured], groups[left])
    if single(there):
        return None
    bounds = tuple(column.about["bounds"])
    values = column.values[measured]
    found = noted(lambda: ppi_mean(values, cheap[measured], cheap[left], there, rest, bounds, confidence))
    return _powered(found, "offline_match")


def _cheap(candidate: Candidate, offline: Floats) -> Floats:
    """What every row has a score of, shape (n, k); where few rows lack one it is the mean, as any number would do."""
    columns = [column.values for column in candidate.columns if column.name != LABEL] + [offline]
    measured = [each for each in columns if np.isnan(each).mean() <= MOST_MISSING]
    filled = [np.where(np.isnan(each), np.nanmean(each), each) for each in measured]
    return np.column_stack(filled) if filled else np.empty((len(candidate.keys), 0))


def _split(groups: NDArray[np.intp] | None, known: Mask) -> tuple[Any, Any]:
    return (None, None) if groups is None else (groups[known], groups[~known])


def _powered(found: Any, score: str) -> Row:
    return {
        "value": found.value,
        "low": found.low,
        "high": found.high,
        "n": found.n,
        "n_rest": found.n_rest,
        "worth": round(found.labels_worth) if isfinite(found.labels_worth) else None,
        "score": score,
        "method": found.method,
    }


def _taught(each: Sequence[Candidate], name: str, confidence: float) -> "LearntThreshold | None":
    from tasks.statistics import threshold_from_labels

    columns = [(candidate, _column(candidate, name)) for candidate in each]
    parts = [_labelled(candidate, column) for candidate, column in columns if column is not None]
    rows = _pooled([part for part in parts if part is not None])
    if rows is None or len(rows.labels) < FEWEST or single(rows.clusters):
        return None
    with quiet():
        return threshold_from_labels(rows.scores, rows.labels, rows.clusters, confidence)


def _pooled(parts: Sequence[Labelled]) -> Labelled | None:
    if len(parts) < 2:  # noqa: PLR2004 (nothing to join)
        return parts[0] if parts else None
    scores, labels = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    together = [part.keys if part.clusters is None else part.clusters for part in parts]
    clusters = np.unique(np.concatenate(together), return_inverse=True)[1]
    return Labelled(scores, labels, None, clusters, clusters)


def _threshold(column: ScoreColumn, found: "LearntThreshold") -> Row:
    sign = 1.0 if column.about["higher_is_better"] else -1.0
    value = sign * found.threshold
    return {
        "threshold": column.about.get("threshold"),
        "learnt": value if isfinite(value) else None,
        "used": TO_LEARN in column.about and isfinite(value),
        "accuracy": _entry(found.accuracy),
        "n": found.accuracy.n,
    }


def _labelled(candidate: Candidate, column: ScoreColumn) -> Labelled | None:
    """The rows of a candidate that have a label and a score."""
    label = _column(candidate, LABEL)
    if label is None or column.name == LABEL:
        return None
    both = ~np.isnan(label.values) & ~np.isnan(column.values)
    sign = 1.0 if column.about["higher_is_better"] else -1.0
    passed = None if column.passed is None else column.passed[both]
    clusters = None if candidate.groups is None else candidate.groups[both]
    return Labelled(sign * column.values[both], label.values[both], passed, clusters, candidate.keys[both])


def _column(candidate: Candidate, name: str) -> ScoreColumn | None:
    return next((column for column in candidate.columns if column.name == name), None)


def _entry(estimate: "Estimate") -> Row:
    value = estimate.value if isfinite(estimate.value) else None
    return {"value": value, "low": estimate.low, "high": estimate.high, "method": estimate.method}
