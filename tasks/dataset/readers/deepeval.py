"""Test runs of Confident AI's DeepEval: test_run_*.json and .latest_test_run.json. Written for deepeval 4.3.1.

One record for each test case. A metric that failed has a null score; the answer stays.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tasks.dataset.readers.log import (
    Head,
    as_records,
    conversation,
    count,
    document,
    flat,
    listed,
    number,
    part,
    text_of,
)
from tasks.dataset.record import Record, Value, file_name
from tasks.errors import DataError

WRAPPER = "testRunData"


def recognises(head: Head) -> bool:
    """Tell whether a file is a test run."""
    value = head.value if isinstance(head.value, dict) else {}
    inner = value.get(WRAPPER, value)
    return isinstance(inner, dict) and "testCases" in inner


def read(files: Sequence[Path]) -> Iterator[Record]:
    """Yield the records of all test runs.

    Raises:
        DataError: A file is no test run, or holds another number of test cases than it says.
    """
    for file in files:
        yield from as_records(file, _rows(file))


def _rows(file: Path) -> Iterator[tuple[int, dict[str, Value]]]:
    where, whole = file_name(file), document(file)
    run = part(whole, WRAPPER, dict, where) if WRAPPER in whole else whole
    cases = part(run, "testCases", list, where)
    conversations = run.get("conversationalTestCases") or []
    stated = [count(run.get(key), f"{where}, {key}") for key in ("testPassed", "testFailed")]
    expected = sum(number for number in stated if number is not None)
    if None not in stated and len(cases) + len(conversations) < expected:
        raise DataError(f"{where}: {len(cases) + len(conversations)} test cases, but it says {expected}")
    for line, case in enumerate([*cases, *conversations], 1):
        if not isinstance(case, dict):
            raise DataError(f"{where}, test case {line}: expected an object")
        yield line, _values(case, _candidate(run, file), f"{where}, test case {line}")


def _candidate(run: Mapping[str, Any], file: Path) -> str:
    """Return the hyperparameter `model`, the run's identifier, or the file's name."""
    hyperparameters = run.get("hyperparameters")
    model = hyperparameters.get("model") if isinstance(hyperparameters, dict) else None
    return text_of(model) or text_of(run.get("identifier")) or file.name.split(".json")[0]


def _values(case: Mapping[str, Any], candidate: str, where: str) -> dict[str, Value]:
    turns = case.get("turns")
    asked, response = _last_turn(turns) if isinstance(turns, list) else (case.get("input"), case.get("actualOutput"))
    contexts = case.get("retrievalContext")
    metadata = case.get("metadata")
    return flat(
        id=part(case, "name", str, where),
        input=text_of(asked),
        references=listed(case.get("expectedOutput", case.get("expectedOutcome"))),
        response=text_of(response),
        candidate=candidate,
        error=None if text_of(response) is not None else "no actual output",
        scores=dict(_scores(case.get("metricsData"))),
        contexts=None if contexts is None else listed(contexts),
        metadata=metadata if isinstance(metadata, dict) else {},
    )


def _last_turn(turns: Sequence[Any]) -> tuple[str | None, str | None]:
    """Return what was said before the last turn of the assistant, and that turn."""
    last = max(
        (n for n, turn in enumerate(turns) if isinstance(turn, dict) and turn.get("role") == "assistant"), default=None
    )
    if last is None:
        return conversation(turns), None
    return conversation(turns[:last]), text_of(turns[last])


def _scores(metrics: Any) -> Iterator[tuple[str, str | None]]:
    for metric in metrics if isinstance(metrics, list) else []:
        if isinstance(metric, dict) and isinstance(metric.get("name"), str):
            yield metric["name"], number(metric.get("score"))
