"""Whether labels that are said to be of a random part of the rows may be, by the scores of those rows and of all."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import sqrt

import numpy as np

from goldmeter.estimates.columns import Candidate, ScoreColumn
from goldmeter.estimates.human_labels import FEWEST, LABEL, MOST_MISSING
from goldmeter.estimates.metrics_report import SelectedLabels
from goldmeter.estimates.sums import CandidateSums, ColumnSums
from goldmeter.metrics.base import Floats

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
    label = next((column for column in some.columns if column.name == LABEL), None)
    totals = {column.name: column for column in every.columns}
    if label is None or totals[LABEL].n_measured == totals[LABEL].n_rows:
        return
    chosen = ~np.isnan(label.values)
    for column in some.columns:
        total = totals.get(column.name)
        if column.name == LABEL or column.facts.by_people or total is None:
            continue
        rows = np.flatnonzero(chosen & ~np.isnan(column.values))
        if len(rows) < FEWEST or total.n_measured < (1.0 - MOST_MISSING) * total.n_rows:
            continue
        groups = None if some.groups is None else some.groups[rows]
        if groups is None or len(np.unique(groups)) >= FEWEST:
            yield _test(column, total, rows, groups)


def _test(column: ScoreColumn, total: ColumnSums, rows: np.ndarray, groups: np.ndarray | None) -> SelectedLabels:
    from scipy.special import ndtr
    from scipy.stats import binom

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
        below = float(binom.cdf(passed, round(independent), expected))
        above = float(binom.sf(passed - 1, round(independent), expected))
        p_value = min(2.0 * min(below, above), 1.0)
    else:
        z = (mean - expected) / (spread / sqrt(independent)) if spread else 0.0
        p_value = 2.0 * float(ndtr(-abs(z)))
    return {"measure": column.name, "labelled": mean, "all": expected, "p_value": p_value}


def _design_effect(values: Floats, groups: np.ndarray | None) -> float:
    """How many times the variance of independent rows the mean of rows in groups has, 1 at least."""
    if groups is None:
        return 1.0
    deviations = values - values.mean()
    totals = np.bincount(np.unique(groups, return_inverse=True)[1], weights=deviations)
    alone = float(deviations @ deviations)
    return max(float(totals @ totals) / alone, 1.0) if alone else len(values) / len(totals)
