"""Differences of two candidates by the weights of `dataset.weight`, those of HEAD, or by the shares of a mix."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tasks.comparison.compared import Compared
from tasks.scores.sums import summed
from tasks.scores.weighting import CORPUS, NOTHING, Mix, Weighting, missing_values, without_share
from tasks.statistics.weighted import WeightedSums

if TYPE_CHECKING:  # importing scipy takes half a second
    from tasks.statistics import PairedDifference

Parts = Sequence[tuple[float, Compared]]


def refusal(one: Compared, weighting: Weighting) -> str | None:
    """Why a measure can't be compared by mix or weights; None when it can."""
    option = weighting.option
    if one.by_question:
        return f"{option} weights rows, and this is a measure by question"
    if one.is_designed:
        return f"{option} is not combined with labels of a design"
    if one.head.kind == "corpus":
        return f"{option}: {CORPUS}"
    if isinstance(weighting, Mix):
        return _misfit(one, weighting)
    if one.sums.weighted is None:
        return f"{option}: the newer version has no weights"
    return None if one.sums.weighted.n else f"{option}: {NOTHING}"


def _misfit(one: Compared, mix: Mix) -> str | None:
    """Why the shares do not fit the rows; None where they do."""
    if mix.column not in one.blocks[0].head.slices:
        return f"aggregate.mix: {mix.column} is no slice column of the newer version"
    values = [part.part.value for part in one.slices() if part.part and part.part.column == mix.column and part.n]
    return without_share(mix, values) or missing_values(mix, values) or None


def parts_of(one: Compared, mix: Mix) -> Parts:
    """The share of each value of the mix, and the measure on its rows."""
    found = {part.part.value: part for part in one.slices() if part.part and part.part.column == mix.column}
    # Sums of slices lack what only all rows need; a mix needs the values of both candidates too.
    return [(mix.shares[value], replace(part, known=None)) for value, part in found.items()]


def by_shares(one: Compared, parts: Parts) -> Compared:
    """The measure with weights: the rows of each part weigh its share together."""
    unit = one.head.scale if one.head.bounds else 1.0
    weighted, base, head = [], 0.0, 0.0
    for share, part in parts:
        factor = share / part.n
        base += factor * part.sums.base.shared_total
        head += factor * part.sums.head.shared_total
        for rows in part.rows():
            ones = np.ones(len(rows.differences))
            weighted.append(WeightedSums.of(rows.differences / unit, ones, rows.clusters).times(factor))
    sides = [side._replace(weighted_total=total) for side, total in ((one.sums.base, base), (one.sums.head, head))]
    return replace(one, known=one.sums._replace(base=sides[0], head=sides[1], weighted=summed(weighted)))


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
