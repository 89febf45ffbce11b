"""Differences of two candidates with intervals: all of one family hold together, slices are exploratory."""

from collections.abc import Iterator, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tasks.comparison.gate import Gate, Verdict, verdict
from tasks.comparison.measures import Measure
from tasks.comparison.pairing import Pairing, Positions
from tasks.metrics.base import Floats
from tasks.scores import estimates
from tasks.scores.columns import Mask, ScoreColumn
from tasks.scores.estimates import UNBOUNDED

if TYPE_CHECKING:  # importing scipy takes half a second
    from tasks.statistics import PairedDifference

MOST_JOINT = 200
"""Differences beyond which their correlations cost more than they gain: then none are assumed, which asks for most."""
MOST_NUMBERS = 5 * 10**7
"""Rows times differences beyond which the same holds."""
POWER = 0.8
"""How often the smallest difference that is named would be found."""


class Compared(NamedTuple):
    """One measure of two candidates on their shared rows; n of them are measured on both sides.

    base, head: the measure of either side, on all its rows. measured: which of the pairing's shared rows are the n.
    """

    pairing: Pairing
    base: Measure
    head: Measure
    measured: Mask

    @property
    def differences(self) -> Floats:
        """New minus old, row by row, shape (n,)."""
        pairing = self.pairing
        there = self.base.values[pairing.base_rows[self.measured]]
        return np.asarray(self.head.values[pairing.head_rows[self.measured]] - there)

    @property
    def clusters(self) -> Positions | None:
        """The cluster of each of the n rows."""
        return None if self.pairing.groups is None else self.pairing.groups[self.measured]

    @property
    def columns(self) -> tuple[ScoreColumn, ScoreColumn]:
        """The columns of either side on the n rows."""
        pairing = self.pairing
        return (
            self.base.column.rows(pairing.base_rows[self.measured]),
            self.head.column.rows(pairing.head_rows[self.measured]),
        )

    def where(self, rows: Mask) -> "Compared":
        """The same on some of the pairing's shared rows."""
        return self._replace(measured=self.measured & rows)

    def failed(self) -> tuple[Mask, Mask]:
        """Which of the pairing's shared rows were asked for, before and after, and could not be measured."""
        sides = ((self.base, self.pairing.base_rows), (self.head, self.pairing.head_rows))
        before, after = (np.isnan(measure.values[rows]) & ~measure.column.not_asked[rows] for measure, rows in sides)
        return before, after

    def unchanged(self) -> bool:
        """Whether every row is the same on both sides, also where it could not be measured."""
        if not np.array_equal(*self.failed()):
            return False
        if self.head.kind != "corpus":
            return not self.differences.any()
        base, head = self.columns
        return bool(np.array_equal(base.stats, head.stats))  # type: ignore[arg-type]  # a corpus column has statistics


class Difference(NamedTuple):
    """A difference with its interval at the confidence that its family leaves it, and what the gate says.

    margin: the smallest loss that matters, in the units of the measure.
    """

    compared: Compared
    estimate: "PairedDifference"
    margin: float
    verdict: Verdict


def compared(pairing: Pairing, base: Measure, head: Measure) -> Compared:
    """The rows that are measured on both sides."""
    there, here = base.values[pairing.base_rows], head.values[pairing.head_rows]
    return Compared(pairing, base, head, ~np.isnan(there) & ~np.isnan(here))


def family(each: Sequence[Compared], gate: Gate) -> tuple[list[Difference], float]:
    """All differences, wrong about any of them with probability 1 - confidence at most; and the critical value.

    The critical value is the quantile of the largest of the correlated normal deviates: Romano & Wolf 2005.
    """
    critical = critical_value(each, gate.confidence)
    return [_difference(one, local_confidence(critical), gate) for one in each], critical


def local_confidence(critical: float) -> float:
    """The confidence of one interval of a family with this critical value."""
    from scipy.special import ndtr

    return float(2.0 * ndtr(critical) - 1.0)


def critical_value(each: Sequence[Compared], confidence: float) -> float:
    """How many standard errors the largest of all differences stays within."""
    from tasks.statistics import max_t, sidak

    if not each:
        return float("nan")
    keys = np.unique(np.concatenate([one.pairing.keys for one in each]))
    if len(each) > MOST_JOINT or len(each) * len(keys) > MOST_NUMBERS:
        return sidak(len(each), confidence)
    influence = np.zeros((len(keys), len(each)))
    groups = None if each[0].pairing.groups is None else np.arange(len(keys), dtype=np.intp)
    for number, one in enumerate(each):
        rows = np.searchsorted(keys, one.pairing.keys[one.measured])
        influence[rows, number] = _influence(one)
        if groups is not None and one.pairing.groups is not None:
            groups[np.searchsorted(keys, one.pairing.keys)] = len(keys) + one.pairing.groups
    with estimates.silenced():
        return max_t(influence, None if estimates.is_one_cluster(groups) else groups, confidence)


def alone(one: Compared, confidence: float) -> "PairedDifference":
    """A difference for itself: nothing is corrected."""
    return _estimate(one, confidence)


def detectable(one: Compared, confidence: float) -> float | None:
    """The smallest true difference that these rows would have shown in four of five cases."""
    from tasks.statistics import detectable_corpus_difference, detectable_difference

    if not _has_spread(one):
        return None
    with estimates.silenced():
        if one.head.kind == "corpus":
            influence = _influence(one) * one.head.scale
            found = detectable_corpus_difference(influence, one.clusters, POWER, confidence)
        else:
            found = detectable_difference(one.differences, one.clusters, _bounds(one), POWER, confidence)
    beyond = one.head.bounds is not None and found > one.head.scale
    return found if isfinite(found) and not beyond else None


def rows_needed(one: Compared, difference: float, confidence: float) -> int | None:
    """How many rows like these would show this difference in four of five cases."""
    from tasks.statistics import TooManyRowsError, rows_to_find

    if not _has_spread(one) or one.head.kind == "corpus" or not difference:
        return None
    sought = min(abs(difference), one.head.scale) if one.head.bounds else difference
    with estimates.silenced():
        try:
            return rows_to_find(sought, one.differences, one.clusters, _bounds(one), POWER, confidence)
        except TooManyRowsError:
            return None


def _has_spread(one: Compared) -> bool:
    """Whether rows tell how much differences vary."""
    return bool(one.measured.sum() > 1 and not estimates.is_one_cluster(one.clusters))


def _difference(one: Compared, confidence: float, gate: Gate) -> Difference:
    margin = gate.margin * one.head.scale
    estimate = _estimate(one, confidence, margin or None)
    if not isfinite(estimate.value):
        return Difference(one, estimate, margin, "cannot tell")
    better = one.head.higher_is_better
    says = verdict(estimate.low, estimate.high, margin, higher_is_better=better, unchanged=one.unchanged())
    return Difference(one, estimate, margin, says)


def _estimate(one: Compared, confidence: float, margin: float | None = None) -> "PairedDifference":
    from tasks.statistics import PairedDifference, corpus_difference, paired_difference

    clusters = one.clusters
    if estimates.is_one_cluster(clusters):
        width = one.head.scale if one.head.bounds else np.inf
        return PairedDifference(_value(one), -width, width, int(one.measured.sum()), estimates.ONE_CLUSTER, 1.0)
    if one.head.kind == "corpus":
        base, head = one.columns
        score = estimates.corpus_score(one.head.column)
        bounds = _bounds(one)
        return estimates.with_warnings(
            lambda: corpus_difference(_stats(base), _stats(head), score, clusters, confidence, bounds)
        )
    return estimates.with_warnings(
        lambda: paired_difference(one.differences, clusters, _bounds(one), confidence, margin)
    )


def _influence(one: Compared) -> Floats:
    """Each row's centred part in the difference as a share of the largest there can be, shape (n,).

    Not in the units of the measure, which may be 10¹² apart.
    """
    if not one.measured.any():
        return np.zeros(0)
    if one.head.kind == "corpus":
        from tasks.statistics import corpus_influence

        base, head = one.columns
        found = corpus_influence(_stats(base), _stats(head), estimates.corpus_score(one.head.column))
        return np.nan_to_num(found / one.head.scale)  # undefined: its interval is all there can be
    differences = one.differences / (np.abs(one.differences).max() or 1.0)
    return np.asarray((differences - differences.mean()) / len(differences))


def _value(one: Compared) -> float:
    if one.head.kind != "corpus":
        return float(one.differences.mean())
    score = estimates.corpus_score(one.head.column)
    base, head = one.columns
    return float(score(_stats(head).sum(0)) - score(_stats(base).sum(0)))


def _stats(column: ScoreColumn) -> Floats:
    if column.stats is None:
        raise TypeError(f"{column.name}: its corpus score is a mean, and needs no statistics")
    return column.stats


def _bounds(one: Compared) -> tuple[float, float]:
    return one.head.bounds or UNBOUNDED


def slices_of(one: Compared) -> Iterator[tuple[str, str, Compared]]:
    """The measure on every value of every slice column, by HEAD's slices."""
    for name, slices in one.pairing.head.slices.items():
        here = slices.codes[one.pairing.head_rows]
        for code in np.unique(here):
            yield name, slices.values[code], one.where(here == code)


def unmeasured(one: Compared) -> dict[str, Any]:
    """How many shared rows one side failed to measure, and the difference had they all been worst or best for HEAD."""
    pairing = one.pairing
    sides = [(one.base, pairing.base_rows), (one.head, pairing.head_rows)]
    asked = [~measure.column.not_asked[rows] for measure, rows in sides]
    missing = [np.isnan(measure.values[rows]) for measure, rows in sides]
    failed = asked[0] & asked[1] & (missing[0] | missing[1])
    counts = {
        "not_asked": int((~(asked[0] & asked[1])).sum()),
        "failed_base": int((failed & missing[0]).sum()),
        "failed_head": int((failed & missing[1]).sum()),
    }
    if one.head.kind == "corpus" or one.head.bounds is None:
        return counts | {"worst": None, "best": None}
    low, high = one.head.bounds if one.head.higher_is_better else one.head.bounds[::-1]
    there, here = (measure.values[rows] for measure, rows in sides)
    total, rows = one.differences.sum(), int(one.measured.sum() + failed.sum())
    lost = np.where(missing[1], low, here) - np.where(missing[0], high, there)
    won = np.where(missing[1], high, here) - np.where(missing[0], low, there)
    worst, best = ((total + each[failed].sum()) / rows if rows else None for each in (lost, won))
    return counts | {"worst": worst, "best": best}
