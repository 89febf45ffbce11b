"""Differences of two candidates by the shares of `aggregate.mix`."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from tasks.comparison.compared import Compared
from tasks.scores.mix import Mix, missing_values, without_share

if TYPE_CHECKING:  # importing scipy takes half a second
    from tasks.metrics.base import Floats
    from tasks.statistics import PairedDifference

Parts = Sequence[tuple[float, Compared]]


def refusal(one: Compared, mix: Mix) -> str | None:
    """Why a measure can't be compared by the mix; None when it can."""
    if one.by_question:
        return "aggregate.mix weights rows, and this is a measure by question"
    if one.is_designed:
        return "aggregate.mix is not combined with labels of a design"
    if mix.column not in one.blocks[0].head.slices:
        return f"aggregate.mix: {mix.column} is no slice column of the newer version"
    values = [part.part.value for part in one.slices() if part.part and part.part.column == mix.column and part.n]
    return without_share(mix, values) or missing_values(mix, values) or None


def parts_of(one: Compared, mix: Mix) -> Parts:
    """The share of each value of the mix, and the measure on its rows."""
    found = {part.part.value: part for part in one.slices() if part.part and part.part.column == mix.column}
    # Sums of slices lack what only all rows need; a mix needs the values of both candidates too.
    return [(mix.shares[value], replace(part, known=None)) for value, part in found.items()]


def mixed_difference(
    one: Compared, parts: Parts, estimates: "Callable[[float], list[PairedDifference]]", confidence: float
) -> "PairedDifference":
    """The sum of share times difference, with an interval from those of the parts, and its p value by inversion.

    estimates: confidence → the difference of each part.

    Source: Zou & Donner 2008.
    """
    from tasks.statistics import Method, PairedDifference
    from tasks.statistics.mixed import MixedMean, Stratum, cluster_correlation, mixed_mean
    from tasks.statistics.paired_ppi import inverted

    clusters = [_influence(part) for _, part in parts]
    grouped = [some for some in clusters if some is not None]
    correlation = cluster_correlation(grouped) if grouped else None

    @lru_cache
    def mean(level: float) -> MixedMean:
        found = estimates(level)
        strata = [Stratum(share, d.value, d.low, d.high, part.n) for (share, part), d in zip(parts, found, strict=True)]
        return mixed_mean(strata, correlation)

    def excess(alpha: float) -> float:
        limits = mean(1.0 - alpha)
        return limits.low if limits.value > 0.0 else -limits.high

    whole, methods = mean(confidence), [each.method for each in estimates(confidence)]
    is_known = np.isfinite(whole.high - whole.low) and whole.value
    p_value = inverted(excess) if is_known else 1.0
    every = {caution for method in methods for caution in method.notes}
    # "4 clusters: …" stands for all that begin with a larger number.
    cautions = {caution.partition(": ")[2] or caution: caution for caution in sorted(every, reverse=True)}
    width = one.head.scale if one.head.bounds else np.inf
    low, high = max(whole.low, -width), min(whole.high, width)
    return PairedDifference(whole.value, low, high, one.n, Method("mixed", (*cautions.values(),)), p_value)


def _influence(part: Compared) -> "tuple[Floats, Floats] | None":
    """The keys of the clusters of a part, and their influences on its difference; None for independent rows."""
    groups = part.sums.groups
    if groups is None:
        return None
    if part.head.kind == "corpus":  # no mean of rows: as if correlated wholly
        return groups.keys.astype(np.float64), np.zeros(len(groups.keys))
    size, total = groups.by_cluster
    return groups.keys.astype(np.float64), total - size * (total.sum() / size.sum())
