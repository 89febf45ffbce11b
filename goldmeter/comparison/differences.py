"""Differences of two candidates by rows or weights, with intervals: simultaneous in a family, exploratory of slices."""

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite, sqrt
from typing import NamedTuple

import numpy as np
import scipy

from goldmeter.comparison.compared import Compared, ComparedRows, critical_value
from goldmeter.comparison.gate import of_blocks, verdict
from goldmeter.comparison.measures import LABEL, measures
from goldmeter.comparison.pairing import Pairing
from goldmeter.comparison.powered import by_some_labels
from goldmeter.estimates import estimates, human_labels
from goldmeter.estimates.columns import Candidate, Mask
from goldmeter.estimates.estimate_rows import BY_LOOKS
from goldmeter.estimates.headline import have_labels, standard_error
from goldmeter.estimates.judge_bias import AT_LOOKS, MOST_OUTSIDE, Unlikeness, difference_scale, offline_bias
from goldmeter.estimates.primary import VERDICT
from goldmeter.estimates.repeated_answers import parsed
from goldmeter.estimates.signature import VerdictSource, changes
from goldmeter.estimates.sums import column_of, summed
from goldmeter.estimates.weighting import CORPUS, NOTHING, Mix, Weighting, missing_values, without_share
from goldmeter.statistics import DesignedDifference, LabelledEstimate, Method, PairedDifference, people_difference
from goldmeter.statistics.clusters import ClusterTotals, GroupTotals, check_clusters
from goldmeter.statistics.paired import STEPS, difference_of_replicates, difference_of_sums
from goldmeter.statistics.power import detectable_of_error, detectable_of_sums
from goldmeter.statistics.stopping import difference_sequence
from goldmeter.statistics.weighted import WeightedSums
from goldmeter.statistics.weighted import weighted_difference as difference
from goldmeter.wording.comparison_document import CrossedEntry, JudgeError, UnmeasuredEntry
from goldmeter.wording.verdicts import Verdict

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


def weighted_difference(one: Compared, plain: PairedDifference, confidence: float) -> PairedDifference:
    """The weighted difference with its interval and p value; with equal weights, the plain one."""
    from goldmeter.estimates.estimates import ONE_CLUSTER

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


# The power of detectable differences, and of what would decide.
POWER = 0.8


class Plain(NamedTuple):
    """The difference of the rows as they are, beside a weighted one; option: what says how often rows count."""

    difference: PairedDifference
    option: str


class Difference(NamedTuple):
    """A difference with its interval at the confidence that its family leaves it, and the verdict of the gate.

    confidence: of the interval alone. margin: the smallest loss that matters, in the units of the measure. sides: the
    values of BASE and HEAD, where they are not the means of the rows that are measured in both. plain: with weights,
    the difference of the rows as they are. error: with weights, the standard error. labelled: with labels of a part of
    the rows, the difference by them.
    """

    compared: Compared
    estimate: PairedDifference
    confidence: float
    margin: float
    verdict: Verdict
    sides: tuple[float, float] | None = None
    plain: Plain | None = None
    error: float | None = None
    labelled: DesignedDifference | None = None


def family(
    measures: Sequence[Compared], margins: Sequence[float], confidence: float, weighting: Weighting | None = None
) -> tuple[list[Difference], float]:
    """Estimate all differences with simultaneous intervals: any of them is wrong with probability 1 - confidence.

    Args:
        measures: The members of the family.
        margins: The largest acceptable loss of each, as a share of its scale.
        confidence: Of all intervals together.
        weighting: Says how often rows count; the critical value is then Šidák's.

    Returns:
        The differences, and the critical value: the quantile of the largest of the correlated normal deviates
        (Romano & Wolf 2005).
    """
    critical = critical_value(measures, confidence, joint=weighting is None)
    local = local_confidence(critical)
    return [_difference(one, local, margin, weighting) for one, margin in zip(measures, margins, strict=True)], critical


def local_confidence(critical: float) -> float:
    """The confidence of one interval of a family with this critical value."""
    return float(2.0 * scipy.special.ndtr(critical) - 1.0)


def detectable(one: Compared, confidence: float) -> float | None:
    """The smallest true difference that these rows show in four of five cases; None where the spread is unknown."""
    if not has_spread(one) or one.is_designed:
        return None
    with estimates.silenced():
        if one.head.kind == "corpus":
            smallest = detectable_of_error(*corpus_error(one), POWER, confidence)
        else:
            smallest = detectable_of_sums(one.sums.differences, clusters_of(one), one.bounds, POWER, confidence)
    beyond = one.head.bounds is not None and smallest > one.head.scale
    return smallest if isfinite(smallest) and not beyond else None


def has_spread(one: Compared) -> bool:
    """Whether the rows allow an estimate of the differences' spread, and of what more rows would show."""
    return one.n > 1 and not (one.is_one_cluster or one.is_stopped)


def clusters_of(one: Compared) -> ClusterTotals | None:
    """The sums of the differences by cluster; None without clusters."""
    return None if one.sums.groups is None else one.sums.groups.by_cluster


def corpus_error(one: Compared) -> tuple[float | None, int]:
    """The standard error of a difference of corpus scores by the influences of rows, or of clusters; their number."""
    rows = one.row_jackknife
    if one.clusters is None or rows.undefined:
        return rows.error, rows.sums.n
    sizes, totals, count = one.clusters.sizes, one.clusters.totals[:, 0], len(one.clusters.keys)
    influence = (rows.sums.mean * sizes - totals) * (one.n - 1.0) / one.n
    return sqrt(float(influence @ influence) * count / (count - 1.0)), count


def detectable_by_error(difference: Difference) -> float | None:
    """The smallest true difference with weights that such rows show in four of five cases; None if it is unknown."""
    one = difference.compared
    smallest = detectable_of_error(difference.error, max(one.n, 2), POWER, difference.confidence)
    beyond = one.head.bounds is not None and smallest > one.head.scale
    return smallest if isfinite(smallest) and not beyond else None


def _by_weights(one: Compared, weighting: Weighting, confidence: float, margin: float) -> Difference:
    """The difference by mix or weights, the verdict read from it, beside that of the rows as they are."""
    plain = uncorrected(one, confidence, margin or None)
    if isinstance(weighting, Mix):
        parts = parts_of(one, weighting)
        unlike = _mixed(parts) if is_by_judge_alone(one) else None
        one = by_shares(one, parts)
    else:
        unlike = None
    estimate, (base, head) = weighted_difference(one, plain, confidence), weighted_sides(one)
    error = None
    if isfinite(estimate.high - estimate.low):
        error = standard_error(estimate.low, estimate.high, confidence)
    estimate = with_judge_error(one, estimate, confidence, unlike)
    decision: Verdict = Verdict.CANNOT_TELL
    if isfinite(estimate.value):
        decision = _verdict(one, estimate, margin)
    beside = Plain(plain, weighting.option)
    return Difference(one, estimate, confidence, margin, decision, (base, head), beside, error)


def _difference(
    one: Compared, confidence: float, margin_share: float, weighting: Weighting | None = None
) -> Difference:
    margin = margin_share * one.head.scale
    if weighting is not None:
        return _by_weights(one, weighting, confidence, margin)
    if labelled := by_some_labels(one, confidence):
        estimate = _with_verdicts(one, labelled, confidence)
        decision = verdict(estimate.low, estimate.high, margin, higher_is_better=True, unchanged=one.unchanged)
        sides = labelled.base, labelled.head
        return Difference(one, estimate, confidence, margin, decision, sides, labelled=labelled)
    estimate = uncorrected(one, confidence, margin or None)
    estimate = with_judge_error(one, estimate, confidence)
    if not isfinite(estimate.value):
        return Difference(one, estimate, confidence, margin, Verdict.CANNOT_TELL)
    return Difference(one, estimate, confidence, margin, _verdict(one, estimate, margin))


def _verdict(one: Compared, estimate: PairedDifference, margin: float) -> Verdict:
    return verdict(
        estimate.low,
        estimate.high,
        margin,
        higher_is_better=one.head.higher_is_better,
        unchanged=one.unchanged,
        has_direction=one.head.has_direction,
    )


def _with_verdicts(one: Compared, labelled: DesignedDifference, confidence: float) -> PairedDifference:
    """The difference by labels of a part of the rows, its interval narrowed by a judge's verdicts on all of them.

    The judge's verdicts say how large the difference is, up to the difference of the judge's biases; labels say more
    of it the more there are.
    """
    alone = PairedDifference(*labelled[:6])
    judged = Compared(one.blocks, VERDICT)
    if not _is_judged(judged):
        return alone
    unlike, judge = unlikeness(judged), VerdictSource.of(judged.head.column.facts.signature)
    if _says_nothing(judged, judge, unlike):
        return alone
    by_judge = uncorrected(judged, confidence)
    scale = difference_scale(judge, unlike).value
    sampling = standard_error(by_judge.low, by_judge.high, confidence) ** 2
    known = LabelledEstimate(labelled.value, labelled.variance)
    found = people_difference(by_judge.value, scale, sampling, known, confidence)
    low, high = min(found.low, alone.value), max(found.high, alone.value)
    return alone._replace(low=low, high=high, p_value=found.p_value, method=alone.method.with_notes(judge.name))


def _is_judged(one: Compared) -> bool:
    """Whether both candidates have verdicts of the same judge on nearly all rows."""
    sides = one.blocks[0].base, one.blocks[0].head
    judged = [found for side in sides if (found := measures(side).get(one.name)) is not None]
    if len(judged) < len(sides) or changes(judged[0].signature, judged[1].signature) or one.is_one_cluster:
        return False
    return one.n >= (1.0 - human_labels.MOST_MISSING) * sum(len(pairing.head_rows) for pairing in one.blocks)


def uncorrected(one: Compared, confidence: float, margin: float | None = None) -> PairedDifference:
    """The difference with an interval that is not corrected for other differences; margin: as of `Difference`."""
    if one.is_one_cluster:
        width = one.head.scale if one.head.bounds else np.inf
        return PairedDifference(one.value, -width, width, one.n, Method(estimates.ONE_CLUSTER), 1.0)
    if one.is_stopped:
        return _by_looks(one, confidence)
    clusters, bounds = clusters_of(one), one.bounds
    if one.head.kind != "corpus":
        sums = one.sums.differences
        return estimates.with_warnings(lambda: difference_of_sums(sums, clusters, bounds, confidence, margin))

    def corpus() -> PairedDifference:
        if clusters is not None:
            check_clusters(clusters.size.size)
        return difference_of_replicates(one.value, one.jackknife, one.n, confidence, bounds)

    return estimates.with_warnings(corpus)


def without_sequence(one: Compared, weighting: Weighting | None) -> str | None:
    """Return why a difference has no confidence sequence, if a judge could stop early; None if it has one."""
    if weighting is not None or one.by_question or one.head.kind == "corpus" or one.head.bounds is None:
        return "this measure, or its weights, needs a fixed number of rows"
    more = np.zeros(2, np.bool_)
    for rows in one.rows():
        pairing, (base, head) = rows.pairing, rows.not_asked
        alone = ~rows.base.column.not_asked[pairing.only_base], ~rows.head.column.not_asked[pairing.only_head]
        more |= [np.any(head & ~base), np.any(base & ~head)]
        more |= np.array([np.any(one) for one in alone]) & [_lacks_rows(pairing.head), _lacks_rows(pairing.base)]
    return (
        "each version asked about rows that the other left out: they differ in judge.seed, groups, filters or questions"
        if more.all()
        else None
    )


def _lacks_rows(side: Candidate) -> bool:
    """Whether rows that were not needed may be in no table: those of systems with a model, which were not asked."""
    return all(column.facts.stopped for column in side.columns)


def _by_looks(one: Compared, confidence: float) -> PairedDifference:
    """The difference with limits that hold wherever a judge stopped.

    Both versions ask in one random order of the groups, so that the rows of both are the first ones of it.
    """
    found, groups, width = one.sums.differences, clusters_of(one), one.head.scale
    if groups is None:
        changes, largest = np.repeat(np.arange(-STEPS, STEPS + 1) / STEPS, found.spread), 1.0
        sizes = np.ones(len(changes))
    else:
        sizes, changes = groups.size, np.clip(groups.total / width, -groups.size, groups.size)
        every = [(of, np.empty((len(of), 0))) for pairing in one.blocks if (of := pairing.groups) is not None]
        largest = float(summed(GroupTotals.of(*of) for of in every).sizes.max())
    low, high, p_value = difference_sequence(changes, sizes, largest, confidence)
    value, method = found.moments.mean, Method(BY_LOOKS)
    return PairedDifference(value, min(low * width, value), max(high * width, value), one.n, method, p_value)


def with_judge_error(
    one: Compared, estimate: PairedDifference, confidence: float, unlike: Unlikeness | None = None
) -> PairedDifference:
    """The difference by a judge as one of people's rates, where no labels check it; any other as it is.

    The interval then includes how far the judge's biases of two systems may differ. For a judge that says nothing it is
    as wide as can be. unlike: by a mix; None: by the rows or their weights.
    """
    if not is_by_judge_alone(one) or not isfinite(estimate.value):
        return estimate
    unlike = unlike or unlikeness(one)
    if not unlike.changed:
        return estimate
    judge = VerdictSource.of(one.head.column.facts.signature)
    if _says_nothing(one, judge, unlike):
        method = estimate.method.with_notes(JudgeError.UNKNOWN)
        return estimate._replace(low=-1.0, high=1.0, p_value=1.0, method=method)
    scale = difference_scale(judge, unlike, is_one_answer=(parsed(one.name) or ("", 1))[1] == 1)
    sampling = standard_error(estimate.low, estimate.high, confidence) ** 2
    error = AT_LOOKS if one.is_stopped else 1.0
    found = people_difference(estimate.value, scale.value, sampling, confidence=1.0 - error * (1.0 - confidence))
    return estimate._replace(
        low=min(found.low, estimate.low),
        high=max(found.high, estimate.high),
        p_value=max(min(found.p_value / error, 1.0), estimate.p_value),
        method=estimate.method.with_notes(JudgeError.ELSEWHERE if scale.measured else JudgeError.STATED),
    )


def _says_nothing(one: Compared, judge: VerdictSource, unlike: Unlikeness) -> bool:
    """Whether the verdicts are no evidence: all are equal, or the offline judge can't judge these answers."""
    right = one.sums.base.shared_total + one.sums.head.shared_total
    if right in {0.0, 2.0 * one.n} and not one.by_question:
        return True
    return judge.is_offline and (unlike.outside > MOST_OUTSIDE or offline_bias() is None)


def unlikeness(one: Compared) -> Unlikeness:
    """How unlike the measured rows, or questions, of both candidates are; each row counts by its weight."""
    if one.by_question:
        moved = one.n - one.sums.differences.unchanged
        return Unlikeness(moved / one.n, float(one.sums.reworded > 0), _outside(one))
    discordant = changed = every = 0.0
    for rows in one.rows():
        discordant += _weight(rows, rows.differences != 0.0)
        changed += _weight(rows, rows.pairing.reworded[rows.measured])
        every += _weight(rows, np.ones(len(rows.differences), np.bool_))
    return Unlikeness(discordant / every, changed / every, _outside(one))


def _mixed(parts: Parts) -> Unlikeness:
    """How unlike the rows of all parts are, each part counting by its share."""
    found = [(share, unlikeness(part)) for share, part in parts]
    return Unlikeness(*(sum(share * getattr(of, name) for share, of in found) for name in Unlikeness._fields))


def _weight(rows: ComparedRows, chosen: Mask) -> float:
    """The weight of some of the measured rows, 1 each without weights."""
    return float(np.count_nonzero(chosen) if rows.weights is None else rows.weights[chosen].sum())


def _outside(one: Compared) -> float:
    """The larger share of rows outside of the judge's domain, of the two candidates."""
    if one.sums.weighted is None:
        return max(one.sums.base.outside, one.sums.head.outside) / one.n
    found = [0.0, 0.0]
    for rows in one.rows():
        pairing = rows.pairing
        sides = (pairing.base, pairing.base_rows), (pairing.head, pairing.head_rows)
        for i, (side, places) in enumerate(sides):
            if side.outside is not None:
                found[i] += _weight(rows, side.outside[places[rows.measured]])
    return max(found) / one.sums.weighted.weight


def is_by_judge_alone(one: Compared) -> bool:
    """Whether the measure is a judge's verdict, and no human labels of both candidates check it.

    Labels that changed answers lack check nothing: the others are of answers that did not change.
    """
    if (parsed(one.name) or (one.name, 1))[0] != VERDICT:
        return False
    blocks = [pairing.rows for pairing in one.blocks]
    every = [
        [(side, np.arange(len(side.keys))) for side in of]
        for of in zip(*((b.base, b.head) for b in blocks), strict=True)
    ]
    # Labels of a part of the rows leave the judge's error on the other rows as it is.
    labelled = [replace(of_blocks(side), labels_random=False) for side in every]
    return not have_labels(labelled) or any(map(_lack_labels, blocks))


def _lack_labels(pairing: Pairing) -> bool:
    """Whether labels of shared rows failed to be measured, in either version."""
    sides = (pairing.base, pairing.base_rows), (pairing.head, pairing.head_rows)
    labels = [label.rows(rows) for candidate, rows in sides if (label := column_of(candidate, LABEL)) is not None]
    return any(bool((np.isnan(label.values) & ~label.not_asked).any()) for label in labels)


def crossed(one: Compared) -> CrossedEntry | None:
    """McNemar's table of a pass rate: how many rows pass in both, in one, and in neither; None for other measures."""
    if one.head.kind != "rate" or one.is_designed:
        return None
    both, moments = one.sums.both, one.sums.differences.moments
    lost, gained = moments.at_low, moments.at_high
    return {"both": both, "lost": lost, "gained": gained, "neither": one.n - both - lost - gained}


def unmeasured(one: Compared) -> UnmeasuredEntry:
    """Count shared rows that were not measured in both, and bound the difference if they had been."""
    sums = one.sums
    worst, best = (
        None if (bounded := one.bounded(best=best)) is None or not bounded.n else bounded.value
        for best in (False, True)
    )
    return {
        "not_asked": sums.not_asked,
        "failed_base": sums.base.lacking,
        "failed_head": sums.head.lacking,
        "worst": worst,
        "best": best,
    }


def decided_by_bounds(one: Compared, margin_share: float, confidence: float) -> bool:
    """Whether the verdict is the same with the worst values of all rows that failed as with the best.

    margin_share: the largest acceptable loss, as a share of the scale.
    """
    verdicts = set()
    for best in (False, True):
        bounded = one.bounded(best=best)
        if bounded is None:
            return False
        verdicts.add(_difference(bounded, confidence, margin_share).verdict)
    return len(verdicts) == 1 and Verdict.CANNOT_TELL not in verdicts
