"""Why a candidate has no score of a metric, counted part by part from the tables."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from tasks.metrics.base import DISABLED
from tasks.pipeline.tables import Parts

STATUS = "judge_status"
# (Metric, candidate, reason) → rows.
Reasons = Counter[tuple[str, str, str]]


class MissingScores(NamedTuple):
    """A metric without a score of some candidates; details: the column that says why, None without one."""

    metric: str
    details: str | None
    candidates: Sequence[str]


# Name of a table → its metrics without scores.
Missing = Mapping[str, Sequence[MissingScores]]


def missing_reasons(tables: Mapping[str, Parts], number: int, missing: Missing) -> Reasons:
    """Count the reasons in one part of the tables."""
    reasons = Reasons()
    for name, metrics in missing.items():
        for metric in metrics:
            reasons.update(_reasons(tables[name], number, metric))
    return reasons


def most_frequent(reasons: Reasons, metric: str, candidate: str) -> str:
    """Return the most frequent reason for a candidate's missing scores."""
    if metric == "label":
        return "no labels"
    own = {reason: rows for (of, name, reason), rows in reasons.items() if (of, name) == (metric, candidate)}
    return min(own, key=lambda reason: (-own[reason], reason), default="no rows")


def _reasons(table: Parts, number: int, metric: MissingScores) -> Reasons:
    status = [STATUS] if STATUS in table.schema.names else []
    keys = ["candidate", *([metric.details] if metric.details else []), *status]
    rows = table.part(number, keys)
    rows = rows.filter(pc.is_in(rows["candidate"], pa.array(metric.candidates, pa.string())))
    counted = rows.group_by(keys, use_threads=False).aggregate([([], "count_all")]).to_pylist()
    reasons = Reasons()
    for row in counted:
        reason = _reason(row[metric.details] if metric.details else None, row.get(STATUS))
        reasons[metric.metric, row["candidate"], reason] += row["count_all"]
    return reasons


def _reason(details: str | None, status: str | None) -> str:
    reason = str(json.loads(details or "{}").get("unmeasured", status or "no reason given"))
    return f"judge {reason}" if reason == DISABLED else reason
