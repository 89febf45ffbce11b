"""From rows to the requests for a judge, and from its verdicts to a table: one row per (id, candidate)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from tasks.judging.requests import Request, encode_fields
from tasks.judging.sampling import sampled
from tasks.judging.settings import Judge
from tasks.ledger.verdicts import Entry, Verdicts
from tasks.metrics.base import DISABLED, EMPTY_RESPONSE, FILTERED, NO_REFERENCE, NO_RESPONSE, NOT_SAMPLED
from tasks.metrics.judge.meaning_match import MAJORITY, MeaningMatch
from tasks.metrics.judged import JudgeMetric
from tasks.models import offline
from tasks.models.chat.client import server_class
from tasks.pipeline.tables import Parts
from tasks.pipeline.workers import pool, workers_for
from tasks.scores.tables import nullable

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
        ("judge_reason", pa.string()),
        ("judge_sampled", pa.bool_()),
        ("judge_draws", pa.int32()),
        ("judge_agree", pa.bool_()),
    ]
)
Requests: TypeAlias = dict[str, list[Request]]
"""Metric → the request of each draw."""


class Row(NamedTuple):
    """What to ask about one row. status: `answered` for the rows to ask about, else why not."""

    status: str
    requests: Requests


class Judged(NamedTuple):
    """What came of one row: verdicts by metric, the judge's reason, and why there is no verdict."""

    status: str
    verdicts: dict[str, list[float]]
    reason: str | None
    problem: str | None

    @property
    def agree(self) -> bool | None:
        """Whether all draws gave the same verdict; None when no metric has two."""
        several = [verdicts for verdicts in self.verdicts.values() if len(verdicts) > 1]
        return all(len(set(verdicts)) == 1 for verdicts in several) if several else None

    def score(self, metric: JudgeMetric) -> float:
        """The metric's score, NaN without a verdict."""
        if self.status == EMPTY_RESPONSE:
            return metric.bounds[0]
        verdicts = self.verdicts.get(metric.name)
        return float(np.mean(verdicts)) if verdicts else np.nan


def rows_of(part: pa.Table, options: Judge) -> Iterator[Row]:
    """What to ask about each row of data/normalize."""
    for row, is_sampled in zip(part.to_pylist(), _sampled(part, options), strict=True):
        status = _status(row, options, is_sampled=is_sampled)
        asks = status == ANSWERED and options.provider != "offline"
        yield Row(status, requests_of(_values(row, options), options) if asks else {})


def requests_of(values: Mapping[str, Any], options: Judge) -> Requests:
    """The requests about one row; values: input, ground_truth (a list) and output."""
    fields, server = encode_fields(values), server_class(options.base_url)
    temperature = options.temperature if options.draws == 1 else options.draw_temperature
    return {
        metric.name: [
            Request(server, options.model, metric, fields, temperature, options.seed, draw)
            for draw in range(options.draws)
        ]
        for metric in options.metrics
    }


def missing(
    parts: Iterable[pa.Table], options: Judge, ledger: Verdicts, *, others: Iterable[Request], retry_failed: bool
) -> Iterator[Request]:
    """Each request of the others, and of the rows, that has not been asked, once.

    retry_failed: also those that were asked and got no verdict.
    """
    met: set[bytes] = set()
    for requests in [list(others)], ([*_every(rows_of(part, options))] for part in parts):
        for some in requests:
            new = {each.key: each for each in some if bytes.fromhex(each.key) not in met}
            met.update(map(bytes.fromhex, new))
            known = ledger.get(new)
            for key, request in new.items():
                if key not in known or not known[key]["attempts"] or (retry_failed and known[key]["verdict"] is None):
                    yield request


def estimates(parts: Parts, options: Judge, most: int | None) -> Iterator[offline.Judged]:
    """What the offline judge says of every row, part by part, in up to `most` processes (None: one a core)."""
    workers = workers_for(parts, most)
    if workers <= 1:
        yield from (_estimates(part, options) for part in parts)
        return
    with pool(workers, [__name__, "tasks.models.offline.warm_up"]) as executor:
        yield from executor.map(_estimates_of, repeat(parts), range(len(parts)), repeat(options))


def table_of(part: pa.Table, options: Judge, ledger: Verdicts, estimates: offline.Judged) -> pa.Table:
    """The table of one part, every verdict of a model read from the ledger; estimates: of the part's rows."""
    rows = [*rows_of(part, options)]
    if options.provider == "offline":
        judged = [*map(_judged_offline, rows, estimates.probabilities.tolist(), estimates.reasons)]
    else:
        known = ledger.get([each.key for each in _every(rows)])
        judged = [_judged(row, known, options) for row in rows]
    columns: dict[str, Any] = {"id": part["id"], "candidate": part["candidate"]}
    for name in ("meaning_match", "similarity_judge"):
        metric: JudgeMetric | None = getattr(options, name)
        scores = np.array([each.score(metric) if metric else np.nan for each in judged])
        columns[name] = nullable(scores)
        columns[f"{name}_result"] = (metric or MeaningMatch()).result(scores).tolist()
    columns["meaning_match_reason"] = [each.reason for each in judged]
    columns["offline_match"] = nullable(estimates.probabilities)
    columns["judge_status"] = [each.status for each in judged]
    columns["judge_reason"] = [each.problem for each in judged]
    columns["judge_sampled"] = _sampled(part, options)
    columns["judge_draws"] = [max(map(len, each.verdicts.values()), default=0) for each in judged]
    columns["judge_agree"] = [each.agree for each in judged]
    return pa.table({name: columns[name] for name in SCHEMA.names}, schema=SCHEMA)


def entries_of(part: pa.Table, options: Judge, ledger: Verdicts) -> dict[str, Entry]:
    """What the ledger has of the rows of a part, by key."""
    return ledger.get([each.key for each in _every(rows_of(part, options))])


def _every(rows: Iterable[Row]) -> Iterator[Request]:
    return (each for row in rows for draws in row.requests.values() for each in draws)


def _status(row: Mapping[str, Any], options: Judge, *, is_sampled: bool) -> str:
    """What is known before asking; `answered` for the rows to ask about."""
    output = row[options.variables.output]
    if options.provider == "none":
        return DISABLED
    if not all(each.holds(row) for each in options.filters):
        return FILTERED
    if not is_sampled:  # of the rows that no filter excludes: they stand for one another
        return NOT_SAMPLED
    if output is None:
        return NO_RESPONSE
    if not _texts(row[options.variables.ground_truth]):
        return NO_REFERENCE
    return ANSWERED if _texts(output) else EMPTY_RESPONSE


def _values(row: Mapping[str, Any], options: Judge) -> dict[str, Any]:
    variables = options.variables
    return {
        "input": row[variables.input],
        "ground_truth": _texts(row[variables.ground_truth]),
        "output": row[variables.output],
    }


def _texts(cell: Any) -> list[str]:
    return [text for text in (cell if isinstance(cell, list) else [cell]) if text and text.strip()]


def _estimates(part: pa.Table, options: Judge) -> offline.Judged:
    """What the offline judge says of every row."""
    rows = [_values(row, options) for row in part.to_pylist()]
    one = [[" ".join(cell) if isinstance(cell, list) else cell for cell in (r["input"], r["output"])] for r in rows]
    return offline.judge([i for i, _ in one], [row["ground_truth"] for row in rows], [output for _, output in one])


def _estimates_of(parts: Parts, number: int, options: Judge) -> offline.Judged:
    return _estimates(parts.part(number), options)


def _sampled(part: pa.Table, options: Judge) -> list[bool]:
    if options.provider == "none":
        return [False] * len(part)
    return sampled(part["id"].to_pylist(), options.seed, options.sampling_rate)


def _judged_offline(row: Row, probability: float, reason: str | None) -> Judged:
    if row.status != ANSWERED:
        return _not_asked(row)
    return Judged(ANSWERED, {MeaningMatch().name: [float(probability >= offline.RIGHT)]}, reason, None)


def _judged(row: Row, known: Mapping[str, Entry], options: Judge) -> Judged:
    if row.status != ANSWERED:
        return _not_asked(row)
    entries = {name: [known[each.key] for each in draws] for name, draws in row.requests.items()}
    verdicts = {name: [e["verdict"] for e in draws if e["verdict"] is not None] for name, draws in entries.items()}
    lacking = [metric.name for metric in options.metrics if not verdicts[metric.name]]
    problem = next((entries[name][0]["problem"] for name in lacking), None)
    return Judged(FAILED if lacking else ANSWERED, verdicts, _reason(entries, verdicts), problem)


def _not_asked(row: Row) -> Judged:
    return Judged(row.status, {}, None, REASONS.get(row.status, row.status))


def _reason(entries: Mapping[str, list[Entry]], verdicts: Mapping[str, Sequence[float]]) -> str | None:
    """The judge's reason, of the first draw that agrees with the result."""
    matches = verdicts.get("meaning_match")
    if not matches:
        return None
    majority = float(np.mean(matches) > MAJORITY)
    return next(entry["reason"] for entry in entries["meaning_match"] if entry["verdict"] == majority)
