"""Failures: which rows the primary measure calls wrong, of which kind they are, and how frequent each kind is."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tasks.pipeline.tables import Parts
from tasks.scores import estimates
from tasks.scores.column_facts import VALUE
from tasks.scores.columns import Candidate, Mask, ScoreColumn
from tasks.scores.failure_kinds import NAMES, Row, failure_kind
from tasks.scores.metrics_report import FailureEntry, FailuresEntry

Kinds = NDArray[np.int8]
# The kind of a row that is not wrong, or was not measured.
NOT_WRONG = -1
TEXTS = ("input", "references", "response")
REASON = "judge_reason"


def decisive(columns: Sequence[ScoreColumn], measure: str) -> ScoreColumn | None:
    """The column of the primary measure, if its rows pass or fail; None for a score without a threshold."""
    name = measure.removesuffix(VALUE)
    return next((column for column in columns if column.name == name and column.passed is not None), None)


def wrong(column: ScoreColumn) -> Mask:
    """Which rows a column measured and calls wrong, shape (n,)."""
    passed = np.ones(len(column.values), np.bool_) if column.passed is None else column.passed
    return ~np.isnan(column.values) & ~passed


def kinds(load: Parts, judge: Parts, is_wrong: Mask, *, offline: bool) -> Kinds:
    """The number of the kind of each wrong row, NOT_WRONG for the others; shape (n,). One part is in memory at a time.

    Args:
        load: data/load.
        judge: data/judge, whose reasons count if they are the offline judge's.
        is_wrong: Shape (n,).
        offline: Whether the offline judge gave the reasons.
    """
    found: Kinds = np.full(len(is_wrong), NOT_WRONG, np.int8)
    reasons = wrong_reasons(judge, is_wrong) if offline else {}
    present = [name for name in TEXTS if name in load.schema.names]
    for positions, part in load.picked(["id", *present], np.flatnonzero(is_wrong)):
        for position, row in zip(positions.tolist(), part.to_pylist(), strict=True):
            texts = Row(row.get("input"), row.get("references") or [], row.get("response"), reasons.get(position))
            found[position] = failure_kind(texts)
    return found


def wrong_reasons(judge: Parts, is_wrong: Mask) -> dict[int, str]:
    """Position of a wrong row → the judge's reason, where it has one."""
    if REASON not in judge.schema.names:
        return {}
    return {
        position: reason
        for positions, part in judge.picked([REASON], np.flatnonzero(is_wrong))
        for position, reason in zip(positions.tolist(), part[REASON].to_pylist(), strict=True)
        if reason
    }


def frequencies(
    scored: Sequence[Candidate], measure: str, found: Kinds, confidence: float, *, guarantee: bool
) -> Mapping[str, FailuresEntry]:
    """Candidate → how frequent each kind of failure is among its measured rows, the most frequent kind first.

    Args:
        scored: The candidates.
        measure: The primary measure.
        found: The kind of each row of the tables.
        confidence: Of each interval.
        guarantee: As of `estimates.mean`.
    """
    totals = [int((found == kind).sum()) for kind in range(len(NAMES))]
    order = sorted((kind for kind, n in enumerate(totals) if n), key=lambda kind: (-totals[kind], kind))
    entries: dict[str, FailuresEntry] = {}
    for candidate in scored:
        column = decisive(candidate.columns, measure)
        if column is None or np.isnan(column.values).all():
            continue
        measured = ~np.isnan(column.values)
        own, clusters = found[candidate.positions][measured], candidate.groups
        groups = None if clusters is None else clusters[measured]
        shares = [_share(own == kind, NAMES[kind], groups, confidence, guarantee=guarantee) for kind in order]
        entries[candidate.name] = {"n": int(measured.sum()), "wrong": int((own >= 0).sum()), "kinds": shares}
    return entries


def _share(
    rows: Mask, kind: str, groups: NDArray[np.intp] | None, confidence: float, *, guarantee: bool
) -> FailureEntry:
    share = estimates.mean(rows.astype(np.float64), groups, (0.0, 1.0), confidence, guarantee=guarantee)
    return {"kind": kind, "n": int(rows.sum()), "value": share.value, "low": share.low, "high": share.high}
