"""Builds the requests about each row, and the table of their verdicts: one row per (id, candidate)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, compress
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from tasks.judging.replies import carry, replies
from tasks.judging.requests import Request, encode_fields
from tasks.judging.settings import Judge
from tasks.judging.statuses import ANSWERED, FAILED, STATUSES, sampled_rows, statuses
from tasks.ledger.entries import Entry
from tasks.ledger.short_keys import KeySet, short_keys
from tasks.ledger.verdicts import Verdicts
from tasks.metrics.base import EMPTY_RESPONSE, Floats
from tasks.metrics.judge.meaning_match import MAJORITY, MeaningMatch
from tasks.metrics.judged import JudgeMetric
from tasks.models import offline
from tasks.scores.tables import nullable

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
BLOCK_ROWS = 10_000
# Metric → the request of each draw.
Requests: TypeAlias = dict[str, list[Request]]


class RowRequests(NamedTuple):
    """The requests about one row. status: `answered` for the rows to ask about, else why the row is not asked about."""

    status: str
    requests: Requests

    @property
    def all(self) -> Iterator[Request]:
        """The requests of all metrics."""
        return (request for draws in self.requests.values() for request in draws)


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
    for row, status in zip(part.to_pylist(), statuses(part, options).tolist(), strict=True):
        to_ask = STATUSES[status] == ANSWERED
        yield RowRequests(STATUSES[status], requests_of(_values(row, options), options) if to_ask else {})


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
    asked = KeySet()
    for requests in chain([others], (requests_about(block, options) for part in parts for block in _blocks(part))):
        by_key = {request.key: request for request in requests}
        carry(by_key, ledger)
        wanted = [*compress(by_key, ledger.unanswered([*by_key], retry_failed=retry_failed))]
        shorts = short_keys(wanted)
        new = [by_key[key] for key in compress(wanted, ~asked.contains(shorts))]
        asked.add(shorts)
        yield from new


def table_of(part: pa.Table, options: Judge, ledger: Verdicts, estimates: offline.Judged) -> pa.Table:
    """Build the table of one part from the ledger; estimates: the offline judge's verdicts of its rows."""
    judged = [verdicts for block in _blocks(part) for verdicts in _judged(block, options, ledger)]
    columns: dict[str, Any] = {"id": part["id"], "candidate": part["candidate"]}
    for name in ("meaning_match", "similarity_judge"):
        metric: JudgeMetric | None = getattr(options, name)
        scores = np.array([row.score(metric) if metric else np.nan for row in judged])
        columns |= score_columns(name, metric, scores)
    columns["meaning_match_reason"] = [row.reason for row in judged]
    columns["offline_match"] = nullable(estimates.probabilities)
    columns["judge_status"] = [row.status for row in judged]
    columns["judge_reason"] = [row.problem for row in judged]
    columns["judge_sampled"] = sampled_rows(part, options)
    columns["judge_draws"] = [max(map(len, row.verdicts.values()), default=0) for row in judged]
    columns["judge_agree"] = [row.agree for row in judged]
    # A language model has no known domain; in a cascade, the offline judge's says who judges.
    outside = estimates.outside if options.provider == "cascade" else [None] * len(part)
    columns["in_domain"] = np.array([reason is None for reason in outside], np.bool_)
    columns["domain_reason"] = pa.array(outside, pa.string())
    return pa.table({name: columns[name] for name in SCHEMA.names}, schema=SCHEMA)


def score_columns(name: str, metric: JudgeMetric | None, scores: Floats) -> dict[str, Any]:
    """Return the columns of a metric's scores, NaN without a verdict, and of its results; None: it is not asked for."""
    return {name: nullable(scores), f"{name}_result": (metric or MeaningMatch()).result(scores).tolist()}


def entries_of(part: pa.Table, options: Judge, ledger: Verdicts) -> Iterator[dict[str, Entry]]:
    """Yield the ledger's entries for the rows of a part, by key, block by block."""
    return (replies(requests_about(block, options), ledger) for block in _blocks(part))


def requests_about(part: pa.Table, options: Judge) -> Iterator[Request]:
    """Yield every request about the rows of a part."""
    return (request for row in rows_of(part, options) for request in row.all)


def _blocks(part: pa.Table) -> Iterator[pa.Table]:
    """Yield the rows of a part in blocks: the requests and replies of one block are in memory at once."""
    return (part.slice(start, BLOCK_ROWS) for start in range(0, part.num_rows, BLOCK_ROWS))


def _judged(block: pa.Table, options: Judge, ledger: Verdicts) -> list[RowVerdicts]:
    rows = [*rows_of(block, options)]
    entries = replies((request for row in rows for request in row.all), ledger)
    return [_verdicts(row, entries, options) for row in rows]


def _values(row: Mapping[str, Any], options: Judge) -> dict[str, Any]:
    values = {name: row[column] for name, column in options.variables}
    return values | {"ground_truth": _texts(values["ground_truth"])}


def _texts(cell: Any) -> list[str]:
    return [text for text in (cell if isinstance(cell, list) else [cell]) if text and text.strip()]


def _verdicts(row: RowRequests, ledger_entries: Mapping[str, Entry], options: Judge) -> RowVerdicts:
    if row.status != ANSWERED:
        return RowVerdicts(row.status, {}, None, row.status)
    entries = {name: [ledger_entries[request.key] for request in draws] for name, draws in row.requests.items()}
    verdicts = {name: [e["verdict"] for e in draws if e["verdict"] is not None] for name, draws in entries.items()}
    failed = [metric.name for metric in options.metrics if not verdicts[metric.name]]
    problem = next((entries[name][0]["problem"] for name in failed), None)
    return RowVerdicts(FAILED if failed else ANSWERED, verdicts, _reason(entries, verdicts), problem)


def _reason(entries: Mapping[str, list[Entry]], verdicts: Mapping[str, Sequence[float]]) -> str | None:
    """The judge's reason: that of the first draw that agrees with the result."""
    matches = verdicts.get("meaning_match")
    if not matches:
        return None
    majority = float(np.mean(matches) > MAJORITY)
    return next(entry["reason"] for entry in entries["meaning_match"] if entry["verdict"] == majority)
