"""The chat client against servers that refuse, think or fail: what it asks for then, and how often."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from goldmeter.errors import ModelError, ServerError
from goldmeter.models.chat.client import Chat
from goldmeter.models.chat.envelope import CUT_OFF
from goldmeter.models.chat.exchange import Endpoint
from goldmeter.models.chat.limits import ConcurrencyLimit, Support
from goldmeter.models.chat.replies import Reply
from goldmeter.text.thoughts import CUT_THOUGHT
from tests.judge_server import NO_KEY, Answer, JudgeServer, completion, problem, serving
from tests.judge_server import Reply as Response

SCHEMA = {"type": "object", "properties": {"reason": {"type": "string", "maxLength": 600}}, "required": ["reason"]}
LIMIT, ROOM = 1_000, 8_000
OVERFLOW = {
    "error": {
        "code": 400,
        "message": "request (6031 tokens) exceeds the available context size (2048 tokens)",
        "type": "exceed_context_size_error",
    }
}


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with serving() as running:
        running.script = lambda _: completion("{}")
        yield running


def chat(server: JudgeServer, *, retries: int = 2, known: Support | None = None) -> Chat:
    endpoint = Endpoint(server.url, "m", NO_KEY, 20.0, retries, thought_tokens=ROOM)
    return Chat(endpoint, ConcurrencyLimit(4), known)


def ask(client: Chat, user: str = "row", **options: Any) -> Reply:
    return client.ask("be a judge", user, SCHEMA, **{"temperature": 0.0, "seed": 1, "reply_tokens": LIMIT} | options)


def limits(server: JudgeServer) -> list[dict[str, Any]]:
    """The limits of the replies that were asked for."""
    return [{name: body[name] for name in body if name.startswith("max_")} for body in server.calls]


def bound(body: dict[str, Any]) -> Any:
    return body["response_format"]["json_schema"]["schema"]["properties"]["reason"].get("maxLength")


def test_each_reply_has_a_limit_and_each_text_of_the_schema_a_length(server: JudgeServer) -> None:
    with chat(server) as client:
        ask(client)

    assert limits(server) == [{"max_tokens": LIMIT}]
    assert bound(server.calls[0]) == 600


def test_a_server_that_calls_the_limit_anew_is_asked_so_from_then_on(server: JudgeServer) -> None:
    words = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    server.script = lambda body: problem(400, words) if "max_tokens" in body else completion("{}")

    with chat(server) as client:
        replies = [ask(client), ask(client)]

    assert limits(server) == [{"max_tokens": LIMIT}, *[{"max_completion_tokens": LIMIT}] * 2]
    assert [reply.support.summary for reply in replies if reply.support] == ["json_schema"] * 2


def test_a_server_that_takes_no_limit_is_asked_without_one(server: JudgeServer) -> None:
    def script(body: dict[str, Any]) -> Answer:
        name = next((name for name in body if name.startswith("max_")), None)
        return (
            (422, {"detail": [{"loc": ["body", name], "msg": "Extra inputs are not permitted"}]})
            if name
            else completion("{}")
        )

    server.script = script
    with chat(server) as client:
        ask(client), ask(client)

    assert limits(server)[2:] == [{}, {}]


def test_a_limit_that_the_user_states_is_never_left_out(server: JudgeServer) -> None:
    server.script = lambda body: problem(
        400, f"unknown parameter '{next(name for name in body if name.startswith('max_'))}'"
    )

    with chat(server) as client:
        reply = ask(client, max_tokens=7, reply_tokens=None)

    assert reply.text is None
    assert {*next(iter(zip(*map(dict.items, limits(server)), strict=True)))} == {
        ("max_tokens", 7),
        ("max_completion_tokens", 7),
    }


def test_a_keyword_that_the_server_refuses_is_left_out_and_the_schema_stays(server: JudgeServer) -> None:
    words = (
        "Invalid schema for response_format 'reply': In context=('properties', 'reason'), 'maxLength' is not permitted."
    )
    server.script = lambda body: problem(400, words) if bound(body) else completion("{}")

    with chat(server) as client:
        reply, _ = ask(client), ask(client)

    assert [bound(body) for body in server.calls] == [600, None, None]
    assert reply.support
    assert reply.support.summary == "json_schema"


def test_what_only_a_later_question_shows_is_noticed_then(server: JudgeServer) -> None:
    words = "Unsupported value: 'temperature' does not support 0.7 with this model."
    server.script = lambda body: problem(400, words) if body.get("temperature") == 0.7 else completion("{}")

    with chat(server) as client:
        for temperature in (0.0, 0.7, 0.7):
            assert ask(client, temperature=temperature).text == "{}"

    assert [body.get("temperature") for body in server.calls] == [0.0, 0.7, None, None]


def test_instructions_move_into_the_user_message_where_there_is_no_system_role(server: JudgeServer) -> None:
    server.script = lambda body: (
        problem(400, "System role not supported") if body["messages"][0]["role"] == "system" else completion("{}")
    )

    with chat(server) as client:
        reply = ask(client)

    assert server.calls[-1]["messages"] == [{"role": "user", "content": "be a judge\n\nrow"}]
    assert reply.support == Support(dropped=("system",))


THOUGHTS: list[dict[str, Any]] = [
    {"content": "<think>Let me see"},
    {"content": None, "reasoning_content": "Let me see"},
    {"content": "", "reasoning": "Let me see"},
]


@pytest.mark.parametrize("message", THOUGHTS, ids=["tag", "reasoning_content", "reasoning"])
def test_a_model_that_is_seen_to_think_gets_room_for_its_thoughts(server: JudgeServer, message: dict[str, Any]) -> None:
    server.script = lambda body: (
        completion(finish="length", **message) if body["max_tokens"] == LIMIT else completion("{}")
    )

    with chat(server) as client:
        first, second = ask(client), ask(client)

    assert first.problem in {CUT_OFF, CUT_THOUGHT}
    assert first.worth_another
    assert (second.text, second.worth_another) == ("{}", True)
    assert limits(server) == [{"max_tokens": LIMIT}, {"max_tokens": LIMIT + ROOM}]


def test_a_reply_that_runs_on_without_thoughts_gets_no_more_room(server: JudgeServer) -> None:
    server.script = lambda _: completion('{"reason": "' + "0" * 99, finish="length")

    with chat(server) as client:
        reply = ask(client)

    assert (reply.problem, reply.worth_another) == (CUT_OFF, False)


def test_a_thought_that_the_room_cuts_off_is_not_asked_for_again(server: JudgeServer) -> None:
    server.script = lambda _: completion("<think>and", finish="length")

    with chat(server) as client:
        replies = [ask(client) for _ in range(2)]

    assert [reply.worth_another for reply in replies] == [True, False]


@pytest.mark.parametrize("known", [None, Support()], ids=["first call", "later call"])
def test_a_row_that_is_longer_than_the_context_is_that_rows_failure(server: JudgeServer, known: Support | None) -> None:
    server.script = lambda body: (400, OVERFLOW) if body["messages"][1]["content"] == "long" else completion("{}")

    with chat(server, known=known) as client:
        replies = [ask(client, user) for user in ("long", "long", "long", "long", "row")]

    assert [reply.text for reply in replies] == [None] * 4 + ["{}"]
    assert len(server.calls) == 5
    problem = replies[0].problem or ""
    assert problem.startswith("HTTP 400: longer than the model's context: ")
    assert "2048" in problem
    assert (replies[0].worth_another, replies[0].down, replies[0].billed) == (False, False, False)


def test_a_limit_that_does_not_fit_into_the_context_is_left_out_for_the_row(server: JudgeServer) -> None:
    words = "This model's maximum context length is 4096 tokens, but you requested 4200 (1000 in the completion)."
    server.script = lambda body: problem(400, words) if "max_tokens" in body else completion("{}")

    with chat(server) as client:
        reply = ask(client)

    assert reply.text == "{}"
    assert limits(server) == [{"max_tokens": LIMIT}, {}]


SETUP: dict[str, tuple[int, Any, str]] = {
    "not supported": (501, {"error": {"code": 501, "message": "Start it with --jinja"}}, "Start it with --jinja"),
    "no path": (404, {"error": {"message": "File Not Found", "code": 404}}, "base_url is wrong"),
    "no model": (404, {"error": {"message": 'model "m" not found, try pulling it'}}, "no model 'm'"),
    "no money": (429, {"error": {"message": "pay", "code": "insufficient_quota"}}, "no money left"),
    "no key": (400, [{"error": {"message": "API key not valid."}}], "the server wants a key"),
}


@pytest.mark.parametrize(("status", "body", "words"), SETUP.values(), ids=[*SETUP])
def test_what_is_about_the_setup_stops_at_the_first_call(
    server: JudgeServer, status: int, body: Any, words: str
) -> None:
    server.script = lambda _: (status, body)

    with chat(server) as client, pytest.raises(ModelError, match=words):
        ask(client)
    assert len(server.calls) == 1


def test_an_address_without_a_path_is_shown_with_one(server: JudgeServer) -> None:
    address = server.url.removesuffix("/v1")

    with (
        Chat(Endpoint(address, "m", NO_KEY, 20.0, 0), ConcurrencyLimit(1)) as client,
        pytest.raises(ModelError, match=f"HTTP 404: .* Try {server.url}[.]"),
    ):
        ask(client)


def test_an_error_that_comes_as_a_success_is_tried_again(server: JudgeServer) -> None:
    failed: Answer = (200, {"error": {"message": "upstream overloaded", "code": 502}})
    server.script = lambda _: Response(*(failed if len(server.calls) < 3 else completion("{}")))

    with chat(server) as client:
        reply = ask(client)

    assert (reply.text, reply.attempts) == ("{}", 3)


def test_a_server_that_fails_is_named_with_its_words(server: JudgeServer) -> None:
    server.script = lambda _: (200, {"error": {"message": "upstream overloaded", "code": 502}})

    with chat(server, retries=0) as client:
        assert [ask(client).problem for _ in range(2)] == ["HTTP 502"] * 2
        with pytest.raises(ServerError, match=r"HTTP 502.*upstream overloaded"):
            ask(client)


def test_a_row_of_a_batch_is_read_by_the_same_table(server: JudgeServer) -> None:
    with chat(server) as client:
        overflow = client.read(400, OVERFLOW, Support())
        busy = client.read(503, {"error": {"message": "Loading model"}}, Support())

    assert (overflow.problem or "").startswith("HTTP 400: longer than the model's context: request (6031 tokens)")
    assert (busy.problem, busy.down) == ("HTTP 503", True)


def test_a_batch_leaves_room_for_thoughts(server: JudgeServer) -> None:
    with chat(server) as client:
        body = client.body("be a judge", "row", SCHEMA, reply_tokens=LIMIT)

    assert body["max_tokens"] == LIMIT + ROOM
    assert json.dumps(body)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Response(*completion("{}"), delay=3.0), "timeout"),
        (Response(*completion("{}"), cut=5), "connection lost"),
        (Response(200, "x" * (1 << 22) + "x"), "the reply is too large"),
        (
            Response(200, "{}", {"Content-Encoding": "br"}),
            "the reply is compressed by 'br', which was not asked for",
        ),
        (
            Response(200, "{}", {"Content-Encoding": "gzip"}),
            "Error -3 while decompressing data: incorrect header check",
        ),
    ],
)
def test_a_reply_that_is_lost_is_asked_for_once_more(server: JudgeServer, answer: Answer, said: str) -> None:
    server.script = lambda _: answer

    with Chat(Endpoint(server.url, "m", NO_KEY, 0.5, 3), ConcurrencyLimit(1), Support()) as client:
        reply = ask(client)

    assert (reply.problem, reply.attempts, len(server.calls)) == (said, 2, 2)


def test_refusals_that_pass_are_not_counted_as_lost(server: JudgeServer) -> None:
    lost = Response(*completion("{}"), cut=5)
    answers = iter([problem(503), lost, problem(503), completion("{}")])
    server.script = lambda _: next(answers)

    with chat(server, retries=3, known=Support()) as client:
        reply = ask(client)

    assert (reply.text, reply.attempts) == ("{}", 4)


def test_a_reply_without_a_limit_that_never_ends_names_the_limit(server: JudgeServer) -> None:
    server.script = lambda _: Response(*completion("{}"), delay=3.0)

    with Chat(Endpoint(server.url, "m", NO_KEY, 0.3, 0), ConcurrencyLimit(1), Support()) as client:
        reply = ask(client, reply_tokens=None)

    assert reply.problem == "timeout: the reply has no limit; set judge.max_tokens"


@pytest.mark.parametrize(
    "body", ['data: {"id": "1"}\n\ndata: [DONE]\n\n', ": ping\n\n", "event: message\ndata: {}\n\n"]
)
def test_an_event_stream_is_named_and_not_asked_for_again(server: JudgeServer, body: str) -> None:
    server.script = lambda _: Response(200, body, {"Content-Type": "text/event-stream"})

    with chat(server, known=Support()) as client:
        reply = ask(client)

    assert (reply.problem, reply.worth_another) == (
        "the server's answer is an event stream, which was not asked for",
        False,
    )
    assert len(server.calls) == 1


def test_a_reply_that_is_nested_too_deeply_to_be_quoted_is_no_completion(server: JudgeServer) -> None:
    """JSON is read to a depth that can't be written: it depends on the callers, so that only some depths show it."""
    nested: list[Any] = []
    for _ in range(5_000):
        nested = [nested]

    with chat(server) as client:
        reply = client.read(200, {"choices": nested}, Support())

    assert reply.problem == "the server's answer has not the expected form: "
