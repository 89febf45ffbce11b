"""Tasks of Label Studio with their annotations, exported as JSON. Written for Label Studio 1.20.

One record for each task. The members of `data` are free: question, answer, reference and system are found by their
names. Each annotator is a rater of each control tag; cancelled annotations do not count. Predictions are scores.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from goldmeter.dataset.readers import log, tables
from goldmeter.dataset.record import Record, Value, file_name

TASK = {"data", "annotations"}
# Kinds of results that say something of the whole task, and where.
SAYING = {"choices": "choices", "rating": "rating", "number": "number", "taxonomy": "taxonomy"}


def recognises(head: log.Head) -> bool:
    """Tell whether a file holds tasks."""
    first = log.members(tables.first(head.value))
    return head.columns >= TASK and isinstance(first.get("data"), dict) and isinstance(first.get("annotations"), list)


def read(files: Sequence[Path]) -> Iterator[Record]:
    """Yield the records of all exports.

    Raises:
        DataError: A file can't be read, or no member of the data is named like a question or an answer.
    """
    yield from tables.keyed(log.records(files, _rows))


def _rows(file: Path) -> Iterator[tuple[int, dict[str, Value]]]:
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
