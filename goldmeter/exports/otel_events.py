"""Scores as OpenTelemetry events `gen_ai.evaluation.result`, one per answer and metric, in OTLP's JSON encoding.

Sources: the semantic conventions for generative AI, docs/gen-ai/gen-ai-events.md of
https://github.com/open-telemetry/semantic-conventions-genai (status: development); the OTLP specification and its
file exporter: each line is one message of logs.
"""

import json
import os
import time
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import httpx2
import numpy as np

from goldmeter.comparison.of_versions import scores_of
from goldmeter.errors import ExportError, ServerError
from goldmeter.estimates.columns import KEYS, ScoreColumn, details_column, score_columns
from goldmeter.exports.results import Results, written
from goldmeter.metrics.base import NO_RESPONSE
from goldmeter.models.bounded_client import BoundedClient
from goldmeter.pipeline.credentials import without_credentials
from goldmeter.pipeline.revisions import own_version
from goldmeter.pipeline.tables import Parts

EVENT = "gen_ai.evaluation.result"
# Severity number of INFO in OpenTelemetry's data model of logs.
INFO = 9
# Rows of one message: a few hundred kilobytes.
MESSAGE_ROWS = 1_000
# The path of logs under the address of an OTLP receiver, and the variables that hold headers, such as a key.
LOGS = "/v1/logs"
HEADERS = ("OTEL_EXPORTER_OTLP_LOGS_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS")
# Statuses after which OTLP asks to send again; the pauses in seconds between attempts.
TRANSIENT = frozenset({429, 502, 503, 504})
PAUSES = (1.0, 2.0, 4.0)
SECONDS = 30.0
# OpenTelemetry's name for an error that has no other.
OTHER = "_OTHER"

Message = dict[str, Any]


class Scored(NamedTuple):
    """One metric of some rows of a part. ids, candidates, reasons: per row; reasons: why it has its score, or none."""

    column: ScoreColumn
    ids: list[str]
    candidates: list[str]
    reasons: list[str | None]


def export(found: Results, target: str, *, response_ids: bool = False) -> int:
    """Write or send the events of a run, part by part; returns their number.

    Args:
        found: The run.
        target: A file, or the http address of an OTLP receiver.
        response_ids: Whether the ids of rows are those of traced responses.

    Raises:
        ExportError: The file can't be written, or the receiver refuses the events.
        ServerError: The receiver does not answer.
    """
    messages = _messages(found, response_ids=response_ids)
    if target.startswith(("http://", "https://")):
        return _send(messages, target)
    with written(Path(target)) as temporary, temporary.open("w", encoding="utf-8") as file:
        count = 0
        for message in messages:
            file.write(f"{json.dumps(message, ensure_ascii=False, allow_nan=False)}\n")
            count += _size(message)
    return count


def _messages(found: Results, *, response_ids: bool) -> Iterator[Message]:
    """Yield messages of at most MESSAGE_ROWS events of one metric."""
    resource = {
        "service.name": "goldmeter",
        "service.version": own_version(),
        "goldmeter.version": found.version.name,
        "goldmeter.dataset.hash": found.report["dataset"]["hash"],
    }
    for scored in _scored(found):
        signature = _attributes({"goldmeter.signature": scored.column.facts.signature})
        if records := [*records_of(scored, found.candidates, time.time_ns(), response_ids=response_ids)]:
            logs = {"scope": {"name": "goldmeter", "attributes": signature}, "logRecords": records}
            yield {"resourceLogs": [{"resource": {"attributes": _attributes(resource)}, "scopeLogs": [logs]}]}


def _size(message: Message) -> int:
    return len(message["resourceLogs"][0]["scopeLogs"][0]["logRecords"])


def _scored(found: Results) -> Iterator[Scored]:
    scores = scores_of(found.version)
    for table in (scores.load, *scores.tables.values()):
        for number in range(len(table)):
            keys = table.part(number, [*KEYS])
            for column in score_columns(table, scores.fitted, number):
                reasons = _reasons(table, number, column)
                for start in range(0, column.n_rows, MESSAGE_ROWS):
                    some = slice(start, start + MESSAGE_ROWS)
                    ids, candidates = (keys[key][some].to_pylist() for key in KEYS)
                    rows = np.arange(start, start + len(ids))
                    yield Scored(column.rows(rows), ids, candidates, reasons[some])


def records_of(
    scored: Scored, candidates: Container[str], now: int, *, response_ids: bool = False
) -> Iterator[dict[str, Any]]:
    """Yield an event for each score of some candidates, and for each row whose score failed.

    A row that was not to be scored has no event.

    Args:
        scored: One metric of some rows.
        candidates: Those to export.
        now: Nanoseconds since 1970; OTLP's JSON has integers of 64 bits as strings.
        response_ids: Whether the ids of rows are those of traced responses.
    """
    column = scored.column
    for row, (name, candidate, reason) in enumerate(zip(*scored[1:], strict=True)):
        is_missing = bool(np.isnan(column.values[row]))
        if candidate not in candidates or (is_missing and column.not_asked[row]):
            continue
        attributes = {
            "gen_ai.evaluation.name": column.name,
            "gen_ai.evaluation.score.value": None if is_missing else float(column.values[row]),
            "gen_ai.evaluation.score.label": None if is_missing else _label(column, row),
            "gen_ai.evaluation.explanation": reason,
            "gen_ai.response.id": name if response_ids else None,
            "error.type": _error(reason) if is_missing else None,
            "goldmeter.id": name,
            "goldmeter.candidate": candidate,
        }
        times = dict.fromkeys(("timeUnixNano", "observedTimeUnixNano"), str(now))
        yield {**times, "severityNumber": INFO, "eventName": EVENT, "attributes": _attributes(attributes)}


def _label(column: ScoreColumn, row: int) -> str | None:
    return None if column.passed is None else "pass" if column.passed[row] else "fail"


def _error(reason: str | None) -> str:
    """The type of an error: of few values, as OpenTelemetry asks; the reason says more."""
    return "no_response" if reason == NO_RESPONSE else OTHER


def _attributes(values: Mapping[str, str | float | None]) -> list[dict[str, Any]]:
    """Attributes in OTLP's JSON, without those that are None."""
    return [
        {"key": key, "value": {"stringValue": value} if isinstance(value, str) else {"doubleValue": value}}
        for key, value in values.items()
        if value is not None
    ]


def _reasons(table: Parts, number: int, column: ScoreColumn) -> list[str | None]:
    """Why each row of a part has its score of a column, or has none."""
    names = table.schema.names
    own, details = f"{column.name}_reason", details_column(names, column.name, column.facts) or "judge_reason"
    wanted = [name for name in (own, details) if name in names]
    texts = table.part(number, wanted).to_pydict()
    nothing = [None] * column.n_rows
    rows = zip(texts.get(own, nothing), texts.get(details, nothing), strict=True)
    return [reason if reason is not None or facts is None else _in_details(facts) for reason, facts in rows]


def _in_details(details: str) -> str | None:
    """The reason in the details that a metric writes as JSON; None if there is none."""
    try:
        facts = json.loads(details)
    except ValueError:
        return details
    stated = (facts.get(name) for name in ("reason", "note", "unmeasured")) if isinstance(facts, dict) else ()
    return next((each for each in stated if isinstance(each, str)), None)


def _send(messages: Iterable[Message], address: str) -> int:
    """Post the messages to an OTLP receiver; returns the number of events."""
    base = address.rstrip("/")
    url = base if base.endswith(LOGS) else f"{base}{LOGS}"
    count = 0
    with BoundedClient(SECONDS) as client:
        for message in messages:
            _post(client, url, message)
            count += _size(message)
    return count


def _post(client: BoundedClient, url: str, message: Message) -> None:
    """Post a message, again after errors that may pass."""
    where, problem = without_credentials(url), ""
    for pause in (*PAUSES, None):
        try:
            answer = client.post(url, json=message, headers=_headers())
        except (httpx2.RequestError, httpx2.InvalidURL) as error:  # its text may contain a header
            problem = type(error).__name__
        else:
            if answer.is_success:
                _require_all_taken(answer, where)
                return
            problem = f"HTTP status {answer.status_code}"
            if answer.status_code not in TRANSIENT:
                raise ExportError(f"{where}: did not accept the events: {problem}")
        if pause is not None:
            time.sleep(pause)
    raise ServerError(f"{where}: did not take the events: {problem}")


def _require_all_taken(answer: httpx2.Response, where: str) -> None:
    """Raise ExportError for a reply that says which events were refused."""
    try:
        partial = answer.json().get("partialSuccess") or {}
        refused = int(partial.get("rejectedLogRecords", 0))
    except (ValueError, TypeError, AttributeError):
        return
    if refused:
        raise ExportError(f"{where}: refused {refused:,} events: {partial.get('errorMessage', 'no reason given')}")


def _headers() -> dict[str, str]:
    """The headers that OpenTelemetry's variables name, such as `api-key=…`, comma-separated and percent-encoded."""
    stated = next((os.environ[name] for name in HEADERS if os.environ.get(name)), "")
    pairs = (pair.partition("=") for pair in stated.split(",") if "=" in pair)
    return {unquote(name).strip(): unquote(value).strip() for name, _, value in pairs}
