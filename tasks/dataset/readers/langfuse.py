"""Traces and observations exported from Langfuse's tables as JSON or JSONL. Written for Langfuse 3.

One record for each trace or observation. References are not in an export: join them from a file of their own. The
session is the group. Scores are columns with lists of values, of which the mean counts.
"""

from collections.abc import Iterator, Mapping, Sequence
from json import dumps
from math import fsum
from pathlib import Path
from typing import Any

from tasks.dataset.formats.json_records import json_list
from tasks.dataset.readers.head import Head
from tasks.dataset.readers.log import as_records, conversation, flat, number, objects, part, text_of
from tasks.dataset.record import Record, Value, file_name

TRACE = {"id", "timestamp", "input", "output", "sessionId"}
OBSERVATION = {"id", "traceId", "startTime", "input", "output"}
NO_SCORES = {"tags", "comments", "toolCallNames", "promptTags", "traceTags"}


def recognises(head: Head) -> bool:
    """Tell whether a file holds traces or observations."""
    value = head.value[0] if isinstance(head.value, list) and head.value else head.value
    return isinstance(value, dict) and (value.keys() >= TRACE or value.keys() >= OBSERVATION)


def read(files: Sequence[Path]) -> Iterator[Record]:
    """Yield the records of all exports.

    Raises:
        DataError: A file can't be read.
    """
    for file in files:
        rows = objects(file) if ".jsonl" in file.suffixes else json_list(file)
        yield from as_records(file, ((line, _values(row, f"{file_name(file)}, line {line}")) for line, row in rows))


def _values(row: Mapping[str, Any], where: str) -> dict[str, Value]:
    response = _text(row.get("output"))
    failed = row.get("level") == "ERROR" and "traceId" in row
    metadata = row.get("metadata")
    session = row.get("sessionId")
    return flat(
        id=part(row, "id", str, where),
        input=_text(row.get("input")),
        response=response,
        candidate=text_of(row.get("model")) or text_of(row.get("name")) or "langfuse",
        error=_error(row) if failed else None if response is not None else "no output",
        group=session if isinstance(session, str) and session else None,
        scores={name: _mean(value) for name, value in row.items() if isinstance(value, list) and name not in NO_SCORES},
        metadata={
            **(metadata if isinstance(metadata, dict) else {}),
            **{key: row.get(key) for key in ("name", "release", "version", "environment", "userId")},
        },
    )


def _error(row: Mapping[str, Any]) -> str:
    return text_of(row.get("statusMessage")) or "error"


def _text(value: Any) -> str | None:
    """Return a text, the conversation in a list of messages, or JSON."""
    messages = value.get("messages", value) if isinstance(value, dict) else value
    if isinstance(messages, list):
        return conversation(messages) or dumps(messages, ensure_ascii=False)
    text = text_of(messages)
    return dumps(messages, ensure_ascii=False) if text is None and messages is not None else text


def _mean(values: Sequence[Any]) -> str | None:
    numbers = [float(text) for text in map(number, values) if text is not None]
    return repr(fsum(numbers) / len(numbers)) if numbers and len(numbers) == len(values) else None
