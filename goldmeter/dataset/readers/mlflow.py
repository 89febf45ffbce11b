"""MLflow's evaluation tables, and traces with assessments, as JSON, JSONL, CSV or Parquet. Written for MLflow 3.17.

One record for each row or trace. Assessments whose source is HUMAN are people's; all others are scores. The runs of one
data set pair by question and references, because each run has trace ids of its own.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from goldmeter.dataset.readers import log, tables
from goldmeter.dataset.record import Value, file_name
from goldmeter.errors import DataError

SCORED = re.compile(r"(.+?)(?:/v\d+)?/(?:score|value)")
SAID_WHY = re.compile(r".+/(justification|rationale)")
TRACE = {"trace_id", "request", "response", "assessments"}
TAKEN = {"latency", "token_count", "run_id", "trace_id", "trace", "state", "spans", "assessments"}
TOKENS, MODEL, RUN = "mlflow.trace.tokenUsage", "mlflow.modelId", "mlflow.sourceRun"
HUMAN = "HUMAN"
# What the built-in judges say.
WORDS = {"yes": "1", "no": "0"}


def recognises(head: log.Head) -> bool:
    """Tell whether a file holds an evaluation table, or traces."""
    columns, first = head.columns, log.members(tables.first(head.value))
    is_trace = "trace_id" in log.members(first.get("info")) and "data" in first
    return columns >= TRACE or is_trace or any(map(re.compile(r".+/v\d+/score").fullmatch, columns))


def rows(file: Path) -> Iterator[tuple[int, dict[str, Value]]]:
    """Yield the rows of a file.

    Raises:
        DataError: A file can't be read, or no column of it holds questions or answers.
    """
    for line, values in tables.rows(file):
        # The cells of a trace's row may lack its texts.
        row = trace if isinstance(trace := tables.unpacked(values.get("trace")), dict) else values
        where = f"{file_name(file)}, row {line}"
        is_trace = "info" in row or row.keys() >= TRACE
        yield line, _of_trace(_flat(row, where), file) if is_trace else _of_row(row, file, where)


def _of_row(row: Mapping[str, Any], file: Path, where: str) -> dict[str, Value]:
    """Return the values of a row of an evaluation table."""
    question = next((name for name in tables.QUESTIONS if name in row), None)
    answer = next((name for name in tables.ANSWERS if name in row), None)
    if question is None or answer is None:
        raise DataError(
            f"{where}: no column {'of questions' if question is None else 'of answers'}; rename one to "
            f"{'inputs' if question is None else 'outputs'}; there are {', '.join(row)[:200]}"
        )
    scored = {
        found[1]: WORDS.get(str(value), value) for name, value in row.items() if (found := SCORED.fullmatch(name))
    }
    response = tables.said(row[answer], tables.ANSWERS)
    used = {question, answer, *tables.REFERENCES, *TAKEN}
    return log.flat(
        id="",
        input=tables.said(row[question], tables.QUESTIONS),
        references=tables.references(row),
        response=response,
        candidate=log.text_of(row.get("run_id")) or tables.stem(file),
        error=None if response is not None else "no output",
        latency=log.amount(row.get("latency")),
        tokens=log.amount(row.get("token_count")),
        scores=tables.judged(scored),
        metadata={name: value for name, value in row.items() if name not in used and not _is_about_scores(name)},
    )


def _is_about_scores(name: str) -> bool:
    return bool(SCORED.fullmatch(name) or SAID_WHY.fullmatch(name))


def _flat(row: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    """Return a trace as the row of a table that `search_traces` makes."""
    if "info" not in row:
        return row
    info, data = log.part(row, "info", dict, where), log.members(row.get("data"))
    spans = [log.members(span) for span in log.items(data.get("spans"))]
    root = log.members(next((span for span in spans if not span.get("parent_span_id")), {}).get("attributes"))
    return {
        **info,
        "request": root.get("mlflow.spanInputs", info.get("request_preview")),
        "response": root.get("mlflow.spanOutputs", info.get("response_preview")),
        "execution_duration": info.get("execution_duration_ms"),
    }


def _of_trace(trace: Mapping[str, Any], file: Path) -> dict[str, Value]:
    """Return the values of a trace."""
    about = log.members(tables.unpacked(trace.get("trace_metadata")))
    said = [
        one
        for one in map(log.members, log.items(tables.unpacked(trace.get("assessments"))))
        if one.get("valid") != "false"
    ]
    expected = {_name(one): _value(one.get("expectation")) for one in said if "expectation" in one}
    given = [one for one in said if "feedback" in one]
    people = {_rated(one): _text(one) for one in given if _source(one).get("source_type") == HUMAN}
    scores = {_name(one): _verdict(one.get("feedback")) for one in given if _source(one).get("source_type") != HUMAN}
    response = tables.said(_unquoted(trace.get("response")), tables.ANSWERS)
    duration = log.amount(trace.get("execution_duration"))
    values = log.flat(
        id="",
        input=tables.said(_unquoted(trace.get("request")), tables.QUESTIONS),
        references=tables.references(expected),
        response=response,
        candidate=next((about[name] for name in (MODEL, RUN) if isinstance(about.get(name), str)), tables.stem(file)),
        error="error" if trace.get("state") == "ERROR" else None if response is not None else "no output",
        latency=None if duration is None else repr(float(duration) / 1000.0),
        tokens=log.amount(log.members(tables.unpacked(about.get(TOKENS))).get("total_tokens")),
        scores=tables.judged(scores),
    )
    return tables.with_people(values, people)


def _unquoted(value: Any) -> Any:
    """Return what a JSON text holds: spans keep texts in quotes."""
    if isinstance(value, str) and value[:1] == '"':
        try:
            return log.decoded(value)
        except ValueError:
            return value
    return value


def _name(assessment: Mapping[str, Any]) -> str:
    return str(assessment.get("assessment_name") or assessment.get("name"))


def _source(assessment: Mapping[str, Any]) -> Mapping[str, Any]:
    return log.members(assessment.get("source"))


def _rated(assessment: Mapping[str, Any]) -> str:
    return f"{_name(assessment)}{log.RATER}{_source(assessment).get('source_id') or 'person'}"


def _value(given: Any) -> Any:
    """Return the value of a feedback or an expectation."""
    return log.members(given).get("value", log.members(log.members(given).get("serialized_value")).get("value"))


def _verdict(given: Any) -> Any:
    value = _value(given)
    return WORDS.get(value, value) if isinstance(value, str) else value


def _text(assessment: Mapping[str, Any]) -> str | None:
    value = _value(assessment.get("feedback"))
    return value if isinstance(value, str) else None
