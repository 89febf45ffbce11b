"""Builds the requests about each row, and the table of their verdicts: one row per (id, candidate)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from tasks.judging.replies import replies
from tasks.judging.requests import Request, encode_fields
from tasks.judging.sampling import sampled
from tasks.judging.settings import Judge
from tasks.ledger.verdicts import Entry, Verdicts
from tasks.metrics.base import (
    DISABLED,
    EMPTY_RESPONSE,
    FILTERED,
    NO_REFERENCE,
    NO_RESPONSE,
    NOT_APPLICABLE,
    NOT_SAMPLED,
)
from tasks.metrics.judge.meaning_match import MAJORITY, MeaningMatch
from tasks.metrics.judged import JudgeMetric
from tasks.models import offline
from tasks.pipeline.tables import Parts
from tasks.pipeline.workers import pool, workers_for
from tasks.scores.tables import nullable, pairs_of

ANSWERED, FAILED = "answered", "failed"
BY_DESIGN = (NOT_SAMPLED, FILTERED, DISABLED, NO_REFERENCE, NOT_APPLICABLE)
STATUSES = (ANSWERED, FAILED, EMPTY_RESPONSE, NO_RESPONSE, *BY_DESIGN)
SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("candidate", pa.string()),
        ("meaning_match", pa.float64()),
        ("meaning_match_result", pa.string()),
        ("meaning_match_reason", pa.string()),
        ("similarity_judge", pa.float64()),
        ("similarity_judge_result", pa.string()),
        ("offline_match", pa.float64()),
        ("judge_status", pa.string()),
        ("judge_reason", pa.string()),
        ("judge_sampled", pa.bool_()),
        ("judge_draws", pa.int32()),
        ("judge_agree", pa.bool_()),
        ("in_domain", pa.bool_()),
        ("domain_reason", pa.string()),
    ]
)
# Metric → the request of each draw.
Requests: TypeAlias = dict[str, list[Request]]


class RowRequests(NamedTuple):
    """The requests about one row. status: `answered` for the rows to ask about, else why the row is not asked about."""

    status: str
    requests: Requests


class RowVerdicts(NamedTuple):
    """The verdicts of one row by metric, the judge's reason, and the problem if there is no verdict."""

    status: str
    verdicts: dict[str, list[float]]
    reason: str | None
    problem: str | None

    @property
    def agree(self) -> bool | None:
        """Whether all draws gave the same verdict; None if no metric has two."""
        several = [verdicts for verdicts in self.verdicts.values() if len(verdicts) > 1]
        return all(len(set(verdicts)) == 1 for verdicts in several) if several else None

    def score(self, metric: JudgeMetric) -> float:
        """The metric's score, NaN without a verdict."""
        if self.status == EMPTY_RESPONSE:
            return metric.bounds[0]
        verdicts = self.verdicts.get(metric.name)
        return float(np.mean(verdicts)) if verdicts else np.nan


def rows_of(part: pa.Table, options: Judge) -> Iterator[RowRequests]:
    """Yield the requests about each row of data/normalize."""
    pairs = pairs_of(part)
    applies = np.logical_and.reduce([np.ones(len(pairs), np.bool_), *(one.applies(pairs) for one in options.metrics)])
    for row, is_sampled, has_case in zip(part.to_pylist(), _sampled(part, options), applies, strict=True):
        status = _status(row, options, is_sampled=is_sampled)
        if not has_case and status != DISABLED:
            status = NOT_APPLICABLE
        to_ask = status == ANSWERED and options.provider != "offline"
        yield RowRequests(status, requests_of(_values(row, options), options) if to_ask else {})


def requests_of(values: Mapping[str, Any], options: Judge) -> Requests:
    """Return the requests about one row; values: input, ground_truth (a list) and output."""
    fields, (server, address) = encode_fields(values), options.server_key
    temperature = options.temperature if options.draws == 1 else options.draw_temperature
    return {
        metric.name: [
            Request(server, address, options.model, metric, fields, temperature, options.seed, draw)
            for draw in range(options.draws)
        ]
        for metric in options.metrics
    }


def missing(
    parts: Iterable[pa.Table], options: Judge, ledger: Verdicts, *, others: Iterable[Request], retry_failed: bool
) -> Iterator[Request]:
    """Yield each request that the ledger has no reply to, once: of `others` first, then of the rows.

    retry_failed: also requests whose reply is no verdict.
    """
    seen: set[bytes] = set()  # as bytes: a third of the memory of 64 hex digits
    for requests in chain([others], (requests_about(part, options) for part in parts)):
        new = {request.key: request for request in requests if bytes.fromhex(request.key) not in seen}
        seen.update(map(bytes.fromhex, new))
        entries = replies(new.values(), ledger)
        for key, request in new.items():
            entry = entries.get(key)
            if entry is None or not entry["attempts"] or (retry_failed and entry["verdict"] is None):
                yield request


def estimates(parts: Parts, options: Judge, most: int | None) -> Iterator[offline.Judged]:
    """Yield the offline judge's verdicts of every part, in up to `most` processes (None: one per core)."""
    workers, jobs = workers_for(parts, most), (repeat(parts), range(len(parts)), repeat(options))
    if workers <= 1:
        yield from map(_estimates, *jobs)
        return
    with pool(workers, [__name__, "tasks.models.offline.warm_up"]) as executor:
        yield from executor.map(_estimates, *jobs)


def table_of(part: pa.Table, options: Judge, ledger: Verdicts, estimates: offline.Judged) -> pa.Table:
    """Build the table of one part from the ledger; estimates: the offline judge's verdicts of its rows."""
    rows = [*rows_of(part, options)]
    if options.provider == "offline":
        judged = [*map(_verdicts_offline, rows, estimates.probabilities.tolist(), estimates.reasons)]
    else:
        entries = entries_of(part, options, ledger)
        judged = [_verdicts(row, entries, options) for row in rows]
    columns: dict[str, Any] = {"id": part["id"], "candidate": part["candidate"]}
    for name in ("meaning_match", "similarity_judge"):
        metric: JudgeMetric | None = getattr(options, name)
        scores = np.array([row.score(metric) if metric else np.nan for row in judged])
        columns[name] = nullable(scores)
        columns[f"{name}_result"] = (metric or MeaningMatch()).result(scores).tolist()
    columns["meaning_match_reason"] = [row.reason for row in judged]
    columns["offline_match"] = nullable(estimates.probabilities)
    columns["judge_status"] = [row.status for row in judged]
    columns["judge_reason"] = [row.problem for row in judged]
    columns["judge_sampled"] = _sampled(part, options)
    columns["judge_draws"] = [max(map(len, row.verdicts.values()), default=0) for row in judged]
    columns["judge_agree"] = [row.agree for row in judged]
    # A language model has no known domain.
    outside = estimates.outside if options.provider == "offline" else [None] * len(part)
    columns["in_domain"] = [reason is None for reason in outside]
    columns["domain_reason"] = outside
    return pa.table({name: columns[name] for name in SCHEMA.names}, schema=SCHEMA)


def entries_of(part: pa.Table, options: Judge, ledger: Verdicts) -> dict[str, Entry]:
    """Return the ledger's entries for the rows of a part, by key."""
    return replies(requests_about(part, options), ledger)


def requests_about(part: pa.Table, options: Judge) -> Iterator[Request]:
    """Yield every request about the rows of a part."""
    return (request for row in rows_of(part, options) for draws in row.requests.values() for request in draws)


def _status(row: Mapping[str, Any], options: Judge, *, is_sampled: bool) -> str:
    """The status of a row before any request; `answered` for the rows to ask about."""
    output = row[options.variables.output]
    if options.provider == "none":
        return DISABLED
    if not all(condition.holds(row) for condition in options.filters):
        return FILTERED
    if not is_sampled:  # after the filters: the sample represents the rows that they let through
        return NOT_SAMPLED
    if output is None:
        return NO_RESPONSE
    if not _texts(row[options.variables.ground_truth]):
        return NO_REFERENCE
    return ANSWERED if _texts(output) else EMPTY_RESPONSE


def _values(row: Mapping[str, Any], options: Judge) -> dict[str, Any]:
    values = {name: row[column] for name, column in options.variables}
    return values | {"ground_truth": _texts(values["ground_truth"])}


def _texts(cell: Any) -> list[str]:
    return [text for text in (cell if isinstance(cell, list) else [cell]) if text and text.strip()]


def _estimates(parts: Parts, number: int, options: Judge) -> offline.Judged:
    """The offline judge's verdict of every row of one part."""
    rows = [_values(row, options) for row in parts.part(number).to_pylist()]
    inputs, outputs = ([_joined(row[name]) for row in rows] for name in ("input", "output"))
    return offline.judge(inputs, [row["ground_truth"] for row in rows], outputs)


def _joined(cell: Any) -> str | None:
    return " ".join(cell) if isinstance(cell, list) else cell


def _sampled(part: pa.Table, options: Judge) -> list[bool]:
    if options.provider == "none":
        return [False] * len(part)
    return sampled(part["id"].to_pylist(), options.seed, options.sampling_rate)


def _verdicts_offline(row: RowRequests, probability: float, reason: str | None) -> RowVerdicts:
    if row.status != ANSWERED:
        return _not_asked(row)
    return RowVerdicts(ANSWERED, {MeaningMatch().name: [float(probability >= offline.RIGHT)]}, reason, None)


def _verdicts(row: RowRequests, ledger_entries: Mapping[str, Entry], options: Judge) -> RowVerdicts:
    if row.status != ANSWERED:
        return _not_asked(row)
    entries = {name: [ledger_entries[request.key] for request in draws] for name, draws in row.requests.items()}
    verdicts = {name: [e["verdict"] for e in draws if e["verdict"] is not None] for name, draws in entries.items()}
    failed = [metric.name for metric in options.metrics if not verdicts[metric.name]]
    problem = next((entries[name][0]["problem"] for name in failed), None)
    return RowVerdicts(FAILED if failed else ANSWERED, verdicts, _reason(entries, verdicts), problem)


def _not_asked(row: RowRequests) -> RowVerdicts:
    return RowVerdicts(row.status, {}, None, "judge disabled" if row.status == DISABLED else row.status)


def _reason(entries: Mapping[str, list[Entry]], verdicts: Mapping[str, Sequence[float]]) -> str | None:
    """The judge's reason: that of the first draw that agrees with the result."""
    matches = verdicts.get("meaning_match")
    if not matches:
        return None
    majority = float(np.mean(matches) > MAJORITY)
    return next(entry["reason"] for entry in entries["meaning_match"] if entry["verdict"] == majority)
