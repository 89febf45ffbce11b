"""Agreement of raters: people with each other, a judge with grades of people, and a judge with itself."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from goldmeter.estimates import metrics_report
from goldmeter.estimates.columns import (
    NONE_FITTED,
    NOT_RATED,
    Candidate,
    Mask,
    Ratings,
    ScoreColumn,
    group_keys,
    hashed,
)
from goldmeter.estimates.estimates import is_one_cluster, silenced, with_warnings
from goldmeter.estimates.human_labels import (
    FEWEST,
    LABEL,
    cheap_scores,
    expected_labels,
    interval,
    joined,
    powered_entry,
    split,
)
from goldmeter.estimates.score_parts import ScoreParts
from goldmeter.estimates.sums import CandidateSums
from goldmeter.estimates.verdict_columns import REPEATED, verdicts_column
from goldmeter.metrics.base import Floats
from goldmeter.pipeline.tables import Parts
from goldmeter.statistics import mean_interval, paired_difference, ppi_mean
from goldmeter.statistics.agreement import krippendorff_alpha, pair_agreement, quadratic_kappa, self_agreement, spearman
from goldmeter.statistics.clusters import Codes

# Others differ more often on the rows that an adjudicator rated than on the rest, by more than this share.
MORE_OFTEN = 0.5


def raters_entry(candidate: Candidate, confidence: float) -> metrics_report.RatersEntry | None:
    """What several raters say of a candidate's answers; None where fewer than FEWEST rows have two ratings.

    Args:
        candidate: Its rated rows.
        confidence: Of each interval.
    """
    if candidate.ratings is None:
        return None
    asked_to_decide = adjudicators(candidate.ratings)
    ratings = np.delete(candidate.ratings, asked_to_decide, axis=1)
    counts = np.column_stack([(ratings == said).sum(axis=1) for said in (0, 1)])
    rated, pairs = counts.sum(axis=1), pair_agreement(counts)
    several = ~np.isnan(pairs)
    if several.sum() < FEWEST or is_one_cluster(_groups_of(candidate.groups, several)):
        return None
    right = counts[:, 1] / np.maximum(rated, 1)
    groups = candidate.groups
    with silenced():
        return {
            "n": int(several.sum()),
            "n_rated": int((rated > 0).sum()),
            "alpha": interval(krippendorff_alpha(counts, groups, confidence)),
            "pair": interval(mean_interval(pairs[several], _groups_of(groups, several), confidence=confidence)),
            "mean_label": interval(
                mean_interval(right[rated > 0], _groups_of(groups, rated > 0), confidence=confidence)
            ),
            "adjudicators": [number + 1 for number in asked_to_decide],
            "metrics": {
                column.name: found
                for column in candidate.columns
                if (found := _one_rater(column, right, pairs, groups, confidence))
            },
        }


def adjudicators(ratings: Ratings) -> list[int]:
    """The raters who were asked mostly where the others differ, so that their ratings say nothing of agreement.

    >>> adjudicators(np.array([[1, 1, -1], [0, 0, -1], [1, 0, 1], [0, 1, 1]]))
    [2]
    """
    found = []
    for number in range(ratings.shape[1]):
        others = np.delete(ratings, number, axis=1)
        differ = (others == 0).any(axis=1) & (others == 1).any(axis=1)
        rated = ratings[:, number] != NOT_RATED
        if rated.any() and not rated.all() and differ[rated].mean() - differ[~rated].mean() > MORE_OFTEN:
            found.append(number)
    return found


def _one_rater(
    column: ScoreColumn, right: Floats, pairs: Floats, groups: Codes | None, confidence: float
) -> metrics_report.OneRaterEntry | None:
    """How often a column's pass or fail is what a rater says; right: the share of raters who call a row right."""
    both = ~np.isnan(pairs) & ~np.isnan(column.values)
    clusters = _groups_of(groups, both)
    if column.passed is None or column.name == LABEL or both.sum() < FEWEST or is_one_cluster(clusters):
        return None
    same = np.where(column.passed, right, 1.0 - right)[both]
    difference = paired_difference(same - pairs[both], clusters, confidence=confidence)
    return {
        "n": int(both.sum()),
        "value": interval(mean_interval(same, clusters, confidence=confidence)),
        "difference": interval(difference),
    }


def _groups_of(groups: "NDArray[np.intp] | None", rows: Mask) -> "NDArray[np.intp] | None":
    return None if groups is None else groups[rows]


def graded_entries(
    parts: ScoreParts, scored: Sequence[CandidateSums], confidence: float, *, grouped: bool
) -> metrics_report.GradedAgreement:
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
    found: metrics_report.GradedAgreement = {}
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


def _agreement(
    candidate: Candidate, grades: ScoreColumn, judged: ScoreColumn, confidence: float
) -> metrics_report.GradedEntry | None:
    """How far a judge's scores agree with grades; on two scales, the bounds of both are taken for the same."""
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


def graded_prediction_powered(
    candidate: Candidate, column: ScoreColumn, probabilities: Floats, confidence: float
) -> metrics_report.PredictionPowered | None:
    """The mean grade, from grades of a part of the rows, chosen at random, and other scores of all of them.

    Args:
        candidate: n rows, of which those with labels were chosen at random, with equal chances.
        column: The grades.
        probabilities: That answers are right, by judges, shape (n,) or (n, j).
        confidence: Between 0.5 and 1.

    Returns:
        None for too few grades, grades of every row, and without any score of nearly all rows.
    """
    graded, bounds = ~np.isnan(column.values), column.facts.bounds
    scores = cheap_scores(candidate, probabilities, column.name)
    clusters, rest = split(candidate.groups, graded, ~graded)
    if bounds is None or graded.sum() < FEWEST or graded.all() or not scores.shape[1] or is_one_cluster(clusters):
        return None
    expected = expected_labels(column.values, scores, candidate.groups, bounds)
    values, inside, outside = column.values[graded], expected[graded], expected[~graded]
    result = with_warnings(lambda: ppi_mean(values, inside, outside, clusters, rest, bounds, confidence))
    return powered_entry(result, None, f"{scores.shape[1]} score{'' if scores.shape[1] == 1 else 's'}, cross-fitted")


class _Repeated(NamedTuple):
    """The verdicts of one candidate's rows that have several, one after the other.

    rows: number of each verdict's row. groups: cluster of each row; None where no row has a group.
    """

    verdicts: Floats
    rows: NDArray[np.intp]
    groups: NDArray[np.intp] | None


def self_agreement_entries(
    load: Parts, judge: Parts, confidence: float, *, grouped: bool
) -> dict[str, dict[str, metrics_report.SelfAgreementEntry]]:
    """Return candidate → score column → how far its verdicts agree with each other.

    Args:
        load: data/load.
        judge: data/judge.
        confidence: Of each interval.
        grouped: Whether any row has a group.
    """
    stated: Mapping[str, Mapping[str, Any]] = judge.about.get(REPEATED, {})
    found: dict[str, dict[str, metrics_report.SelfAgreementEntry]] = {}
    for metric, about in stated.items():
        for name, repeated in _repeated_by_candidate(load, judge, verdicts_column(metric), grouped=grouped).items():
            if entry := _self_agreement_entry(repeated, about, confidence):
                found.setdefault(name, {})[about["column"]] = entry
    return {name: found[name] for name in sorted(found)}


def noise(
    entries: Mapping[str, Mapping[str, metrics_report.SelfAgreementEntry]], judge: Parts
) -> dict[tuple[str, str], float]:
    """Return the variance of a row's score that the judge adds, by candidate and measure."""
    measures = {about["column"]: about["measures"] for about in judge.about.get(REPEATED, {}).values()}
    every = [(name, column, entry["noise"]) for name, own in entries.items() for column, entry in own.items()]
    return {
        (name, measure): variance
        for name, column, variance in every
        if variance is not None
        for measure in measures[column]
    }


def _self_agreement_entry(
    repeated: _Repeated, about: Mapping[str, Any], confidence: float
) -> metrics_report.SelfAgreementEntry | None:
    if np.unique(repeated.rows).size < FEWEST or is_one_cluster(repeated.groups):
        return None
    bounds = None if about["bounds"] is None else (float(about["bounds"][0]), float(about["bounds"][1]))
    with silenced():
        result = self_agreement(repeated.verdicts, repeated.rows, repeated.groups, bounds, confidence)
    is_known = bounds is not None and result.total > 0.0
    return {
        "n": result.n,
        "pairs": result.pairs,
        "equal": interval(result.equal),
        "distance": interval(result.distance) if result.distance and not about["is_binary"] else None,
        "noise": result.variance / about["draws"] if bounds is not None else None,
        "share": _share(result.variance, result.total, about["draws"]) if is_known else None,
    }


def _share(variance: float, total: float, draws: int) -> float:
    """Return the judge's share of the variance of a score that is the mean of so many verdicts."""
    own = variance / draws
    return own / (total - variance + own)


def _repeated_by_candidate(load: Parts, judge: Parts, column: str, *, grouped: bool) -> dict[str, _Repeated]:
    parts: dict[str, list[_Repeated]] = {}
    for number in range(len(judge)):
        for name, repeated in _repeated_of_part(load, judge, number, column, grouped=grouped):
            parts.setdefault(name, []).append(repeated)
    return {name: _joined_repeated(own) for name, own in parts.items()}


def _repeated_of_part(
    load: Parts, judge: Parts, number: int, column: str, *, grouped: bool
) -> Iterator[tuple[str, _Repeated]]:
    rows = judge.part(number, ["id", "candidate", column])
    lists = rows[column].combine_chunks()
    counts = lists.value_lengths().fill_null(0).to_numpy()
    several = np.flatnonzero(counts > 1)
    names = rows["candidate"].combine_chunks().take(pa.array(several)).to_pylist()
    groups = _groups(load, number, several) if grouped else None
    chosen = lists.take(pa.array(several))
    values, sizes = chosen.flatten().to_numpy(zero_copy_only=False).astype(np.float64), counts[several]
    owners = np.repeat(np.arange(several.size), sizes)
    for name in sorted(set(names)):
        own = np.array([one == name for one in names], np.bool_)
        inside = own[owners]
        place = np.cumsum(own) - 1
        yield name, _Repeated(values[inside], place[owners[inside]], None if groups is None else groups[own])


def _groups(load: Parts, number: int, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the key of each row's cluster: its group, or else its id."""
    table = load.part(number, ["id", "group"]).take(pa.array(rows))
    return group_keys(table["group"], hashed(table["id"]))


def _joined_repeated(parts: Sequence[_Repeated]) -> _Repeated:
    offsets = np.cumsum([0, *(np.unique(one.rows).size for one in parts)])[:-1]
    groups = [one.groups for one in parts if one.groups is not None]
    return _Repeated(
        np.concatenate([one.verdicts for one in parts]),
        np.concatenate([one.rows + offset for one, offset in zip(parts, offsets, strict=True)]),
        np.concatenate(groups) if groups else None,
    )
