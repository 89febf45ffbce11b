"""Promptfoo's `promptfoo eval --output output.json`. Written for promptfoo 0.120.0, results version 3.

One record for each test and each prompt of a provider; a test that is repeated has draws. References are the values of
assertions that compare texts; the variables that they name are not part of the input.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from json import dumps
from pathlib import Path
from typing import Any

from tasks.dataset.readers.log import (
    Head,
    amount,
    as_records,
    count,
    document,
    flat,
    number,
    part,
    require_version,
    text_of,
)
from tasks.dataset.record import Record, Value, file_name
from tasks.errors import DataError

KNOWN_VERSIONS = ("3",)
# Assertions whose value is what a right answer says; with `-any`, a list.
COMPARING = re.compile(
    r"(equals|i?contains(-any)?|similar.*|factuality|answer-relevance|rouge-n|bleu|gleu|meteor|levenshtein)"
)
VARIABLE = re.compile(r"\{\{\s*(\w+)\s*\}\}")
# `failureReason` of a result: 0 none, 1 an assertion failed, 2 there is no answer.
NO_ANSWER = "2"


def recognises(head: Head) -> bool:
    """Tell whether a file is an output file."""
    results = head.value.get("results") if isinstance(head.value, dict) else None
    return isinstance(results, dict) and {"version", "timestamp"} <= results.keys() and "evalId" in head.value


def read(files: Sequence[Path]) -> Iterator[Record]:
    """Yield the records of all output files.

    Raises:
        DataError: A file is of another version, or holds fewer results than its statistics say.
    """
    for file in files:
        yield from as_records(file, _rows(file))


def _rows(file: Path) -> Iterator[tuple[int, dict[str, Value]]]:
    where = file_name(file)
    summary = part(document(file), "results", dict, where)
    require_version(summary.get("version"), KNOWN_VERSIONS, "promptfoo", where)
    results = part(summary, "results", list, where)
    _require_all(results, part(summary, "stats", dict, where), where)
    prompts = list(dict.fromkeys(_prompt(result) for result in results if isinstance(result, dict)))
    tests: dict[str, str] = {}
    keys = [_key(result, f"{where}, result {line}") for line, result in enumerate(results, 1)]
    repeated, draws = Counter(keys), Counter[tuple[str, str, str]]()
    for line, (result, key) in enumerate(zip(results, keys, strict=True), 1):
        draws[key] += 1
        test_id = tests.setdefault(key[0], part(result, "testIdx", str, f"{where}, result {line}"))
        yield (
            line,
            _values(
                result,
                test_id,
                key[1] if len(prompts) == 1 else f"{key[1]}, prompt {prompts.index(key[2]) + 1}",
                draws[key] if repeated[key] > 1 else None,
            ),
        )


def _require_all(results: Sequence[Any], stats: Mapping[str, Any], where: str) -> None:
    stated = [count(stats.get(key), f"{where}, stats.{key}") for key in ("successes", "failures", "errors")]
    expected = sum(number for number in stated if number is not None)
    if len(results) < expected:
        raise DataError(f"{where}: {len(results)} results, but its statistics count {expected}; the log is incomplete")


def _key(result: Any, where: str) -> tuple[str, str, str]:
    """Return test, provider and prompt of a result."""
    if not isinstance(result, dict):
        raise DataError(f"{where}: expected an object")
    provider = part(result, "provider", dict, where)
    name = text_of(provider.get("label")) or part(provider, "id", str, where)
    return dumps(part(result, "testCase", dict, where), sort_keys=True), name, _prompt(result)


def _prompt(result: Mapping[str, Any]) -> str:
    prompt = result.get("prompt")
    return (text_of(prompt.get("label")) if isinstance(prompt, dict) else None) or ""


def _values(result: Mapping[str, Any], test_id: str, candidate: str, draw: int | None) -> dict[str, Value]:
    test = result["testCase"]
    variables = result.get("vars")
    variables = variables if isinstance(variables, dict) else {}
    compared = [value for assertion in test.get("assert") or [] for value in _compared(assertion)]
    named = {name for value in compared for name in VARIABLE.findall(value)}
    response = _response(result)
    metadata = test.get("metadata")
    return flat(
        id=test_id,
        input=_input({name: value for name, value in variables.items() if name not in named}),
        references=[_rendered(value, variables) for value in dict.fromkeys(compared)],
        response=response,
        candidate=candidate,
        error=_error(result, response),
        draw=draw,
        **_taken(result),
        scores={"success": number(result.get("success")), "score": number(result.get("score"))} | _named(result),
        metadata={**(metadata if isinstance(metadata, dict) else {}), "prompt": _prompt(result)},
    )


def _taken(result: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the seconds, tokens and cost of an answer; of one from promptfoo's cache the tokens alone."""
    response = result.get("response")
    answer = response if isinstance(response, dict) else {}
    usage = answer.get("tokenUsage")
    tokens = {"tokens": amount(usage.get("total")) if isinstance(usage, dict) else None}
    if answer.get("cached") == "true":
        return tokens
    milliseconds = amount(result.get("latencyMs"))
    seconds = None if milliseconds is None else repr(float(milliseconds) / 1000.0)
    return {**tokens, "latency": seconds, "cost": amount(result.get("cost"))}


def _compared(assertion: Any) -> list[str]:
    if not isinstance(assertion, dict) or not COMPARING.fullmatch(str(assertion.get("type"))):
        return []
    value = assertion.get("value")
    return [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, str)]


def _rendered(value: str, variables: Mapping[str, Any]) -> str:
    return VARIABLE.sub(lambda match: text_of(variables.get(match[1])) or match[0], value)


def _input(variables: Mapping[str, Any]) -> str | None:
    """Return the only variable, or each with its name."""
    texts = {n: value if isinstance(value, str) else dumps(value, ensure_ascii=False) for n, value in variables.items()}
    if len(texts) == 1:
        return next(iter(texts.values()))
    return "\n".join(f"{name}: {text}" for name, text in texts.items()) or None


def _response(result: Mapping[str, Any]) -> str | None:
    response = result.get("response")
    output = response.get("output") if isinstance(response, dict) else None
    return output if output is None or isinstance(output, str) else dumps(output, ensure_ascii=False)


def _error(result: Mapping[str, Any], response: str | None) -> str | None:
    """Return why there is no answer; the `error` of a result also holds why an assertion failed."""
    if result.get("failureReason") != NO_ANSWER and response is not None:
        return None
    lines = (text_of(result.get("error")) or "no output").splitlines()
    return lines[0] if lines else "no output"


def _named(result: Mapping[str, Any]) -> dict[str, str | None]:
    named = result.get("namedScores")
    return {name: number(value) for name, value in named.items()} if isinstance(named, dict) else {}
