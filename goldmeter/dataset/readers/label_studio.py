"""Tasks of Label Studio with their annotations, exported as JSON, JSON_MIN or CSV. Written for Label Studio 1.20.

One record for each task. The members of `data` are free: question, answer, reference and system are found by their
names. Each annotator is a rater of each control tag; cancelled annotations do not count. Predictions are scores.
JSON_MIN and CSV have a row for each annotation, whose columns are those of `data` and of the tags. Only ratings,
numbers and columns in which two annotations of a task differ are surely of a tag, and so people's; a column that is
named like a verdict is one of nobody knows whom.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from goldmeter.dataset.proposal import names
from goldmeter.dataset.readers import log, tables
from goldmeter.dataset.record import Value, file_name

TASK = {"data", "annotations"}
# Columns of the rows of JSON_MIN and CSV, beside those of the data and the tags.
ROW = {"annotator", "annotation_id", "lead_time", "created_at", "updated_at"}
NO_DATA = {*ROW, "id", "agreement", "history"}
# Kinds of results that say something of the whole task, and where.
SAYING = {"choices": "choices", "rating": "rating", "number": "number", "taxonomy": "taxonomy"}


def recognises(head: log.Head) -> bool:
    """Tell whether a file holds tasks."""
    first = log.members(tables.first(head.value))
    if head.columns >= ROW:
        return True
    return head.columns >= TASK and isinstance(first.get("data"), dict) and isinstance(first.get("annotations"), list)


def rows(file: Path) -> Iterator[tuple[int, dict[str, Value]]]:
    """Yield the rows of a file.

    Raises:
        DataError: A file can't be read, or no member of the data is named like a question or an answer.
    """
    head = log.head_of(file)
    yield from _of_annotations(file) if head is not None and head.columns >= ROW else _of_tasks(file)


def _of_annotations(file: Path) -> Iterator[tuple[int, dict[str, Value]]]:
    """Yield a record for each task of a table with a row for each annotation."""
    rows_of: dict[str, list[tuple[int, Mapping[str, Any]]]] = {}
    for line, row in tables.rows(file):
        rows_of.setdefault(str(row.get("id") or f"row {line}"), []).append((line, row))
    tags = {name for rows in rows_of.values() for name in _surely_tags([row for _, row in rows])}
    for key, rows in rows_of.items():
        line, first = rows[0]
        data = {name: value for name, value in first.items() if name not in tags | NO_DATA}
        verdicts = {name: data.pop(name) for name in [*data] if names.key_of_label(name) is not None}
        people = {
            f"{name}{log.RATER}{log.text_of(row.get('annotator')) or 'person'}": _cell(row.get(name))
            for _, row in rows
            for name in sorted(tags)
        }
        values = tables.by_names(data, "" if key.startswith("row ") else key, file, f"{file_name(file)}, row {line}")
        yield line, tables.with_people({**values, **tables.verdicts(values, verdicts)}, people)


def _surely_tags(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the columns of a task's rows that can't be of its data."""
    for name in rows[0].keys() - NO_DATA:
        cells = [row.get(name) for row in rows]
        has_results = any(_cell(cell) is not None for cell in map(tables.unpacked, cells) if not isinstance(cell, str))
        if has_results or any(cell != cells[0] for cell in cells):
            yield name


def _cell(cell: Any) -> str | None:
    """Return what an annotation says in a cell: a word, or the only rating or number of a list of results."""
    inner = tables.unpacked(cell)
    only = log.members(inner[0]) if isinstance(inner, list) and len(inner) == 1 else {}
    return inner if isinstance(inner, str) else log.number(tables.first_of(only, ("rating", "number")))


def _of_tasks(file: Path) -> Iterator[tuple[int, dict[str, Value]]]:
    for line, task in tables.rows(file):
        where = f"{file_name(file)}, task {line}"
        values = tables.by_names(log.part(task, "data", dict, where), str(task.get("id") or ""), file, where)
        given = [log.members(one) for one in log.part(task, "annotations", list, where)]
        people = {
            f"{name}{log.RATER}{_rater(one.get('completed_by'))}": text
            for one in given
            if one.get("was_cancelled") != "true"
            for name, text in _said(one)
        }
        predicted = [pair for one in log.items(task.get("predictions")) for pair in _said(log.members(one))]
        yield line, tables.with_people({**values, **tables.verdicts(values, dict(predicted))}, people)


def _rater(completed_by: Any) -> str:
    person = log.members(completed_by)
    return str(person.get("email") or person.get("id") or completed_by or "person")


def _said(annotation: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield name and value of each result of one choice or number; a mark on a part of the text says nothing of all."""
    for result in map(log.members, log.items(annotation.get("result"))):
        value = log.members(result.get("value"))
        found = value.get(SAYING.get(str(result.get("type")), ""))
        chosen = found if not isinstance(found, list) else found[0] if len(found) == 1 else None
        if isinstance(chosen, str) and "start" not in value:
            yield str(result.get("from_name")), chosen
