"""How far the judge is from human labels: in the rate of each system, alike for all or not, and by length of texts."""

from collections.abc import Sequence
from itertools import combinations
from math import hypot, isfinite, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from goldmeter.estimates.columns import Candidate
from goldmeter.estimates.estimates import UNBOUNDED, is_one_cluster, silenced
from goldmeter.estimates.human_labels import FEWEST, LABEL
from goldmeter.estimates.metrics_report import JudgeBiasEntry, LengthBiasEntry, LengthSlope, SystemBias
from goldmeter.estimates.primary import VERDICT
from goldmeter.estimates.signature import VerdictSource
from goldmeter.estimates.sums import column_of
from goldmeter.metrics.base import Floats
from goldmeter.models.offline.measured import measured
from goldmeter.statistics import BiasModel, bias_model, bias_scale, paired_difference
from goldmeter.statistics.corpus import Replicates, jackknife_interval

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


class _LengthErrors(NamedTuple):
    """The verdict less the label of each answer that has both, n of them, each of shape (n,).

    doublings: the base-2 logarithm of the length. right: whether the label is positive.
    """

    values: Floats
    doublings: Floats
    right: NDArray[np.intp]
    clusters: NDArray[np.intp]


def length_bias(
    candidates: Sequence[Candidate], confidence: float, *, of_references: bool = False
) -> LengthBiasEntry | None:
    """Regress verdict less label on the base-2 logarithm of the answer's length, with an intercept for each label.

    The intercepts keep a judge from being accused where long answers are more often wrong; in the regression of all
    systems, each system has its own. The intervals are by the jackknife over questions: the answers of all systems to
    one are deleted together.

    Args:
        candidates: Their labelled rows.
        confidence: Of the intervals.
        of_references: By the length of the longest reference in place of the answer's.

    Returns:
        None without a system that has enough labels and verdicts, and without errors.

    Source: Dubois et al. 2024, "Length-Controlled AlpacaEval", on a judge's preference as a linear model with a term
    for length; MacKinnon & White 1985 for the jackknife.
    """
    errors = {one.name: found for one in candidates if (found := _length_errors(one, int(of_references))) is not None}
    systems = {name: slope for name, of in errors.items() if (slope := _slope([of], confidence)) is not None}
    together = _slope([*errors.values()], confidence)
    return None if together is None else {"all": together, "systems": systems}


def _length_errors(candidate: Candidate, of: int) -> _LengthErrors | None:
    label, verdict = column_of(candidate, LABEL), column_of(candidate, VERDICT)
    if label is None or verdict is None or candidate.lengths is None:
        return None
    every = candidate.lengths[:, of]
    both = ~np.isnan(label.values) & ~np.isnan(verdict.values) & (every > 0)
    if np.count_nonzero(both) < FEWEST:
        return None
    labels, lengths = label.values[both], every[both]
    right = (labels > 0.5).astype(np.intp)  # noqa: PLR2004 (of 0 and 1)
    return _LengthErrors(verdict.values[both] - labels, np.log2(lengths), right, candidate.cluster_keys[both])


def _slope(errors: Sequence[_LengthErrors], confidence: float) -> LengthSlope | None:
    """Return the common slope of some systems; None if these rows do not determine it and its interval."""
    clusters, codes = np.unique(
        np.concatenate([np.empty(0, np.intp), *(of.clusters for of in errors)]), return_inverse=True
    )
    if len(clusters) < 2:  # noqa: PLR2004 (no spread)
        return None
    own = np.split(codes, np.cumsum([len(of.values) for of in errors])[:-1])
    each = [_products(of, places, len(clusters)) for of, places in zip(errors, own, strict=True)]
    products = np.sum(each, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        every, *without = products[:, 0] / products[:, 1]
    n = sum(len(of.values) for of in errors)
    found = jackknife_interval(every, Replicates.of(np.array(without)).error, len(clusters), n, confidence, UNBOUNDED)
    if not isfinite(found.high - found.low) or found.low == found.high:
        return None
    return {"value": found.value, "low": found.low, "high": found.high, "n": n}


def _products(of: _LengthErrors, codes: NDArray[np.intp], clusters: int) -> Floats:
    """Return the sums of x·y and x² of one system's rows around the means of their label.

    Args:
        of: Its rows; x is `doublings`, y `values`.
        codes: The cluster of each row, shape (n,).
        clusters: Their number.

    Returns:
        Shape (1 + clusters, 2): of all rows, then of all but those of each cluster.
    """
    x, y = of.doublings - of.doublings.mean(), of.values
    sums = np.zeros((clusters, 2, 5))
    np.add.at(sums, (codes, of.right), np.stack([np.ones_like(x), x, y, x * x, x * y], axis=-1))
    total = sums.sum(axis=0, keepdims=True)
    n, x, y, xx, xy = np.moveaxis(np.concatenate([total, total - sums]), -1, 0)
    rows = np.maximum(n, 1.0)
    products: Floats = np.stack([xy - x * y / rows, xx - x * x / rows], axis=-1).sum(axis=1)
    return products
