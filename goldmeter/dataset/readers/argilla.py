"""Records of Argilla with their responses, as `records.to_json` writes them. Written for argilla 2.8.

The fields and metadata are free: question, answer, reference and system are found by their names. Each user is a rater
of each question; suggestions are scores, whoever their agent is.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from goldmeter.dataset.readers import log, tables
from goldmeter.dataset.record import Value, file_name

RECORD = {"fields", "responses", "suggestions"}


def recognises(head: log.Head) -> bool:
    """Tell whether a file holds records."""
    return head.columns >= RECORD


def rows(file: Path) -> Iterator[tuple[int, dict[str, Value]]]:
    """Yield the rows of a file.

    Raises:
        DataError: A file can't be read, or no field is named like a question or an answer.
    """
    for line, record in tables.rows(file):
        where = f"{file_name(file)}, record {line}"
        fields = {**log.members(record.get("metadata")), **log.part(record, "fields", dict, where)}
        values = tables.by_names(fields, str(record.get("id") or ""), file, where)
        suggested = {
            name: log.members(one).get("value") for name, one in log.members(record.get("suggestions")).items()
        }
        people = dict(_said(log.members(record.get("responses"))))
        yield line, tables.with_people({**values, **tables.verdicts(values, suggested)}, people)


def _said(responses: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield question and rater, and the answer, of each response of one label or number that was not discarded."""
    for question, given in responses.items():
        for one in map(log.members, log.items(given)):
            value = one.get("value")
            if isinstance(value, str) and one.get("status") not in {"discarded", "draft"}:
                yield f"{question}{log.RATER}{one.get('user_id') or 'person'}", value
