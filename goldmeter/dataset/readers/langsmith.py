"""Experiments and runs of LangSmith: CSV, JSON or JSONL. Written for langsmith 0.15 and the experiment's download.

One record for each root run. Runs of one data set pair by the example's id. Feedback is a score: these exports do not
say who gave it. Inputs and outputs are objects, JSON in a cell, or columns such as `inputs.question`.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from goldmeter.dataset.readers import log, tables
from goldmeter.dataset.record import Value, file_name
from goldmeter.errors import DataError

RUN = {"run_type", "inputs", "outputs"}
EXAMPLES = ("example_id", "reference_example_id")
OUTPUTS = ("reference", "reference_outputs", "reference_output")
FEEDBACK = "feedback"
KEYS = {"reference_outputs", "feedback_stats", *EXAMPLES}


def recognises(head: log.Head) -> bool:
    """Tell whether a file holds runs, or the rows of an experiment."""
    columns = head.columns
    roots = {name.partition(".")[0] for name in columns}
    return columns >= RUN or (roots >= {"inputs", "outputs"} and bool(KEYS & columns))


def rows(file: Path) -> Iterator[tuple[int, dict[str, Value]]]:
    """Yield the rows of a file.

    Raises:
        DataError: A file can't be read, or a row has no inputs.
    """
    for line, row in tables.rows(file):
        if row.get("parent_run_id") is None:  # what a run calls is a part of its answer
            yield line, _values(row, file, f"{file_name(file)}, row {line}")


def _values(row: Mapping[str, Any], file: Path, where: str) -> dict[str, Value]:
    asked = _object(row, "inputs")
    if not asked:
        raise DataError(f"{where}: no inputs; is it an export of LangSmith?")
    response = tables.said(_object(row, "outputs"), tables.ANSWERS)
    expected = next(filter(None, (_object(row, name) for name in OUTPUTS)), None)
    error = log.text_of(row.get("error"))
    duration = log.amount(tables.first_of(row, ("execution_time", "latency")))
    return log.flat(
        id=log.text_of(tables.first_of(row, EXAMPLES)) or "",
        input=tables.said(asked, tables.QUESTIONS),
        references=tables.references({"reference": expected}),
        response=response,
        candidate=log.text_of(tables.first_of(row, ("session_name", "experiment", "session_id"))) or tables.stem(file),
        error=error or (None if response is not None else "no output"),
        latency=duration,
        tokens=log.amount(row.get("total_tokens")),
        cost=log.amount(row.get("total_cost")),
        scores=tables.judged(_feedback(row)),
    )


def _object(row: Mapping[str, Any], name: str) -> Any:
    """Return an object: a cell, or the columns below its name; None if it is empty."""
    below = {key.removeprefix(f"{name}."): value for key, value in row.items() if key.startswith(f"{name}.")}
    given = {key: value for key, value in below.items() if value is not None}
    return row.get(name) or given or None


def _feedback(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the feedback by key: a value, its `score`, or the mean of several."""
    cells = {key.partition(".")[2]: value for key, value in row.items() if key.startswith(f"{FEEDBACK}.")}
    for name in (FEEDBACK, "feedback_stats"):
        cells |= log.members(tables.unpacked(row.get(name)))
    return {
        key: tables.first_of(value, ("avg", "score", "value")) if isinstance(value, dict) else value
        for key, value in cells.items()
    }
