"""Whether a model thinks before it answers, by any of its replies."""

from typing import Any

from goldmeter.text.thoughts import spoken


def has_thought(completion: Any) -> bool:
    """Return whether a completion, as JSON decodes it, shows that the model thinks.

    >>> has_thought({"choices": [{"message": {"content": "<think>The answer"}}]})
    True
    """
    try:
        message, usage = completion["choices"][0]["message"], completion.get("usage") or {}
        details = usage.get("completion_tokens_details") or usage.get("output_tokens_details") or {}
        content, counted = message.get("content"), details.get("reasoning_tokens")
    except (TypeError, KeyError, IndexError, AttributeError):
        return False
    if any(message.get(name) for name in ("reasoning_content", "reasoning")):
        return True
    is_counted = isinstance(counted, int) and counted > 0
    return is_counted or (isinstance(content, str) and spoken(content, anywhere=True).has_thought)
