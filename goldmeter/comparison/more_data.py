"""How many more rows, groups, questions or labels would decide a comparison that is undecided."""

from math import isfinite, sqrt

from goldmeter.comparison.compared import Compared
from goldmeter.comparison.differences import POWER, Difference, clusters_of, corpus_error, has_spread, is_by_judge_alone
from goldmeter.comparison.measures import LABEL
from goldmeter.estimates import estimates
from goldmeter.statistics import DesignedDifference
from goldmeter.statistics.more_data import Evidence, more_to_decide
from goldmeter.statistics.paired import Items
from goldmeter.statistics.power import detectable_of_error
from goldmeter.wording.comparison_document import NeededEntry, NeededLabels, NeededUnit
from goldmeter.wording.verdicts import Verdict

# Without a margin, this difference matters, as a share of the scale: 2 points.
MATTERS = 0.02


def needed(difference: Difference) -> NeededEntry | None:
    """What would decide, if the truth is as far from the limit as it matters; None where it is decided or unknown."""
    one = difference.compared
    scale = one.head.scale if one.head.bounds else abs(one.shared_value(one.sums.base))
    matters = difference.margin or MATTERS * scale
    if difference.verdict != Verdict.CANNOT_TELL or not (matters and isfinite(difference.estimate.value)):
        return None
    sign = 1.0 if one.head.higher_is_better else -1.0
    found = _evidence(difference, difference.margin + sign * difference.estimate.value)
    if found is None:
        return None
    unit, evidence = found
    entry: NeededEntry = {"unit": unit, "difference": matters, "low": None, "high": None}
    if unit == "label":
        entry = {**entry, **_of_all_rows(one, evidence, difference.confidence)}
    limits = difference.estimate.low, difference.estimate.high
    farthest = max(abs(difference.margin + sign * limit) for limit in limits)
    if farthest < matters / (2.0 if difference.margin else 1.0):
        return entry
    # A loss may be significant and below the margin: then half of the margin is far from it.
    away = matters if farthest >= matters else matters / 2.0
    more = more_to_decide(evidence, away, POWER, difference.confidence)
    return None if more is None else {**entry, "low": more.low, "high": more.high}


def _of_all_rows(one: Compared, evidence: Evidence, confidence: float) -> NeededLabels:
    """How many rows have labels and lack them, and the difference that labels on all would show."""
    rows = sum(len(pairing.keys) for pairing in one.blocks)
    error = sqrt(max(evidence.variance, 1.0 / rows) / rows)
    shown = detectable_of_error(error, max(rows, 2), POWER, confidence)
    return {"labelled": evidence.n, "lacking": rows - evidence.n, "all_show": min(shown, 1.0)}


def _evidence(difference: Difference, away: float) -> tuple[NeededUnit, Evidence] | None:
    """What is missing, and what the items seen say; None where they say nothing of their spread."""
    one = difference.compared
    if not has_spread(one):
        return None
    if one.is_designed:
        return _of_design(difference.labelled, away)
    if difference.labelled is not None:
        return "label", _by_rows(one, away)
    if is_by_judge_alone(one):
        return None if one.by_question else ("label", _without_labels(one))
    if difference.error is not None:
        return _row(one), Evidence(away, difference.error**2 * one.n, one.n, _changed(one))
    return _of_items(one, away)


def _of_design(labelled: DesignedDifference | None, away: float) -> tuple[NeededUnit, Evidence] | None:
    if labelled is None:
        return None
    n, variance = labelled.n, labelled.variance
    return "label", Evidence(away, variance * n, n, max(round(variance * n**2), 1))


def _by_rows(one: Compared, away: float) -> Evidence:
    """The rows with labels, of larger variance in groups. The judge's help ends where all have labels."""
    items = _items(one, away)
    return items._replace(variance=items.variance * one.n / items.n, n=one.n)


def _without_labels(one: Compared) -> Evidence:
    """Without labels, the judge's verdicts say how often two answers differ.

    In 86 pairs of systems with human labels, people find 0.75 to 1.23 times as many rows different as the judge does.
    """
    judged = _by_rows(one, 0.0)
    return judged._replace(variance=max(judged.variance, 1.0 / one.n), n=0, changed=max(judged.changed, 1))


def _of_items(one: Compared, away: float) -> tuple[NeededUnit, Evidence] | None:
    unit: NeededUnit = _row(one) if clusters_of(one) is None else "group"
    if one.head.kind != "corpus":
        return unit, _items(one, away)
    error, n = corpus_error(one)
    return (unit, Evidence(away, error**2 * n, n, n)) if error else None


def _items(one: Compared, away: float) -> Evidence:
    """The rows, or the groups of rows."""
    groups, width = clusters_of(one), one.head.scale if one.head.bounds else 1.0
    with estimates.silenced():
        items = Items(one.sums.differences, groups, width)
    changed = _changed(one) if groups is None else int((groups.total != 0.0).sum())
    return Evidence(away, items.variance * width**2, items.count, changed, width)


def _row(one: Compared) -> NeededUnit:
    if one.by_question:
        return "question"
    return "labelled row" if one.name == LABEL else "row"


def _changed(one: Compared) -> int:
    return one.n - one.sums.differences.unchanged
