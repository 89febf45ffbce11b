"""Traces, observations and scores exported from Langfuse's tables as CSV, JSON or JSONL. Written for Langfuse 3.

One record for each trace or observation. References are not in an export: join them from a file of their own. The
session is the group. An observation that failed before it had a model is of the model of the others with its name.
Scores are columns with lists of values, of which the mean counts. With the table of scores in the folder, those whose
source is ANNOTATION are people's; without it, nothing says whose they are.
"""

from collections.abc import Iterator, Mapping, Sequence
from json import dumps
from math import fsum
from pathlib import Path
from typing import Any, NamedTuple

from goldmeter.dataset.readers import log, tables
from goldmeter.dataset.record import Record, Value, file_name
from goldmeter.errors import DataError

TRACE = {"id", "timestamp", "input", "output", "sessionId"}
OBSERVATION = {"id", "traceId", "startTime", "input", "output"}
SCORES = {"traceId", "observationId", "source", "name", "dataType", "value", "stringValue"}
PEOPLE = "ANNOTATION"
NO_SCORES = {"tags", "comments", "toolCallNames", "promptTags", "traceTags", "input", "output", "metadata"}


class Given(NamedTuple):
    """What the table of scores has of a trace or observation: of people by name and rater, of tools by name."""

    people: dict[str, str | None]
    tools: dict[str, list[Any]]


Scores = Mapping[str, Given]
"""By the id of the trace or observation."""


def recognises(head: log.Head) -> bool:
    """Tell whether a file holds traces, observations or scores."""
    return any(head.columns >= keys for keys in (TRACE, OBSERVATION, SCORES))


def read(files: Sequence[Path]) -> Iterator[Record]:
    """Yield the records of all exports.

    Raises:
        DataError: A file can't be read, or an observation failed whose model is not known.
    """
    models: dict[str, set[str]] = {}
    given: dict[str, Given] = {}
    logs = [file for file in files if not _took_scores(file, given)]
    if not logs:
        raise DataError(f"{file_name(files[0])}: scores alone; export the traces or observations to the same folder")
    for file in logs:
        for _, row in tables.rows(file):
            models.setdefault(log.text_of(row.get("name")) or "", set()).update(_model(row))
    peoples = frozenset(name.partition(log.RATER)[0] for one in given.values() for name in one.people)
    for file in logs:
        for line, row in tables.rows(file):
            where = f"{file_name(file)}, line {line}"
            values = _values(row, _candidate(row, models, where), _scores(row, given, peoples), where)
            people = given[key].people if (key := str(row.get("id"))) in given else {}
            yield Record(file_name(file), line, tables.with_people(values, people))


def _took_scores(file: Path, given: dict[str, Given]) -> bool:
    """Whether a file is the table of scores, which are then in `given`."""
    head = log.head_of(file)
    if head is None or not head.columns >= SCORES:
        return False
    for _, row in tables.rows(file):
        key = log.text_of(row.get("observationId")) or log.text_of(row.get("traceId")) or ""
        of_key = given.setdefault(key, Given({}, {}))
        name, value = str(row.get("name")), row.get("stringValue") or row.get("value")
        if row.get("source") == PEOPLE:
            of_key.people[f"{name}{log.RATER}{row.get('authorUserName') or 'person'}"] = value
        else:
            of_key.tools.setdefault(name, []).append(value)
    return True


def _scores(row: Mapping[str, Any], given: Scores, peoples: frozenset[str]) -> dict[str, str | None]:
    """Return the scores of tools: of names that people scored too, those in the table of scores alone."""
    cells = {name: tables.unpacked(value) for name, value in row.items() if name not in {*NO_SCORES, *peoples}}
    lists = {name: value for name, value in cells.items() if isinstance(value, list)}
    tools = given[key].tools if (key := str(row.get("id"))) in given else {}
    return {name: _mean(value) for name, value in {**lists, **{n: v for n, v in tools.items() if n in peoples}}.items()}


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


def _values(row: Mapping[str, Any], candidate: str, scores: Mapping[str, str | None], where: str) -> dict[str, Value]:
    response = _text(row.get("output"))
    failed = row.get("level") == "ERROR" and "traceId" in row
    session = row.get("sessionId")
    return log.flat(
        id=log.part(row, "id", str, where),
        input=_text(row.get("input")),
        response=response,
        candidate=candidate,
        error=_error(row) if failed else None if response is not None else "no output",
        group=session if isinstance(session, str) and session else None,
        latency=log.amount(row.get("latency")),
        tokens=log.amount(row.get("totalTokens")),
        cost=log.amount(row.get("totalCost")),
        scores=scores,
        metadata={
            **log.members(tables.unpacked(row.get("metadata"))),
            **{key: row.get(key) for key in ("name", "release", "version", "environment", "userId")},
        },
    )


def _error(row: Mapping[str, Any]) -> str:
    return log.text_of(row.get("statusMessage")) or "error"


def _text(value: Any) -> str | None:
    """Return a text, the conversation in a list of messages, or JSON."""
    value = inner if isinstance(inner := tables.unpacked(value), dict | list) else value
    messages = value.get("messages", value) if isinstance(value, dict) else value
    if isinstance(messages, list):
        return log.conversation(messages) or dumps(messages, ensure_ascii=False)
    text = log.text_of(messages)
    return dumps(messages, ensure_ascii=False) if text is None and messages is not None else text


def _mean(values: Sequence[Any]) -> str | None:
    numbers = [float(text) for text in map(log.number, values) if text is not None]
    return repr(fsum(numbers) / len(numbers)) if numbers and len(numbers) == len(values) else None
