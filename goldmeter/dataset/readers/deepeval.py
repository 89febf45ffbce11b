"""Test runs of Confident AI's DeepEval: test_run_*.json and .latest_test_run.json. Written for deepeval 4.3.1.

One record for each test case. A metric that failed has a null score; the answer stays.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from goldmeter.dataset.readers import log
from goldmeter.dataset.record import Value, file_name
from goldmeter.errors import DataError

WRAPPER = "testRunData"


def recognises(head: log.Head) -> bool:
    """Tell whether a file is a test run."""
    return "testCases" in log.members(log.members(head.value).get(WRAPPER, head.value))


def rows(file: Path) -> Iterator[tuple[int, dict[str, Value]]]:
    """Yield the rows of a test run.

    Raises:
        DataError: The file is not a test run, or its number of test cases differs from the number that it states.
    """
    where, whole = file_name(file), log.document(file)
    run = log.part(whole, WRAPPER, dict, where) if WRAPPER in whole else whole
    cases = [*log.part(run, "testCases", list, where), *(run.get("conversationalTestCases") or [])]
    stated = [log.count(run.get(key), f"{where}, {key}") for key in ("testPassed", "testFailed")]
    expected = sum(number for number in stated if number is not None)
    if None not in stated and len(cases) < expected:
        raise DataError(f"{where}: {len(cases)} test cases, but it says {expected}")
    model = log.members(run.get("hyperparameters")).get("model")
    candidate = log.text_of(model) or log.text_of(run.get("identifier")) or file.name.split(".json")[0]
    for line, case, place in log.numbered(cases, f"{where}, test case"):
        yield line, _values(case, candidate, place)


def _values(case: Mapping[str, Any], candidate: str, where: str) -> dict[str, Value]:
    turns = case.get("turns")
    asked, response = _last_turn(turns) if isinstance(turns, list) else (case.get("input"), case.get("actualOutput"))
    contexts = case.get("retrievalContext")
    return log.flat(
        id=log.part(case, "name", str, where),
        input=log.text_of(asked),
        references=log.listed(case.get("expectedOutput", case.get("expectedOutcome"))),
        response=log.text_of(response),
        candidate=candidate,
        error=None if log.text_of(response) is not None else "no actual output",
        scores=log.named_scores(case.get("metricsData"), "score"),
        contexts=None if contexts is None else log.listed(contexts),
        metadata=log.members(case.get("metadata")),
    )


def _last_turn(turns: Sequence[Any]) -> tuple[str | None, str | None]:
    """Return what was said before the last turn of the assistant, and that turn."""
    last = max((n for n, turn in enumerate(turns) if log.members(turn).get("role") == "assistant"), default=None)
    if last is None:
        return log.conversation(turns), None
    return log.conversation(turns[:last]), log.text_of(turns[last])
