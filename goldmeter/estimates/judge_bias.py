"""How far the judge's rate of each system is from that of the human labels, and whether this differs by system."""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from goldmeter.estimates.columns import Candidate
from goldmeter.estimates.estimates import is_one_cluster, silenced
from goldmeter.estimates.human_labels import FEWEST, LABEL
from goldmeter.estimates.metrics_report import JudgeBiasEntry, SystemBias
from goldmeter.estimates.primary import VERDICT
from goldmeter.estimates.sums import column_of
from goldmeter.metrics.base import Floats

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
    from goldmeter.statistics import paired_difference

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
    from goldmeter.statistics import paired_difference

    shared, mine, others = np.intersect1d(one.keys, other.keys, return_indices=True)
    clusters = None if one.clusters is None else one.clusters[mine]
    if len(shared) < FEWEST or is_one_cluster(clusters):
        return None
    return paired_difference(other.values[others] - one.values[mine], clusters, _OF_TWO, confidence).p_value
