"""Differences of two candidates by the weights of `dataset.weight`, those of HEAD."""

from typing import TYPE_CHECKING

import numpy as np

from tasks.comparison.compared import Compared
from tasks.scores.row_weights import CORPUS, NOTHING

if TYPE_CHECKING:  # importing scipy takes half a second
    from tasks.statistics import PairedDifference


def refusal(one: Compared) -> str | None:
    """Why a measure can't be compared by weights; None when it can."""
    if one.by_question:
        return "dataset.weight weights rows, and this is a measure by question"
    if one.is_designed:
        return "dataset.weight is not combined with labels of a design"
    if one.head.kind == "corpus":
        return f"dataset.weight: {CORPUS}"
    if one.sums.weighted is None:
        return "dataset.weight: the newer version has no weights"
    return None if one.sums.weighted.n else f"dataset.weight: {NOTHING}"


def weighted_difference(one: Compared, plain: "PairedDifference", confidence: float) -> "PairedDifference":
    """The weighted difference with its interval and p value; with equal weights, the plain one."""
    from tasks.scores.estimates import ONE_CLUSTER
    from tasks.statistics import Method
    from tasks.statistics.weighted import weighted_difference as difference

    sums = one.sums.weighted
    if sums is None or (sums.n == one.n and sums.are_equal):
        return plain
    width = one.head.scale if one.head.bounds else np.inf
    found = difference(sums, width, confidence)
    if sums.groups is not None and len(sums.groups.keys) == 1:
        return found._replace(method=Method(ONE_CLUSTER))
    return found._replace(method=found.method.with_notes(*plain.method.notes))


def weighted_sides(one: Compared) -> tuple[float, float]:
    """The weighted values of BASE and HEAD."""
    weight = one.sums.weighted.weight if one.sums.weighted else np.nan
    return one.sums.base.weighted_total / weight, one.sums.head.weighted_total / weight
