"""How far the judge's rate of each system is from that of the human labels, and whether this differs by system."""

from collections.abc import Sequence
from itertools import combinations
from math import hypot, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from goldmeter.estimates.columns import Candidate
from goldmeter.estimates.estimates import is_one_cluster, silenced
from goldmeter.estimates.human_labels import FEWEST, LABEL
from goldmeter.estimates.metrics_report import JudgeBiasEntry, SystemBias
from goldmeter.estimates.primary import VERDICT
from goldmeter.estimates.signature import VerdictSource
from goldmeter.estimates.sums import column_of
from goldmeter.metrics.base import Floats
from goldmeter.models.offline.measured import measured
from goldmeter.statistics import BiasModel, bias_model, bias_scale, paired_difference

# Verdict less label is within ±1, and the difference of two systems within ±2.
_OF_TWO = (0.0, 2.0)


class _Errors(NamedTuple):
    """The verdict less the label of each answer that has both; keys: of its question, ascending."""

    values: Floats
    keys: NDArray[np.integer]
    clusters: NDArray[np.intp] | None


def judge_bias(candidates: Sequence[Candidate], confidence: float) -> JudgeBiasEntry | None:
    """Verdict less label on the labelled answers of each system, and a test that it is the same for all.

    Two systems are compared on the questions of which both answers have a label; the p value is the smallest of all
    pairs, corrected for their number (Bonferroni).

    Args:
        candidates: Their labelled rows.
        confidence: Of the intervals.

    Returns:
        None without a system that has enough labels and verdicts.
    """
    errors = {one.name: found for one in candidates if (found := _errors(one)) is not None}
    if not errors:
        return None
    with silenced():
        biases = {
            name: paired_difference(of.values, of.clusters, (0.0, 1.0), confidence) for name, of in errors.items()
        }
        tests = [
            p_value
            for one, other in combinations(errors.values(), 2)
            if (p_value := _p_value(one, other, confidence)) is not None
        ]
    p_value = min(min(tests) * len(tests), 1.0) if tests else None
    systems = {name: SystemBias(value=of.value, low=of.low, high=of.high, n=of.n) for name, of in biases.items()}
    return {"systems": systems, "p_value": p_value, "pairs": len(tests)}


def _errors(candidate: Candidate) -> _Errors | None:
    label, verdict = column_of(candidate, LABEL), column_of(candidate, VERDICT)
    if label is None or verdict is None:
        return None
    both = ~np.isnan(label.values) & ~np.isnan(verdict.values)
    clusters = None if candidate.groups is None else candidate.groups[both]
    if np.count_nonzero(both) < FEWEST or is_one_cluster(clusters):
        return None
    return _Errors(verdict.values[both] - label.values[both], candidate.keys[both], clusters)


def _p_value(one: _Errors, other: _Errors, confidence: float) -> float | None:
    """The p value of "the judge errs alike"; None with too few answers to the same questions."""
    shared, mine, others = np.intersect1d(one.keys, other.keys, return_indices=True)
    clusters = None if one.clusters is None else one.clusters[mine]
    if len(shared) < FEWEST or is_one_cluster(clusters):
        return None
    return paired_difference(other.values[others] - one.values[mine], clusters, _OF_TWO, confidence).p_value


# The share of rows outside of the offline judge's domain from which on what was measured of it does not hold.
MOST_OUTSIDE = 0.1
# The measured scale counts times this, as there are three data sets: left out one by one, each has its pairs covered.
WIDER = 1.5
# The scale of a judge whose bias was not measured here, for two systems that it judges differently on every row. Of
# GPT-4 and text-davinci-003 on NQ301, the largest of 132 differences of biases is 0.29 on that scale: 1.6 times this. A
# judge that fails 8 % of the right answers of one of two equal systems refuses it in 1 of 20 comparisons at most.
STATED = 0.18
# The scale of such a judge's bias of one system. The largest of 24, of the same judges and systems, is 7.3 points.
STATED_RATE = 0.05
STATED_IN_WORDS = "assumed to be like that of language models on other data: up to 14 points"
# The share of its error that an interval with a stated error keeps where a judge may stop; the rest is for looks. The
# bias is the same at each look, sampling varies: simulated, looks add up to 0.8 points to 5 (benchmarks/stopping.py).
AT_LOOKS = 0.8
# The least scale for answers that all changed: a judge may misread a new style in the same way in every row.
LEAST = 0.01


class Unlikeness(NamedTuple):
    """How unlike the answers of two systems to the same rows are, as shares of rows.

    discordant: with different verdicts. changed: with different answers. outside: with an answer outside of the offline
    judge's domain, the larger share of the two systems.
    """

    discordant: float
    changed: float
    outside: float = 0.0


class Scale(NamedTuple):
    """The scale of the difference of a judge's biases of two systems; measured: on data with human labels."""

    value: float
    measured: bool


def offline_bias(left_out: str = "") -> BiasModel | None:
    """How the offline judge's bias varies; None for a model that was not measured.

    left_out: a data set that does not count, to test the model on it.
    """
    facts = measured()
    if facts is None:
        return None
    systems = [one for one in facts["systems"] if one["set"] != left_out]
    errors = np.array([one["error"] for one in systems])
    return bias_model([one["bias"] for one in systems], errors**2, [one["set"] for one in systems])


def rate_bias(judge: VerdictSource, outside: float) -> BiasModel | float | None:
    """A judge's bias of one system: as measured, or the scale that is stated; None where nothing is known of it.

    outside: the share of the system's answers outside of the offline judge's domain.
    """
    if judge.is_offline:
        return offline_bias() if outside <= MOST_OUTSIDE else None
    return STATED_RATE


def offline_scale(left_out: str = "") -> float | None:
    """How far the offline judge's biases differ per share of discordant rows; None for a model not measured.

    left_out: a data set that does not count, to test the scale on it.
    """
    facts = measured()
    if facts is None:
        return None
    pairs = [one for one in facts["pairs"] if one["set"] != left_out]
    columns = ([one[name] for one in pairs] for name in ("bias", "error", "discordant"))
    bias, errors, discordant = map(np.array, columns)
    return WIDER * bias_scale(bias, errors**2, discordant, [one["set"] for one in pairs])


def difference_scale(judge: VerdictSource, unlike: Unlikeness, *, is_one_answer: bool = True) -> Scale:
    """How far the judge's biases of two systems that answered the same rows may differ.

    Args:
        judge: Who gave the verdicts.
        unlike: How unlike the answers are.
        is_one_answer: Whether the measure is of single answers, as the offline judge's bias was measured.
    """
    known = offline_scale() if judge.is_offline and is_one_answer and unlike.outside <= MOST_OUTSIDE else None
    least = LEAST * unlike.changed
    if known is None:
        return Scale(hypot(STATED * sqrt(unlike.discordant * unlike.changed), least), measured=False)
    return Scale(hypot(known * unlike.discordant, least), measured=True)
