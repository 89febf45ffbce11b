"""Several raters of one answer: how far they agree, what they say on average, and how often a metric says the same."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tasks.metrics.base import Floats
from tasks.scores.columns import NOT_RATED, Candidate, Mask, Ratings, ScoreColumn
from tasks.scores.estimates import is_one_cluster, silenced
from tasks.scores.human_labels import FEWEST, LABEL, interval
from tasks.scores.metrics_report import OneRaterEntry, RatersEntry

if TYPE_CHECKING:  # importing scipy takes half a second, and every stage reads this module's params
    from tasks.statistics.clusters import Codes

# Others differ more often on the rows that an adjudicator rated than on the rest, by more than this share.
MORE_OFTEN = 0.5


def entry(candidate: Candidate, confidence: float) -> RatersEntry | None:
    """What several raters say of a candidate's answers; None where fewer than FEWEST rows have two ratings.

    Args:
        candidate: Its rated rows.
        confidence: Of each interval.
    """
    from tasks.statistics import mean_interval
    from tasks.statistics.agreement import krippendorff_alpha, pair_agreement

    if candidate.ratings is None:
        return None
    asked_to_decide = adjudicators(candidate.ratings)
    ratings = np.delete(candidate.ratings, asked_to_decide, axis=1)
    counts = np.column_stack([(ratings == said).sum(axis=1) for said in (0, 1)])
    rated, pairs = counts.sum(axis=1), pair_agreement(counts)
    several = ~np.isnan(pairs)
    if several.sum() < FEWEST or is_one_cluster(_of(candidate.groups, several)):
        return None
    right = counts[:, 1] / np.maximum(rated, 1)
    groups = candidate.groups
    with silenced():
        return {
            "n": int(several.sum()),
            "n_rated": int((rated > 0).sum()),
            "alpha": interval(krippendorff_alpha(counts, groups, confidence)),
            "pair": interval(mean_interval(pairs[several], _of(groups, several), confidence=confidence)),
            "mean_label": interval(mean_interval(right[rated > 0], _of(groups, rated > 0), confidence=confidence)),
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
    column: ScoreColumn, right: Floats, pairs: Floats, groups: "Codes | None", confidence: float
) -> OneRaterEntry | None:
    """How often a column's pass or fail is what a rater says; right: the share of raters who call a row right."""
    from tasks.statistics import mean_interval, paired_difference

    both = ~np.isnan(pairs) & ~np.isnan(column.values)
    clusters = _of(groups, both)
    if column.passed is None or column.name == LABEL or both.sum() < FEWEST or is_one_cluster(clusters):
        return None
    same = np.where(column.passed, right, 1.0 - right)[both]
    difference = paired_difference(same - pairs[both], clusters, confidence=confidence)
    return {
        "n": int(both.sum()),
        "value": interval(mean_interval(same, clusters, confidence=confidence)),
        "difference": interval(difference),
    }


def _of(groups: "NDArray[np.intp] | None", rows: Mask) -> "NDArray[np.intp] | None":
    return None if groups is None else groups[rows]
