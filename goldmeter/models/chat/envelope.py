"""A server's message about a reply: its text, and what stands in its place."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from goldmeter.text.thoughts import CUT_THOUGHT, THOUGHT_ONLY

REFUSAL: Final = "refusal"
CONTENT_FILTER: Final = "content filter"
CUT_OFF: Final = "the reply was cut off"
TOOL_CALL: Final = "the reply is a tool call without an answer"
# Parts of a content by their `type`; a part without one is text.
_TEXTS, _THOUGHTS = (None, "text", "output_text"), ("thinking", "reasoning", "reasoning_text", "redacted_thinking")


class Letter(NamedTuple):
    """What a message says. problem: why its text can't be used, or is not whole."""

    text: str
    problem: str | None


def opened(message: Mapping[str, Any], finish: object, *, is_json: bool) -> Letter:
    """Return what a message says outside of the thoughts that the server has set apart.

    Args:
        message: `choices[0].message` of a completion.
        finish: Its `finish_reason`.
        is_json: Whether JSON was asked for, which some servers give as the arguments of a tool call.

    Raises:
        ValueError, TypeError, KeyError, AttributeError: It is no message.
    """
    if refusal := message.get("refusal"):
        return Letter(str(refusal), REFUSAL)
    content = message.get("content")
    text, calls = _text(content), [*_arguments(message)]
    if is_json and calls and not text.strip():
        text = "\n".join(calls)
    if finish == "content_filter":
        return Letter(text, CONTENT_FILTER)
    has_thought = not text.strip() and _has_thought(message, content)
    if finish == "length":
        return Letter(text, CUT_THOUGHT if has_thought else CUT_OFF)
    if text.strip():
        return Letter(text, None)
    return Letter(text, TOOL_CALL if calls else THOUGHT_ONLY if has_thought else None)


def _text(content: object) -> str:
    """Return a message's content: text, or the text parts of a list."""
    if not isinstance(content, list):
        return str(content or "")
    parts = [{"text": part} if isinstance(part, str) else part for part in content]
    return "".join(part["text"] for part in parts if part.get("type") in _TEXTS)


def _has_thought(message: Mapping[str, Any], content: object) -> bool:
    parts = content if isinstance(content, list) else []
    in_parts = any(isinstance(part, dict) and part.get("type") in _THOUGHTS for part in parts)
    return in_parts or any(message.get(name) for name in ("reasoning_content", "reasoning"))


def _arguments(message: Mapping[str, Any]) -> Iterator[str]:
    """Yield the arguments of each tool call; older servers have a single `function_call`."""
    calls = [call.get("function") for call in message.get("tool_calls") or ()]
    for function in [*calls, message.get("function_call")]:
        if function:
            arguments = function.get("arguments")
            yield arguments if isinstance(arguments, str) else json.dumps(arguments)
