"""Differences of two candidates with intervals, simultaneous for a family of measures, exploratory for slices."""

from collections.abc import Iterator, Sequence
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tasks.comparison.document import CrossedEntry, UnmeasuredEntry
from tasks.comparison.gate import Verdict, verdict
from tasks.comparison.measures import LABEL, Measure
from tasks.comparison.pairing import Pairing, Positions
from tasks.metrics.base import Floats
from tasks.scores import estimates, human_labels
from tasks.scores.columns import Mask, ScoreColumn
from tasks.scores.estimates import UNBOUNDED
from tasks.scores.headline import MOST_OUTSIDE, have_labels, is_by_offline_judge, offline_bias, standard_error
from tasks.scores.primary import MEANING_MATCH, column
from tasks.scores.repeated_answers import parsed

if TYPE_CHECKING:  # importing scipy takes half a second
    from tasks.statistics import BiasModel, PairedDifference

# With more differences their correlations cost more than they gain: Šidák's value, which assumes none, is used.
MOST_JOINT = 200
# The same limit for rows times differences.
MOST_NUMBERS = 5 * 10**7
# The power at which detectable differences and rows needed are computed.
POWER = 0.8
# Scores of equal answers may differ by so much between machines.
ROUNDING = 1e-6


class Compared(NamedTuple):
    """One measure of two candidates on their shared rows; n of them are measured in both.

    base, head: the measure of each candidate, on all its rows. measured: which of the pairing's shared rows are the n.
    """

    pairing: Pairing
    base: Measure
    head: Measure
    measured: Mask

    @property
    def differences(self) -> Floats:
        """HEAD minus BASE, row by row, shape (n,)."""
        pairing = self.pairing
        base = self.base.values[pairing.base_rows[self.measured]]
        return np.asarray(self.head.values[pairing.head_rows[self.measured]] - base)

    @property
    def clusters(self) -> Positions | None:
        """The cluster of each of the n rows."""
        return None if self.pairing.groups is None else self.pairing.groups[self.measured]

    @property
    def columns(self) -> tuple[ScoreColumn, ScoreColumn]:
        """The columns of both candidates on the n rows."""
        pairing = self.pairing
        return (
            self.base.column.rows(pairing.base_rows[self.measured]),
            self.head.column.rows(pairing.head_rows[self.measured]),
        )

    def where(self, rows: Mask) -> "Compared":
        """The same measure on some of the pairing's shared rows."""
        return self._replace(measured=self.measured & rows)

    def failed(self) -> tuple[Mask, Mask]:
        """Which of the pairing's shared rows were asked for and could not be measured, in BASE and in HEAD."""
        measures = ((self.base, self.pairing.base_rows), (self.head, self.pairing.head_rows))
        base, head = (np.isnan(measure.values[rows]) & ~measure.column.not_asked[rows] for measure, rows in measures)
        return base, head

    def unchanged(self) -> bool:
        """Whether every row is the same in both, including those that could not be measured."""
        if not np.array_equal(*self.failed()):
            return False
        if self.head.kind != "corpus":
            return not self.differences.any()
        base, head = self.columns
        return bool(np.array_equal(base.stats, head.stats))  # type: ignore[arg-type]  # a corpus column has statistics


class Difference(NamedTuple):
    """A difference with its interval at the confidence that its family leaves it, and the verdict of the gate.

    confidence: of the interval alone. margin: the smallest loss that matters, in the units of the measure.
    """

    compared: Compared
    estimate: "PairedDifference"
    confidence: float
    margin: float
    verdict: Verdict


def compared(pairing: Pairing, base: Measure, head: Measure) -> Compared:
    """Compare a measure on the rows where it is measured in both candidates."""
    missing = np.isnan(base.values[pairing.base_rows]) | np.isnan(head.values[pairing.head_rows])
    return Compared(pairing, base, head, ~missing)


def family(measures: Sequence[Compared], margins: Sequence[float], confidence: float) -> tuple[list[Difference], float]:
    """Estimate all differences with simultaneous intervals: any of them is wrong with probability 1 - confidence.

    Args:
        measures: The members of the family.
        margins: The largest acceptable loss of each, as a share of its scale.
        confidence: Of all intervals together.

    Returns:
        The differences, and the critical value: the quantile of the largest of the correlated normal deviates
        (Romano & Wolf 2005).
    """
    critical = critical_value(measures, confidence)
    local = local_confidence(critical)
    return [_difference(one, local, margin) for one, margin in zip(measures, margins, strict=True)], critical


def local_confidence(critical: float) -> float:
    """The confidence of one interval of a family with this critical value."""
    from scipy.special import ndtr

    return float(2.0 * ndtr(critical) - 1.0)


def critical_value(measures: Sequence[Compared], confidence: float) -> float:
    """The number of standard errors that the largest of all differences stays within."""
    from tasks.statistics import max_t, sidak

    if not measures:
        return float("nan")
    keys = np.unique(np.concatenate([one.pairing.keys for one in measures]))
    if len(measures) > MOST_JOINT or len(measures) * len(keys) > MOST_NUMBERS:
        return sidak(len(measures), confidence)
    influence = np.zeros((len(keys), len(measures)))
    grouped = any(one.pairing.groups is not None for one in measures)
    groups = np.arange(len(keys), dtype=np.intp) if grouped else None
    for number, one in enumerate(measures):
        rows = np.searchsorted(keys, one.pairing.keys[one.measured])
        influence[rows, number] = _influence(one)
        if groups is not None and one.pairing.groups is not None:
            groups[np.searchsorted(keys, one.pairing.keys)] = len(keys) + one.pairing.groups
    with estimates.silenced():
        return max_t(influence, None if estimates.is_one_cluster(groups) else groups, confidence)


def detectable(one: Compared, confidence: float) -> float | None:
    """The smallest true difference that these rows show in four of five cases; None where the spread is unknown."""
    from tasks.statistics import detectable_corpus_difference, detectable_difference

    if not _has_spread(one):
        return None
    with estimates.silenced():
        if one.head.kind == "corpus":
            influence = _influence(one) * one.head.scale
            smallest = detectable_corpus_difference(influence, one.clusters, POWER, confidence)
        else:
            smallest = detectable_difference(one.differences, one.clusters, _bounds(one), POWER, confidence)
    beyond = one.head.bounds is not None and smallest > one.head.scale
    return smallest if isfinite(smallest) and not beyond else None


def rows_needed(one: Compared, difference: float, confidence: float) -> int | None:
    """The number of rows like these that show this difference in four of five cases; None if it is unknown."""
    from tasks.statistics import TooManyRowsError, rows_to_find

    if not _has_spread(one) or one.head.kind == "corpus" or not difference or is_by_judge_alone(one):
        return None
    sought = min(abs(difference), one.head.scale) if one.head.bounds else difference
    with estimates.silenced():
        try:
            return rows_to_find(sought, one.differences, one.clusters, _bounds(one), POWER, confidence)
        except TooManyRowsError:
            return None


def _has_spread(one: Compared) -> bool:
    """Whether the rows allow an estimate of the differences' spread."""
    return bool(one.measured.sum() > 1 and not estimates.is_one_cluster(one.clusters))


def _difference(one: Compared, confidence: float, margin_share: float) -> Difference:
    margin = margin_share * one.head.scale
    estimate = powered(one, confidence) or uncorrected(one, confidence, margin or None)
    estimate = with_judge_error(one, estimate, confidence)
    if not isfinite(estimate.value):
        return Difference(one, estimate, confidence, margin, "cannot tell")
    better = one.head.higher_is_better
    unchanged = one.unchanged() and not _changes_elsewhere(one)
    decision = verdict(estimate.low, estimate.high, margin, higher_is_better=better, unchanged=unchanged)
    return Difference(one, estimate, confidence, margin, decision)


def _changes_elsewhere(one: Compared) -> bool:
    """Whether scores differ on shared rows that the measure was not asked for: equal rows say nothing of these."""
    failed_base, failed_head = one.failed()
    rest = ~(one.measured | failed_base | failed_head)
    if not rest.any():
        return False
    base = {column.name: column.values[one.pairing.base_rows[rest]] for column in one.pairing.base.columns}
    scores = [column for column in one.pairing.head.columns if column.name in base]
    return any(
        bool((np.abs(column.values[one.pairing.head_rows[rest]] - base[column.name]) > ROUNDING).any())
        for column in scores
    )


def uncorrected(one: Compared, confidence: float, margin: float | None = None) -> "PairedDifference":
    """The difference with an interval that is not corrected for other differences; margin: as of `Difference`."""
    from tasks.statistics import PairedDifference, corpus_difference, paired_difference

    clusters, bounds = one.clusters, _bounds(one)
    if estimates.is_one_cluster(clusters):
        width = one.head.scale if one.head.bounds else np.inf
        return PairedDifference(_value(one), -width, width, int(one.measured.sum()), estimates.ONE_CLUSTER, 1.0)
    if one.head.kind == "corpus":
        base, head = one.columns
        stats, score = (_stats(base), _stats(head)), estimates.corpus_score(one.head.column)
        return estimates.with_warnings(lambda: corpus_difference(*stats, score, clusters, confidence, bounds))
    return estimates.with_warnings(lambda: paired_difference(one.differences, clusters, bounds, confidence, margin))


def powered(one: Compared, confidence: float) -> "PairedDifference | None":
    """The difference of human labels on a random part of the rows, with what the other measures say of all rows.

    Returns:
        None for other measures, labels that were not chosen at random, too few of them, and labels on every row.
    """
    from tasks.statistics import PairedDifference, cross_fitted, ppi_difference

    pairing, labelled, rest = one.pairing, one.measured, ~one.measured
    random = pairing.base.labels_random and pairing.head.labels_random
    few = int(labelled.sum()) < human_labels.FEWEST
    if one.head.name != LABEL or not random or few or not rest.any() or estimates.is_one_cluster(one.clusters):
        return None
    scores = _score_differences(pairing)
    if not scores.shape[1]:
        return None
    clusters, others = one.clusters, None if pairing.groups is None else pairing.groups[rest]
    width = one.head.scale
    inside, outside = cross_fitted(one.differences, scores[labelled], scores[rest], clusters, bounds=(-width, width))
    return estimates.with_warnings(
        lambda: PairedDifference(
            *ppi_difference(one.differences, inside, outside, clusters, others, _bounds(one), confidence)[:6]
        )
    )


def with_judge_error(one: Compared, estimate: "PairedDifference", confidence: float) -> "PairedDifference":
    """The difference by the offline judge as one by human labels, where no labels check it; any other as it is.

    The interval then includes how far the judge's bias differs between systems, for the rows whose answers changed:
    those that any measure tells apart. With too many rows outside of the judge's domain, or a judge whose bias was not
    measured, it is as wide as can be; so it is for pass@k and pass^k of several draws, where nobody measured its bias.
    """
    from tasks.statistics import transported_difference

    if not is_by_judge_alone(one) or not isfinite(estimate.value):
        return estimate
    scores = _score_differences(one.pairing)[one.measured]
    differ = (scores != 0.0).any(axis=1) | (one.differences != 0.0)
    changed = float(differ.mean()) if scores.shape[1] else 1.0  # without other scores it is not known
    if not changed:
        return estimate
    model, outside = offline_bias(), _outside(one)
    several = (parsed(one.head.name) or ("", 1))[1] > 1
    if model is None or outside > MOST_OUTSIDE or several:
        return estimate._replace(low=-1.0, high=1.0, p_value=1.0, method=f"{estimate.method}; judge's error unknown")
    sd = standard_error(estimate.low, estimate.high, confidence)
    wider = transported_difference(estimate.value, sd**2, model, confidence, changed)
    return estimate._replace(
        low=min(wider.low, estimate.low),
        high=max(wider.high, estimate.high),
        p_value=_p_value(estimate.value, 2.0 * changed**2 * model.inside + sd**2, model, estimate.p_value),
        method=f"{estimate.method}; judge's error on other data",
    )


def _outside(one: Compared) -> float:
    """The larger share of rows outside of the judge's domain, of the two candidates."""
    pairing = one.pairing
    sides = (pairing.base.outside, pairing.base_rows), (pairing.head.outside, pairing.head_rows)
    return max(0.0 if outside is None else float(outside[rows[one.measured]].mean()) for outside, rows in sides)


def is_by_judge_alone(one: Compared) -> bool:
    """Whether the measure is the offline judge's verdict, and no human labels of both candidates check it.

    Labels that changed answers lack check nothing: the others are of answers that did not change.
    """
    rows, by_question = one.pairing.rows, parsed(one.head.name)
    sides, name = (rows.base, rows.head), by_question[0] if by_question else one.head.name
    if name != MEANING_MATCH or not all(map(is_by_offline_judge, sides)):
        return False
    return not have_labels(sides) or _lack_labels(rows)


def _lack_labels(pairing: Pairing) -> bool:
    """Whether labels of shared rows failed to be measured, in either version."""
    sides = (pairing.base, pairing.base_rows), (pairing.head, pairing.head_rows)
    labels = [label.rows(rows) for candidate, rows in sides if (label := column(candidate, LABEL)) is not None]
    return any(bool((np.isnan(label.values) & ~label.not_asked).any()) for label in labels)


def _p_value(value: float, variances: Floats, model: "BiasModel", least: float) -> float:
    """The p value that agrees with the intervals of `transported_difference`; least: that without the judge's error."""
    from scipy.special import ndtr

    tail = float(model.weights @ ndtr(-abs(value) / np.sqrt(variances)))
    return max(min(2.0 * tail, 1.0), least)


def _score_differences(pairing: Pairing) -> Floats:
    """HEAD minus BASE of every measure but the labels that nearly all shared rows have; shape (rows, k)."""
    base = {column.name: column.values[pairing.base_rows] for column in pairing.base.columns if column.name != LABEL}
    changes = [
        column.values[pairing.head_rows] - base[column.name] for column in pairing.head.columns if column.name in base
    ]
    return human_labels.filled(changes, len(pairing.head_rows))


def _influence(one: Compared) -> Floats:
    """Each row's centred contribution to the difference, shape (n,), as a share of the largest possible one.

    Shares, because the units of two measures may be 10¹² apart.
    """
    if not one.measured.any():
        return np.zeros(0)
    if one.head.kind == "corpus":
        from tasks.statistics import corpus_influence

        base, head = one.columns
        influence = corpus_influence(_stats(base), _stats(head), estimates.corpus_score(one.head.column))
        return np.nan_to_num(influence / one.head.scale)  # where it is undefined, the interval is as wide as can be
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
    """Slice column, value, and the measure on the rows that have the value in HEAD."""
    for name, slices in one.pairing.head.slices.items():
        codes = slices.codes[one.pairing.head_rows]
        for code in np.unique(codes):
            yield name, slices.values[code], one.where(codes == code)


def crossed(one: Compared) -> CrossedEntry | None:
    """McNemar's table of a pass rate: how many rows pass in both, in one, and in neither; None for other measures."""
    if one.head.kind != "rate":
        return None
    pairing = one.pairing
    base = one.base.values[pairing.base_rows[one.measured]] > 0
    head = one.head.values[pairing.head_rows[one.measured]] > 0
    both, lost, gained = (int(rows.sum()) for rows in (base & head, base & ~head, ~base & head))
    return {"both": both, "lost": lost, "gained": gained, "neither": len(base) - both - lost - gained}


def unmeasured(one: Compared) -> UnmeasuredEntry:
    """Count shared rows that were not measured in both, and bound the difference if they had been."""
    pairing = one.pairing
    base, head = one.base.values[pairing.base_rows], one.head.values[pairing.head_rows]
    asked = ~(one.base.column.not_asked[pairing.base_rows] | one.head.column.not_asked[pairing.head_rows])
    failed = asked & (np.isnan(base) | np.isnan(head))
    worst, best = _with_failed(one, base, head, failed)
    return {
        "not_asked": int((~asked).sum()),
        "failed_base": int((failed & np.isnan(base)).sum()),
        "failed_head": int((failed & np.isnan(head)).sum()),
        "worst": worst,
        "best": best,
    }


def _with_failed(one: Compared, base: Floats, head: Floats, failed: Mask) -> tuple[float | None, float | None]:
    """The difference if the failed rows had the worst values for HEAD, and if they had the best."""
    rows = int(one.measured.sum() + failed.sum())
    if one.head.kind == "corpus" or one.head.bounds is None or not rows:
        return None, None
    low, high = one.head.bounds if one.head.higher_is_better else one.head.bounds[::-1]
    lost = np.where(np.isnan(head), low, head) - np.where(np.isnan(base), high, base)
    won = np.where(np.isnan(head), high, head) - np.where(np.isnan(base), low, base)
    total = one.differences.sum()
    return (total + lost[failed].sum()) / rows, (total + won[failed].sum()) / rows
