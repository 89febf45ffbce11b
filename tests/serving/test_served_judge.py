"""The offline judge as a server: what it answers in each form, what it refuses, and that clients read it."""

import json
import math
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from hypothesis import given
from hypothesis import strategies as st
from openai import BadRequestError as OpenAIBadRequest
from openai import OpenAI

from goldmeter.errors import GoldmeterError
from goldmeter.models import offline
from goldmeter.serving import served_judge
from goldmeter.serving.served_judge import (
    MODEL,
    NO_ROW,
    OTHER_QUESTION,
    SEVERAL,
    BadRequestError,
    chat,
    decisions,
    models,
    opinion_of,
    row_in,
    system_one,
)
from tests.test_judge import HOW, column, judged, params, rows

RIGHT = {"input": "What is the capital of France?", "output": "It is Paris.", "ground_truth": ["Paris"]}
WRONG = RIGHT | {"output": "It is Lyon."}
GERMAN = RIGHT | {"output": "Das weiß ich leider nicht, aber es ist wohl die größte Stadt des Landes."}
PREDICATE = {"type": "predicate", "name": "correct", "instructions": "The answer is right."}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        config = uvicorn.Config(served_judge.app(), log_level="warning", lifespan="off")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        server.should_exit = True
        thread.join()


def client(url: str) -> OpenAI:
    return OpenAI(base_url=url, api_key="none", max_retries=0)


def probability(row: dict[str, Any]) -> float:
    return float(offline.judge([row["input"]], [row["ground_truth"]], [row["output"]]).probabilities[0])


def test_openais_client_gets_probabilities_from_decisions(url: str) -> None:
    decided = client(url).decisions.create(model=MODEL, input=json.dumps(RIGHT), questions=[PREDICATE])  # type: ignore[list-item]

    [answer] = decided.answers
    assert (answer.type, answer.name) == ("predicate", "correct")
    assert answer.probability == probability(RIGHT) > 0.5
    assert decided.model == MODEL


def test_openais_client_gets_a_refusal_outside_of_the_domain_from_both_forms(url: str) -> None:
    decided = client(url).decisions.create(model=MODEL, input=json.dumps(GERMAN), questions=[PREDICATE])  # type: ignore[list-item]
    completed = client(url).chat.completions.create(
        model=MODEL, messages=[{"role": "user", "content": json.dumps(GERMAN)}]
    )

    assert [answer.type for answer in decided.answers] == ["refusal"]
    message = completed.choices[0].message
    assert (message.content, message.refusal) == (None, "outside my domain: another language than English")


def test_openais_client_gets_a_verdict_from_chat_and_the_list_of_models(url: str) -> None:
    completed = client(url).chat.completions.create(
        model=MODEL, messages=[{"role": "system", "content": "Judge."}, {"role": "user", "content": json.dumps(WRONG)}]
    )

    said = json.loads(completed.choices[0].message.content or "")
    assert said == {"verdict": False, "probability": probability(WRONG), "reason": said["reason"]}
    assert [one.id for one in client(url).models.list()] == [MODEL]


def test_bad_requests_are_told_as_openais_client_reads_them(url: str) -> None:
    with pytest.raises(OpenAIBadRequest, match="stream: replies come whole"):
        client(url).chat.completions.create(model=MODEL, messages=[], stream=True)
    for body in (b"{", b"[]", b"1" * 5000, b'{"messages": 1}', b"[" * 100_000):
        reply = httpx.post(f"{url}/chat/completions", content=body)
        assert (reply.status_code, reply.json()["error"]["type"]) == (400, "invalid_request_error")
    assert httpx.post(f"{url}/decisions", content=b" " * (served_judge.MOST_BYTES + 1)).status_code == 413
    assert httpx.post(f"{url}/decisions", json={}, headers={"Host": "evil.example"}).status_code == 400


@pytest.mark.parametrize("provider", ["decisions", "openai"])
def test_a_run_gets_the_offline_judges_verdicts_from_its_server(url: str, tmp_path: Path, provider: str) -> None:
    parts = rows(tmp_path / "r", [("q1", "It is Paris."), ("q2", "London")])
    options = {"base_url": url, "api_key_env": None, "canaries": False}

    table = judged(parts, params(provider=provider, **options), tmp_path / "s", how=HOW)
    own = judged(parts, params(provider="offline"), tmp_path / "o")

    for name in ("meaning_match", "meaning_match_probability"):
        assert column(table, name) == pytest.approx(column(own, name), abs=1e-5)


def test_the_system_one_form_has_answers_by_name() -> None:
    questions = {"correct": {"type": "noul"}, "polite": {"type": "noul"}, "verdict": {"type": "score", "criteria": []}}

    reply = system_one({"state": RIGHT, "questions": questions})

    assert reply["answers"] == {
        "correct": {"type": "noul", "noul": probability(RIGHT)},
        "polite": {"type": "refusal", "reason": OTHER_QUESTION},
        "verdict": {"type": "refusal", "reason": OTHER_QUESTION},
    }


@pytest.mark.parametrize(
    ("instructions", "kind"),
    [
        ("The actual output is correct, by the expected output.", "noul"),
        ("Does the answer match the expected one?", "noul"),
        ("The actual output is polite.", "refusal"),
        ("The right tone is used.", "refusal"),
        (None, "refusal"),
        ({"task": "correct answer"}, "noul"),
    ],
)
def test_deepevals_question_is_answered_if_it_asks_whether_the_answer_is_right(instructions: Any, kind: str) -> None:
    """DeepEval 4.3.1, metric JevEval: a question has a number for a name, and the state the fields of a test case."""
    case = {"input": RIGHT["input"], "actual_output": RIGHT["output"], "expected_output": "Paris"}

    reply = system_one(
        {
            "model": "m",
            "state": {"test_case": case},
            "questions": {"q_0": {"type": "noul", "instructions": instructions}},
        }
    )

    assert reply["answers"]["q_0"]["type"] == kind
    # typesafe-sdk 0.7.5, through which DeepEval asks, reads the counts by these names.
    assert reply["usage"] == {"input_tokens": 0, "output_tokens": 0}


@pytest.mark.parametrize(
    ("instructions", "is_answered"),
    [("Is the answer correct?", True), (None, True), ("Is the response polite?", False), ("Is it a haiku?", False)],
)
def test_a_question_of_mlflows_one_name_is_answered_if_it_asks_whether_the_answer_is_right(
    instructions: str | None, is_answered: bool
) -> None:
    """MLflow 3.17 names every question `evaluation`."""
    question = {"type": "predicate", "name": "evaluation", "instructions": instructions}

    reply = decisions({"input": json.dumps(RIGHT), "questions": [question]})

    assert (reply["answers"][0]["type"] == "predicate") == is_answered


@pytest.mark.parametrize(
    ("prompt", "is_answered"),
    [
        ("Is the answer the same as an accepted one, that is correct? Reply yes or no.", True),
        ("Judge.", True),
        ("Say whether the tone of the reply is polite and friendly.", False),
    ],
)
def test_a_prompt_that_asks_for_something_else_is_refused(prompt: str, is_answered: bool) -> None:
    reply = chat({"messages": [{"role": "user", "content": f"{prompt}\n{json.dumps(RIGHT)}"}]})

    message = reply["choices"][0]["message"]
    assert (message["content"] is not None) == is_answered
    assert message["refusal"] == (None if is_answered else OTHER_QUESTION)


def test_a_choice_between_right_and_wrong_is_answered_and_another_refused() -> None:
    def asked(*values: Any) -> dict[str, Any]:
        choices = [{"value": value} for value in values]
        reply = decisions({"input": json.dumps(WRONG), "questions": [{"type": "choice", "choices": choices}]})
        return dict(reply["answers"][0])

    p = probability(WRONG)

    assert asked("correct", "incorrect") == {
        "name": None,
        "type": "choice",
        "choice": "incorrect",
        "confidence": 1 - p,
        "probabilities": [{"value": "correct", "probability": p}, {"value": "incorrect", "probability": 1 - p}],
    }
    assert asked(True, False)["choice"] is False
    assert {asked(*values)["type"] for values in [("a", "b"), ("yes",), ("yes", "no", "maybe"), ()]} == {"refusal"}


def test_a_reply_follows_the_schema_of_the_request() -> None:
    def said(**properties: Any) -> Any:
        wanted = {"type": "json_schema", "json_schema": {"name": "r", "schema": {"properties": properties}}}
        message = chat({"messages": [{"role": "user", "content": json.dumps(RIGHT)}], "response_format": wanted})
        content = message["choices"][0]["message"]["content"]
        return message["choices"][0]["message"]["refusal"] if content is None else json.loads(content)

    reason = opinion_of([json.dumps(RIGHT)]).reason

    assert said(result={"type": "string"}, rationale={"type": "string"}) == {"result": "yes", "rationale": reason}
    assert said(verdict={"enum": ["pass", "fail"]}, score={"type": "number"}) == {
        "verdict": "pass",
        "score": probability(RIGHT),
    }
    assert said(verdict={"type": "boolean"}) == {"verdict": True}
    assert said(rating={"type": "integer"}) == OTHER_QUESTION
    assert said(verdict={"enum": ["rude", "polite"]}) == OTHER_QUESTION


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([json.dumps({"inputs": {"question": "Q?"}, "outputs": "A", "expectations": {"expected_response": "A"}})], "A"),
        (['outputs: "A"\ninputs: {\n "question": "Q?"\n}\nexpectations: {"expected_response": "A"}'], "A"),
        ([json.dumps({"question": "Q?"}), f"Judge: {json.dumps({'response': 'A', 'reference': 'A'})}"], "A"),
        (["Is it right?"], NO_ROW),
        ([json.dumps({"output": "A", "ground_truth": [" "]})], NO_ROW),
        ([json.dumps({"output": "A", "ground_truth": [1, None]})], NO_ROW),
        ([json.dumps(RIGHT), json.dumps(WRONG)], SEVERAL),
    ],
)
def test_the_row_is_found_in_objects_of_other_tools(texts: list[str], expected: str) -> None:
    found = row_in(texts)

    assert (found if isinstance(found, str) else found.response) == expected


MEMBERS = [
    *("type", "name", "questions", "input", "state", "messages", "content", "role", "choices", "criteria", "value"),
    *("response_format", "json_schema", "schema", "properties", "enum", "output", "ground_truth", "correct"),
]
VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5) | st.just(json.dumps(RIGHT)),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(MEMBERS),
            inner | st.sampled_from(["predicate", "noul", "choice", "json_schema", "boolean"]),
        )
    ),
    max_leaves=15,
)


@given(st.dictionaries(st.sampled_from(["questions", "input", "state", "messages", "response_format", "x"]), VALUES))
def test_any_body_has_a_reply_or_is_a_bad_request(body: dict[str, Any]) -> None:
    for form in served_judge.FORMS.values():
        with suppress(BadRequestError):
            assert json.dumps(form(body), allow_nan=False)


def test_log_probabilities_are_told_where_they_are_asked_for() -> None:
    reply = chat({"messages": [{"role": "user", "content": json.dumps(RIGHT)}], "logprobs": True})

    [choice] = reply["choices"]
    tokens = choice["logprobs"]["content"]
    assert "".join(one["token"] for one in tokens) == choice["message"]["content"]
    assert tokens[1]["token"] == "true"  # noqa: S105 (of a text)
    assert math.exp(tokens[1]["logprob"]) == pytest.approx(probability(RIGHT))


def test_a_port_that_is_taken_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served_judge, "opinion_of", lambda _: None)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(GoldmeterError, match="choose another one"):
            served_judge.serve(taken.getsockname()[1])
    assert models()["data"][0]["id"] == MODEL == served_judge.MODEL
