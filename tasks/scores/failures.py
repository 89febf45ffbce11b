"""Failures: which rows the primary measure calls wrong, of which kind they are, and how frequent each kind is."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tasks.pipeline.tables import Parts
from tasks.scores import estimates
from tasks.scores.cluster_sums import ClusterSums
from tasks.scores.column_facts import VALUE
from tasks.scores.columns import Mask, ScoreColumn
from tasks.scores.failure_kinds import NAMES, Row, failure_kind
from tasks.scores.metrics_report import FailureEntry, FailuresEntry
from tasks.scores.sums import AnyColumn_co, CandidateSums, ColumnSums

Kinds = NDArray[np.int8]
Counts = NDArray[np.int64]
# The kind of a row that is not wrong, or was not measured.
NOT_WRONG = -1
TEXTS = ("input", "references", "response")


def decisive(columns: Sequence[AnyColumn_co], measure: str) -> AnyColumn_co | None:
    """The column of the primary measure, if its rows pass or fail; None for a score without a threshold."""
    name = measure.removesuffix(VALUE)
    return next((column for column in columns if column.name == name and column.facts.has_pass_rate), None)


def wrong(column: ScoreColumn) -> Mask:
    """Which rows a column measured and calls wrong, shape (n,)."""
    passed = np.ones(len(column.values), np.bool_) if column.passed is None else column.passed
    return ~np.isnan(column.values) & ~passed


def kinds_of_part(load: Parts, number: int, is_wrong: Mask) -> Kinds:
    """The number of the kind of each wrong row of a part, NOT_WRONG for the others; shape (n,).

    Args:
        load: data/load.
        number: Of the part, which has n rows.
        is_wrong: Shape (n,).
    """
    found: Kinds = np.full(len(is_wrong), NOT_WRONG, np.int8)
    positions = np.flatnonzero(is_wrong)
    if not len(positions):
        return found
    present = [name for name in TEXTS if name in load.schema.names]
    texts = load.part(number, present).take(positions) if present else None
    asked, accepted, given = (
        texts[name].to_pylist() if texts is not None and name in present else [None] * len(positions) for name in TEXTS
    )
    for position, question, references, response in zip(positions.tolist(), asked, accepted, given, strict=True):
        found[position] = failure_kind(Row(question, references or [], response))
    return found


class FailureSums(NamedTuple):
    """The failures of one candidate's measured rows, by kind.

    counts: of each kind, shape (kinds,). clusters: of the rows with a failure; keys ascending, shape (m,). by_cluster:
    failures of each kind in each of them, shape (m, kinds). Both are None for independent rows.
    """

    counts: Counts
    clusters: Counts | None
    by_cluster: Counts | None

    @classmethod
    def of(cls, found: Kinds, groups: NDArray[np.intp] | None) -> "FailureSums":
        """Count the kinds of rows, NOT_WRONG among them, shape (n,); groups: the cluster of each, or None."""
        wrong = found != NOT_WRONG
        counts = np.bincount(found[wrong], minlength=len(NAMES))
        if groups is None:
            return cls(counts, None, None)
        keys, codes = np.unique(groups[wrong], return_inverse=True)
        by_cluster = np.zeros((len(keys), len(NAMES)), np.int64)
        np.add.at(by_cluster, (codes, found[wrong]), 1)
        return cls(counts, keys, by_cluster)

    def __add__(self, other: object) -> "FailureSums":
        """The failures of the rows of both."""
        if not isinstance(other, FailureSums):
            return NotImplemented
        counts = self.counts + other.counts
        if self.clusters is None or other.clusters is None or self.by_cluster is None or other.by_cluster is None:
            return FailureSums(counts, None, None)
        keys, places = np.unique(np.concatenate([self.clusters, other.clusters]), return_inverse=True)
        by_cluster = np.zeros((len(keys), len(NAMES)), np.int64)
        np.add.at(by_cluster, places, np.concatenate([self.by_cluster, other.by_cluster]))
        return FailureSums(counts, keys, by_cluster)

    def in_clusters(self, kind: int, clusters: ClusterSums) -> Counts:
        """The failures of a kind in each of the candidate's clusters, shape (clusters,)."""
        counts = np.zeros(len(clusters.keys), np.int64)
        if self.clusters is not None and self.by_cluster is not None:
            counts[np.searchsorted(clusters.keys, self.clusters)] = self.by_cluster[:, kind]
        return counts


def frequencies(
    scored: Sequence[CandidateSums],
    measure: str,
    found: Mapping[str, FailureSums],
    confidence: float,
    *,
    guarantee: bool,
) -> Mapping[str, FailuresEntry]:
    """Candidate → how frequent each kind of failure is among its measured rows, the most frequent kind first.

    Args:
        scored: The candidates.
        measure: The primary measure.
        found: Candidate → its failures.
        confidence: Of each interval.
        guarantee: Widen the intervals so that their coverage never falls below `confidence`; for independent rows.
    """
    totals = sum((one.counts for one in found.values()), np.zeros(len(NAMES), np.int64))
    order = sorted(np.flatnonzero(totals).tolist(), key=lambda kind: (-totals[kind], kind))
    entries: dict[str, FailuresEntry] = {}
    for candidate in scored:
        column = decisive(candidate.columns, measure)
        if column is None or not column.n_measured or candidate.name not in found:
            continue
        own = found[candidate.name]
        shares = [_share(column, own, kind, confidence, guarantee=guarantee) for kind in order]
        entries[candidate.name] = {"n": column.n_measured, "wrong": int(own.counts.sum()), "kinds": shares}
    return entries


def _share(column: ColumnSums, failures: FailureSums, kind: int, confidence: float, *, guarantee: bool) -> FailureEntry:
    count = int(failures.counts[kind])
    clusters = column.clusters
    of_kind = None if clusters is None else clusters._replace(passed=failures.in_clusters(kind, clusters))
    share = estimates.pass_rate(replace(column, passed=count, clusters=of_kind), confidence, guarantee=guarantee)
    return {"kind": NAMES[kind], "n": count, "value": share.value, "low": share.low, "high": share.high}
