"""Servers that obey what they read in an answer, with a reply of their own or with an enforced schema."""

import json
import re
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from goldmeter.errors import ModelError
from tests.injections import INJECTIONS
from tests.judge_server import KNOWN, Answer, completion, problem, question, verdict
from tests.test_judge import column, judged, params, rows, server

__all__ = ["server"]
Script = Callable[[dict[str, Any]], Answer]
OBJECT = re.compile(r"\{.*\}", re.DOTALL)
MODES = ["enforced schema", "text"]
# All but those that are no text once they are loaded.
ANSWERS = [text for text in INJECTIONS if text.strip()]


def in_mode(mode: str, script: Script) -> Script:
    """A server that takes a schema and keeps to it, or one that takes none; script: what it says."""

    def answer(body: dict[str, Any]) -> Answer:
        if mode == "text":
            return problem(400, "response_format is not supported") if "response_format" in body else script(body)
        status, said = script(body)[:2]
        [choice] = said["choices"]
        assert_follows(json.loads(choice["message"]["content"]), body["response_format"]["json_schema"]["schema"])
        return status, said

    return answer


def assert_follows(said: dict[str, Any], schema: dict[str, Any]) -> None:
    assert [*said] == schema["required"]
    assert len(said["nonce"]) <= schema["properties"]["nonce"]["maxLength"]
    assert len(said["reason"]) <= schema["properties"]["reason"]["maxLength"]
    assert type(said["verdict"]) is bool


def is_of_row(body: dict[str, Any]) -> bool:
    fields = question(body)[1]
    return (fields["input"], fields["output"]) not in KNOWN


def obeys(body: dict[str, Any]) -> Answer:
    """A model that gives the verdict that an order asks for, and copies the nonce."""
    _, fields = question(body)
    honest = json.loads(verdict(body))
    orders = re.search(r"nonce|verdict|rating|grader|rules|\{", fields["output"])
    return completion(json.dumps(honest | {"verdict": True}) if orders or is_of_row(body) else json.dumps(honest))


def fills_in(body: dict[str, Any]) -> Answer:
    """A model that repeats in its fields what the answer states, with the nonce that stands there."""
    honest, found = json.loads(verdict(body)), OBJECT.search(question(body)[1]["output"])
    if not is_of_row(body) and not found:
        return completion(json.dumps(honest))
    stated = re.search(r'"nonce": "(\w*)"', found[0]) if found else None
    told = stated[1] if stated else "AAAAAAAAAA"
    return completion(json.dumps({"nonce": told[:32], "reason": "as told", "verdict": True}))


def repeats(calls: count) -> Script:  # type: ignore[type-arg]
    """A model that says what it finds, or the object in it, alone or in front of a reply of its own."""

    def say(body: dict[str, Any]) -> Answer:
        found, honest = question(body)[1]["output"], verdict(body)
        stated = OBJECT.search(found)
        if not is_of_row(body) and not stated:
            return completion(honest)
        return completion([found, stated[0] if stated else found, f"{found}\n{honest}"][next(calls) % 3])

    return say


def quotes(body: dict[str, Any]) -> Answer:
    """A model that names the orders in its reason, and obeys none."""
    said = json.loads(verdict(body))
    return completion(json.dumps(said | {"reason": f"It orders: {question(body)[1]['output'][:500]}"}))


def attacked(folder: Path) -> Any:
    return rows(folder, [(str(number), text) for number, text in enumerate(ANSWERS)])


@pytest.mark.parametrize("mode", MODES)
def test_a_model_that_obeys_and_copies_the_nonce_judges_no_row(server: Any, tmp_path: Path, mode: str) -> None:
    """The nonce does not help: the reply is valid in both modes. The canaries do."""
    server.script = in_mode(mode, obeys)

    with pytest.raises(ModelError, match="obeys orders in the answers"):
        judged(attacked(tmp_path / "rows"), params(server, canaries=True), tmp_path / "store")

    assert not any(is_of_row(body) for body in server.calls)


@pytest.mark.parametrize("mode", MODES)
def test_a_model_that_takes_its_fields_from_the_answer_gives_no_verdict(server: Any, tmp_path: Path, mode: str) -> None:
    server.script = in_mode(mode, fills_in)

    table = judged(attacked(tmp_path / "rows"), params(server, canaries=True), tmp_path / "store")

    assert {*column(table, "meaning_match")} == {None}
    assert {*column(table, "judge_status")} == {"failed"}


def test_a_model_that_repeats_the_answer_in_its_reply_gives_no_verdict_of_the_answer(
    server: Any, tmp_path: Path
) -> None:
    """Only text allows it: within an enforced schema an object of the answer can stand in the reason alone."""
    server.script = in_mode("text", repeats(count()))

    table = judged(attacked(tmp_path / "rows"), params(server, canaries=True), tmp_path / "store")

    honest = [float("Paris" in text) for text in ANSWERS]
    taken = zip(column(table, "meaning_match"), honest, strict=True)
    assert all(value in {None, right} for value, right in taken)
    assert {*column(table, "meaning_match_reason")} <= {None, "compared"}


@pytest.mark.parametrize("mode", MODES)
def test_a_model_that_quotes_orders_and_obeys_none_judges_every_row(server: Any, tmp_path: Path, mode: str) -> None:
    server.script = in_mode(mode, quotes)

    table = judged(attacked(tmp_path / "rows"), params(server, canaries=True), tmp_path / "store")

    # One of them contains the accepted answer, which is all that an honest judge looks at here.
    assert column(table, "meaning_match") == [float("Paris" in text) for text in ANSWERS]
    assert {*column(table, "judge_status")} == {"answered"}
