"""Grades that people gave: how far a judge agrees with them, and their mean from few of them."""

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from tasks.metrics.base import Floats
from tasks.scores.columns import NONE_FITTED, Candidate, ScoreColumn
from tasks.scores.estimates import is_one_cluster, silenced, with_warnings
from tasks.scores.human_labels import FEWEST, cheap_scores, expected_labels, interval, joined, powered_entry, split
from tasks.scores.metrics_report import GradedAgreement, GradedEntry, PredictionPowered
from tasks.scores.score_parts import ScoreParts
from tasks.scores.sums import CandidateSums


def entries(parts: ScoreParts, scored: Sequence[CandidateSums], confidence: float, *, grouped: bool) -> GradedAgreement:
    """Return candidate → column of grades → score column of a judge → how far the two agree.

    Args:
        parts: The tables.
        scored: The candidates.
        confidence: Of each interval.
        grouped: Whether any row has a group.
    """
    columns = {column.name: column.facts for one in scored for column in one.columns}
    grades = [name for name, facts in columns.items() if facts.by_people]
    judged = [name for name, facts in columns.items() if facts.family == "judge" and facts.bounds]
    if not grades or not judged:
        return {}
    rows = (_graded(parts, number, [*grades, *judged], grouped=grouped) for number in range(len(parts.load)))
    found: GradedAgreement = {}
    for candidate in joined(rows):
        own = {column.name: column for column in candidate.columns}
        for name in grades:
            with_grade = {
                metric: entry
                for metric in judged
                if (entry := _agreement(candidate, own[name], own[metric], confidence))
            }
            if with_grade:
                found.setdefault(candidate.name, {})[name] = with_grade
    return found


def _graded(parts: ScoreParts, number: int, named: Collection[str], *, grouped: bool) -> list[Candidate]:
    """Return the rows of a part that have a grade."""
    found = parts.candidates(number, NONE_FITTED, named, grouped=grouped)
    return [one.rows(np.logical_or.reduce(list(_has_grade(one)))) for one in found]


def _has_grade(candidate: Candidate) -> Iterator[Floats]:
    return (~np.isnan(column.values) for column in candidate.columns if column.facts.by_people)


def _agreement(candidate: Candidate, grades: ScoreColumn, judged: ScoreColumn, confidence: float) -> GradedEntry | None:
    """How far a judge's scores agree with grades; on two scales, the bounds of both are taken for the same."""
    from tasks.statistics.agreement import quadratic_kappa, spearman

    both = ~np.isnan(grades.values) & ~np.isnan(judged.values)
    clusters = None if candidate.groups is None else candidate.groups[both]
    if both.sum() < FEWEST or is_one_cluster(clusters):
        return None
    own, given = (_unit(column)[both] for column in (judged, grades))
    with silenced():
        return {
            "n": int(both.sum()),
            "kappa": interval(quadratic_kappa(own, given, clusters, confidence=confidence)),
            "spearman": interval(spearman(own, given, clusters, confidence)),
        }


def _unit(column: ScoreColumn) -> Floats:
    """The scores on a scale from 0 to 1, of which more is better."""
    low, high = column.facts.bounds or (0.0, 1.0)
    unit = np.clip((column.values - low) / (high - low), 0.0, 1.0)
    return unit if column.facts.higher_is_better else 1.0 - unit


def prediction_powered(
    candidate: Candidate, column: ScoreColumn, offline: Floats, confidence: float
) -> PredictionPowered | None:
    """The mean grade, from grades of a part of the rows, chosen at random, and other scores of all of them.

    Args:
        candidate: n rows, of which those with labels were chosen at random, with equal chances.
        column: The grades.
        offline: The offline judge's probabilities, shape (n,).
        confidence: Between 0.5 and 1.

    Returns:
        None for too few grades, grades of every row, and without any score of nearly all rows.
    """
    from tasks.statistics import ppi_mean

    graded, bounds = ~np.isnan(column.values), column.facts.bounds
    scores = cheap_scores(candidate, offline, column.name)
    clusters, rest = split(candidate.groups, graded, ~graded)
    if bounds is None or graded.sum() < FEWEST or graded.all() or not scores.shape[1] or is_one_cluster(clusters):
        return None
    expected = expected_labels(column.values, scores, candidate.groups, bounds)
    values, inside, outside = column.values[graded], expected[graded], expected[~graded]
    result = with_warnings(lambda: ppi_mean(values, inside, outside, clusters, rest, bounds, confidence))
    return powered_entry(result, f"{scores.shape[1]} score{'' if scores.shape[1] == 1 else 's'}, cross-fitted")
