"""People's rate from labels of a part of the rows: the scores of all rows, and a judge whose error is known, help."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import sqrt

import numpy as np
import scipy

from goldmeter import statistics
from goldmeter.estimates import human_labels
from goldmeter.estimates.columns import Candidate, ScoreColumn
from goldmeter.estimates.estimates import is_one_cluster, silenced, with_warnings
from goldmeter.estimates.headline import standard_error
from goldmeter.estimates.judge_bias import rate_bias
from goldmeter.estimates.metrics_report import PredictionPowered, SelectedLabels
from goldmeter.estimates.primary import VERDICT
from goldmeter.estimates.signature import VerdictSource
from goldmeter.estimates.sums import CandidateSums, ColumnSums, column_of
from goldmeter.metrics.base import Floats


def prediction_powered(
    candidate: Candidate, probabilities: Floats, confidence: float, *, random: bool
) -> PredictionPowered | None:
    """The share of right answers, from labels on a part of the rows, chosen at random, and every metric on all of them.

    Args:
        candidate: n rows.
        probabilities: That answers are right, by judges, shape (n,) or (n, j).
        confidence: Between 0.5 and 1.
        random: Whether params say that the labelled rows were chosen at random, with equal or known probabilities.

    Returns:
        None for labels that were not chosen at random, too few labels, and labels on every row with equal chances.
    """
    label, designed = column_of(candidate, human_labels.LABEL), candidate.labels_designed
    labelled = None if label is None else ~np.isnan(label.values)
    if label is None or labelled is None or not random or labelled.sum() < human_labels.FEWEST:
        return None
    scores = human_labels.cheap_scores(candidate, probabilities)
    clusters, rest = human_labels.split(candidate.groups, labelled, ~labelled)
    if is_one_cluster(clusters) or not (designed or (scores.shape[1] and not labelled.all())):
        return None
    expected = human_labels.expected_labels(label.values, scores, candidate.groups)
    by = f"{scores.shape[1]} score{'' if scores.shape[1] == 1 else 's'}, cross-fitted"
    if designed:
        result = _designed(candidate, label.values, expected, confidence)
    else:
        labels, inside, outside = label.values[labelled], expected[labelled], expected[~labelled]
        result = with_warnings(
            lambda: statistics.ppi_mean(labels, inside, outside, clusters, rest, confidence=confidence)
        )
    return human_labels.powered_entry(*_with_judge(candidate, result, label.values, expected, confidence), by)


def designed_estimates(
    candidate: Candidate, probabilities: Floats, confidence: float
) -> Iterator[tuple[str | None, str | None, statistics.Estimate]]:
    """The share of right answers by labels that a design chose: over all rows, and over each slice.

    The mean of such labels alone would be that of rows on which the judge is unsure. A part without labels, or with
    those of a single cluster, has no value.

    Args:
        candidate: n rows with `label_probability`.
        probabilities: That answers are right, by judges, shape (n,) or (n, j).
        confidence: Between 0.5 and 1.

    Yields:
        Slice column and value, both None for all rows, and the estimate.
    """
    label = column_of(candidate, human_labels.LABEL)
    if label is None:
        return
    expected = human_labels.expected_labels(
        label.values, human_labels.cheap_scores(candidate, probabilities), candidate.groups
    )
    yield None, None, _designed(candidate, label.values, expected, confidence).estimate
    for name, coded in candidate.slices.items():
        for code in np.unique(coded.codes):
            part = coded.codes == code
            result = _designed(candidate.rows(part), label.values[part], expected[part], confidence)
            yield name, coded.values[code], result.estimate


def _with_judge(
    candidate: Candidate, result: statistics.PpiEstimate, labels: Floats, expected: Floats, confidence: float
) -> tuple[statistics.PpiEstimate, str | None]:
    """The estimate with what is known of the judge's error, if that narrows it, and the judge's name.

    labels: shape (n,), NaN without one; expected: shape (n,).
    """
    verdicts = column_of(candidate, VERDICT)
    if verdicts is None or not human_labels.most_have(verdicts.values):
        return result, None
    judge = VerdictSource.of(verdicts.facts.signature)
    bias = rate_bias(judge, 0.0 if candidate.outside is None else float(candidate.outside.mean()))
    if bias is None:
        return result, None
    judged = ~np.isnan(verdicts.values)
    groups = None if candidate.groups is None else candidate.groups[judged]
    with silenced():
        by_judge = statistics.mean_interval(verdicts.values[judged], groups, confidence=confidence)
        chances = np.full(len(labels), np.count_nonzero(~np.isnan(labels)) / len(labels))
        if candidate.label_probability is not None:
            chances = candidate.label_probability
        variance = statistics.variance_over_rows(statistics.DesignedLabels(labels, expected, chances), candidate.groups)
    sampling = standard_error(by_judge.low, by_judge.high, confidence) ** 2
    known = statistics.LabelledEstimate(result.value, variance)
    low, high = statistics.people_rate(by_judge.value, bias, sampling, known, confidence)
    low, high = min(low, result.value), max(high, result.value)
    before = result.high - result.low
    if high - low >= before:
        return result, None
    worth = result.labels_worth * (before / (high - low)) ** 2
    return result._replace(low=low, high=high, labels_worth=worth), judge.name


def _designed(candidate: Candidate, labels: Floats, expected: Floats, confidence: float) -> statistics.PpiEstimate:
    """Estimate from labels that a design chose; labels, expected: shape (n,), NaN without a label."""
    labelled = ~np.isnan(labels)
    clusters, rest = human_labels.split(candidate.groups, labelled, ~labelled)
    chances = np.asarray(candidate.label_probability)[labelled]
    if is_one_cluster(clusters):
        labelled[:], chances, clusters, rest = False, chances[:0], None, None
    inside, outside = expected[labelled], expected[~labelled]
    return with_warnings(
        lambda: statistics.designed_mean(
            labels[labelled], inside, outside, chances, clusters, rest, confidence=confidence
        )
    )


# A random part looks so unlike all rows in one of a thousand runs.
LEVEL = 0.001


def selected(labelled: Sequence[Candidate], scored: Iterable[CandidateSums]) -> dict[str, SelectedLabels]:
    """Candidate whose labelled rows are unlike all rows → how unlike; only of labels that are said to be random.

    Each score that nearly all rows have is tested, and the p values are corrected for their number (Bonferroni). A pass
    rate is tested by the binomial distribution, another score by the normal one; the spread is that of all rows, and
    groups count by their design effect.

    Args:
        labelled: The candidates with their labelled rows.
        scored: The sums of all rows.
    """
    by_name = {one.name: one for one in labelled}
    found: dict[str, SelectedLabels] = {}
    for every in scored:
        some = by_name.get(every.name)
        if some is None or not every.labels_random or every.labels_designed:
            continue
        tested = [*_tests(some, every)]
        if tested and (least := min(tested, key=lambda one: one["p_value"]))["p_value"] * len(tested) < LEVEL:
            found[every.name] = {**least, "p_value": min(least["p_value"] * len(tested), 1.0)}
    return found


def without_random(candidates: Iterable[CandidateSums], found: Mapping[str, SelectedLabels]) -> list[CandidateSums]:
    """The candidates, labels that are unlike all rows no longer taken for random."""
    return [replace(one, labels_random=False) if one.name in found else one for one in candidates]


def _tests(some: Candidate, every: CandidateSums) -> Iterable[SelectedLabels]:
    label = next((column for column in some.columns if column.name == human_labels.LABEL), None)
    totals = {column.name: column for column in every.columns}
    if label is None or totals[human_labels.LABEL].n_measured == totals[human_labels.LABEL].n_rows:
        return
    chosen = ~np.isnan(label.values)
    for column in some.columns:
        total = totals.get(column.name)
        if column.name == human_labels.LABEL or column.facts.by_people or total is None:
            continue
        rows = np.flatnonzero(chosen & ~np.isnan(column.values))
        if len(rows) < human_labels.FEWEST or total.n_measured < (1.0 - human_labels.MOST_MISSING) * total.n_rows:
            continue
        groups = None if some.groups is None else some.groups[rows]
        if groups is None or len(np.unique(groups)) >= human_labels.FEWEST:
            yield _test(column, total, rows, groups)


def _test(column: ScoreColumn, total: ColumnSums, rows: np.ndarray, groups: np.ndarray | None) -> SelectedLabels:
    is_rate = column.passed is not None and total.passed is not None
    values: Floats = (
        column.passed[rows].astype(np.float64) if is_rate and column.passed is not None else column.values[rows]
    )
    moments = total.verdicts if is_rate else total.moments
    n, expected, spread = len(rows), moments.mean, sqrt(moments.variance)
    independent = n / _design_effect(values, groups)
    mean = float(values.mean())
    if is_rate:
        passed = round(mean * independent)
        below = float(scipy.stats.binom.cdf(passed, round(independent), expected))
        above = float(scipy.stats.binom.sf(passed - 1, round(independent), expected))
        p_value = min(2.0 * min(below, above), 1.0)
    else:
        z = (mean - expected) / (spread / sqrt(independent)) if spread else 0.0
        p_value = 2.0 * float(scipy.special.ndtr(-abs(z)))
    return {"measure": column.name, "labelled": mean, "all": expected, "p_value": p_value}


def _design_effect(values: Floats, groups: np.ndarray | None) -> float:
    """How many times the variance of independent rows the mean of rows in groups has, 1 at least."""
    if groups is None:
        return 1.0
    deviations = values - values.mean()
    totals = np.bincount(np.unique(groups, return_inverse=True)[1], weights=deviations)
    alone = float(deviations @ deviations)
    return max(float(totals @ totals) / alone, 1.0) if alone else len(values) / len(totals)
