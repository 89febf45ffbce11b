"""Traces and observations exported from Langfuse's tables as JSON or JSONL. Written for Langfuse 3.

One record for each trace or observation. References are not in an export: join them from a file of their own. The
session is the group. An observation that failed before it had a model is of the model of the others with its name.
Scores are columns with lists of values, of which the mean counts.
"""

from collections.abc import Iterator, Mapping, Sequence
from json import dumps
from math import fsum
from pathlib import Path
from typing import Any

from goldmeter.dataset.formats.json_records import json_list
from goldmeter.dataset.readers import log
from goldmeter.dataset.record import Record, Value, file_name
from goldmeter.errors import DataError

TRACE = {"id", "timestamp", "input", "output", "sessionId"}
OBSERVATION = {"id", "traceId", "startTime", "input", "output"}
NO_SCORES = {"tags", "comments", "toolCallNames", "promptTags", "traceTags"}


def recognises(head: log.Head) -> bool:
    """Tell whether a file holds traces or observations."""
    value = head.value[0] if isinstance(head.value, list) and head.value else head.value
    keys = log.members(value).keys()
    return keys >= TRACE or keys >= OBSERVATION


def read(files: Sequence[Path]) -> Iterator[Record]:
    """Yield the records of all exports.

    Raises:
        DataError: A file can't be read, or an observation failed whose model is not known.
    """
    models: dict[str, set[str]] = {}
    for file in files:
        for _, row in _rows(file):
            models.setdefault(log.text_of(row.get("name")) or "", set()).update(_model(row))
    yield from log.records(
        files, lambda file: ((n, _values(row, models, f"{file_name(file)}, line {n}")) for n, row in _rows(file))
    )


def _rows(file: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    return log.objects(file) if ".jsonl" in file.suffixes else json_list(file)


def _model(row: Mapping[str, Any]) -> list[str]:
    model = log.text_of(row.get("model"))
    return [model] if model else []


def _candidate(row: Mapping[str, Any], models: Mapping[str, set[str]], where: str) -> str:
    """Return the model; without one, that of the observations with the same name, or the name."""
    name = log.text_of(row.get("name")) or ""
    found = _model(row) or sorted(models[name] if "traceId" in row else [])
    if len(found) > 1:
        raise DataError(
            f"{where}: of which model? Observations named {name[:60]!r} are of {', '.join(found)[:200]}; "
            "write the model into it, or export each model's to a folder of its own"
        )
    return next(iter(found), name or "langfuse")


def _values(row: Mapping[str, Any], models: Mapping[str, set[str]], where: str) -> dict[str, Value]:
    response = _text(row.get("output"))
    failed = row.get("level") == "ERROR" and "traceId" in row
    session = row.get("sessionId")
    return log.flat(
        id=log.part(row, "id", str, where),
        input=_text(row.get("input")),
        response=response,
        candidate=_candidate(row, models, where),
        error=_error(row) if failed else None if response is not None else "no output",
        group=session if isinstance(session, str) and session else None,
        latency=log.amount(row.get("latency")),
        tokens=log.amount(row.get("totalTokens")),
        cost=log.amount(row.get("totalCost")),
        scores={name: _mean(value) for name, value in row.items() if isinstance(value, list) and name not in NO_SCORES},
        metadata={
            **log.members(row.get("metadata")),
            **{key: row.get(key) for key in ("name", "release", "version", "environment", "userId")},
        },
    )


def _error(row: Mapping[str, Any]) -> str:
    return log.text_of(row.get("statusMessage")) or "error"


def _text(value: Any) -> str | None:
    """Return a text, the conversation in a list of messages, or JSON."""
    messages = value.get("messages", value) if isinstance(value, dict) else value
    if isinstance(messages, list):
        return log.conversation(messages) or dumps(messages, ensure_ascii=False)
    text = log.text_of(messages)
    return dumps(messages, ensure_ascii=False) if text is None and messages is not None else text


def _mean(values: Sequence[Any]) -> str | None:
    numbers = [float(text) for text in map(log.number, values) if text is not None]
    return repr(fsum(numbers) / len(numbers)) if numbers and len(numbers) == len(values) else None
