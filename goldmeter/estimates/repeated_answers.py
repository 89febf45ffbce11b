"""Repeated answers: a candidate by question instead of by draw, and the report's entries on pass@k and pass^k."""

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from goldmeter.estimates import estimates
from goldmeter.estimates.columns import Candidate, Mask, ScoreColumn
from goldmeter.estimates.metrics_report import PassEntry, RepeatedEntry, SpreadEntry
from goldmeter.metrics.base import Floats
from goldmeter.statistics import Estimate, Method, VarianceSplit, pass_all, pass_at, question_interval, variance_split
from goldmeter.statistics.clusters import GroupTotals
from goldmeter.statistics.stopping import confidence_sequence

Codes = NDArray[np.intp]
# At least one of k draws passes; all of k draws pass.
AT, ALL = "pass@", "pass^"
_BY_QUESTION = re.compile(r"(?P<column>.+)\.pass[@^](?P<k>[1-9][0-9]{0,8})", re.ASCII | re.DOTALL)


class Questions(NamedTuple):
    """The questions of a candidate, by the hash of their id.

    keys: ascending, shape (m,). first: a row of each, shape (m,). codes: the question of each row, shape (n,).
    """

    keys: NDArray[np.uint64]
    first: Codes
    codes: Codes

    def tally(self, rows: Mask) -> Codes:
        """How many of these rows each question has; rows: shape (n,)."""
        return np.bincount(self.codes[rows], minlength=len(self.keys))


class Draws(NamedTuple):
    """How many draws of each question are measured, and how many of them pass; both of shape (m,)."""

    measured: Codes
    passed: Codes

    def values(self, kind: str, k: int) -> Floats:
        """pass@k or pass^k of each question, NaN for those with fewer than k measured draws."""
        return (pass_at if kind == AT else pass_all)(self.measured, self.passed, k)


def names(column: str, ks: Sequence[int]) -> list[str]:
    """The names of a column's measures by question: pass^1 is pass@1.

    >>> names("label", (1, 5))
    ['label.pass@1', 'label.pass@5', 'label.pass^5']
    """
    return [f"{column}.{kind}{k}" for kind, k in _kinds(ks)]


def parsed(measure: str) -> tuple[str, int] | None:
    """The column and the k of a measure by question, pass@k or pass^k; None for any other name.

    >>> parsed("label.pass^5"), parsed("f1.value"), parsed("f1.pass@0")
    (('label', 5), None, None)
    """
    found = _BY_QUESTION.fullmatch(measure)
    return (found["column"], int(found["k"])) if found else None


def by_question(candidate: Candidate, ks: Sequence[int], columns: Container[str]) -> Candidate | None:
    """The candidate with one row per question, and pass@k and pass^k of these columns as its columns.

    Columns without a pass rate have neither. Questions with fewer than k measured draws are unmeasured: not asked if
    they have fewer than k draws.

    Returns:
        None for a candidate without draws.
    """
    questions = _questions(candidate)
    if questions is None:
        return None
    rated = [column for column in candidate.columns if column.passed is not None and column.name in columns]
    slices = {name: one._replace(codes=one.codes[questions.first]) for name, one in candidate.slices.items()}
    return Candidate(
        candidate.name,
        questions.keys,
        candidate.positions[questions.first],
        [one for column in rated for one in _by_question(column, questions, ks)],
        _groups(candidate, questions),
        slices,
        labels_random=candidate.labels_random,
        outside=None if candidate.outside is None else questions.tally(candidate.outside) > 0,
        by_offline=None if candidate.by_offline is None else questions.tally(candidate.by_offline) > 0,
    )


def question_groups(candidate: Candidate) -> Codes | None:
    """The cluster of each question of a candidate, in the order of their keys; None without groups or draws."""
    questions = _questions(candidate)
    return None if questions is None or candidate.groups is None else candidate.groups[questions.first]


def entry(candidate: Candidate, column: ScoreColumn, ks: Sequence[int], confidence: float) -> RepeatedEntry | None:
    """What the report says of a column's repeated answers; None without draws or without a pass rate."""
    questions = _questions(candidate)
    if questions is None or column.passed is None:
        return None
    draws, groups = _draws(column, questions), _groups(candidate, questions)
    stopped = column.facts.stopped
    entries = {
        (kind, k): _entry(draws, draws.values(kind, k), groups, confidence, stopped=stopped) for kind, k in _kinds(ks)
    }
    found: RepeatedEntry = {
        "pass_at": {str(k): one for (kind, k), one in entries.items() if kind == AT},
        "pass_all": {str(k): one for (kind, k), one in entries.items() if kind == ALL or k == 1},
    }
    if not stopped and (spread := _spread(column, questions)):
        found["spread"] = spread
    return found


def advice(split: VarianceSplit) -> str:
    """Whether more draws or more questions make pass@1 more precise, in one sentence."""
    if not split.is_spread:
        return "All draws have the same result; only more questions can narrow the interval."
    now, with_draws, with_questions = (
        f"{100.0 * error:.1f}" for error in (split.error, split.error_with_draws, split.error_with_questions)
    )
    if split.favours_questions:
        return (
            f"More questions help more than more draws: twice the questions would lower the standard error of pass@1 "
            f"from {now} to {with_questions} points, twice the draws to {with_draws}."
        )
    return (
        f"More draws help about as much as more questions: twice the draws would lower the standard error of pass@1 "
        f"from {now} to {with_draws} points, twice the questions to {with_questions}."
    )


def _kinds(ks: Sequence[int]) -> list[tuple[str, int]]:
    return [*((AT, k) for k in ks), *((ALL, k) for k in ks if k > 1)]


def _questions(candidate: Candidate) -> Questions | None:
    if candidate.questions is None:
        return None
    return Questions(*np.unique(candidate.questions, return_index=True, return_inverse=True))


def _groups(candidate: Candidate, questions: Questions) -> Codes | None:
    """The cluster of each question; None where each question is a cluster of its own."""
    if candidate.groups is None:
        return None
    groups = candidate.groups[questions.first]
    return None if len(np.unique(groups)) == len(groups) else groups


def _draws(column: ScoreColumn, questions: Questions) -> Draws:
    measured = ~np.isnan(column.values)
    return Draws(questions.tally(measured), questions.tally(measured & _passes(column)))


def _passes(column: ScoreColumn) -> Mask:
    """Which rows pass; none of a column without a pass rate."""
    return np.zeros(len(column.values), np.bool_) if column.passed is None else column.passed


def _by_question(column: ScoreColumn, questions: Questions, ks: Sequence[int]) -> Iterator[ScoreColumn]:
    draws, asked = _draws(column, questions), questions.tally(~column.not_asked)
    for kind, k in _kinds(ks):
        facts = replace(
            column.facts,
            signature=f"{column.facts.rate_signature}|{kind}{k}",
            bounds=(0.0, 1.0),
            higher_is_better=True,
            corpus_is_mean=True,
            threshold=None,
            rate_signature=None,
        )
        values = draws.values(kind, k)
        yield ScoreColumn(f"{column.name}.{kind}{k}", values, np.isnan(values) & (asked < k), None, None, facts)


def _entry(draws: Draws, values: Floats, groups: Codes | None, confidence: float, *, stopped: bool) -> PassEntry:
    used = ~np.isnan(values)
    clusters = None if groups is None else groups[used]
    if estimates.is_one_cluster(clusters):
        found = Estimate(float(values[used].mean()), 0.0, 1.0, int(used.sum()), Method(estimates.ONE_CLUSTER))
    elif stopped and used.any():
        found = _by_looks(values[used], np.arange(used.sum()) if clusters is None else clusters, groups, confidence)
    else:
        found = estimates.with_warnings(lambda: question_interval(values[used], clusters, confidence))
    return {
        "value": found.value,
        "low": found.low,
        "high": found.high,
        "n_questions": found.n,
        "n_left_out": int((~used).sum()),
        "n_draws": int(draws.measured[used].sum()),
        "method": str(found.method),
    }


def _by_looks(values: Floats, clusters: Codes, groups: Codes | None, confidence: float) -> Estimate:
    """The mean over questions, with limits that hold wherever a judge stopped; groups: clusters of all questions."""
    from goldmeter.estimates.estimate_rows import BY_LOOKS

    by_cluster = GroupTotals.of(clusters, values[:, None])
    largest = 1.0 if groups is None else float(np.unique(groups, return_counts=True)[1].max())
    totals = np.minimum(by_cluster.totals[:, 0], by_cluster.sizes)
    low, high = confidence_sequence(totals, by_cluster.sizes, largest, confidence)
    value = float(values.mean())
    return Estimate(value, min(low, value), max(high, value), len(values), Method(BY_LOOKS))


def _spread(column: ScoreColumn, questions: Questions) -> SpreadEntry | None:
    measured = ~np.isnan(column.values)
    split = variance_split(_passes(column)[measured].astype(np.float64), questions.codes[measured])
    if split is None:
        return None
    return {
        "between": split.between,
        "within": split.within,
        "n_questions": split.questions,
        "n_draws": split.draws,
        "error": split.error,
        "error_with_draws": split.error_with_draws,
        "error_with_questions": split.error_with_questions,
        "favours": "questions" if split.favours_questions or not split.is_spread else "either",
        "advice": advice(split),
    }
