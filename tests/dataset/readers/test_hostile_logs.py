"""Logs with any value in place of another, without a member, cut or damaged: read, or refused with a reason."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from goldmeter.dataset.readers import detect
from goldmeter.dataset.sources import records
from goldmeter.errors import DataError
from tests.dataset.readers import test_alpaca_eval, test_lighteval, test_whose_verdicts, test_wmt_mqm

TMP = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
STRANGE = (None, [], {}, "x", 1, -1.5, True, [{}], {"a": [1]}, ["a", 2], [[[]]], "[", "{'a'", "NaN", "1e999")
LOGS: dict[str, dict[str, str]] = {
    **{tool: log("human_x", ("correct", "incorrect")) for tool, log in test_whose_verdicts.LOGS.items()},
    "wmt_mqm": {"a.tsv": "\n".join([test_wmt_mqm.HEADER, *test_wmt_mqm.ROWS]) + "\n"},
    "alpaca_eval": {"a.json": json.dumps([test_alpaca_eval.annotation(n, 1.5) for n in range(3)])},
}


def mutated(value: Any, random: Random) -> Any:
    """The value with another one somewhere in it, or without a member."""
    if isinstance(value, dict) and value:
        key = random.choice(list(value))
        if random.random() < 0.2:
            return {name: item for name, item in value.items() if name != key}
        return {**value, key: random.choice(STRANGE) if random.random() < 0.35 else mutated(value[key], random)}
    if isinstance(value, list) and value:
        number = random.randrange(len(value))
        return [*value[:number], mutated(value[number], random), *value[number + 1 :]]
    return random.choice(STRANGE)


def damaged(content: bytes, random: Random) -> bytes:
    changed = bytearray(content)
    changed[random.randrange(len(changed))] = random.randrange(256)
    return bytes(changed[: random.randrange(1, len(changed))] if random.random() < 0.5 else changed)


def hostile(name: str, text: str, random: Random) -> bytes:
    if name.endswith(".json") and random.random() < 0.7:
        return json.dumps(mutated(json.loads(text), random)).encode()
    if name.endswith(".jsonl") and random.random() < 0.7:
        lines = text.splitlines()
        number = random.randrange(len(lines))
        lines[number] = json.dumps(mutated(json.loads(lines[number]), random))
        return "\n".join(lines).encode()
    return damaged(text.encode(), random)


def read_or_refused(folder: Path, tool: str) -> None:
    detect(folder)
    try:
        found = list(records(folder, "**/*", tool))
    except DataError as error:
        assert str(error)  # noqa: PT017 (either outcome is right)
    else:
        assert found


@pytest.mark.parametrize("tool", LOGS)
@TMP
@given(random=st.randoms(use_true_random=True))
def test_a_hostile_log_is_read_or_refused_with_a_reason(tmp_path: Path, tool: str, random: Random) -> None:
    for name, text in LOGS[tool].items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(hostile(name, text, random))

    read_or_refused(tmp_path, tool.partition(",")[0])


@TMP
@given(random=st.randoms(use_true_random=True))
def test_a_damaged_parquet_file_of_details_is_read_or_refused(tmp_path: Path, random: Random) -> None:
    path = test_lighteval.write(tmp_path, test_lighteval.ROWS)
    path.write_bytes(damaged(path.read_bytes(), random))

    read_or_refused(path.parent, "lighteval")
