"""Experiments of Arize's Phoenix, downloaded as JSON or CSV. Written for Phoenix 12.

One record for each run of an example; repetitions are draws. Annotations whose kind is HUMAN are people's; those of LLM
and CODE are scores. The experiment is called as its file.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from goldmeter.dataset.readers import log, tables
from goldmeter.dataset.record import Value, file_name

RUN = {"example_id", "repetition_number", "input", "reference_output", "output"}
# Columns of CSV: `annotation_<name>_<field>`.
ANNOTATION = re.compile(r"annotation_(.+)_(label|score|annotator_kind)")
HUMAN = "HUMAN"


def recognises(head: log.Head) -> bool:
    """Tell whether a file is an experiment."""
    return head.columns >= RUN


def rows(file: Path) -> Iterator[tuple[int, dict[str, Value]]]:
    """Yield the rows of an experiment.

    Raises:
        DataError: A file can't be read.
    """
    for line, row in tables.rows(file):
        yield line, _values(row, tables.stem(file), f"{file_name(file)}, row {line}")


def _values(row: Mapping[str, Any], candidate: str, where: str) -> dict[str, Value]:
    response = tables.said(row.get("output"), tables.ANSWERS)
    milliseconds = log.amount(row.get("latency_ms"))
    annotations = _annotations(row)
    tokens = [log.amount(row.get(name)) for name in ("prompt_token_count", "completion_token_count")]
    counted = [float(number) for number in tokens if number is not None]
    values = log.flat(
        id=log.part(row, "example_id", str, where),
        input=tables.said(row.get("input"), tables.QUESTIONS),
        references=tables.references({"reference": row.get("reference_output")}),
        response=response,
        candidate=candidate,
        error=log.text_of(row.get("error")) or (None if response is not None else "no output"),
        latency=None if milliseconds is None else repr(float(milliseconds) / 1000.0),
        tokens=repr(sum(counted)) if counted else None,
        scores=tables.judged({name: value for name, (kind, value) in annotations.items() if kind != HUMAN}),
    )
    return tables.with_people(
        values, {f"{name}{log.RATER}person": value for name, (kind, value) in annotations.items() if kind == HUMAN}
    )


def _annotations(row: Mapping[str, Any]) -> dict[str, tuple[Any, str | None]]:
    """Return kind and value of each annotation by name: its score, else its label; people's label, else their score."""
    found = [(str(one.get("name")), one) for one in map(log.members, log.items(row.get("annotations")))]
    cells: dict[str, dict[str, Any]] = {}
    for column, value in row.items():
        if named := ANNOTATION.fullmatch(column):
            cells.setdefault(named[1], {})[named[2]] = value
    return {
        name: (kind := one.get("annotator_kind"), log.text_of(tables.first_of(one, _fields(kind))))
        for name, one in (*found, *cells.items())
    }


def _fields(kind: Any) -> tuple[str, str]:
    return ("label", "score") if kind == HUMAN else ("score", "label")
