"""Human labels: how far metrics agree with them, which thresholds fit them best, and estimates from few of them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from goldmeter import statistics
from goldmeter.estimates import metrics_report
from goldmeter.estimates.columns import NOT_RATED, Candidate, Mask, Ratings, ScoreColumn
from goldmeter.estimates.estimates import is_one_cluster, silenced, with_warnings
from goldmeter.estimates.sums import column_of
from goldmeter.metrics.base import Floats
from goldmeter.models.offline.measured import measured, share_trained_on
from goldmeter.statistics import agreement as agreement_with_labels

LABEL = "label"
# With fewer labels any figure would be noise.
FEWEST = 10
# The number of labelled rows, of all candidates together, that thresholds and agreement are computed from: those whose
# ids have the smallest hashes. More say little more: 50,000 give an accuracy to half a point.
MOST_LABELLED = 50_000
# The share of inputs that the offline judge was trained on from which on its agreement is optimistic, and the number of
# inputs that are looked up.
FEWEST_TRAINED_ON, MOST_HASHED = 0.05, 5_000
# The share of rows that may lack a cheap score.
MOST_MISSING = 0.1


class LabelledScores(NamedTuple):
    """A metric's scores beside human labels; n rows that have both.

    scores: higher is better. passed: None where the threshold is not fitted yet. clusters: rows that belong together.
    keys: equal for answers to the same input.
    """

    scores: Floats
    labels: Floats
    passed: Mask | None
    clusters: NDArray[np.intp] | None
    keys: NDArray[np.integer[Any]]


def with_few_labelled(candidate: Candidate, below: int | None) -> Candidate:
    """The candidate with its labelled or rated rows only, those whose key is less than `below`; None: all."""
    label = column_of(candidate, LABEL)
    labelled = np.zeros(len(candidate.keys), np.bool_) if label is None else ~np.isnan(label.values)
    if candidate.ratings is not None:  # raters who disagree leave no label
        labelled |= (candidate.ratings != NOT_RATED).any(axis=1)
    return candidate.rows(labelled if below is None else labelled & (candidate.keys < np.uint64(below)))


def joined(parts: Iterable[Sequence[Candidate]]) -> list[Candidate]:
    """The candidates of several parts, by name, with the rows of all, in the order of their keys."""
    by_name: dict[str, list[Candidate]] = {}
    for part in parts:
        for candidate in part:
            by_name.setdefault(candidate.name, []).append(candidate)
    return [_joined(by_name[name]) for name in sorted(by_name)]


def _joined(parts: Sequence[Candidate]) -> Candidate:
    keys = np.concatenate([part.keys for part in parts])
    order = np.argsort(keys, kind="stable")
    columns = [_joined_columns(columns, order) for columns in zip(*(part.columns for part in parts), strict=True)]
    groups = [part.groups for part in parts if part.groups is not None]
    clusters = np.concatenate(groups)[order] if groups else None  # keys, which are the same in all candidates
    lengths = [part.lengths for part in parts if part.lengths is not None]
    ratings = None if parts[0].ratings is None else _padded([part.ratings for part in parts])[order]
    return Candidate(
        parts[0].name,
        keys[order],
        order,
        columns,
        clusters,
        {},
        labels_random=parts[0].labels_random,
        ratings=ratings,
        lengths=np.concatenate(lengths)[order] if lengths else None,
    )


def _padded(ratings: Sequence[Ratings | None]) -> Ratings:
    """The ratings of all parts, each with the columns of the widest."""
    tables = [table for table in ratings if table is not None]
    widest = max(table.shape[1] for table in tables)
    missing = [((0, 0), (0, widest - table.shape[1])) for table in tables]
    return np.concatenate(
        [np.pad(table, more, constant_values=NOT_RATED) for table, more in zip(tables, missing, strict=True)]
    )


def _joined_columns(columns: Sequence[ScoreColumn], order: NDArray[np.intp]) -> ScoreColumn:
    first = columns[0]
    passed = None if first.passed is None else np.concatenate([one.passed for one in columns if one.passed is not None])
    values, not_asked = (np.concatenate([getattr(one, name) for one in columns]) for name in ("values", "not_asked"))
    return replace(first, values=values, not_asked=not_asked, passed=passed, stats=None).rows(order)


def agreement(candidate: Candidate, column: ScoreColumn, confidence: float) -> metrics_report.AgreementEntry | None:
    """How far a column's pass or fail agrees with the human labels of one candidate.

    Returns:
        None for a column without a pass rate, and with too few labels.
    """
    rows = _labelled(candidate, column)
    if rows is None or rows.passed is None or len(rows.labels) < FEWEST or is_one_cluster(rows.clusters):
        return None
    scores = None if column.facts.threshold is None else rows.scores
    with silenced():
        result = agreement_with_labels(rows.passed, rows.labels, scores, rows.clusters, confidence)
    return {
        "n": result.n,
        "accuracy": interval(result.accuracy),
        "kappa": interval(result.kappa),
        "auc": None if result.auc is None else interval(result.auc),
        "false_pass": result.false_pass,
        "false_fail": result.false_fail,
        "baseline": _baseline(rows.labels),
        "is_judge": result.accuracy.low > _baseline(rows.labels)["value"],
    }


def in_sample(inputs: Iterable[str | None]) -> metrics_report.InSampleEntry | None:
    """What to say of the offline judge's agreement on these inputs: None unless it was trained on some of them."""
    chosen = [text for text in inputs if text]
    facts, share = measured(), share_trained_on(chosen)
    if facts is None or share < FEWEST_TRAINED_ON:
        return None
    trained_on = facts["trained_on"]
    return {"share": share, "data": trained_on["set"], "cross_validated": trained_on["cross_validated"]}


def thresholds(candidates: Sequence[Candidate], confidence: float) -> dict[str, metrics_report.ThresholdEntry]:
    """Column → the threshold that fits the labels of all candidates best, and its accuracy on rows outside of the fit.

    Answers of several candidates to one input are one cluster.
    """
    fitted = {}
    for column in candidates[0].columns if candidates else ():
        if column.facts.threshold is None and not column.facts.awaits_threshold:
            continue
        if threshold := _fitted(candidates, column.name, confidence):
            fitted[column.name] = _threshold(column, *threshold)
    return fitted


def expected_labels(
    labels: Floats, scores: Floats, groups: NDArray[np.intp] | None, bounds: tuple[float, float] = (0.0, 1.0)
) -> Floats:
    """The label that a cross-fitted regression on the scores expects of each row, shape (n,); 0 without scores."""
    labelled = ~np.isnan(labels)
    expected = np.zeros(len(labels))
    clusters = None if groups is None else groups[labelled]
    if scores.shape[1] and labelled.any() and not is_one_cluster(clusters):
        expected[labelled], expected[~labelled] = statistics.cross_fitted(
            labels[labelled], scores[labelled], scores[~labelled], clusters, bounds=bounds
        )
    return expected


def prediction_powered_judge(
    candidate: Candidate, column: ScoreColumn, offline: Floats, unsampled: Mask, confidence: float
) -> metrics_report.PredictionPowered | None:
    """A judge's value, from verdicts on a sample of the rows and the offline judge's probability on all of them.

    Args:
        candidate: n rows.
        column: The judge's verdicts.
        offline: The offline judge's probabilities, shape (n,).
        unsampled: Rows that only the sample left out, shape (n,).
        confidence: Between 0.5 and 1.

    Returns:
        None for a judge of every row, and for too few verdicts.
    """
    scored = ~np.isnan(offline)
    measured = ~np.isnan(column.values) & scored
    rest = unsampled & scored
    bounds = column.facts.bounds
    if not rest.any() or measured.sum() < FEWEST or bounds is None:
        return None
    clusters = split(candidate.groups, measured, rest)
    if is_one_cluster(clusters[0]):
        return None
    values = column.values[measured]
    result = with_warnings(
        lambda: statistics.ppi_mean(values, offline[measured], offline[rest], *clusters, bounds, confidence)
    )
    return powered_entry(result, None, "offline_match")


def cheap_scores(candidate: Candidate, probabilities: Floats, labels: str = LABEL) -> Floats:
    """Scores and probabilities, shape (n,) or (n, j), that nearly all rows have, without the labels; shape (n, k)."""
    columns = [column.values for column in candidate.columns if column.name != labels]
    columns += [*np.atleast_2d(probabilities.T)]
    return filled(columns, len(candidate.keys))


def filled(columns: Sequence[Floats], rows: int) -> Floats:
    """The columns that nearly all rows have, a missing score replaced by the column's mean; shape (rows, k)."""
    measured = [values for values in columns if most_have(values)]
    complete = [np.where(np.isnan(values), np.nanmean(values), values) for values in measured]
    return np.column_stack(complete) if complete else np.empty((rows, 0))


def most_have(values: Floats) -> bool:
    """Whether nearly all rows have the score; of others none is used."""
    return bool(np.isnan(values).mean() <= MOST_MISSING)


def split(groups: NDArray[np.intp] | None, measured: Mask, rest: Mask) -> tuple[Any, Any]:
    """The clusters of some rows and of others; None where no row has a group."""
    return (None, None) if groups is None else (groups[measured], groups[rest])


def powered_entry(result: statistics.PpiEstimate, judge: str | None, score: str) -> metrics_report.PredictionPowered:
    """The estimate as reports/metrics.json has it.

    judge: whose error, as far as it is known, narrows the interval. score: in words.
    """
    return {
        "value": result.value,
        "low": result.low,
        "high": result.high,
        "n": result.n,
        "n_rest": result.n_rest,
        "worth": round(result.labels_worth) if isfinite(result.labels_worth) else None,
        "score": score,
        "judge": judge,
        "method": str(result.method),
        "designed": result.method.is_designed,
    }


def _fitted(
    candidates: Sequence[Candidate], name: str, confidence: float
) -> "tuple[statistics.FittedThreshold, LabelledScores] | None":
    columns = [(candidate, column_of(candidate, name)) for candidate in candidates]
    parts = [_labelled(candidate, column) for candidate, column in columns if column is not None]
    rows = _pooled([part for part in parts if part is not None])
    if rows is None or len(rows.labels) < FEWEST or is_one_cluster(rows.clusters):
        return None
    with silenced():
        return statistics.threshold_from_labels(rows.scores, rows.labels, rows.clusters, confidence), rows


def _pooled(parts: Sequence[LabelledScores]) -> LabelledScores | None:
    if len(parts) < 2:  # noqa: PLR2004 (nothing to join)
        return parts[0] if parts else None
    scores, labels = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    together = [part.keys if part.clusters is None else part.clusters for part in parts]
    clusters = np.unique(np.concatenate(together), return_inverse=True)[1]
    return LabelledScores(scores, labels, None, clusters, clusters)


def _threshold(
    column: ScoreColumn, fitted: statistics.FittedThreshold, rows: LabelledScores
) -> metrics_report.ThresholdEntry:
    value = column.facts.sign * fitted.threshold
    baseline = _baseline(rows.labels)
    return {
        "threshold": column.facts.threshold,
        "learnt": value if isfinite(value) else None,
        "used": column.facts.awaits_threshold and isfinite(value),
        "accuracy": interval(fitted.accuracy),
        "n": fitted.accuracy.n,
        "baseline": baseline,
        "kappa": _kappa(
            fitted.accuracy.value, float(rows.labels.mean()), float((rows.scores >= fitted.threshold).mean())
        ),
        "is_judge": fitted.accuracy.low > baseline["value"],
    }


def _baseline(labels: Floats) -> metrics_report.BaselineEntry:
    right = float(labels.mean())
    return {"value": max(right, 1.0 - right), "rule": "passing everything" if right >= 0.5 else "failing everything"}  # noqa: PLR2004


def _kappa(accuracy: float, right: float, passed: float) -> float | None:
    """Cohen's kappa of an accuracy; right, passed: shares of rows. None where agreement by chance is complete."""
    by_chance = right * passed + (1.0 - right) * (1.0 - passed)
    return (accuracy - by_chance) / (1.0 - by_chance) if by_chance < 1.0 else None


def _labelled(candidate: Candidate, column: ScoreColumn) -> LabelledScores | None:
    """The rows of a candidate that have a label and a score."""
    label = column_of(candidate, LABEL)
    if label is None or column.name == LABEL:
        return None
    both = ~np.isnan(label.values) & ~np.isnan(column.values)
    passed = None if column.passed is None else column.passed[both]
    clusters = None if candidate.groups is None else candidate.groups[both]
    scores = column.facts.sign * column.values[both]
    return LabelledScores(scores, label.values[both], passed, clusters, candidate.keys[both])


def interval(estimate: statistics.Estimate | statistics.PairedDifference) -> metrics_report.Interval:
    """The estimate as reports/metrics.json has it."""
    value = estimate.value if isfinite(estimate.value) else None
    return {"value": value, "low": estimate.low, "high": estimate.high, "method": str(estimate.method)}
