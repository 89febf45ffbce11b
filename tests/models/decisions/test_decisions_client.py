"""The client of decision models against servers of both forms, and against those that fail."""

from collections.abc import Iterator
from typing import Any

import pytest

from goldmeter.errors import ModelError
from goldmeter.models.chat.envelope import CONTENT_FILTER
from goldmeter.models.chat.exchange import Endpoint
from goldmeter.models.chat.limits import ConcurrencyLimit
from goldmeter.models.chat.replies import UNEXPECTED, Reply
from goldmeter.models.decisions.client import Decisions
from tests.decisions import answered
from tests.judge_server import NO_KEY, JudgeServer, problem, serving

STATEMENTS = {"verdict": "The answer is right."}


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with serving() as running:
        running.script = lambda body: answered(body, lambda *_: 0.75)
        yield running


def decisions(server: JudgeServer) -> Decisions:
    return Decisions(Endpoint(server.url, "m", NO_KEY, 20.0, 1), ConcurrencyLimit(4))


def ask(server: JudgeServer, times: int = 1) -> list[Reply]:
    with decisions(server) as client:
        return [client.ask(f"row {n}", STATEMENTS) for n in range(times)]


def test_a_statement_gets_its_probability_and_the_tokens_are_counted(server: JudgeServer) -> None:
    [reply] = ask(server)

    assert (reply.probabilities, reply.problem) == ({"verdict": 0.75}, None)
    assert (reply.model, reply.tokens) == ("decider-1", {"prompt": 90, "completion": 1})
    assert reply.support is not None
    assert reply.support.summary == "decisions"
    assert server.calls == [
        {
            "model": "m",
            "input": "row 0",
            "questions": [{"type": "predicate", "name": "verdict", "instructions": "The answer is right."}],
        }
    ]


def test_a_server_with_the_other_form_is_noticed_once(server: JudgeServer) -> None:
    server.paths = {"systemone"}

    replies = ask(server, 3)

    assert [reply.probabilities for reply in replies] == [{"verdict": 0.75}] * 3
    assert {reply.support.summary for reply in replies if reply.support} == {"systemone"}
    assert [body["state"] for body in server.calls] == ["row 0", "row 1", "row 2"]


def test_a_server_that_refuses_the_first_form_is_asked_in_the_other(server: JudgeServer) -> None:
    server.paths = {"decisions", "systemone"}
    good = server.script
    server.script = lambda body: good(body) if "state" in body else problem(400, "extra field input")

    replies = ask(server, 4)

    assert [reply.probabilities for reply in replies] == [{"verdict": 0.75}] * 4
    assert len(server.calls) == 4 + 2  # two rows in a row end with the other form


def test_a_server_with_neither_form_is_named_at_once(server: JudgeServer) -> None:
    server.paths = set()

    with pytest.raises(ModelError, match="A decision model is asked at base_url/decisions or base_url/systemone"):
        ask(server)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ((200, "no json"), UNEXPECTED),
        ((200, {"choices": []}), UNEXPECTED),
        ((200, {"answers": []}), "the reply leaves out a question"),
        (
            (400, {"error": {"message": "This model's maximum context length is 8 tokens"}}),
            "longer than the model's context",
        ),
        ((400, {"error": {"code": "content_filter", "message": "no"}}), CONTENT_FILTER),
        ((500, {"error": {"message": "oops"}}), "HTTP 500"),
    ],
)
def test_an_error_is_the_rows_with_its_own_reason(server: JudgeServer, answer: Any, expected: str) -> None:
    server.script = lambda _: answer

    [reply] = ask(server)

    assert reply.probabilities is None
    assert expected in str(reply.problem)


def test_a_wrong_key_ends_the_run(server: JudgeServer) -> None:
    server.script = lambda _: problem(401)

    with pytest.raises(ModelError, match=r"does not accept the key|wants a key"):
        ask(server)
