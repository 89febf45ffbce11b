"""Promptfoo's `promptfoo eval --output output.json`, or output.jsonl. Written for promptfoo 0.120.0, results version 3.

One record for each test and each prompt of a provider; a test that is repeated has draws. References are the values of
assertions that compare texts; the variables that they name are not part of the input. JSON lines state no version and
no number of results; they are read one by one, however many.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from json import dumps
from pathlib import Path
from typing import Any

from goldmeter.dataset.formats.text_lines import inner_suffix
from goldmeter.dataset.readers import log
from goldmeter.dataset.record import Value, file_name
from goldmeter.errors import DataError

KNOWN_VERSIONS = ("3",)
# Assertions whose value is what a right answer says; with `-any`, a list.
COMPARING = re.compile(
    r"(equals|i?contains(-any)?|similar.*|factuality|answer-relevance|rouge-n|bleu|gleu|meteor|levenshtein)"
)
VARIABLE = re.compile(r"\{\{\s*(\w+)\s*\}\}")
# `failureReason` of a result: 0 none, 1 an assertion failed, 2 there is no answer.
NO_ANSWER = "2"
# Of a line of output.jsonl.
RESULT = {"evalId", "testIdx", "promptIdx", "testCase", "provider"}


def recognises(head: log.Head) -> bool:
    """Tell whether a file is an output file."""
    results = log.members(log.members(head.value).get("results"))
    return ({"version", "timestamp"} <= results.keys() and "evalId" in head.keys) or head.keys >= RESULT


def rows(file: Path) -> Iterator[tuple[int, dict[str, Value]]]:
    """Yield the rows of an output file.

    Raises:
        DataError: The file is of another version, or holds fewer results than its statistics say.
    """
    where = file_name(file)
    listed = None if inner_suffix(file) == ".jsonl" else _results(file, where)

    def results() -> Iterator[tuple[int, dict[str, Any], str]]:
        if listed is not None:
            yield from log.numbered(listed, f"{where}, result")
        else:
            yield from ((line, result, f"{where}, line {line}") for line, result in log.objects(file))

    keys = [_key(result, place) for _, result, place in results()]
    prompts = list(dict.fromkeys(prompt for _, _, prompt in keys))
    tests: dict[bytes, str] = {}
    for (line, result, place), key, draw in zip(results(), keys, log.draws(keys), strict=True):
        test, provider, prompt = key
        test_id = tests.setdefault(test, log.part(result, "testIdx", str, place))
        candidate = provider if len(prompts) == 1 else f"{provider}, prompt {prompts.index(prompt) + 1}"
        yield line, _values(result, test_id, candidate, draw)


def _results(file: Path, where: str) -> list[Any]:
    summary = log.part(log.document(file), "results", dict, where)
    log.require_version(summary.get("version"), KNOWN_VERSIONS, "promptfoo", where)
    results: list[Any] = log.part(summary, "results", list, where)
    _require_all(results, log.part(summary, "stats", dict, where), where)
    return results


def _require_all(results: Sequence[Any], stats: Mapping[str, Any], where: str) -> None:
    stated = [log.count(stats.get(key), f"{where}, stats.{key}") for key in ("successes", "failures", "errors")]
    expected = sum(number for number in stated if number is not None)
    if len(results) < expected:
        raise DataError(f"{where}: {len(results)} results, but its statistics count {expected}; the log is incomplete")


def _key(result: Mapping[str, Any], where: str) -> tuple[bytes, str, str]:
    """Return a digest of the test, and provider and prompt of a result."""
    provider = log.part(result, "provider", dict, where)
    name = log.text_of(provider.get("label")) or log.part(provider, "id", str, where)
    test = dumps(log.part(result, "testCase", dict, where), sort_keys=True)
    return sha256(test.encode()).digest(), name, _prompt(result)


def _prompt(result: Mapping[str, Any]) -> str:
    return log.text_of(log.members(result.get("prompt")).get("label")) or ""


def _values(result: Mapping[str, Any], test_id: str, candidate: str, draw: int | None) -> dict[str, Value]:
    test, answer = result["testCase"], log.members(result.get("response"))
    variables = log.members(result.get("vars", test.get("vars")))
    compared = [value for assertion in test.get("assert") or [] for value in _compared(assertion)]
    named = {name for value in compared for name in VARIABLE.findall(value)}
    response = None if answer.get("output") is None else log.as_json(answer["output"])
    scores = {"success": result.get("success"), "score": result.get("score"), **log.members(result.get("namedScores"))}
    return log.flat(
        id=test_id,
        input=_input({name: value for name, value in variables.items() if name not in named}),
        references=[_rendered(value, variables) for value in dict.fromkeys(compared)],
        response=response,
        candidate=candidate,
        error=_error(result, response),
        draw=draw,
        **_taken(result, answer),
        scores={name: log.number(value) for name, value in scores.items()},
        metadata={**log.members(test.get("metadata")), "prompt": _prompt(result)},
    )


def _taken(result: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the seconds, tokens and cost of an answer; of one from promptfoo's cache the tokens alone."""
    tokens = {"tokens": log.amount(log.members(answer.get("tokenUsage")).get("total"))}
    if answer.get("cached") == "true":
        return tokens
    milliseconds = log.amount(result.get("latencyMs"))
    seconds = None if milliseconds is None else repr(float(milliseconds) / 1000.0)
    return {**tokens, "latency": seconds, "cost": log.amount(result.get("cost"))}


def _compared(assertion: Any) -> list[str]:
    if not isinstance(assertion, dict) or not COMPARING.fullmatch(str(assertion.get("type"))):
        return []
    value = assertion.get("value")
    return [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, str)]


def _rendered(value: str, variables: Mapping[str, Any]) -> str:
    return VARIABLE.sub(lambda match: log.text_of(variables.get(match[1])) or match[0], value)


def _input(variables: Mapping[str, Any]) -> str | None:
    """Return the only variable, or each with its name."""
    texts = {name: log.as_json(value) for name, value in variables.items()}
    if len(texts) == 1:
        return next(iter(texts.values()))
    return "\n".join(f"{name}: {text}" for name, text in texts.items()) or None


def _error(result: Mapping[str, Any], response: str | None) -> str | None:
    """Return why there is no answer; the `error` of a result also holds why an assertion failed."""
    if result.get("failureReason") != NO_ANSWER and response is not None:
        return None
    lines = (log.text_of(result.get("error")) or "no output").splitlines()
    return lines[0] if lines else "no output"
