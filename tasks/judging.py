"""From rows to the requests for a judge, and from its verdicts to a table: one row per (id, candidate)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from tasks.ledger.verdicts import Entry, Verdicts
from tasks.metrics.base import DISABLED, EMPTY_RESPONSE, FILTERED, NO_REFERENCE, NO_RESPONSE, NOT_SAMPLED
from tasks.metrics.judge.meaning_match import MAJORITY, MeaningMatch
from tasks.metrics.judged import JudgeMetric
from tasks.models.asking import Request, encode_fields
from tasks.models.chat import server_class
from tasks.scores import nullable
from tasks.selection import sampled

if TYPE_CHECKING:
    from tasks.judge import Judge

ANSWERED, FAILED = "answered", "failed"
STATUSES = (ANSWERED, FAILED, NOT_SAMPLED, FILTERED, DISABLED, EMPTY_RESPONSE, NO_RESPONSE, NO_REFERENCE)
REASONS = {DISABLED: "judge disabled"}
"""Why a row was not asked, where it is not the status itself."""
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
        ("judge_sampled", pa.bool_()),
        ("judge_draws", pa.int32()),
        ("judge_agree", pa.bool_()),
    ]
)
Entries: TypeAlias = dict[str, list[Entry]]
"""Metric → the entry of each draw."""


class Row(NamedTuple):
    """One row of the table, before metrics make results of it. requests: by metric, all draws."""

    status: str
    requests: dict[str, list[Request]]


def rows_of(part: pa.Table, options: "Judge") -> Iterator[Row]:
    """What to ask about each row of data/normalize."""
    for row, is_sampled in zip(part.to_pylist(), _sampled(part, options), strict=True):
        status = _status(row, options, is_sampled=is_sampled)
        yield Row(status, _requests(row, options) if status == ANSWERED else {})


def _status(row: Mapping[str, Any], options: "Judge", *, is_sampled: bool) -> str:
    """What is known before asking; `answered` for the rows to ask about."""
    output = row[options.variables.output]
    if options.provider == "none":
        return DISABLED
    if not is_sampled:
        return NOT_SAMPLED
    if not all(each.holds(row) for each in options.filters):
        return FILTERED
    if output is None:
        return NO_RESPONSE
    if not _texts(row[options.variables.ground_truth]):
        return NO_REFERENCE
    return ANSWERED if _texts(output) else EMPTY_RESPONSE


def _requests(row: Mapping[str, Any], options: "Judge") -> dict[str, list[Request]]:
    variables = options.variables
    truths = _texts(row[variables.ground_truth])
    values = {"input": row[variables.input], "ground_truth": truths, "output": row[variables.output]}
    fields, server = encode_fields(values), server_class(options.base_url)
    temperature = options.temperature if options.draws == 1 else options.draw_temperature
    return {
        metric.name: [
            Request(server, options.model, metric, fields, temperature, options.seed, draw)
            for draw in range(options.draws)
        ]
        for metric in options.metrics
    }


def _texts(cell: Any) -> list[str]:
    return [text for text in (cell if isinstance(cell, list) else [cell]) if text and text.strip()]


def table_of(part: pa.Table, options: "Judge", ledger: Verdicts) -> pa.Table:
    """The table of one part, every verdict read from the ledger."""
    rows = list(rows_of(part, options))
    known = ledger.get([each.key for row in rows for draws in row.requests.values() for each in draws])
    entries = [{name: [known[each.key] for each in draws] for name, draws in row.requests.items()} for row in rows]
    columns: dict[str, Any] = {"id": part["id"], "candidate": part["candidate"]}
    for name in ("meaning_match", "similarity_judge"):
        metric: JudgeMetric | None = getattr(options, name)
        scores = np.array(
            [_score(row, each, metric) if metric else np.nan for row, each in zip(rows, entries, strict=True)]
        )
        columns[name] = nullable(scores)
        columns[f"{name}_result"] = (metric or MeaningMatch()).result(scores).tolist()
    judged = [_verdicts(each) for each in entries]
    columns["meaning_match_reason"] = [_reason(row, each) for row, each in zip(rows, entries, strict=True)]
    columns["offline_match"] = pa.nulls(len(rows), pa.float64())
    columns["judge_status"] = [_outcome(row, each, options) for row, each in zip(rows, entries, strict=True)]
    columns["judge_sampled"] = _sampled(part, options)
    columns["judge_draws"] = [max(map(len, each.values()), default=0) for each in judged]
    columns["judge_agree"] = [_agree(list(each.values())) for each in judged]
    return pa.table({name: columns[name] for name in SCHEMA.names}, schema=SCHEMA)


def _sampled(part: pa.Table, options: "Judge") -> list[bool]:
    if options.provider == "none":
        return [False] * len(part)
    return sampled(part["id"].to_pylist(), options.seed, options.sampling_rate)


def _verdicts(entries: Entries) -> dict[str, list[float]]:
    """By metric, the verdicts of the draws that have one."""
    return {name: [e["verdict"] for e in draws if e["verdict"] is not None] for name, draws in entries.items()}


def _score(row: Row, entries: Entries, metric: JudgeMetric) -> float:
    if row.status == EMPTY_RESPONSE:
        return metric.bounds[0]
    verdicts = _verdicts(entries).get(metric.name)
    return float(np.mean(verdicts)) if verdicts else np.nan


def _outcome(row: Row, entries: Entries, options: "Judge") -> str:
    judged = _verdicts(entries)
    complete = all(judged.get(metric.name) for metric in options.metrics)
    return FAILED if row.status == ANSWERED and not complete else row.status


def _reason(row: Row, entries: Entries) -> str | None:
    """The judge's reason, of the first draw that agrees with the result; else why there is no verdict."""
    if row.status != ANSWERED:
        return REASONS.get(row.status, row.status)
    judged = _verdicts(entries)
    verdicts = judged.get("meaning_match")
    if not verdicts:
        return next((draws[0]["problem"] for name, draws in entries.items() if not judged[name]), None)
    majority = float(np.mean(verdicts) > MAJORITY)
    return next(entry["reason"] for entry in entries["meaning_match"] if entry["verdict"] == majority)


def _agree(judged: Sequence[Sequence[float]]) -> bool | None:
    """Whether all draws gave the same verdict; None when no metric has two."""
    several = [verdicts for verdicts in judged if len(verdicts) > 1]
    return all(len(set(verdicts)) == 1 for verdicts in several) if several else None
