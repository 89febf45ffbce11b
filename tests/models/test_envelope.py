"""Messages of servers: text in parts, thoughts set apart, tool calls, refusals."""

from typing import Any

import pytest

from goldmeter.models.chat.envelope import CONTENT_FILTER, CUT_OFF, REFUSAL, TOOL_CALL, Letter, opened
from goldmeter.text.thoughts import CUT_THOUGHT, THOUGHT_ONLY

CALL = {"type": "function", "function": {"name": "grade", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": "Paris"}, "Paris"),
        ({"content": "Paris", "reasoning_content": "Lyon?"}, "Paris"),
        ({"content": "Paris", "reasoning": "Lyon?", "tool_calls": None, "refusal": None}, "Paris"),
        ({"content": [{"type": "text", "text": "Pa"}, {"type": "text", "text": "ris"}]}, "Paris"),
        ({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Lyon?"}]}, "Paris"]}, "Paris"),
        ({"content": [{"type": "reasoning", "text": "Lyon?"}, {"type": "output_text", "text": "Paris"}]}, "Paris"),
        ({"content": None}, ""),
        ({}, ""),
    ],
)
def test_the_text_is_what_is_said_outside_of_thoughts(message: dict[str, Any], text: str) -> None:
    assert opened(message, "stop", is_json=True) == Letter(text, None)


@pytest.mark.parametrize(
    ("message", "finish", "problem"),
    [
        ({"refusal": "No."}, "stop", REFUSAL),
        ({"content": "Pa"}, "length", CUT_OFF),
        ({"content": "Pa"}, "content_filter", CONTENT_FILTER),
        ({"content": None, "reasoning_content": "Lyon?"}, "stop", THOUGHT_ONLY),
        ({"content": " ", "reasoning": "Lyon?"}, "stop", THOUGHT_ONLY),
        ({"content": [{"type": "thinking", "thinking": "Lyon?"}]}, "stop", THOUGHT_ONLY),
        ({"content": "", "reasoning_content": "Lyon?"}, "length", CUT_THOUGHT),
        ({"content": None, "tool_calls": [CALL]}, "tool_calls", TOOL_CALL),
    ],
)
def test_what_stands_in_the_place_of_a_text_has_a_name(message: dict[str, Any], finish: str, problem: str) -> None:
    assert opened(message, finish, is_json=False).problem == problem


@pytest.mark.parametrize(
    "message",
    [
        {"content": None, "tool_calls": [CALL]},
        {"content": "", "function_call": {"name": "grade", "arguments": {}}},
    ],
)
def test_json_may_come_as_arguments_of_a_tool_call(message: dict[str, Any]) -> None:
    assert opened(message, "tool_calls", is_json=True) == Letter("{}", None)
    assert opened(message | {"content": "Text"}, "stop", is_json=True) == Letter("Text", None)


@pytest.mark.parametrize("content", [[1], [{"type": "text"}], [{"type": "text", "text": None}]])
def test_what_is_no_message_is_an_error(content: Any) -> None:
    with pytest.raises((TypeError, KeyError, AttributeError)):
        opened({"content": content}, "stop", is_json=True)
